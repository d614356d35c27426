package arm

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
)

// Error is a refusal in ARM's words.
type Error struct {
	Status        int
	Code, Message string
	Target        string
	Details       []Detail
	// RetryAfter is the value of the header of this name; zero sends none.
	RetryAfter time.Duration
	// NoEnvelope is true for a provider that sends its errors without the envelope that ARM's have, and with a Subcode.
	NoEnvelope bool
	Subcode    string
}

// Detail is one more error below an error.
type Detail struct {
	Code    string `json:"code"`
	Target  string `json:"target,omitempty"`
	Message string `json:"message"`
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Body returns the error as it is sent.
func (e *Error) Body() document.Object {
	if e.NoEnvelope {
		body := document.Object{"code": e.Code, "details": nil, "message": e.Message, "subcode": e.Subcode}
		if len(e.Details) > 0 {
			body["details"] = e.Details
		}
		if e.Target != "" {
			body["target"] = e.Target
		}
		return body
	}
	inner := document.Object{"code": e.Code, "message": e.Message}
	if e.Target != "" {
		inner["target"] = e.Target
	}
	if len(e.Details) > 0 {
		inner["details"] = e.Details
	}
	return document.Object{"error": inner}
}

// Refuse makes an error of a status and a code.
func Refuse(status int, code, format string, args ...any) *Error {
	return &Error{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid refuses a parameter.
func Invalid(target, format string, args ...any) *Error {
	e := Refuse(http.StatusBadRequest, "InvalidParameter", format, args...)
	e.Target = target
	return e
}

// BadRequest refuses a request for its form.
func BadRequest(format string, args ...any) *Error {
	return Refuse(http.StatusBadRequest, "BadRequest", format, args...)
}

// Missing refuses a body without something that it must hold.
func Missing(target string) *Error {
	return Invalid(target, "Required parameter '%s' is missing (null).", target)
}

// Unchangeable refuses to change what is fixed once it is there.
func Unchangeable(property string) *Error {
	e := Refuse(http.StatusConflict, "PropertyChangeNotAllowed", "Changing property '%s' is not allowed.", property)
	e.Target = property
	return e
}

// NotAllowed refuses what could be done in another state.
func NotAllowed(format string, args ...any) *Error {
	return Refuse(http.StatusConflict, "OperationNotAllowed", format, args...)
}

// NotFound is the error for a resource that does not exist.
func NotFound(kind, name, group string) *Error {
	return Refuse(http.StatusNotFound, "ResourceNotFound",
		"The Resource '%s/%s' under resource group '%s' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix", kind,
		name, group)
}

// Busy is the error for a resource on which another operation runs.
func Busy() *Error {
	return Refuse(http.StatusConflict, "Conflict", "The request failed due to conflict with a concurrent request. "+
		"To resolve it, please refer to https://aka.ms/activitylog to get more details on the conflicting requests.")
}

// ToError makes any error one that ARM would send.
func ToError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if errors.Is(err, sim.ErrClosed) {
		return Refuse(http.StatusServiceUnavailable, "ServiceUnavailable", "The service is shutting down.")
	}
	return Refuse(http.StatusInternalServerError, "InternalServerError", "Encountered internal server error.")
}
