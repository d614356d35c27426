package world

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Calls are what the simulated cloud was asked since the last reset.
type Calls struct {
	// Total counts all of them, Mutating those that change something, Counts each operation of each service.
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

// ForgetCalls begins to count anew.
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
	req, err := http.NewRequestWithContext(w.T.Context(), method, w.Endpoint+"/_sim/"+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s %w %s", method, path, resp.Status, err, text)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s %s: %w in %s", method, path, err, text)
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
