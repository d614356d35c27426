package rest

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Error is a refusal in the form of all services: a code and a message.
type Error struct {
	Status        int
	Code, Message string
	// After is the value of the header Retry-After; zero for none.
	After time.Duration
}

// Error returns the code and the message.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Refuse returns a refusal. The codes and statuses are those of the page API Errors of Oracle's documentation.
func Refuse(status int, code, format string, args ...any) *Error {
	return &Error{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid refuses a parameter or a member of the body.
func Invalid(format string, args ...any) *Error {
	return Refuse(http.StatusBadRequest, "InvalidParameter", format, args...)
}

// Missing refuses a request without a parameter or a member of the body.
func Missing(name string) *Error {
	return Refuse(http.StatusBadRequest, "MissingParameter", "%s must be specified.", name)
}

// NotFound refuses what does not exist, and what the caller may not do.
func NotFound() *Error {
	return Refuse(http.StatusNotFound, "NotAuthorizedOrNotFound", "Authorization failed or requested resource not found.")
}

// IncorrectState refuses what a resource in this state does not allow for now.
func IncorrectState(format string, args ...any) *Error {
	return Refuse(http.StatusConflict, "IncorrectState", format, args...)
}

// Conflict refuses what the state of a resource never allows.
func Conflict(format string, args ...any) *Error {
	return Refuse(http.StatusConflict, "Conflict", format, args...)
}

// NotAuthenticated refuses a request whose signature is missing or wrong.
func NotAuthenticated(why string) *Error {
	return Refuse(http.StatusUnauthorized, "NotAuthenticated",
		"The required information to complete authentication was not provided or was incorrect: %s", why)
}

// NoEtagMatch refuses a change of another revision of a resource than its current one.
func NoEtagMatch() *Error {
	return Refuse(http.StatusPreconditionFailed, "NoEtagMatch", "The If-Match header does not match the etag of the resource.")
}

// InvalidatedRetryToken refuses the token of a request that has had its effect, which a later one has changed.
func InvalidatedRetryToken() *Error {
	return Refuse(http.StatusConflict, "InvalidatedRetryToken",
		"The provided retry token was used in an earlier request that resulted in a system update, but a subsequent operation "+
			"invalidated the token.")
}

// ToError returns the error of a service for any error.
func ToError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return Refuse(http.StatusInternalServerError, "InternalError", "An internal server error occurred.")
}
