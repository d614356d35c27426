package core

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/muster-project/muster/sim"
)

// owners serves the administration of a simulated cloud over HTTP.
type owners struct {
	base    *Base
	changes sim.OutOfBandActions
}

// OwnersMux returns the administrative endpoints below sim.AdminPath that all simulators share; each cloud adds its own. state returns the
// cloud's content, in a form for people and tests. changes are the supported out-of-band changes.
//
//	GET    .                the list of endpoints
//	GET    calls[?after=N]  the requests so far, counted and one by one
//	DELETE calls            clears them
//	GET    faults           the active rules
//	POST   faults           adds a rule, or a list of rules
//	DELETE faults           removes all rules
//	GET    speed, PUT speed {"speed": 10}
//	GET    state            the cloud's content
//	GET    changes          the supported out-of-band changes
//	POST   changes          makes one: {"change": "set the size", "name": "my-pool", "size": 3}
//	POST   reset            clears calls and faults
func OwnersMux(b *Base, state func() any, changes sim.OutOfBandActions) *AdminMux {
	o, mux := &owners{b, changes}, newAdminMux()
	for path, show := range map[string]func() any{
		"faults": func() any { return b.Faults().List() }, "state": state, "changes": func() any { return changes.Known() },
		"speed": func() any { return speedBody{b.Environment.Speed.Factor()} },
	} {
		mux.HandleFunc("GET "+sim.AdminPath+path, func(w http.ResponseWriter, _ *http.Request) { reply(w, show()) })
	}
	forget := func(pattern string, all ...func()) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			for _, one := range all {
				one()
			}
			Done(w, nil, 0)
		})
	}
	forget("DELETE "+sim.AdminPath+"calls", b.calls.Reset)
	forget("DELETE "+sim.AdminPath+"faults", b.Faults().Clear)
	forget("POST "+sim.AdminPath+"reset", b.calls.Reset, b.Faults().Clear)
	mux.HandleFunc("GET "+sim.AdminPath+"calls", o.calls)
	mux.HandleFunc("POST "+sim.AdminPath+"faults", o.addFaults)
	mux.HandleFunc("PUT "+sim.AdminPath+"speed", o.setSpeed)
	mux.HandleFunc("POST "+sim.AdminPath+"changes", o.change)
	return mux
}

type speedBody struct {
	Speed float64 `json:"speed"`
}

func (o *owners) calls(w http.ResponseWriter, r *http.Request) {
	var after int64
	if v := r.URL.Query().Get("after"); v != "" {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			http.Error(w, "after: a number is wanted, not "+strconv.Quote(v), http.StatusBadRequest)
			return
		}
		after = n
	}
	reply(w, o.base.calls.Summary(after))
}

func (o *owners) addFaults(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, ownerBodyLimit))
	if err == nil {
		var faults []sim.Fault
		if faults, err = sim.ParseFaults(b); err == nil {
			err = o.base.Faults().Add(faults...)
		}
	}
	Done(w, err, http.StatusBadRequest)
}

func (o *owners) setSpeed(w http.ResponseWriter, r *http.Request) {
	var body speedBody
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, ownerBodyLimit)).Decode(&body)
	if err == nil && body.Speed <= 0 {
		err = fmt.Errorf("speed %v is not above 0", body.Speed)
	}
	if err != nil {
		http.Error(w, errors.Join(errors.New(`{"speed": 10} is wanted`), err).Error(), http.StatusBadRequest)
		return
	}
	o.base.SetSpeed(body.Speed)
	w.WriteHeader(http.StatusNoContent)
}

// change makes an out-of-band change.
func (o *owners) change(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Change sim.Action `json:"change"`
		sim.Resource
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, ownerBodyLimit))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !slices.Contains(o.changes.Known(), body.Change) {
		http.Error(w, fmt.Sprintf("change %q is none of %q", body.Change, o.changes.Known()), http.StatusBadRequest)
		return
	}
	_, err := o.changes.Do(body.Change, body.Resource)
	Done(w, err, http.StatusConflict)
}

func reply(w http.ResponseWriter, v any) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(b, '\n')) // the client went away
}
