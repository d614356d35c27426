package driverkit

import (
	"errors"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// VanishedAs returns the error of a step as a conflict if it failed because something does not exist any more: another client was faster,
// and the next observation shows it.
func VanishedAs(err error, absent bool) error {
	if absent {
		return cloud.AsConflict(err)
	}
	return err
}

// reasonFailed is the reason of a failure whose kind says nothing about the machines.
const reasonFailed = "LaunchFailed"

// FailureOf returns why machines could not be launched or changed, as the cloud says it of an operation or of a machine, as the cause of
// an issue. Its reason is the kind of the error if that says something about the machines.
func FailureOf(e *cloud.Error) pool.Cause {
	issue := pool.Cause{Reason: reasonFailed, Message: e.Message}
	switch {
	case e.Message == "":
		issue.Message = e.Code
	case e.Code != "":
		issue.Message = e.Code + ": " + e.Message
	}
	switch e.Kind {
	case cloud.Capacity, cloud.Denied, cloud.Invalid:
		issue.Reason = string(e.Kind)
	}
	return issue
}

// partError is an error that names a part of the request.
type partError struct {
	err  *cloud.Error
	part string
}

// Error is the text of the refusal.
func (t *partError) Error() string { return t.err.Error() }

// Unwrap returns the refusal.
func (t *partError) Unwrap() error { return t.err }

// AboutPart adds to a refusal of an invalid request what part of the request it is about. Any other error, or one for which the cloud
// names no part, is returned as it is.
func AboutPart(e *cloud.Error, part string) error {
	if e.Kind == cloud.Invalid && part != "" {
		return &partError{err: e, part: part}
	}
	return e
}

// PartOf returns what part of the request a refusal is about, in the cloud's spelling ("osDisk.diskSizeGB"); empty if the cloud does not
// say.
func PartOf(err error) string {
	var t *partError
	if errors.As(err, &t) {
		return t.part
	}
	return ""
}

// WithField returns a refusal of an invalid request that names no field with the field that it is about. find returns that field from the
// refusal and from the part of the request that the cloud names; empty where it is unknown.
func WithField(err error, find func(e *cloud.Error, part string) string) error {
	var e *cloud.Error
	if errors.As(err, &e) && e.Kind == cloud.Invalid && e.Field == "" {
		e.Field = find(e, PartOf(err))
	}
	return err
}
