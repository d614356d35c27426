package pool

import "fmt"

// planDelete drains what runs, then deletes the group, then the template. What is not ours stays.
func planDelete(d Desired, o Observed, t Traits, v *view) Plan {
	p := Plan{}
	switch {
	case o.Group == nil && len(o.Versions) == 0:
		return Plan{Gone: true, Settled: true}
	case o.Group == nil:
		p.first(d, &Step{Kind: DeleteTemplates, Cause: Cause{"PoolDeleted", fmt.Sprintf("the pool is being deleted, and its %s is in use no more", t.Template)}})
		return p
	}
	v.condemnAll()
	steps := []*Step{v.releaseStep(), v.renewStep()}
	switch {
	case o.Group.Deleting:
		p.Waiting = append(p.Waiting, Cause{"GroupDeleting", fmt.Sprintf("waiting for the %s and its instances to be gone", t.Group)})
		steps = v.caught()
	case v.unknownNodes() && len(v.members) > 0:
		p.Waiting = append(p.Waiting, Cause{"WorkloadClusterUnreachable", "waiting for the workload cluster to answer, because nodes are drained before they go"})
	default:
		steps = append(steps, v.endRoll(), v.deleteStep())
	}
	p.first(d, steps...)
	if p.Step == nil || p.Step.Kind == Drain || p.Step.Kind == Release || p.Step.Kind == Renew {
		p.Waiting = append(p.Waiting, draining(o.Instances)...)
	}
	p.Instances = v.verdicts()
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
	return &Step{Kind: DeleteGroup, Targets: targets(v.members), Cause: Cause{"PoolDeleted", "the pool is being deleted"}}
}

// caught looks after those that the group's deletion has caught and that a hook of ours holds; the others are gone soon.
func (v *view) caught() []*Step {
	v.members, v.queue = nil, nil
	return []*Step{v.releaseStep(), v.renewStep(), v.drainStep()}
}

// endRoll ends a roll of the cloud's own, which would launch machines to replace those that are drained.
func (v *view) endRoll() *Step {
	roll := v.o.Roll
	if roll == nil || roll.ended() || roll.State == RollCancelling {
		return nil
	}
	return &Step{Kind: CancelRoll, Refs: []string{roll.ID}, Cause: Cause{"PoolDeleted", "the pool is being deleted"}}
}
