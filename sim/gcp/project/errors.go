package project

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
)

// Error is an error reply of Google.
type Error struct {
	// Status is the HTTP status, Reason the code by which clients of Compute Engine distinguish errors, such as notFound.
	Status  int
	Reason  string
	Message string
	// Domain is "global" where nothing else is set, or "usageLimits".
	Domain string
	// State is the canonical code, such as PERMISSION_DENIED. Compute Engine leaves it out for most errors about resources.
	State string
	// Location and LocationType name the part of the request that is refused, where Google names it.
	Location, LocationType string
	// RetryAfter is the value of the header of this name, 0 for none.
	RetryAfter time.Duration
	// Details are typed details, in the order in which they are shown.
	Details []any
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Body returns the error as it goes over the wire.
func (e *Error) Body() document.Object {
	body := document.Object{"code": e.Status, "message": e.Message}
	if e.Reason != "" {
		one := document.Object{"message": e.Message, "domain": "global", "reason": e.Reason}
		if e.Domain != "" {
			one["domain"] = e.Domain
		}
		if e.Location != "" {
			one["location"], one["locationType"] = e.Location, e.LocationType
		}
		body["errors"] = []any{one}
	}
	if e.State != "" {
		body["status"] = e.State
	}
	if len(e.Details) > 0 {
		body["details"] = e.Details
	}
	return document.Object{"error": body}
}

// Refuse returns an error with a status, a reason and a message.
func Refuse(status int, reason, format string, args ...any) *Error {
	return &Error{Status: status, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// NotFound returns the error for a resource that does not exist, by its path: projects/p/zones/z/instances/i.
func NotFound(path string) *Error {
	return Refuse(http.StatusNotFound, "notFound", "The resource '%s' was not found", path)
}

// AlreadyExists returns the error for a resource that is to be created a second time.
func AlreadyExists(path string) *Error {
	return Refuse(http.StatusConflict, "alreadyExists", "The resource '%s' already exists", path)
}

// Invalid returns the error for the value of a field.
func Invalid(field, value, format string, args ...any) *Error {
	return Refuse(http.StatusBadRequest, "invalid", "Invalid value for field '%s': '%s'. %s", field, value, fmt.Sprintf(format, args...))
}

// Required returns the error for a field that is missing.
func Required(field string) *Error {
	return Refuse(http.StatusBadRequest, "required", "Required field '%s' not specified", field)
}

// Unmet returns the error for a write on the condition of a fingerprint that is not the current one.
func Unmet(message string) *Error {
	return &Error{Status: http.StatusPreconditionFailed, Reason: "conditionNotMet", Message: message, Location: "If-Match",
		LocationType: "header"}
}

// Forbidden returns the error for a caller who lacks a permission on a resource.
func Forbidden(permission, path string) *Error {
	return Refuse(http.StatusForbidden, "forbidden", "Required '%s' permission for '%s'", permission, path)
}

// ToError returns Google's error for any error: an internal failure for one that is not Google's.
func ToError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	if errors.Is(err, sim.ErrClosed) {
		return &Error{Status: http.StatusServiceUnavailable, Reason: "backendError", State: "UNAVAILABLE",
			Message: "The service is shutting down."}
	}
	return &Error{Status: http.StatusInternalServerError, Reason: "backendError",
		Message: "Internal error. Please try again or contact Google Support. (Code: '" + Fingerprint(err.Error()) + "')"}
}

// Failure is why something failed later, as operations and managed instances show it.
type Failure struct{ Code, Message string }

// Body returns the failure as it goes over the wire.
func (f Failure) Body() document.Object { return document.Object{"code": f.Code, "message": f.Message} }
