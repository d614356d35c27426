package pool

import (
	"fmt"
	"slices"
)

// planDelete drains what runs, then deletes the group, then the template and what else was made for it. What is not ours stays.
func planDelete(d Desired, o Observed, t Traits, v *view) Plan {
	if o.Group == nil {
		return planCleanUp(d, o, t)
	}
	p := Plan{}
	v.condemnAll()
	p.Waiting = v.broken()
	if !o.Group.Deleting {
		p.Waiting = append(p.Waiting, v.working()...)
	}
	steps := []*Step{v.releaseStep(), v.renewStep()}
	switch {
	case o.Group.Deleting:
		p.Waiting = append(p.Waiting, Cause{"GroupDeleting", fmt.Sprintf("waiting for the %s and its instances to be gone", t.Group)})
		steps = v.caught()
	case v.unknownNodes() && len(v.members) > 0:
		p.Waiting = append(p.Waiting, Cause{"ConnectionDown", "waiting for the workload cluster to answer, because nodes are drained before they go"})
	default:
		p.Waiting = append(p.Waiting, v.unended()...)
		steps = append(steps, v.endRoll(), v.deleteStep())
	}
	p.first(d, v.quiet(steps...)...)
	if p.Step == nil || p.Step.Kind == Drain || p.Step.Kind == Release || p.Step.Kind == Renew {
		p.Waiting = append(p.Waiting, draining(o.Instances)...)
	}
	p.Instances = v.verdicts()
	return p
}

// planCleanUp deletes what is left when the group has gone.
func planCleanUp(d Desired, o Observed, t Traits) Plan {
	var template *Step
	if !t.InlineTemplate && slices.ContainsFunc(o.Versions, func(v Template) bool { return !v.UserManaged }) {
		template = &Step{Kind: DeleteTemplates, Cause: Cause{"PoolDeleted", fmt.Sprintf("the pool is being deleted, and its %s is in use no more", t.Template)}}
	}
	rest := cleanUpStep(o, t)
	if template == nil && rest == nil {
		return Plan{DeletionComplete: true, Quiescent: true}
	}
	p := Plan{}
	p.first(d, template, rest)
	return p
}

// condemnAll says that everybody goes with the pool.
func (v *view) condemnAll() {
	for _, m := range v.members {
		m.why, m.going, m.cause = condemned, true, Cause{"PoolDeleted", "the pool is being deleted"}
	}
	v.queue = v.members
}

// deleteStep drains everybody, then deletes the group.
func (v *view) deleteStep() *Step {
	if drain := v.drainStep(); drain != nil {
		return drain
	}
	if !v.deletable() {
		return nil
	}
	return &Step{Kind: DeleteGroup, Targets: targets(v.members), Cause: Cause{"PoolDeleted", "the pool is being deleted"}}
}

// caught looks after those that the group's deletion has caught and that a hook of ours holds; the others are gone soon.
func (v *view) caught() []*Step {
	v.members, v.queue = nil, nil
	return []*Step{v.releaseStep(), v.renewStep(), v.drainStep()}
}

// endRoll ends a roll of the cloud's own, which would launch machines to replace those that are drained.
func (v *view) endRoll() *Step {
	roll := v.o.ProviderRollout
	if roll == nil || roll.ended() || roll.State == ProviderRolloutCancelling || !v.t.CanCancelRollout {
		return nil
	}
	return &Step{Kind: CancelProviderRollout, Refs: []string{roll.ID}, Cause: Cause{"PoolDeleted", "the pool is being deleted"}}
}

// unended says that a roll of the cloud's own goes on that can't be ended.
func (v *view) unended() []Cause {
	if !v.rollsNow() || v.t.CanCancelRollout && (!v.t.RolloutOnTemplateChange || v.o.ProviderRollout.State != ProviderRolloutCancelling) {
		return nil
	}
	c := rolling(v.o.ProviderRollout, v.t)
	if !v.t.CanCancelRollout {
		c.Message += "; it can't be cancelled"
	}
	c.Message += ", and the " + v.t.Group + " is deleted when it has ended"
	return []Cause{c}
}

// broken are the cloud's words on why the group was not made or not deleted.
func (v *view) broken() []Cause {
	if v.o.Group.Failed == nil {
		return nil
	}
	return []Cause{*v.o.Group.Failed}
}
