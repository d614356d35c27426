package driverkit

import (
	"errors"
	"net/http"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// KindsByCode returns the kind of each error code of a table, by the code as spelling returns it.
func KindsByCode(codes map[cloud.ErrorKind][]string, spelling func(code string) string) map[string]cloud.ErrorKind {
	kinds := map[string]cloud.ErrorKind{}
	for kind, list := range codes {
		for _, code := range list {
			kinds[spelling(code)] = kind
		}
	}
	return kinds
}

// Describe fills an error in with what the cloud says of a failure: kind, code and message. The place counts for a lack of capacity alone,
// and the time to wait where the same request may be answered later. Without code and message the code is the text of the HTTP status.
func Describe(e *cloud.Error, said cloud.Error, status int) {
	e.Kind, e.Code, e.Message = said.Kind, said.Code, said.Message
	if e.Kind != cloud.Throttled && e.Kind != cloud.Unavailable {
		e.After = 0
	}
	if e.Kind == cloud.Capacity {
		e.Where = said.Where
	}
	if e.Message == "" && e.Code == "" {
		e.Code = strings.ReplaceAll(http.StatusText(status), " ", "")
	}
}

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

// partError is a refusal of which the cloud says what part of the request it is about.
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
