package arm

import (
	"net/http"
	"time"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
)

// Statuses of operations.
const (
	InProgress = "InProgress"
	Succeeded  = "Succeeded"
	Failed     = "Failed"
	Canceled   = "Canceled"
)

// OperationLife is the time for which an ended operation can be read.
const OperationLife = 24 * time.Hour

// Operation is a long-running operation as clients see it.
type Operation struct {
	ID, Sub, Location string
	// Name is the last word of what was requested.
	Name   string
	Status string
	Start  time.Time
	End    time.Time
	// Until is the earliest time at which it ends.
	Until   time.Time
	Trouble *Trouble
}

// Running reports whether the operation has not ended.
func (op *Operation) Running() bool { return op.Status == InProgress }

// Forgotten reports whether the operation ended so long ago that it can't be read any more.
func (op *Operation) Forgotten(now time.Time) bool {
	return !op.Running() && core.Due(op.End.Add(OperationLife), now)
}

// Answer returns the reply to a request for the operation's status.
func (op *Operation) Answer(x *Call) (*Answer, error) {
	d := document.Object{"name": op.ID, "startTime": Stamp(op.Start), "status": op.Status}
	if !op.Running() {
		d["endTime"] = Stamp(op.End)
	}
	if op.Trouble != nil {
		d["error"] = op.Trouble.Shown()
	}
	return OK(d), nil
}

// Result returns the reply at the address where the operation's result awaits: 202 until it has ended, then its error or nothing.
func (op *Operation) Result() (*Answer, error) {
	switch op.Status {
	case InProgress:
		return &Answer{Status: http.StatusAccepted, Op: op}, nil
	case Failed, Canceled:
		return nil, &Error{Status: http.StatusConflict, Code: op.Trouble.Code, Message: op.Trouble.Message}
	}
	return &Answer{Status: http.StatusNoContent}, nil
}

// UnknownOperation returns the error for an operation that does not exist.
func UnknownOperation() *Error {
	return Refuse(http.StatusNotFound, "NotFound", "The entity was not found in this Azure location.")
}

// Trouble is why an operation or a machine has failed.
type Trouble struct {
	Code, Message string
	// Target is the machine that it came to, "" for what is about the resource as a whole.
	Target string
}

// Shown returns the trouble as an operation reports it: what came to a machine lies below what that made of the whole.
func (t *Trouble) Shown() document.Object {
	if t.Target == "" {
		return document.Object{"code": t.Code, "message": t.Message}
	}
	return document.Object{
		"code": "ResourceOperationFailure", "message": "The resource operation completed with terminal provisioning state 'Failed'.",
		"details": []Detail{{Code: t.Code, Target: t.Target, Message: t.Message}},
	}
}
