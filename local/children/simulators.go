package children

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/view/page"
)

// simulator is a simulated cloud as the web page shows it.
type simulator struct{ owner sim.Owner }

// pageSimulators returns the simulated clouds by their base URLs, ordered by name.
func pageSimulators(urls map[string]string) []page.Simulator {
	var list []page.Simulator
	for name, url := range urls {
		list = append(list, simulator{sim.Owner{Endpoint: url, Name: name}})
	}
	slices.SortFunc(list, func(a, b page.Simulator) int { return cmp.Compare(a.Name(), b.Name()) })
	return list
}

// faults are those that the page has a button for. They match every service and every machine.
var faults = []struct {
	title string
	fault sim.Fault
}{
	{"Throttle 50 calls", sim.Fault{Name: "throttle", Kind: sim.Throttle, Times: 50}},
	{"Fail 20 calls", sim.Fault{Name: "internal errors", Kind: sim.ErrorBefore, Times: 20}},
	{"Lose 5 replies", sim.Fault{Name: "lost replies", Kind: sim.DropAfter, Times: 5}},
	{"Answer 20 calls 5 s late", sim.Fault{Name: "slow", Kind: sim.Delay, Delay: sim.Duration(5 * time.Second), Times: 20}},
	{"No capacity anywhere", sim.Fault{Name: "no capacity", Kind: sim.NoCapacity}},
	{"Next machine never boots", sim.Fault{Name: "never boots", Kind: sim.NeverBoots, Times: 1}},
	{"Next machine dies", sim.Fault{Name: "dies", Kind: sim.Dies, Times: 1, Delay: sim.Duration(5 * time.Minute)}},
}

// Name returns the cloud.
func (s simulator) Name() string { return s.owner.Name }

// Faults returns those that can be added.
func (s simulator) Faults() []page.SimulatedFault {
	list := make([]page.SimulatedFault, 0, len(faults))
	for _, f := range faults {
		list = append(list, page.SimulatedFault{Name: f.fault.Name, Title: f.title})
	}
	return list
}

// lastCalls is the number of calls that are shown.
const lastCalls = 30

// State returns the last calls, newest first, and the faults in force.
func (s simulator) State(ctx context.Context) (page.SimulatorState, error) {
	var out page.SimulatorState
	var calls sim.CallSummary
	var played []sim.PlayedFault
	for path, into := range map[string]any{"calls": &calls, "faults": &played} {
		reply, err := s.call(ctx, http.MethodGet, path, nil)
		if err == nil {
			err = json.Unmarshal(reply, into)
		}
		if err != nil {
			return out, err
		}
	}
	out.Total, out.Writes = calls.Total, calls.Mutating
	for service, actions := range calls.Counts {
		for action, n := range actions {
			out.Counts = append(out.Counts, page.SimCallCount{Action: service + " " + action, Calls: n})
		}
	}
	slices.SortFunc(out.Counts, func(a, b page.SimCallCount) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Action, b.Action))
	})
	for _, c := range slices.Backward(calls.Calls) {
		if len(out.Calls) == lastCalls {
			break
		}
		out.Calls = append(out.Calls, page.SimCall{At: c.At, Action: c.Service + " " + c.Action, Resource: c.Resource, Code: c.Code,
			Fault: c.Fault})
	}
	for _, f := range played {
		out.Faults = append(out.Faults, page.ActiveFault{Name: f.Name, Kind: string(f.Kind), Played: f.Played})
	}
	return out, nil
}

// Play adds a fault.
func (s simulator) Play(ctx context.Context, name string) error {
	for _, f := range faults {
		if f.fault.Name != name {
			continue
		}
		body, err := json.Marshal(f.fault)
		if err != nil {
			return err
		}
		_, err = s.call(ctx, http.MethodPost, "faults", body)
		return err
	}
	return fmt.Errorf("there is no fault %q", name)
}

// Clear removes all faults.
func (s simulator) Clear(ctx context.Context) error {
	_, err := s.call(ctx, http.MethodDelete, "faults", nil)
	return err
}

// call calls the simulator and returns what it answers; a refusal is an error.
func (s simulator) call(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	reply, err := s.owner.Call(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	if reply.Refused() {
		return nil, fmt.Errorf("the simulated %s answers %s: %s", s.owner.Name, reply.Status, reply.Text())
	}
	return reply.Body, nil
}
