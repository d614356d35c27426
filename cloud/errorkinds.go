package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// The codes of refusals that are no service's own.
const (
	// CodeClientRateLimited: the request was not sent, because a rate budget is used up.
	CodeClientRateLimited = "ClientRateLimited"
	// CodeNoCredentials: there was nothing to ask with.
	CodeNoCredentials = "NoCredentials"
	// CodeNoReply: no answer came that could be read.
	CodeNoReply = "NoReply"
)

// CodeOf is the code of the *Error within err, or empty.
func CodeOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// OpOf returns the call of the *Error within err, or empty.
func OpOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Op
	}
	return ""
}

// InField puts the field to an invalid request that names none.
func InField(err error, field string) error {
	var e *Error
	if errors.As(err, &e) && e.Kind == Invalid && e.Field == "" {
		e.Field = field
	}
	return err
}

// AsConflict makes a conflict of a refusal: something is not as it was observed, and the next look will show it.
func AsConflict(err error) error {
	var e *Error
	if errors.As(err, &e) {
		e.Kind, e.Field = Conflict, ""
	}
	return err
}

// KindOfStatus returns the kind of an error by its HTTP status, for replies with an unknown code.
func KindOfStatus(status int) ErrorKind {
	switch {
	case status == http.StatusTooManyRequests:
		return Throttled
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return Denied
	case status == http.StatusConflict || status == http.StatusPreconditionFailed:
		return Conflict
	case status == http.StatusRequestTimeout:
		return Unavailable
	case status >= 400 && status < 500:
		return Invalid
	default:
		return Unavailable
	}
}

// NoResponse makes a refusal of an error that is no service's own. Texts of the network are not passed on: they name ports and
// addresses of one connection.
func NoResponse(op string, err error) *Error {
	return &Error{
		Kind: Unavailable, Op: op, Code: CodeNoReply,
		Message: "the service gave no reply that could be read" + NetworkCause(err) + ": it may have done what was asked",
	}
}

// NotFromService returns the refusal of a reply that something else gave in the service's place, as the page of a proxy: it says nothing
// about what was asked, whatever its status.
func NotFromService(op string, status int) *Error {
	return &Error{
		Kind: Unavailable, Op: op, Code: CodeNoReply,
		Message: fmt.Sprintf("the reply with HTTP status %d is not the service's own: a proxy may have answered in its place", status),
	}
}

// obstacles are the words of the network in errors that hold nothing but text.
var obstacles = []struct{ words, why string }{
	{"context deadline exceeded", tookTooLong},
	{"context canceled", givenUp},
	{"connection refused", nothingListens},
	{"no such host", unresolved},
	{"connection reset", connectionEnded},
}

const (
	tookTooLong     = " (it took too long)"
	givenUp         = " (the call was given up)"
	nothingListens  = " (nothing listens there)"
	connectionEnded = " (the connection ended)"
	unresolved      = " (its name can't be resolved)"
)

// NetworkCause says what kept a reply from coming, in words that name no connection; empty where the error does not tell.
func NetworkCause(err error) string {
	var lookup *net.DNSError
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.DeadlineExceeded):
		return tookTooLong
	case errors.Is(err, context.Canceled):
		return givenUp
	case errors.Is(err, syscall.ECONNREFUSED):
		return nothingListens
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return connectionEnded
	case errors.As(err, &lookup):
		return unresolved
	}
	for _, o := range obstacles {
		if strings.Contains(err.Error(), o.words) {
			return o.why
		}
	}
	return ""
}

// messageMost keeps a condition readable, whatever a service answers.
const messageMost = 600

// NormalizeText is a service's message on one line, and cut where it is too long for a condition.
func NormalizeText(message string) string {
	message = strings.TrimSpace(spaces.ReplaceAllString(message, " "))
	if len(message) <= messageMost {
		return message
	}
	return strings.ToValidUTF8(message[:messageMost], "") + "..."
}
