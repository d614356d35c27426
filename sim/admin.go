package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
)

// AdminPath is where a simulated cloud answers its owner instead of its clients.
const AdminPath = "/_sim/"

// adminBodyLimit bounds what an owner may send: lists of rules are small.
const adminBodyLimit = 1 << 20

// Admin is what the owner of a simulated cloud can see and set over HTTP: the calls, the faults, the speed.
type Admin struct {
	Calls  *Calls
	Faults *Faults
	Speed  *Speed
	// State is what the cloud holds, in a form for people and tests.
	State func() any
	// OutOfBand are the out-of-band changes that the cloud knows.
	OutOfBand OutOfBandActions
}

// Handler answers below AdminPath:
//
//	GET    calls[?after=N]  what was asked, counted and one by one
//	DELETE calls            forget it
//	GET    faults           the rules in force
//	POST   faults           one more rule, or a list
//	DELETE faults           none any more
//	GET    speed, PUT speed {"speed": 10}
//	GET    state            what the cloud holds
//	GET    changes          the out-of-band changes that there are
//	POST   changes          one of them: {"change": "set the size", "name": "my-pool", "size": 3}
//	POST   reset            forget calls and faults
func (a *Admin) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+AdminPath+"calls", a.calls)
	mux.HandleFunc("DELETE "+AdminPath+"calls", func(w http.ResponseWriter, _ *http.Request) {
		a.Calls.Reset()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET "+AdminPath+"faults", func(w http.ResponseWriter, _ *http.Request) { reply(w, a.Faults.List()) })
	mux.HandleFunc("POST "+AdminPath+"faults", a.addFaults)
	mux.HandleFunc("DELETE "+AdminPath+"faults", func(w http.ResponseWriter, _ *http.Request) {
		a.Faults.Clear()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET "+AdminPath+"speed", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, speedBody{a.Speed.Factor()})
	})
	mux.HandleFunc("PUT "+AdminPath+"speed", a.setSpeed)
	mux.HandleFunc("GET "+AdminPath+"state", func(w http.ResponseWriter, _ *http.Request) { reply(w, a.State()) })
	mux.HandleFunc("GET "+AdminPath+"changes", func(w http.ResponseWriter, _ *http.Request) { reply(w, a.OutOfBand.known()) })
	mux.HandleFunc("POST "+AdminPath+"changes", a.change)
	mux.HandleFunc("POST "+AdminPath+"reset", func(w http.ResponseWriter, _ *http.Request) {
		a.Calls.Reset()
		a.Faults.Clear()
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}

type speedBody struct {
	Speed float64 `json:"speed"`
}

func (a *Admin) calls(w http.ResponseWriter, r *http.Request) {
	var after int64
	if v := r.URL.Query().Get("after"); v != "" {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			http.Error(w, "after: a number is wanted, not "+strconv.Quote(v), http.StatusBadRequest)
			return
		}
		after = n
	}
	reply(w, a.Calls.Summary(after))
}

func (a *Admin) addFaults(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, adminBodyLimit))
	if err == nil {
		var faults []Fault
		if faults, err = ParseFaults(b); err == nil {
			err = a.Faults.Add(faults...)
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (a *Admin) setSpeed(w http.ResponseWriter, r *http.Request) {
	var body speedBody
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, adminBodyLimit)).Decode(&body)
	if err == nil && body.Speed <= 0 {
		err = fmt.Errorf("speed %v is not above 0", body.Speed)
	}
	if err != nil {
		http.Error(w, errors.Join(errors.New(`{"speed": 10} is wanted`), err).Error(), http.StatusBadRequest)
		return
	}
	a.Speed.Set(body.Speed)
	w.WriteHeader(http.StatusNoContent)
}

// change makes an out-of-band change.
func (a *Admin) change(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Change Action `json:"change"`
		Resource
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, adminBodyLimit))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !slices.Contains(a.OutOfBand.known(), body.Change) {
		http.Error(w, fmt.Sprintf("change %q is none of %q", body.Change, a.OutOfBand.known()), http.StatusBadRequest)
		return
	}
	if _, err := a.OutOfBand.Do(body.Change, body.Resource); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusNoContent)
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
