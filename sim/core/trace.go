package core

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
)

// Trace records a request while it is answered.
type Trace struct {
	// Began is the time of arrival of the request, Seq its number in the log.
	Began time.Time
	Seq   int64
	// Asked identifies the requested operation, as far as the request was decoded.
	Asked sim.Request
	// Fault names the faults that were played, separated by commas; empty for none.
	Fault string
	calls *sim.Calls
}

// Begin returns the trace of a request that has just arrived.
func Begin(b *Base) Trace { return Trace{Began: time.Now(), Seq: b.calls.Next(), calls: &b.calls} }

// before plays the faults that precede the effect. drop is true if the connection is closed without a response; err is the response if it
// is not nil.
func (t *Trace) before(ctx context.Context, faults []sim.Fault, errs Errors) (drop bool, err error) {
	for _, f := range faults {
		t.note(f)
		switch f.Kind {
		case sim.Throttle:
			return false, errs.Throttled(f)
		case sim.ErrorBefore:
			return false, errs.Failed(f)
		case sim.DropBefore:
			return true, nil
		case sim.Delay:
			if !wait(ctx, time.Duration(f.Delay)) {
				return true, nil
			}
		}
	}
	return false, nil
}

// after plays the faults that come after the effect, as before does for those before it.
func after(faults []sim.Fault, errs Errors) (drop bool, err error) {
	for _, f := range faults {
		switch f.Kind {
		case sim.ErrorAfter:
			return false, errs.Failed(f)
		case sim.DropAfter:
			return true, nil
		}
	}
	return false, nil
}

// Log adds the call to the log of requests, with the code of its error; "" is none.
func (t *Trace) Log(code string) {
	t.calls.Add(sim.Call{
		Seq: t.Seq, Service: t.Asked.Service, Action: t.Asked.Action, Resource: t.Asked.Resource, Mutating: t.Asked.Mutating,
		Code: code, Fault: t.Fault, At: t.Began, Took: time.Since(t.Began),
	})
}

// FaultOf returns the first fault of a kind, the zero Fault if there is none.
func FaultOf(faults []sim.Fault, kind sim.FaultKind) (sim.Fault, bool) {
	at := slices.IndexFunc(faults, func(f sim.Fault) bool { return f.Kind == kind })
	if at < 0 {
		return sim.Fault{}, false
	}
	return faults[at], true
}

// note adds the name of a fault.
func (t *Trace) note(f sim.Fault) {
	name := f.Name
	if name == "" {
		name = string(f.Kind)
	}
	if t.Fault != "" {
		name = t.Fault + "," + name
	}
	t.Fault = name
}

// wait lets time pass and reports whether the client is still there.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Worded returns the code, the message and the status of the error of a fault: its own over those of an internal failure.
func Worded(f sim.Fault, code, message string, status int) (string, string, int) {
	if f.Code != "" {
		code, message, status = f.Code, f.Message, http.StatusBadRequest
	}
	return code, cmp.Or(f.Message, message), cmp.Or(f.Status, status)
}
