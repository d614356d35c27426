package server

import (
	"encoding/json"
	"net/http"

	"github.com/muster-project/muster/sim"
)

// ownerBodyLimit bounds what an owner may send.
const ownerBodyLimit = 4 << 20

// OwnersMux returns what every simulator's owner sees below sim.AdminPath; each cloud adds what it has beside that.
func OwnersMux(b *Base, content func() any, outOfBand sim.OutOfBandActions) *http.ServeMux {
	a := &sim.Admin{Calls: &b.calls, Faults: b.Environment.Faults, Speed: &b.Environment.Speed, State: content, OutOfBand: outOfBand}
	mux := http.NewServeMux()
	mux.Handle("/", a.Handler())
	return mux
}

// Actions has POST {path}/{id}/{action} call the action of that name with what the ID names. An error is a conflict with its state.
func Actions(mux *http.ServeMux, path string, actions map[string]func(id string) error) {
	mux.HandleFunc("POST "+sim.AdminPath+path+"/{id}/{action}", func(w http.ResponseWriter, r *http.Request) {
		act, known := actions[r.PathValue("action")]
		if !known {
			http.NotFound(w, r)
			return
		}
		Done(w, act(r.PathValue("id")), http.StatusConflict)
	})
}

// Put has PUT of a path take a value in JSON. An error of take is answered with the status.
func Put[T any](mux *http.ServeMux, path string, status int, take func(T) error) {
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
func Clusters[W, S any](mux *http.ServeMux, path string,
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
