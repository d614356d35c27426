package pool

import (
	"fmt"
	"slices"
)

// planDelete drains what runs, then deletes the group, then the template and everything else that was created for it. What Muster does not
// own stays.
func planDelete(in *inputs) Plan {
	v := newSteps(emptySelection(newBudget(newRollout(classifyInstances(in)))))
	if v.in.o.Group == nil {
		return planCleanUp(v.in.d, v.in.o, v.in.t)
	}
	p := Plan{}
	v.selection.selectAll()
	p.Waiting = v.in.groupFailure()
	if !v.in.o.Group.Deleting {
		p.Waiting = append(p.Waiting, v.in.reportedOperation()...)
	}
	steps := []*Step{v.releaseStep(), v.renewStep()}
	switch {
	case v.in.o.Group.Deleting:
		p.Waiting = append(p.Waiting, Cause{"GroupDeleting", fmt.Sprintf("waiting for the %s and its instances to be gone", v.in.t.Group)})
		steps = v.releaseDeleted()
	case v.in.nodesUnknown() && len(v.fleet.members) > 0:
		p.Waiting = append(p.Waiting, Cause{"ConnectionDown",
			"waiting for the workload cluster to answer, because nodes are drained before they go"})
	default:
		p.Waiting = append(p.Waiting, v.waitForProviderRollout()...)
		steps = append(steps, v.endProviderRolloutStep(), v.deleteGroupStep())
	}
	p.first(v.in.d, v.in.allowedDuringOperation(steps...)...)
	if p.Step == nil || p.Step.Kind == Drain || p.Step.Kind == Release || p.Step.Kind == Renew {
		p.Waiting = append(p.Waiting, draining(v.in.o.Instances)...)
	}
	if !v.in.o.Group.Deleting {
		p.Instances = newStatus(v).decisions()
	}
	return p
}

// planWhileDeleting waits for a group that is being deleted although the pool is not, and releases the drained instances of it.
func planWhileDeleting(in *inputs) Plan {
	// The release rests on the classification alone; the stages between ask the clock, which says when to look again.
	v := newSteps(emptySelection(newBudget(newRollout(classifyInstances(in)))))
	p := Plan{Waiting: []Cause{{"GroupDeleting", fmt.Sprintf("waiting for the %s to be deleted", v.in.t.Group)}}}
	p.first(v.in.d, v.releaseDeleted()...)
	return p
}

// planCleanUp deletes what is left when the group has gone.
func planCleanUp(d Desired, o Observed, t Traits) Plan {
	var template *Step
	if !t.InlineTemplate && slices.ContainsFunc(o.Versions, func(v Template) bool { return !v.UserManaged }) {
		template = &Step{Kind: DeleteTemplates, Cause: Cause{"PoolDeleted",
			fmt.Sprintf("the pool is being deleted, and its %s is not used any more", t.Template)}}
	}
	rest := cleanUpStep(o, t)
	if template == nil && rest == nil {
		return Plan{DeletionComplete: true, Quiescent: true}
	}
	p := Plan{}
	p.first(d, template, rest)
	return p
}

// selectAll selects every member, because the pool is being deleted.
func (v *selection) selectAll() {
	for _, m := range v.fleet.members {
		m.reason, m.selected, m.cause = deletionRequested, true, Cause{"PoolDeleted", "the pool is being deleted"}
	}
	v.queue = v.fleet.members
}

// deleteGroupStep drains all members, then deletes the group.
func (v *steps) deleteGroupStep() *Step {
	if drain := v.drainStep(); drain != nil {
		return drain
	}
	if !v.in.deleteMayRetry() {
		return nil
	}
	return &Step{Kind: DeleteGroup, Targets: instanceRefs(v.fleet.members), Cause: Cause{"PoolDeleted", "the pool is being deleted"}}
}

// releaseDeleted returns the steps for instances that the group's deletion terminates and that a lifecycle hook holds. The others need
// none.
func (v *steps) releaseDeleted() []*Step {
	return []*Step{v.releaseStep(), v.renewStep(), drainOf(v.fleet.heldToDrain())}
}

// endProviderRolloutStep cancels the provider rollout before the group is deleted, because it would launch instances in place of the
// drained ones.
func (v *steps) endProviderRolloutStep() *Step {
	roll := v.in.o.ProviderRollout
	if roll == nil || roll.ended() || roll.State == ProviderRolloutCancelling || !v.in.t.CanCancelRollout {
		return nil
	}
	return &Step{Kind: CancelProviderRollout, Refs: []string{roll.ID}, Cause: Cause{"PoolDeleted", "the pool is being deleted"}}
}

// waitForProviderRollout returns that the deletion waits for a provider rollout that can't be cancelled, or is being cancelled.
func (v *steps) waitForProviderRollout() []Cause {
	if !v.in.providerRolloutRuns() || v.in.t.CanCancelRollout && (!v.in.t.RolloutOnTemplateChange ||
		v.in.o.ProviderRollout.State != ProviderRolloutCancelling) {
		return nil
	}
	c := providerRolloutCause(v.in.o.ProviderRollout, v.in.t)
	if !v.in.t.CanCancelRollout {
		c.Message += "; it can't be cancelled"
	}
	c.Message += ", and the " + v.in.t.Group + " is deleted when it has ended"
	return []Cause{c}
}

// cleanUpStep deletes what Muster created for the pool and what is left when the group is gone.
func cleanUpStep(o Observed, t Traits) *Step {
	if len(o.Leftovers) == 0 {
		return nil
	}
	return &Step{Kind: CleanUp, Fields: o.Leftovers,
		Cause: Cause{"PoolDeleted", fmt.Sprintf("the pool is being deleted, and its %s is gone", t.Group)}}
}
