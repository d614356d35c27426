package gcp

import (
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/project"
)

// idly is the answer to a request that nothing was done about: its operation is kept, so that it can be read, and so is the ID of the
// request.
func idly(w, trial *inventory, a *project.Answer) *project.Answer {
	d, _ := a.Body.(document.Object)
	for key, o := range trial.Operations.All() {
		if w.Operations.Get(key) == nil && document.Text(d, "name") == o.Name {
			kept := *o
			kept.Open = false
			w.Operations.Put(key, &kept)
		}
	}
	for key, begun := range trial.Requests.All() {
		if w.Requests.Get(key) == nil {
			w.Requests.Put(key, begun)
		}
	}
	w.container.Keep(trial.container, document.Text(d, "name"))
	return a
}

// Ignorable are rules that each ignore one field that clients can set, or one operation that sets something as a whole, without end.
func Ignorable() []sim.Fault {
	var out []sim.Fault
	for _, kind := range []string{"instanceGroupManagers.", "regionInstanceGroupManagers."} {
		out = append(out, core.Ignoring("compute", kind+"patch", "", "targetSize", "versions", "instanceTemplate", "updatePolicy",
			"allInstancesConfig", "autoHealingPolicies", "instanceLifecyclePolicy", "distributionPolicy", "baseInstanceName", "targetPools",
			"namedPorts", "standbyPolicy")...)
		for _, action := range []string{"resize", "setInstanceTemplate", "deleteInstances", "recreateInstances", "applyUpdatesToInstances",
			"abandonInstances", "createInstances"} {
			out = append(out, core.Ignoring("compute", kind+action, "")...)
		}
	}
	out = append(out, core.Ignoring("compute", "instances.setLabels", "")...)
	return append(out, ignorableOfGKE()...)
}
