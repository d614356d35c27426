package world

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/muster-project/muster/sim"
)

// Calls counts the calls to the simulated cloud since the last reset.
type Calls struct {
	// Total counts all calls, Mutating those that change something, Counts each operation of each service.
	Total    int                       `json:"total"`
	Mutating int                       `json:"mutating"`
	Counts   map[string]map[string]int `json:"counts"`
}

// String lists the calls that were counted.
func (c Calls) String() string {
	text, _ := json.Marshal(c.Counts) // a map of numbers can't fail
	return fmt.Sprintf("%d calls, %d of them writes: %s", c.Total, c.Mutating, text)
}

// Calls asks the simulator.
func (w *World) Calls() Calls {
	w.T.Helper()
	var c Calls
	w.Admin(http.MethodGet, "calls", "", &c)
	return c
}

// ForgetCalls resets the counters.
func (w *World) ForgetCalls() {
	w.T.Helper()
	w.Admin(http.MethodDelete, "calls", "", nil)
}

// Admin speaks with the simulator as its owner.
func (w *World) Admin(method, path, body string, into any) {
	w.T.Helper()
	if err := w.TryAdmin(method, path, body, into); err != nil {
		w.T.Fatal(err)
	}
}

// TryAdmin is Admin for a simulator that may be away.
func (w *World) TryAdmin(method, path, body string, into any) error {
	reply, err := sim.Owner{Endpoint: w.Endpoint, Name: "cloud"}.Call(w.T.Context(), method, path, []byte(body))
	if err != nil || reply.Refused() {
		return fmt.Errorf("%s %s: %s %w %s", method, path, reply.Status, err, reply.Text())
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(reply.Body, into); err != nil {
		return fmt.Errorf("%s %s: %w in %s", method, path, err, reply.Text())
	}
	return nil
}

// Costs holds a bound on the calls since they were last forgotten.
func (w *World) Costs(what string, most int) {
	w.T.Helper()
	if c := w.Calls(); c.Total > most {
		w.T.Errorf("%s: want at most %d calls to the cloud, got %s", what, most, c)
	} else {
		w.T.Logf("%s: %s", what, c)
	}
}
