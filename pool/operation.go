package pool

import (
	"fmt"
	"slices"
	"time"

	"github.com/muster-project/muster/pool/words"
)

// changesGroup are the steps that a group which the cloud is at work on would refuse, or that would upset what it does. A
// removal is among them: during a roll of its own a cloud counts on what it has found, and a size that we lower meanwhile is
// not the one that it goes back to. Versions are deleted only at rest, because it is unknown what the operation still needs.
var changesGroup = map[StepKind]bool{
	UpdateGroup: true, Resize: true, Remove: true, Replace: true, EnterStandby: true, StartProviderRollout: true, DeleteGroup: true,
	DefaultTemplate: true, PruneTemplates: true, Apply: true, Protect: true, Unprotect: true,
}

// waitsForOperation reports whether a step waits until the cloud's operation on the group has ended.
func (v *inputs) waitsForOperation(kind StepKind) bool {
	switch kind {
	case PutTemplate:
		return v.t.InlineTemplate
	case DeleteGroup:
		return !v.t.CanDeleteBusyGroup
	default:
		return changesGroup[kind]
	}
}

// operation returns what the cloud is doing to the group, or nil. A provider rollout that needs the group for itself is such an operation
// too.
func (v *inputs) operation() *Cause {
	switch g := v.o.Group; {
	case g == nil:
		return nil
	case v.t.RolloutOnTemplateChange && v.providerRolloutRuns():
		c := providerRolloutCause(v.o.ProviderRollout, v.t)
		return &c
	default:
		return g.Busy
	}
}

// reportedOperation returns the cloud's operation for the report. A provider rollout is reported elsewhere, except for one that ends while
// the pool is being deleted.
func (v *inputs) reportedOperation() []Cause {
	told := v.providerRolloutRuns() && (v.t.RolloutOnTemplateChange || !v.d.Deleting)
	if busy := v.operation(); busy != nil && !told {
		return []Cause{*busy}
	}
	return nil
}

// allowedDuringOperation removes the steps that wait until the cloud's operation on the group has ended.
func (v *inputs) allowedDuringOperation(steps ...*Step) []*Step {
	if v.operation() == nil {
		return steps
	}
	for k, s := range steps {
		if s != nil && v.waitsForOperation(s.Kind) {
			steps[k] = nil
		}
	}
	return steps
}

// deleteBackoff is the time between a failed deletion and the next one. The number of earlier failures is unknown, so that the pause is
// that of a permanent failure: a dozen attempts an hour.
const deleteBackoff = 5 * time.Minute

// deleteMayRetry reports whether the back-off after a failed deletion of the group has ended.
func (v *inputs) deleteMayRetry() bool {
	failed := v.o.Group.DeleteFailedAt
	return failed.IsZero() || v.clock.Reached(failed.Add(deleteBackoff))
}

// recreateStep deletes a group that the cloud failed to create or to delete, so that it is created again: a restart was requested after its
// creation, it was created from a spec that has changed and can't be updated, or its deletion failed, after which it can't serve any more.
// A group with a node is never recreated.
func (v *steps) recreateStep() *Step {
	if v.in.o.Group.Failed == nil || v.in.d.CreateBlocked != nil || v.in.o.NodesUnknown || !v.in.deleteMayRetry() {
		return nil
	}
	cause := v.recreateCause()
	if cause == nil || slices.ContainsFunc(v.in.o.Instances, func(i Instance) bool { return i.Node != nil }) {
		return nil
	}
	s := &Step{Kind: DeleteGroup, Cause: *cause}
	for _, m := range v.fleet.members {
		target := instanceRef(m)
		target.Cause = s.Cause
		s.Targets = append(s.Targets, target)
	}
	return s
}

// recreateCause returns why recreating a failed group would help, or nil.
func (v *steps) recreateCause() *Cause {
	g := v.in.o.Group
	if r := v.in.d.Restart; r != nil && !g.Created.IsZero() && g.Created.Before(r.Before) {
		return &r.Cause
	}
	if !g.DeleteFailedAt.IsZero() {
		return &Cause{"DeletionUnfinished", fmt.Sprintf("deletion of the %s failed earlier: retrying, then recreating it", v.in.t.Group)}
	}
	if len(g.Unchangeable) == 0 {
		return nil
	}
	return &Cause{"GroupChanged", fmt.Sprintf("the %s failed and differs in %s, which can't be changed: recreating it", v.in.t.Group,
		words.List(g.Unchangeable))}
}

// groupFailure returns why the creation or the deletion of the group failed, as the cloud reports it.
func (v *inputs) groupFailure() []Cause {
	if v.o.Group.Failed == nil {
		return nil
	}
	return []Cause{*v.o.Group.Failed}
}
