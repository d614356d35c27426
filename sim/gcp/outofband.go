package gcp

import (
	"encoding/json"
	"net/http"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/sim/gcp/project"
)

// Calls is the log of all requests.
func (c *Cloud) Calls() *sim.Calls { return &c.calls }

// Faults are the rules in force.
func (c *Cloud) Faults() *sim.Faults { return c.faults }

// SetSpeed changes how much faster than life things go that start from now on.
func (c *Cloud) SetSpeed(factor float64) { c.speed.Set(factor) }

// console is what a user does in the console: no request, no token, no quota and no fault is in the way.
type console struct {
	compute.Console
	cloud *Cloud
}

// State is all that the cloud holds.
type State struct {
	Groups    []compute.Group
	Templates []compute.Template
	Clusters  []container.Inspected
}

// State is what the cloud holds at this time.
func (c *Cloud) State() State {
	out := State{}
	// An error to write shows with the next request; what is held is shown all the same.
	_ = c.by(func(w *inventory) error {
		out.Groups, out.Templates, out.Clusters = w.compute.Inspect(), w.compute.InspectTemplates(), w.container.Inspect()
		return nil
	})
	return out
}

// Capabilities describes Google Cloud for callers that do not know which cloud it is. Its actions reach the default project, and groups of
// any place by their names.
func (c *Cloud) Capabilities() sim.Capabilities {
	return sim.Capabilities{
		OutOfBand: sim.OutOfBandActions{
			sim.CreateGroup: c.CreateGroup, sim.CreateTemplate: c.CreateTemplate,
			sim.DeleteGroup: c.DeleteGroup, sim.DeleteTemplate: c.DeleteTemplate,
			sim.CreateVersion: nil, sim.DeleteVersion: nil, sim.LaunchFrom: nil,
			sim.SetSize: c.SetSize, sim.SetBounds: nil,
			sim.RemoveTag: c.RemoveTag, sim.ChangeTag: c.ChangeTag, sim.ResumeProcesses: nil, sim.RemoveHooks: nil,
			sim.TerminateInstance: c.TerminateInstance, sim.MarkUnhealthy: nil,
			sim.InterruptInstance: c.InterruptInstance, sim.RecommendReplacement: nil, sim.MoveToStandby: nil, sim.RebalanceZones: nil,
			sim.StartRollout: nil, sim.CancelRollout: nil, sim.FailRollout: nil,
		},
		Denied:     sim.Fault{Code: "forbidden", Message: "Required 'compute.instanceGroupManagers.get' permission for 'projects/" + project.DefaultID + "'", Status: http.StatusForbidden},
		NoCapacity: compute.NoCapacity,
		Ignorable:  Ignorable(),
	}
}

// adminHandler is what the owner sees over HTTP. Beside what every simulator has: POST machines/{name}/{hand} lays a hand on an instance, and
// PUT networks, images, quotas, accounts, scopes, policies and sizes take what PutNetwork, PutImage, SetQuota, PutAccount, SetReachable,
// SetPolicy and Autoscale take.
func (c *Cloud) adminHandler() http.Handler {
	a := &sim.Admin{Calls: &c.calls, Faults: c.faults, Speed: &c.speed, State: func() any { return c.State() }, OutOfBand: c.Capabilities().OutOfBand}
	mux := http.NewServeMux()
	mux.Handle("/", a.Handler())
	hands := map[string]func(string) error{"terminate": c.Terminate, "stop": c.Stop, "preempt": c.Preempt, "sicken": c.Sicken, "recreate": c.RecreateByHand, "abandon": c.AbandonByHand}
	mux.HandleFunc("POST "+sim.AdminPath+"machines/{id}/{hand}", func(w http.ResponseWriter, r *http.Request) {
		hand, known := hands[r.PathValue("hand")]
		if !known {
			http.NotFound(w, r)
			return
		}
		done(w, hand(r.PathValue("id")), http.StatusConflict)
	})
	put(mux, "networks", func(n compute.Network) error { return c.PutNetwork(n) })
	put(mux, "images", func(i compute.Image) error { return c.PutImage(i) })
	put(mux, "quotas", func(q compute.Quota) error { return c.SetQuota(q) })
	put(mux, "accounts", c.PutAccount)
	put(mux, "scopes", c.SetReachable)
	put(mux, "policies", c.SetPolicy)
	put(mux, "sizes", c.Autoscale)
	c.serveGKE(mux)
	return mux
}

// put has PUT of a path take a value in JSON.
func put[T any](mux *http.ServeMux, path string, take func(T) error) {
	mux.HandleFunc("PUT "+sim.AdminPath+path, func(w http.ResponseWriter, r *http.Request) {
		var value T
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, bodyLimit)).Decode(&value); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		done(w, take(value), http.StatusBadRequest)
	})
}

func done(w http.ResponseWriter, err error, status int) {
	if err != nil {
		http.Error(w, err.Error(), status)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
