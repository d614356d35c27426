package scaleway

import (
	"errors"
	"net/http"
	"time"

	"github.com/muster-project/muster/sim/document"
)

// ProxyPage is the code of a fault whose answer is the HTML page of a proxy, which is no answer of the service.
const ProxyPage = "proxy_page"

// Error is a refusal in the service's form: an object with a type, a message and members that depend on the type.
type Error struct {
	Status        int
	Type, Message string
	// More are the other members.
	More document.Object
	// After is the value of the header Retry-After; zero for none.
	After time.Duration
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// body returns the error as clients see it.
func (e *Error) body() document.Object {
	out := document.Object{"type": e.Type, "message": e.Message}
	for name, value := range e.More {
		out[name] = value
	}
	return out
}

func refuse(status int, kind, message string, more document.Object) *Error {
	return &Error{Status: status, Type: kind, Message: message, More: more}
}

// about returns the members that name a resource.
func about(kind, id string) document.Object {
	return document.Object{"resource": kind, "resource_id": id}
}

func missing(kind, id string) *Error {
	return refuse(http.StatusNotFound, "not_found", "resource is not found", about(kind, id))
}

// invalid refuses an argument: the reason is required, format, constraint or unknown.
func invalid(argument, reason, help string) *Error {
	return refuse(http.StatusBadRequest, "invalid_arguments", "invalid argument(s)", document.Object{
		"details": []any{document.Object{"argument_name": argument, "reason": reason, "help_message": help}},
	})
}

// transient refuses a change of a resource that is in a state which allows none.
func transient(kind, id, state string) *Error {
	more := about(kind, id)
	more["current_state"] = state
	return refuse(http.StatusConflict, "transient_state", "resource is in a transient state", more)
}

func locked(kind, id string) *Error {
	return refuse(http.StatusLocked, "locked", "resource is locked", about(kind, id))
}

func quotaExceeded(resource string, quota, current int) *Error {
	return refuse(http.StatusForbidden, "quotas_exceeded", "quota(s) exceeded for this resource", document.Object{
		"details": []any{document.Object{"resource": resource, "quota": quota, "current": current}},
	})
}

func precondition(help string) *Error {
	return refuse(http.StatusPreconditionFailed, "precondition_failed", "precondition is not respected", document.Object{
		"precondition": "unknown_precondition", "help_message": help,
	})
}

func deniedAuthentication(reason string) *Error {
	return refuse(http.StatusUnauthorized, "denied_authentication", "authentication is denied",
		document.Object{"method": "api_key", "reason": reason})
}

func permissionsDenied(resource, action string) *Error {
	return refuse(http.StatusForbidden, "permissions_denied", "insufficient permissions", document.Object{
		"details": []any{document.Object{"resource": resource, "action": action}},
	})
}

// toError returns the service's error for any error.
func toError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return refuse(http.StatusInternalServerError, "internal_error", "an internal error occurred", nil)
}

// more returns the additional members of an error of a type, for errors that faults play.
func more(kind string) document.Object {
	const id = "00000000-0000-4000-8000-000000000000"
	switch kind {
	case "permissions_denied":
		return permissionsDenied("kubernetes", "write").More
	case "quotas_exceeded":
		return quotaExceeded("instances", 0, 0).More
	case "invalid_arguments":
		return invalid("unknown", "unknown", "").More
	case "transient_state":
		return transient("pool", id, "upgrading").More
	case "not_found":
		return about("pool", id)
	case "locked":
		return about("cluster", id)
	case "out_of_stock":
		return document.Object{"resource": "instance"}
	case "resource_expired":
		out := about("pool", id)
		out["expired_since"] = "2026-01-01T00:00:00Z"
		return out
	case "denied_authentication":
		return deniedAuthentication("expired").More
	case "precondition_failed":
		return precondition("").More
	}
	return nil
}
