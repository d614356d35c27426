package pool

import (
	"fmt"
	"slices"

	"github.com/muster-project/muster/pool/words"
)

// status derives the report of a plan: everything but its step.
type status struct {
	in        *inputs
	fleet     *classification
	rollout   *rollout
	budget    *budget
	selection *selection
	inPlace   *inPlace
	steps     *steps
}

func newStatus(s *steps) *status {
	return &status{in: s.in, fleet: s.fleet, rollout: s.rollout, budget: s.budget, selection: s.selection, inPlace: s.inPlace, steps: s}
}

// report returns the plan without a step.
func (v *status) report() Plan {
	p := Plan{Waiting: v.waiting(), Instances: v.decisions(), InPlace: v.inPlace.decisions(), Forecast: v.forecast(),
		Budget: v.budgetReport(), Rollout: v.rolloutReport(), Progress: v.rollout.limits.Verdict}
	for _, m := range v.selection.undecided {
		p.Undecided = append(p.Undecided, m.ID)
	}
	p.PodReads = v.selection.podReads()
	p.Quiescent = v.quiescent() && p.Rollout.State != RolloutInProgress
	p.Refused = v.in.d.Strategy.bothZero()
	if refused := v.in.outOfBounds(); refused != nil {
		p.Refused = refused
	}
	return p
}

// decisions returns the members that are to be removed or replaced, now or later.
func (v *status) decisions() []InstanceDecision {
	var list []InstanceDecision
	for _, m := range v.fleet.members {
		switch {
		case m.reason != keep:
			list = append(list, InstanceDecision{ID: m.ID, Cause: instanceRef(m).Cause, LowersAvailable: m.available, Selected: m.selected})
		case m.TerminationNotice != nil:
			list = append(list, InstanceDecision{ID: m.ID, Cause: *m.TerminationNotice, LowersAvailable: m.available, Selected: true})
		}
	}
	return list
}

// firstStale returns the cause of the first stale instance, with how many there are.
func (v *classification) firstStale() Cause {
	var c Cause
	n := 0
	for _, m := range v.members {
		if m.replaced() {
			if n == 0 {
				c = m.cause
				if m.staleCause != nil {
					c = *m.staleCause
				}
			}
			n++
		}
	}
	c.Message = fmt.Sprintf("%d of %s to replace: %s", n, words.Machines(len(v.members)), c.Message)
	return c
}

// quiescent reports whether the cloud is idle: as many instances run as the group wants, and none comes, goes or was requested to go. A
// failed instance that stays is on no way either.
func (v *status) quiescent() bool {
	if v.in.operation() != nil || v.budget.scaleUpInBackoff() != nil || v.inPlace.updating() != nil {
		return false
	}
	running, stays := 0, v.staysFailed()
	for _, i := range v.in.o.Instances {
		switch {
		case !v.in.runs(&i) && !slices.Contains(stays, i.ID) || i.DeletionRequested != nil && v.in.outOfBounds() == nil:
			return false
		case !i.Standby && !i.EnteringStandby:
			running++
		}
	}
	return running == v.in.o.Group.Size
}

// waiting returns what the pool waits for, most important first.
func (v *status) waiting() []Cause {
	d, o := v.in.d, v.in.o
	var out []Cause
	if d.CreateBlocked != nil && o.Wanted.Content == "" {
		out = append(out, *d.CreateBlocked)
	}
	out = append(out, v.in.groupFailure()...)
	if missing := templateNotFound(o, v.in.t); missing != nil {
		out = append(out, *missing)
	}
	out = append(out, v.in.reportedOperation()...)
	if o.NodesUnknown {
		out = append(out, Cause{"ConnectionDown", o.NodesUnknownText() + ", so nothing is known about nodes and none is removed"})
	}
	out = append(out, v.stranded()...)
	out = append(out, v.surplusHeld()...)
	out = append(out, v.rolloutWaiting()...)
	out = append(out, v.rollout.remediationBlocked()...)
	// What only a user ends comes before what the cloud says of others.
	out = append(out, v.failedLeft()...)
	out = append(out, o.Caveats...)
	out = append(out, o.Issues...)
	if rests := v.budget.scaleUpInBackoff(); rests != nil {
		out = append(out, *rests)
	}
	out = append(out, v.launching()...)
	out = append(out, draining(o.Instances)...)
	if c := v.inPlace.updating(); c != nil {
		out = append(out, *c)
	}
	if d.MaxReplicas() < o.Group.Size && (d.ReplicasManagedExternally || v.fleet.toReplace == 0) {
		out = append(out, Cause{"MaxSizePending", fmt.Sprintf("%s is lowered to %d when the size of the %s (%d) allows it", d.MaxField, d.Max,
			v.in.t.Group, o.Group.Size)})
	}
	return append(append(out, v.removalsWait()...), v.joining()...)
}

// removalsWait returns why surplus instances, or instances whose deletion was requested, do not go, and what the user can do. Instances
// that a rollout replaces wait for their turn in any case.
func (v *status) removalsWait() []Cause {
	first, n := v.waitingRemovals()
	missing, awaited := v.awaited()
	if first == nil || awaited == nil || v.fleet.available > v.in.floor() || v.in.o.NodesUnknown {
		return nil
	}
	text := fmt.Sprintf("removal of %s waits until more than %d of %d machines are available, now %d are; %s %s",
		words.FirstAndMore(first.ID, n), v.in.floor(), v.in.want, v.fleet.available, awaited.ID, missing)
	if first.reason == surplus {
		text += " and is removed instead if it stays so"
	}
	if s := v.in.d.Strategy; s != nil && s.UnavailableField != "" {
		text += fmt.Sprintf("; raise %s to go on at once", s.UnavailableField)
	}
	return []Cause{{budgetSpent, text}}
}

// surplusHeld returns that instances which are too many stay for now.
func (v *status) surplusHeld() []Cause {
	if !slices.ContainsFunc(v.fleet.members, v.rollout.waitsForReads) {
		return nil
	}
	return []Cause{{"ReadsBehind", "the cloud has refused a change because what was read is out of date: machines that are too many wait " +
		"for a later look"}}
}

// waitingRemovals returns the first by ID and the number of the available instances that are surplus or whose deletion was requested and
// that do not go now.
func (v *status) waitingRemovals() (first *member, n int) {
	for _, m := range v.fleet.members {
		if m.selected || !m.available || v.rollout.waitsForReads(m) || m.reason != surplus && m.reason != deletionRequested {
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

// awaited returns the first instance that may still become available, or that holds a place because it fails and is not replaced, and what
// it lacks.
func (v *status) awaited() (missing string, first *member) {
	stays := v.staysFailed()
	for _, m := range v.fleet.members {
		if m.available || m.selected || m.isDraining() || m.TerminationNotice != nil || first != nil && m.ID > first.ID {
			continue
		}
		if !v.in.failed(m.Instance) || slices.Contains(stays, m.ID) {
			missing, first = v.missing(m), m
		}
	}
	return missing, first
}

// missing returns what an instance lacks to be available.
func (v *status) missing(m *member) string {
	switch {
	case v.in.failed(m.Instance):
		return "failed, and nothing replaces it"
	case m.Node == nil:
		return "has not joined the cluster"
	case !m.Node.Ready:
		return "is not Ready"
	default:
		return "has not been Ready for long enough"
	}
}

// rolloutWaiting returns why a rollout does not continue.
func (v *status) rolloutWaiting() []Cause {
	switch held := v.heldBack(); {
	case v.rollout.blocked != nil && !v.rollout.cloudFirst() && v.fleet.toReplace+v.fleet.inStandby > 0 &&
		v.rollout.state != RolloutNone && !v.in.o.NodesUnknown:
		return []Cause{*v.rollout.blocked}
	case held != nil:
		return held
	case v.in.providerRolloutRuns():
		return []Cause{v.steps.providerRolloutProgress()}
	case v.hasProviderRollout() && !v.in.o.NodesUnknown && v.steps.rolloutWaits() != nil:
		return v.providerRolloutWaits()
	}
	return nil
}

// providerRolloutWaits returns why a provider rollout is not started now, and how the last one failed.
func (v *status) providerRolloutWaits() []Cause {
	out := []Cause{*v.steps.rolloutWaits()}
	if failed := rolloutFailed(v.in); failed != nil && out[0].Reason != failed.Reason {
		out = append(out, *failed)
	}
	return out
}

// stranded returns the failed and unhealthy instances, and the stale ones that are not serving, that can't be replaced: where an external
// autoscaler owns the size and every removal lowers it, only a surge keeps the size. Removing one and raising the size again is not safe:
// after a crash, a pass could not tell its own removal from the autoscaler's, which removes instances that never join too, and would revert
// that.
func (v *status) stranded() []Cause {
	if !v.rollout.removalIsLost() {
		return nil
	}
	kinds := []removalReason{failedInstance, unhealthy}
	if _, why := v.rollout.blockedBySpec(); why != nil && why.Reason == replicasManagedExternally {
		kinds = append(kinds, notServing)
	}
	var names []string
	var first Cause
	for _, m := range v.fleet.members {
		if !slices.Contains(kinds, m.reason) {
			continue
		}
		if names = append(names, m.ID); len(names) == 1 {
			first = m.cause
		}
	}
	if len(names) == 0 {
		return nil
	}
	if !v.in.t.RecordsSurge {
		return []Cause{{replicasManagedExternally,
			fmt.Sprintf("%s can't be replaced (%s): replicas are managed externally, and a surge of the %s can't be told from them: delete "+
				"the machine",
				words.First(names), first.Message, v.in.t.Group)}}
	}
	return []Cause{{replicasManagedExternally,
		fmt.Sprintf("%s can't be replaced (%s): replicas are managed externally and %s is 0: set it to 1 or more, or delete the machine",
			words.First(names), first.Message, v.in.surgeField())}}
}

// waitForTurn returns that instances wait until others are available.
func (v *status) waitForTurn() []Cause {
	n := 0
	for _, m := range v.fleet.members {
		if m.reason != keep && !m.selected && v.rollout.reasonHolds(m) {
			n++
		}
	}
	if n == 0 || v.fleet.available > v.in.floor() {
		return nil
	}
	return []Cause{{budgetSpent, fmt.Sprintf("%s to go wait until more than %d of %d are available, now %d are", words.Machines(n),
		v.in.floor(),
		v.in.want, v.fleet.available)}}
}

// launching returns how many instances the cloud has still to launch, and how many failed.
func (v *status) launching() []Cause {
	o := v.in.o
	pending, failed, serving := 0, 0, 0
	for _, i := range o.Instances {
		switch {
		case i.State == Pending:
			pending++
		case v.in.failed(&i):
			failed++
		case i.State == Failed:
			serving++
		}
	}
	missing := max(0, o.Group.Size-v.fleet.counted)
	failed -= len(v.leftFailed())
	var out []Cause
	if late := v.launchOverdue(); late != nil {
		out = append(out, *late)
	}
	if n := pending + missing; n > 0 {
		out = append(out, Cause{"InstancesLaunching", fmt.Sprintf("waiting for %s to be launched", words.Machines(n))})
	}
	if failed > 0 && (!v.in.t.KeepsFailedInstances || !v.rollout.removalIsLost()) {
		out = append(out, Cause{"InstancesFailed", words.Machines(failed) + " failed and will be replaced"})
	}
	if serving > 0 {
		out = append(out, Cause{"FailedServing", "left alone: the cloud reports " + words.Machines(serving) +
			" as failed, and the nodes are Ready"})
	}
	return out
}

// failedLeft returns that failed instances are left as they are, and what the user can do.
func (v *status) failedLeft() []Cause {
	left := v.leftFailed()
	if len(left) == 0 {
		return nil
	}
	return []Cause{{"FailedLeft", fmt.Sprintf("%s failed, and the %s leaves them as they are: start or delete %s in the cloud, or change %s",
		words.Machines(len(left)), v.in.t.Group, words.First(left), v.in.o.Group.LeavesFailed)}}
}

// leftFailed returns the failed instances that the group leaves as they are and that no rule replaces.
func (v *status) leftFailed() []string {
	if v.in.o.Group.LeavesFailed == "" {
		return nil
	}
	return v.unselected(func(m *member) bool { return v.in.failed(m.Instance) && m.reason == keep })
}

// staysFailed returns the failed instances that nothing replaces: those that the group leaves, and those that are stranded.
func (v *status) staysFailed() []string {
	ids := v.leftFailed()
	if !v.rollout.removalIsLost() {
		return ids
	}
	return append(ids, v.unselected(func(m *member) bool { return m.reason == failedInstance })...)
}

// unselected returns the members of a sort that do not go now.
func (v *status) unselected(is func(*member) bool) []string {
	var ids []string
	for _, m := range v.fleet.members {
		if !m.selected && is(m) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// withoutNode returns the running instances without a Node after the join deadline, because it was deleted or never registered, that no
// rule replaces.
func (v *status) withoutNode() []string {
	if v.in.d.Remediation != nil || v.in.d.RemediationHint == "" {
		return nil
	}
	var ids []string
	for _, m := range v.fleet.members {
		if m.State == Running && m.Node == nil && m.reason == keep && !m.selected && v.fleet.missedJoinDeadline(m.Instance) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// joining returns how many running instances are not serving yet.
func (v *status) joining() []Cause {
	if v.in.o.NodesUnknown {
		return nil
	}
	unjoined, unready := 0, 0
	for _, i := range v.in.o.Instances {
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
		text := fmt.Sprintf("waiting for %s to join the cluster", words.Machines(unjoined))
		if stuck := v.withoutNode(); len(stuck) > 0 {
			text += fmt.Sprintf("; without a node after the join deadline, and not replaced: %s; %s", words.First(stuck), v.in.d.RemediationHint)
		}
		out = append(out, Cause{"NodesJoining", text})
	}
	if unready > 0 {
		out = append(out, Cause{"NodesNotReady", fmt.Sprintf("waiting for the nodes of %s to be Ready", words.Machines(unready))})
	}
	return out
}
