package pool

import (
	"fmt"
	"strings"
)

// settled says that the cloud is not at work: as many instances run as the group wants, and none comes or goes
// or was asked to go.
func (v *view) settled() bool {
	if v.busy() != nil || v.growRests() != nil {
		return false
	}
	running := 0
	for _, i := range v.o.Instances {
		switch {
		case !v.runs(&i) || i.DeletionRequested != nil && v.bounds() == nil:
			return false
		case !i.Standby:
			running++
		}
	}
	return running == v.o.Group.Size
}

// waiting says what the pool waits for, most important first.
func (v *view) waiting() []Cause {
	d, o := v.d, v.o
	var out []Cause
	if d.CreateBlocked != nil && o.Wanted.Content == "" {
		out = append(out, *d.CreateBlocked)
	}
	out = append(out, v.broken()...)
	if missing := notThere(o, v.t); missing != nil {
		out = append(out, *missing)
	}
	out = append(out, v.working()...)
	if o.NodesUnknown {
		out = append(out, Cause{"ConnectionDown", "the workload cluster does not answer, so nothing is known about nodes and none is removed"})
	}
	out = append(out, v.stranded()...)
	out = append(out, v.heldUp()...)
	out = append(out, v.healWaits()...)
	out = append(out, o.Issues...)
	if rests := v.growRests(); rests != nil {
		out = append(out, *rests)
	}
	out = append(out, v.launching()...)
	out = append(out, draining(o.Instances)...)
	if d.MaxReplicas() < o.Group.Size && (d.ReplicasManagedExternally || v.left == 0) {
		out = append(out, Cause{"MaxSizePending", fmt.Sprintf("%s is lowered to %d once the %s, which has a size of %d, is small enough", d.MaxField, d.Max, v.t.Group, o.Group.Size)})
	}
	return append(append(out, v.removalsWait()...), v.joining()...)
}

// removalsWait says why an instance that is to go, because there are too many or by name, does not, and what the user can do about it.
// Instances that are replaced in a rollout wait for their turn in any case.
func (v *view) removalsWait() []Cause {
	first, n := v.heldRemovals()
	missing, awaited := v.awaited()
	if first == nil || awaited == nil || v.available > v.floor() || v.o.NodesUnknown {
		return nil
	}
	text := fmt.Sprintf("removal of %s waits until more than %d of %d machines are available, now %d are; %s %s",
		counting(first.ID, n), v.floor(), v.want, v.available, awaited.ID, missing)
	if first.why == spare {
		text += " and is removed instead if it stays so"
	}
	if s := v.d.Strategy; s != nil && s.UnavailableField != "" {
		text += fmt.Sprintf("; raise %s to go on at once", s.UnavailableField)
	}
	return []Cause{{budgetSpent, text}}
}

// heldRemovals returns the first by ID and the number of the available instances that are to go, because there are too many or by name, and
// do not go now.
func (v *view) heldRemovals() (first *member, n int) {
	for _, m := range v.members {
		if m.going || !m.available || m.why != spare && m.why != condemned {
			continue
		}
		if n++; first == nil || m.ID < first.ID {
			first = m
		}
	}
	return first, n
}

// budgetSpent is the reason of instances that wait until more machines are available.
const budgetSpent = "BudgetSpent"

// awaited returns the first instance that may still become available, and what it lacks.
func (v *view) awaited() (missing string, first *member) {
	for _, m := range v.members {
		if m.available || m.going || m.drains() || m.TerminationNotice != nil || v.failed(m.Instance) || first != nil && m.ID > first.ID {
			continue
		}
		switch {
		case m.Node == nil:
			missing = "has not joined the cluster"
		case !m.Node.Ready:
			missing = "is not Ready"
		default:
			missing = "has not been Ready for long enough"
		}
		first = m
	}
	return missing, first
}

// counting names the first of n.
func counting(first string, n int) string {
	if n > 1 {
		return fmt.Sprintf("%s and %d more", first, n-1)
	}
	return first
}

// heldUp says why a rollout does not go on.
func (v *view) heldUp() []Cause {
	switch {
	case v.stuck != nil && !v.cloudFirst() && v.left+v.aside > 0 && v.state != RolloutNone && !v.o.NodesUnknown:
		return []Cause{*v.stuck}
	case v.rollsNow():
		return []Cause{v.rollingOn()}
	case v.toRoll() && !v.o.NodesUnknown && v.rollWaits() != nil:
		return []Cause{*v.rollWaits()}
	}
	return nil
}

// stranded names the stale instances that are not serving and that nothing may replace: where an external autoscaler owns the size and the
// cloud lowers it with every removal, only a surge keeps the place. To remove one and to raise the size again is not safe: a pass that
// follows a crash could not tell its own removal from the autoscaler's, which removes what never joins too, and would undo that.
func (v *view) stranded() []Cause {
	if _, why := v.forbidden(); why == nil || why.Reason != sizedElsewhere {
		return nil
	}
	var names []string
	var first Cause
	for _, m := range v.members {
		if m.why != idle {
			continue
		}
		if names = append(names, m.ID); len(names) == 1 {
			first = m.cause
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []Cause{{sizedElsewhere, fmt.Sprintf("%s can't be replaced (%s): replicas are managed externally and %s is 0: set it to 1 or more, or delete the machine",
		short(names), first.Message, v.surgeField())}}
}

// surgeField returns the path of maxSurge in the object.
func (v *view) surgeField() string {
	if s := v.d.Strategy; s != nil && s.SurgeField != "" {
		return s.SurgeField
	}
	return "maxSurge"
}

// toRoll says that there is something for a roll of the cloud's own to do.
func (v *view) toRoll() bool {
	n, _ := v.leftToCloud()
	return v.native() && n > 0 || v.repoints()
}

// rollingOn says how far the cloud's own roll is, and whether it goes on only because nothing can end it.
func (v *view) rollingOn() Cause {
	c := rolling(v.o.ProviderRollout, v.t)
	if unwanted := v.unwantedRoll(); unwanted != nil && !v.t.CanCancelRollout {
		c.Message += "; it can't be cancelled, and it is waited for although " + unwanted.Message
	}
	return c
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
	return []Cause{{budgetSpent, fmt.Sprintf("%s to go wait until more than %d of %d are available, now %d are", machines(n), v.floor(), v.want, v.available)}}
}

// launching counts the instances that the cloud has still to bring, and names those that failed.
func (v *view) launching() []Cause {
	o := v.o
	pending, failed, serving := 0, 0, 0
	for _, i := range o.Instances {
		switch {
		case i.State == Pending:
			pending++
		case v.failed(&i):
			failed++
		case i.State == Failed:
			serving++
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
	if serving > 0 {
		out = append(out, Cause{"FailedServing", machines(serving) + " failed in the cloud's eyes, and serve all the same: they are left alone"})
	}
	return out
}

// leftWithoutNode returns the instances that run without a Node after the join deadline, because it was deleted or never registered, and
// that no rule replaces.
func (v *view) leftWithoutNode() []string {
	if v.d.Remediation != nil || v.d.RemediationHint == "" {
		return nil
	}
	var ids []string
	for _, m := range v.members {
		if m.State == Running && m.Node == nil && m.why == stays && !m.going && v.overdue(m.Instance) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// joining counts the machines that run and serve nobody yet.
func (v *view) joining() []Cause {
	if v.o.NodesUnknown {
		return nil
	}
	unjoined, unready := 0, 0
	for _, i := range v.o.Instances {
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
		text := fmt.Sprintf("waiting for %s to join the cluster", machines(unjoined))
		if stuck := v.leftWithoutNode(); len(stuck) > 0 {
			text += fmt.Sprintf("; without a node after the join deadline, and not replaced: %s; %s", short(stuck), v.d.RemediationHint)
		}
		out = append(out, Cause{"NodesJoining", text})
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
		if name, waits, ok := i.guarded(); ok && (i.State != Terminating || i.LifecycleHook != nil) {
			nodes = append(nodes, name)
			blocked = append(blocked, waits...)
			continue
		}
		if i.State == Terminating && i.LifecycleHook == nil || i.Node == nil || i.Node.DrainStarted.IsZero() || i.Node.Drained() {
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
