package core

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/muster-project/muster/sim"
)

// AdminMux serves patterns below sim.AdminPath, and lists them at sim.AdminPath itself.
type AdminMux struct {
	mux    *http.ServeMux
	served []string
}

// newAdminMux returns the mux with its list.
func newAdminMux() *AdminMux {
	m := &AdminMux{mux: http.NewServeMux()}
	m.HandleFunc("GET "+sim.AdminPath+"{$}", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, struct {
			Document string   `json:"document"`
			Served   []string `json:"served"`
		}{"docs/simulators.md", slices.Sorted(slices.Values(m.served))})
	})
	m.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, fmt.Sprintf("%s %s is not served: GET %s lists what is", r.Method, r.URL.Path, sim.AdminPath), http.StatusNotFound)
	})
	return m
}

// HandleFunc serves a pattern, which is a method and a path below sim.AdminPath.
func (m *AdminMux) HandleFunc(pattern string, handle func(http.ResponseWriter, *http.Request)) {
	m.Handle(pattern, pattern, handle)
}

// Handle serves a pattern that the list shows in other words.
func (m *AdminMux) Handle(pattern, shown string, handle func(http.ResponseWriter, *http.Request)) {
	m.served = append(m.served, shown)
	m.mux.HandleFunc(pattern, handle)
}

// ServeHTTP answers one request.
func (m *AdminMux) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.mux.ServeHTTP(w, r) }
