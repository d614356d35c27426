package detail

import (
	"cmp"
	"slices"
	"strings"

	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/view/memory"
)

func lower(kind string) string { return strings.ToLower(kind) }

func causeOf(c pool.Cause) Cause { return Cause{Reason: c.Reason, Message: c.Message} }

// fromPass lists the machines as the last pass observed them, with what it decided.
func (d *Detail) fromPass(p memory.Pass) {
	o, plan := p.Outcome.Observed, p.Outcome.Plan
	d.Observed, d.NodesUnknown = p.At, o.NodesUnknown
	if p.Later != nil {
		d.NotObserved = p.Later.Error()
	}
	for _, c := range plan.Waiting {
		d.Waiting = append(d.Waiting, causeOf(c))
	}
	if plan.Refused != nil {
		d.Waiting = append([]Cause{causeOf(*plan.Refused)}, d.Waiting...)
	}
	for _, c := range o.Issues {
		d.Issues = append(d.Issues, causeOf(c))
	}
	b := plan.Budget
	d.Budget = &Budget{Desired: b.Desired, Available: b.Available, Unavailable: b.Unavailable, MaxUnavailable: b.MaxUnavailable,
		Surge: b.Surge, MaxSurge: b.MaxSurge}
	d.rollout(p)
	d.machines(p)
}

// rollout describes the rollout and its waves.
func (d *Detail) rollout(p memory.Pass) {
	plan := p.Outcome.Plan
	r := &Rollout{State: string(plan.Rollout.State), Cause: causeOf(plan.Rollout.Cause), Left: plan.Rollout.Left,
		Total: plan.Rollout.Total, Waves: []Wave{}}
	if plan.Step != nil && p.Outcome.Started {
		r.Step = string(plan.Step.Kind)
	}
	for k, w := range plan.Forecast {
		one := Wave{Number: k + 1, Machines: []string{}, Surge: w.Surge, LowestAvailable: w.LowestAvailable}
		for _, t := range w.Targets {
			one.Machines = append(one.Machines, t.ID)
		}
		r.Waves = append(r.Waves, one)
	}
	d.Rollout = r
}

// machines lists the machines, the drains, and the fields that differ.
func (d *Detail) machines(p memory.Pass) {
	o, plan := p.Outcome.Observed, p.Outcome.Plan
	zones, fields := map[string][]Machine{}, map[string]int{}
	for k := range o.Instances {
		i := &o.Instances[k]
		m := machineOf(i, o)
		if at := slices.IndexFunc(plan.Instances, func(g pool.InstanceDecision) bool { return g.ID == i.ID }); at >= 0 {
			cause := causeOf(plan.Instances[at].Cause)
			// A plan selects machines also while nothing is known of their nodes, and no step is taken: only the cloud takes some then.
			m.Goes, m.Selected = &cause, plan.Instances[at].Selected && (!o.NodesUnknown || i.TerminationNotice != nil)
		}
		for n, w := range plan.Forecast {
			if slices.ContainsFunc(w.Targets, func(t pool.InstanceRef) bool { return t.ID == i.ID }) {
				m.Wave = n + 1
			}
		}
		if i.State != pool.Terminating {
			for _, field := range i.TemplateDiff {
				fields[field]++
			}
		}
		if n := i.Node; n != nil && !n.DrainStarted.IsZero() {
			d.Drains = append(d.Drains, Drain{Machine: i.ID, Node: n.Name, Since: n.DrainStarted, Pods: n.Remaining, Volumes: n.Detaching,
				Blocked: n.Blocked})
		}
		zones[i.Zone] = append(zones[i.Zone], m)
	}
	for field, n := range fields {
		d.Differs = append(d.Differs, Differs{Field: field, Machines: n})
	}
	slices.SortFunc(d.Differs, func(a, b Differs) int { return cmp.Compare(a.Field, b.Field) })
	d.place(zones)
}

// machineOf describes one instance.
func machineOf(i *pool.Instance, o pool.Observed) Machine {
	m := Machine{ID: i.ID, Created: i.Created, Template: i.Template.Ref, Differs: i.TemplateDiff, Held: i.LifecycleHook != nil,
		Protected: i.ScaleInProtected, Marked: i.Marked, Standby: i.Standby, Note: cmp.Or(i.Stopped, i.CloudState),
		Status: statusOfInstance(i, o.NodesUnknown), Age: Unknown}
	switch {
	case i.Template.Content == "" || o.Wanted.Content == "":
	case i.Template.Same(o.Wanted):
		m.Age = New
	default:
		m.Age = Old
	}
	if i.Node != nil {
		m.Node, m.Version, m.Kept, m.KeptUntil = i.Node.Name, i.Node.KubeletVersion, i.Node.Held, i.Node.HeldUntil
	}
	return m
}

// statusOfInstance returns the status of an instance as a pass observed it.
func statusOfInstance(i *pool.Instance, nodesUnknown bool) Status {
	switch {
	case i.State == pool.Pending, i.State == pool.Failed:
		return Status(i.State)
	case i.Node != nil && !i.Node.DrainStarted.IsZero():
		return Draining
	case i.State == pool.Terminating:
		return Terminating
	case nodesUnknown:
		return NodeUnknown
	case i.Node == nil:
		return Joining
	case i.Node.Ready:
		return Serving
	}
	return NotReady
}
