package azure

import (
	"net/http"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/azure/containerservice"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
)

// State is all that the cloud holds.
type State struct {
	Sets        []compute.Set
	Assignments []Assignment
	// Clusters are the managed clusters with their agent pools.
	Clusters []containerservice.Inspected
}

// Assignment is a role assignment.
type Assignment struct{ Name, Scope, Role, Principal string }

// State returns the resources of the cloud.
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

// portal is what a user does in the portal: no request, no token, no limit and no fault is in the way.
type portal struct {
	compute.Portal
	cloud *Cloud
}

// byCompute does something to what Microsoft.Compute holds by hand.
func (c *Cloud) byCompute(f func(*compute.Service) error) error {
	return c.by(func(w *inventory) error { return f(w.compute) })
}

// adminHandler is what the owner sees over HTTP. Beside what every simulator has, machines can be acted on, by their names or UIDs: POST
// machines/{id}/terminate, stop, start, deallocate, evict, detach or sicken; PUT applications, groups, resources, quotas and attached, in
// JSON, are what PutApplication, PutGroup (of the default subscription), Resource, SetQuota and Attach take; DELETE quotas takes all bounds
// away. What is done to AKS is added by serveAKS.
func (c *Cloud) adminHandler() http.Handler {
	mux := core.OwnersMux(c.Base, func() any { return c.State() }, c.Capabilities().OutOfBand)
	core.Actions(mux, "machines", map[string]func(string) error{
		"terminate": c.Terminate, "stop": c.Stop, "start": c.Start, "deallocate": c.Deallocate, "evict": c.Evict, "detach": c.Detach,
		"sicken": c.Sicken,
	})
	const refused = http.StatusBadRequest
	core.Put(mux, "applications", refused, c.PutApplication)
	core.Put(mux, "groups", refused, func(g Group) error { return c.PutGroup(c.subscriptions[0].ID, g) })
	core.Put(mux, "quotas", refused, func(q quota) error { return c.SetQuota(q.Location, q.Family, q.Limit) })
	core.Put(mux, "attached", http.StatusConflict, func(a attached) error { return c.Attach(a.Set, a.Name, a.Tags) })
	mux.HandleFunc("DELETE "+sim.AdminPath+"quotas", func(w http.ResponseWriter, _ *http.Request) { core.Done(w, c.ClearQuotas(), refused) })
	core.Put(mux, "resources", refused, func(r given) error { return c.Resource(r.ID, document.Overlaid(r.Doc, nil)) })
	c.serveAKS(mux)
	return mux
}

// What the owner sends.
type (
	quota struct {
		Location, Family string
		Limit            int
	}
	attached struct {
		Set, Name string
		Tags      map[string]string
	}
	given struct {
		ID  string
		Doc document.Object
	}
)
