package core

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim"
)

// ownerBodyLimit bounds what an owner may send.
const ownerBodyLimit = 4 << 20

// Actions has POST {path}/{id}/{action} call the action of that name with what the ID names. An error is a conflict with its state.
func Actions(mux *AdminMux, path string, actions map[string]func(id string) error) {
	known := slices.Sorted(maps.Keys(actions))
	at := "POST " + sim.AdminPath + path + "/{id}/"
	mux.Handle(at+"{action}", at+strings.Join(known, "|"), func(w http.ResponseWriter, r *http.Request) {
		if act, ok := Action(w, r.PathValue("action"), actions); ok {
			Done(w, act(r.PathValue("id")), http.StatusConflict)
		}
	})
}

// Action returns the action of a name. If there is none, it has answered with those that there are.
func Action[A any](w http.ResponseWriter, name string, actions map[string]A) (A, bool) {
	act, ok := actions[name]
	if !ok {
		http.Error(w, fmt.Sprintf("action %q is none of %q", name, slices.Sorted(maps.Keys(actions))), http.StatusNotFound)
	}
	return act, ok
}

// PoolActions has POST {path}/{cluster}/{pool}/{action} call the action of that name with the pool, as cluster/pool, and what the body
// holds; an action that needs nothing has no body. An error is a conflict with its state.
func PoolActions[A any](mux *AdminMux, path string, actions map[string]func(pool string, a A) error) {
	mux.HandleFunc("POST "+sim.AdminPath+path+"/{cluster}/{pool}/{action}", func(w http.ResponseWriter, r *http.Request) {
		act, known := Action(w, r.PathValue("action"), actions)
		if !known {
			return
		}
		var a A
		if r.ContentLength == 0 || Decoded(w, r, &a) {
			Done(w, act(r.PathValue("cluster")+"/"+r.PathValue("pool"), a), http.StatusConflict)
		}
	})
}

// Put has PUT of a path take a value in JSON. An error of take is answered with the status.
func Put[T any](mux *AdminMux, path string, status int, take func(T) error) {
	mux.HandleFunc("PUT "+sim.AdminPath+path, func(w http.ResponseWriter, r *http.Request) {
		var value T
		if Decoded(w, r, &value) {
			Done(w, take(value), status)
		}
	})
}

// Decoded reads the body of an owner's request and reports whether it could; if not, it has answered.
func Decoded(w http.ResponseWriter, r *http.Request, into any) bool {
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, ownerBodyLimit)).Decode(into)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
	return err == nil
}

// Done answers an owner's request that returns nothing: with no content, or with the error and the status.
func Done(w http.ResponseWriter, err error, status int) {
	if err != nil {
		http.Error(w, err.Error(), status)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// Clusters has PUT of a path make or change a managed cluster and answer with how it is then, and DELETE {path}/{place}/{group}/{name}
// begin to delete one. refused answers with the status of the cloud's own error.
func Clusters[W, S any](mux *AdminMux, path string,
	put func(W) (S, error), remove func(place, group, name string) (gone bool, err error),
	refused func(http.ResponseWriter, error),
) {
	mux.HandleFunc("PUT "+sim.AdminPath+path, func(w http.ResponseWriter, r *http.Request) {
		var want W
		if !Decoded(w, r, &want) {
			return
		}
		shown, err := put(want)
		if err != nil {
			refused(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(shown) // the client went away
	})
	mux.HandleFunc("DELETE "+sim.AdminPath+path+"/{place}/{group}/{name}", func(w http.ResponseWriter, r *http.Request) {
		gone, err := remove(r.PathValue("place"), r.PathValue("group"), r.PathValue("name"))
		switch {
		case err != nil:
			refused(w, err)
		case gone:
			w.WriteHeader(http.StatusNoContent)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})
}
