package gcp

import (
	"net/http"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/sim/gcp/project"
)

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

// State returns the resources of the cloud.
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
			sim.FailInstance: nil, sim.StopInstance: func(on sim.Resource) error { return c.Stop(on.Instance) },
			sim.RecreateInstance: func(on sim.Resource) error { return c.RecreateByHand(on.Instance) },
			sim.DetachInstance:   func(on sim.Resource) error { return c.AbandonByHand(on.Instance) },
			sim.StartRollout:     nil, sim.CancelRollout: nil, sim.FailRollout: nil,
			sim.Autoscale: c.Autoscale, sim.UpgradeGroup: nil, sim.StopGroup: nil, sim.StartGroup: nil,
		}.WithPools(NodePoolActions(c)),
		Snapshot: (&snapshots{c, map[string]string{}}).take,
		Denied: sim.Fault{Code: "forbidden",
			Message: "Required 'compute.instanceGroupManagers.get' permission for 'projects/" + project.DefaultID + "'",
			Status:  http.StatusForbidden},
		NoCapacity: compute.NoCapacity,
		Groups:     sim.GroupBehavior{RecreatesInstances: true},
		Ignorable:  Ignorable(),
	}
}

// NodePoolBehavior is how GKE's node pools behave, whose machines GKE bootstraps.
func NodePoolBehavior() sim.GroupBehavior {
	return sim.GroupBehavior{BusyAfterChange: true, RecreatesInstances: true, Bootstraps: true}
}

// adminHandler is what the owner sees over HTTP. Beside what every simulator has: POST machines/{name}/{action} acts on an instance, and
// PUT networks, images, quotas, accounts, scopes, policies and sizes take what PutNetwork, PutImage, SetQuota, PutAccount, SetReachable,
// SetPolicy and Autoscale take.
func (c *Cloud) adminHandler() http.Handler {
	mux := core.OwnersMux(c.Base, func() any { return c.State() }, c.Capabilities().OutOfBand)
	core.Actions(mux, "machines", map[string]func(string) error{
		"terminate": c.Terminate, "stop": c.Stop, "preempt": c.Preempt, "sicken": c.Sicken, "recreate": c.RecreateByHand,
		"abandon": c.AbandonByHand,
	})
	const refused = http.StatusBadRequest
	core.Put(mux, "networks", refused, func(n compute.Network) error { return c.PutNetwork(n) })
	core.Put(mux, "images", refused, func(i compute.Image) error { return c.PutImage(i) })
	core.Put(mux, "quotas", refused, func(q compute.Quota) error { return c.SetQuota(q) })
	core.Put(mux, "accounts", refused, c.PutAccount)
	core.Put(mux, "scopes", refused, c.SetReachable)
	core.Put(mux, "policies", refused, c.SetPolicy)
	core.Put(mux, "sizes", refused, c.Autoscale)
	c.serveGKE(mux)
	return mux
}
