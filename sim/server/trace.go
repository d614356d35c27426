// Package server holds how a simulated cloud answers a request, whatever its protocol: the faults that are played before and after the
// effect, and the entry in the log of requests.
package server

import (
	"context"
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
)

// Trace is what is noted of a request while it is answered.
type Trace struct {
	// Began is when the request arrived, Seq its number in the log.
	Began time.Time
	Seq   int64
	// Fault names the faults that were played, separated by commas; empty for none.
	Fault string
}

// Begin returns the trace of a request that has just arrived.
func Begin(calls *sim.Calls) Trace { return Trace{Began: time.Now(), Seq: calls.Next()} }

// Before plays the faults that come before the effect. The functions return the cloud's errors for a throttled request and for a fault.
// drop is true if the client gets no answer; err is the answer where it is not nil.
func (t *Trace) Before(ctx context.Context, faults []sim.Fault, throttled, failed func(sim.Fault) error) (drop bool, err error) {
	for _, f := range faults {
		t.note(f)
		switch f.Kind {
		case sim.Throttle:
			return false, throttled(f)
		case sim.ErrorBefore:
			return false, failed(f)
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

// After plays the faults that come after the effect, as Before does for those before it.
func After(faults []sim.Fault, failed func(sim.Fault) error) (drop bool, err error) {
	for _, f := range faults {
		switch f.Kind {
		case sim.ErrorAfter:
			return false, failed(f)
		case sim.DropAfter:
			return true, nil
		}
	}
	return false, nil
}

// Log adds the call to the log of requests, with what the trace has noted.
func (t *Trace) Log(calls *sim.Calls, call sim.Call) {
	call.Seq, call.Fault, call.At, call.Took = t.Seq, t.Fault, t.Began, time.Since(t.Began)
	calls.Add(call)
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
