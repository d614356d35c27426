package azure

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/azure/containerservice"
	"github.com/muster-project/muster/sim/document"
)

// Calls is the log of all requests.
func (c *Cloud) Calls() *sim.Calls { return &c.calls }

// Faults are the rules in force.
func (c *Cloud) Faults() *sim.Faults { return c.faults }

// SetSpeed changes how much faster than life things go that start from now on.
func (c *Cloud) SetSpeed(factor float64) { c.speed.Set(factor) }

// State is all that the cloud holds.
type State struct {
	Sets        []compute.Set
	Assignments []Assignment
	// Clusters are the managed clusters with their agent pools.
	Clusters []containerservice.Inspected
}

// Assignment is a role assignment.
type Assignment struct{ Name, Scope, Role, Principal string }

// State is what the cloud holds at this time.
func (c *Cloud) State() State {
	out := State{}
	// An error to write shows with the next request; what is held is shown all the same.
	_ = c.by(func(w *inventory) error {
		out.Sets, out.Clusters = w.compute.Inspect(), w.containers.Inspect()
		for _, a := range w.assignments.All() {
			out.Assignments = append(out.Assignments, Assignment{Name: a.Name, Scope: a.Scope, Role: a.Role, Principal: a.Principal})
		}
		return nil
	})
	return out
}

// by does something by hand: no request, no token, no limit and no fault is in its way.
func (c *Cloud) by(f func(*inventory) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if err := c.settle(now, false); err != nil {
		return err
	}
	c.inventory.Now, c.inventory.touched = now, true
	if err := f(c.inventory); err != nil {
		return err
	}
	return c.settle(now, true)
}

// portal is what a user does in the portal: no request, no token, no limit and no fault is in the way.
type portal struct {
	compute.Portal
	cloud *Cloud
}

// byCompute does something to what Microsoft.Compute holds by hand.
func (c *Cloud) byCompute(f func(*compute.Service) error) error {
	return c.by(func(w *inventory) error { return f(w.compute) })
}

// byHand has POST {path}/{id}/{hand} lay a hand on what the ID names. A refusal is a conflict with its state.
func byHand(mux *http.ServeMux, path string, hands map[string]func(id string) error) {
	mux.HandleFunc("POST "+sim.AdminPath+path+"/{id}/{hand}", func(w http.ResponseWriter, r *http.Request) {
		hand, known := hands[r.PathValue("hand")]
		if !known {
			http.NotFound(w, r)
			return
		}
		done(w, hand(r.PathValue("id")), http.StatusConflict)
	})
}

// adminHandler is what the owner sees over HTTP. Beside what every simulator has, hands can be laid on machines, by their names or
// UIDs: POST machines/{id}/terminate, stop, start, deallocate, evict, detach or sicken; PUT applications, groups, resources, quotas and attached, in JSON, are what
// PutApplication, PutGroup (of the default subscription), Resource, SetQuota and Attach take; DELETE quotas takes all bounds away. What is
// done to AKS is added by serveAKS.
func (c *Cloud) adminHandler() http.Handler {
	a := &sim.Admin{Calls: &c.calls, Faults: c.faults, Speed: &c.speed, State: func() any { return c.State() }, OutOfBand: c.Capabilities().OutOfBand}
	hands := map[string]func(string) error{"terminate": c.Terminate, "stop": c.Stop, "start": c.Start, "deallocate": c.Deallocate, "evict": c.Evict, "detach": c.Detach, "sicken": c.Sicken}
	mux := http.NewServeMux()
	mux.Handle("/", a.Handler())
	byHand(mux, "machines", hands)
	mux.HandleFunc("PUT "+sim.AdminPath+"applications", func(w http.ResponseWriter, r *http.Request) {
		var a Application
		if decoded(w, r, &a) {
			done(w, c.PutApplication(a), http.StatusBadRequest)
		}
	})
	mux.HandleFunc("PUT "+sim.AdminPath+"groups", func(w http.ResponseWriter, r *http.Request) {
		var g Group
		if decoded(w, r, &g) {
			done(w, c.PutGroup(c.subscriptions[0].ID, g), http.StatusBadRequest)
		}
	})
	mux.HandleFunc("PUT "+sim.AdminPath+"quotas", func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Location, Family string
			Limit            int
		}
		if decoded(w, r, &q) {
			done(w, c.SetQuota(q.Location, q.Family, q.Limit), http.StatusBadRequest)
		}
	})
	mux.HandleFunc("PUT "+sim.AdminPath+"attached", func(w http.ResponseWriter, r *http.Request) {
		var a struct {
			Set, Name string
			Tags      map[string]string
		}
		if decoded(w, r, &a) {
			done(w, c.Attach(a.Set, a.Name, a.Tags), http.StatusConflict)
		}
	})
	mux.HandleFunc("DELETE "+sim.AdminPath+"quotas", func(w http.ResponseWriter, _ *http.Request) { done(w, c.ClearQuotas(), http.StatusBadRequest) })
	mux.HandleFunc("PUT "+sim.AdminPath+"resources", func(w http.ResponseWriter, r *http.Request) {
		var given struct {
			ID  string
			Doc document.Object
		}
		if decoded(w, r, &given) {
			if given.Doc == nil {
				given.Doc = document.Object{}
			}
			done(w, c.Resource(given.ID, given.Doc), http.StatusBadRequest)
		}
	})
	c.serveAKS(mux)
	return mux
}

// decoded reads what the owner sends, or says what is wrong with it.
func decoded(w http.ResponseWriter, r *http.Request, into any) bool {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, bodyLimit)).Decode(into); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return false
	}
	return true
}

func done(w http.ResponseWriter, err error, status int) {
	if err != nil {
		http.Error(w, err.Error(), status)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
