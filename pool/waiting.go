package pool

import (
	"fmt"
	"strings"
)

// settled says that the cloud is not at work: as many instances run as the group wants, and none comes or goes
// or was asked to go.
func (v *view) settled() bool {
	running := 0
	for _, i := range v.o.Instances {
		switch {
		case i.State != Running || i.Condemned != nil && v.bounds() == nil:
			return false
		case !i.Aside:
			running++
		}
	}
	return running == v.o.Group.Size
}

// waiting says what the pool waits for, most important first.
func (v *view) waiting() []Cause {
	d, o := v.d, v.o
	var out []Cause
	if d.Held != nil && o.Wanted.Content == "" {
		out = append(out, *d.Held)
	}
	if o.NodesUnknown {
		out = append(out, Cause{"WorkloadClusterUnreachable", "the workload cluster does not answer, so nothing is known about nodes and none is removed"})
	}
	out = append(out, v.heldUp()...)
	out = append(out, o.Issues...)
	out = append(out, v.launching()...)
	out = append(out, draining(o.Instances)...)
	if d.Max < o.Group.Size && (d.External || v.left == 0) {
		out = append(out, Cause{"MaximumWaits", fmt.Sprintf("%s is lowered to %d once the %s, which has a size of %d, is small enough", d.MaxField, d.Max, v.t.Group, o.Group.Size)})
	}
	return append(out, joining(o)...)
}

// heldUp says why a rollout does not go on.
func (v *view) heldUp() []Cause {
	n, _ := v.leftToCloud()
	roll := v.o.Roll
	switch {
	case v.stuck != nil && v.left+v.aside > 0 && v.state != RolloutNone && !v.o.NodesUnknown:
		return []Cause{*v.stuck}
	case roll != nil && !roll.ended():
		return []Cause{rolling(roll, v.t)}
	case n > 0 && v.native() && !v.o.NodesUnknown && v.rollWaits() != nil:
		return []Cause{*v.rollWaits()}
	}
	return nil
}

// turns says that machines wait for others to be available.
func (v *view) turns() []Cause {
	n := 0
	for _, m := range v.members {
		if m.why != stays && !m.going && v.may(m) {
			n++
		}
	}
	if n == 0 || v.available > v.floor() {
		return nil
	}
	return []Cause{{"BudgetSpent", fmt.Sprintf("%s to go wait until more than %d of %d are available, now %d are", machines(n), v.floor(), v.want, v.available)}}
}

// launching counts the instances that the cloud has still to bring, and names those that failed.
func (v *view) launching() []Cause {
	o := v.o
	pending, failed := 0, 0
	for _, i := range o.Instances {
		switch i.State {
		case Pending:
			pending++
		case Failed:
			failed++
		}
	}
	missing := max(0, o.Group.Size-v.counted)
	var out []Cause
	if n := pending + missing; n > 0 {
		out = append(out, Cause{"InstancesLaunching", fmt.Sprintf("waiting for %s to be launched", machines(n))})
	}
	if failed > 0 {
		out = append(out, Cause{"InstancesFailed", machines(failed) + " failed and will be replaced"})
	}
	return out
}

// joining counts the machines that run and serve nobody yet.
func joining(o Observed) []Cause {
	if o.NodesUnknown {
		return nil
	}
	unjoined, unready := 0, 0
	for _, i := range o.Instances {
		switch {
		case i.State != Running:
		case i.Node == nil:
			unjoined++
		case !i.Node.Ready:
			unready++
		}
	}
	var out []Cause
	if unjoined > 0 {
		out = append(out, Cause{"NodesJoining", fmt.Sprintf("waiting for %s to join the cluster", machines(unjoined))})
	}
	if unready > 0 {
		out = append(out, Cause{"NodesNotReady", fmt.Sprintf("waiting for the nodes of %s to be Ready", machines(unready))})
	}
	return out
}

// blockedLimit bounds how many pods a message names.
const blockedLimit = 3

// draining says which drains have not ended, and what keeps them.
func draining(list []Instance) []Cause {
	var nodes, blocked []string
	for _, i := range list {
		if name, waits, ok := i.guarded(); ok && (i.State != Terminating || i.Hold != nil) {
			nodes = append(nodes, name)
			blocked = append(blocked, waits...)
			continue
		}
		if i.State == Terminating && i.Hold == nil || i.Node == nil || i.Node.DrainStarted.IsZero() || i.Node.Drained() {
			continue
		}
		nodes = append(nodes, i.Node.Name)
		blocked = append(blocked, i.Node.Blocked...)
	}
	if len(nodes) == 0 {
		return nil
	}
	text := fmt.Sprintf("draining %s", short(nodes))
	if len(blocked) > 0 {
		return []Cause{{"DrainBlocked", text + "; kept by " + short(blocked)}}
	}
	return []Cause{{"Draining", text}}
}

// short lists the first few names and counts the rest.
func short(names []string) string {
	if len(names) <= blockedLimit {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:blockedLimit], ", "), len(names)-blockedLimit)
}
