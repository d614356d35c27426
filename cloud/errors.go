package cloud

import (
	"errors"
	"fmt"
	"time"
)

// ErrorKind sorts every refusal of every cloud into six, each with one reaction of the engine.
type ErrorKind string

// The kinds of error. They are made at the wire and nowhere else.
const (
	// Throttled: too many calls; try again after Error.After.
	Throttled ErrorKind = "Throttled"
	// Conflict: something else is going on or was changed in between; look again.
	Conflict ErrorKind = "Conflict"
	// Capacity: the cloud has no machines of that kind, or a quota is used up; Error.Where says where.
	Capacity ErrorKind = "Capacity"
	// Denied: the credentials do not allow it.
	Denied ErrorKind = "Denied"
	// Invalid: the specification can't be met; Error.Field names the field.
	Invalid ErrorKind = "Invalid"
	// Unavailable: no answer, or an answer that says nothing. What was asked may have happened.
	Unavailable ErrorKind = "Unavailable"
)

// Error is a cloud's refusal in the cloud's own words.
type Error struct {
	Kind ErrorKind
	// Op is the cloud's name of the call: "autoscaling:CreateAutoScalingGroup".
	Op string
	// Code and Message are the cloud's own. Message holds no request ids, addresses of one request, or times.
	Code, Message string
	// Field is the path of the object's field that is to be changed, when the cloud or the driver knows it.
	Field string
	// Where names the zone, region or quota that has no capacity.
	Where string
	// After is the time that the cloud asks to wait; zero if it names none.
	After time.Duration
}

// Error says which call was refused and why.
func (e *Error) Error() string {
	text := e.Message
	switch {
	case e.Code != "" && e.Message != "":
		text = e.Code + ": " + e.Message
	case e.Code != "":
		text = e.Code
	}
	if e.Field != "" {
		text = e.Field + ": " + text
	}
	if e.Op != "" {
		text = e.Op + ": " + text
	}
	return text
}

// SpecUnsatisfiableError reports that what the specification wants can't be created, and nothing else: everything that exists was read,
// and stands in the observation beside the error.
type SpecUnsatisfiableError struct{ Err error }

// Error is the text of the error within.
func (e *SpecUnsatisfiableError) Error() string { return e.Err.Error() }

// Unwrap gives the error within.
func (e *SpecUnsatisfiableError) Unwrap() error { return e.Err }

// StartedInPartError is the error of a step of which some requests were sent before one that was not.
type StartedInPartError struct{ Err error }

// Error is the text of the error within.
func (e *StartedInPartError) Error() string { return e.Err.Error() }

// Unwrap returns the error within.
func (e *StartedInPartError) Unwrap() error { return e.Err }

// StartedInPart reports whether err is that of a step of which some requests were sent.
func StartedInPart(err error) bool {
	var e *StartedInPartError
	return errors.As(err, &e)
}

// OutOfDate reports whether err is the refusal of a write whose condition does not hold any more: what it rested on has changed since it
// was read. The codes are those of Azure's If-Match, of Google's fingerprints and of Oracle's etags.
func OutOfDate(err error) bool {
	code := CodeOf(err)
	return code == "PreconditionFailed" || code == "conditionNotMet" || code == "NoEtagMatch"
}

// KindOf is the kind of the *Error within err, or Unavailable for any other error: nothing is known about it.
func KindOf(err error) ErrorKind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Unavailable
}

// Invalidf makes an error about one field of the object, found before any call was sent.
func Invalidf(field, format string, args ...any) *Error {
	return &Error{Kind: Invalid, Field: field, Message: fmt.Sprintf(format, args...)}
}
