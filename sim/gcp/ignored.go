package gcp

import (
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/project"
)

// says reports whether the request says anything of a field.
func (x *exchange) says(field string) bool { return sim.JSONHas(x.Body, field) }

// carryOut runs a write, or what faults leave of it. What is ignored is checked as ever, and refused if it is wrong.
func (x *exchange) carryOut(w *inventory, faults []sim.Fault) (*project.Answer, error) {
	all, fields := sim.Ignored(faults)
	if !all && len(fields) == 0 {
		return x.route.Run(w, &x.Call)
	}
	trial, err := x.cloud.asOf(w.Now, 0)
	if err != nil {
		return nil, err
	}
	out, err := x.route.Run(trial, &x.Call)
	if err != nil {
		return nil, err
	}
	if !all {
		if x.Body, err = sim.JSONWithout(x.Body, fields...); err != nil {
			return nil, err
		}
		if rest, err := x.route.Run(w, &x.Call); err == nil {
			return rest, nil
		}
	}
	return w.idly(trial, out), nil // nothing is left of the request that makes sense alone
}

// idly is the answer to a request that nothing was done about: its operation is kept, so that it can be read, and so is the ID of the
// request.
func (w *inventory) idly(trial *inventory, a *project.Answer) *project.Answer {
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
	add := func(action string, fields ...string) {
		for _, field := range fields {
			out = append(out, sim.Fault{Kind: sim.Ignore, Service: "compute", Action: action, Field: field, Name: "ignores " + action + " " + field})
		}
	}
	for _, kind := range []string{"instanceGroupManagers.", "regionInstanceGroupManagers."} {
		add(kind+"patch", "", "targetSize", "versions", "instanceTemplate", "updatePolicy", "allInstancesConfig", "autoHealingPolicies",
			"instanceLifecyclePolicy",
			"distributionPolicy", "baseInstanceName", "targetPools", "namedPorts", "standbyPolicy")
		for _, action := range []string{"resize", "setInstanceTemplate", "deleteInstances", "recreateInstances", "applyUpdatesToInstances",
			"abandonInstances", "createInstances"} {
			add(kind+action, "")
		}
	}
	add("instances.setLabels", "")
	return append(out, ignorableOfGKE()...)
}
