package pool

import (
	"fmt"
	"slices"
	"time"
)

// changesGroup are the steps that a group which the cloud is at work on would refuse, or that would upset what it does. A
// removal is among them: during a roll of its own a cloud counts on what it has found, and a size that we lower meanwhile is
// not the one that it goes back to. Versions are deleted only at rest, for nobody can tell what the work still needs.
var changesGroup = map[StepKind]bool{
	UpdateGroup: true, Resize: true, Remove: true, Replace: true, EnterStandby: true, StartProviderRollout: true, DeleteGroup: true,
	DefaultTemplate: true, PruneTemplates: true, Apply: true, Protect: true, Unprotect: true,
}

// waits says that a step waits until the cloud's work on the group has ended.
func (v *view) waits(kind StepKind) bool {
	switch kind {
	case PutTemplate:
		return v.t.InlineTemplate
	case DeleteGroup:
		return !v.t.CanDeleteBusyGroup
	default:
		return changesGroup[kind]
	}
}

// busy says what the cloud is doing to the group. A roll of its own that keeps the group to itself is such work too.
func (v *view) busy() *Cause {
	switch g := v.o.Group; {
	case g == nil:
		return nil
	case v.t.RolloutOnTemplateChange && v.rollsNow():
		c := rolling(v.o.ProviderRollout, v.t)
		return &c
	default:
		return g.Busy
	}
}

// working is what there is to be said about the cloud's work. A roll is told about by itself, but for one that ends while the
// pool is being deleted.
func (v *view) working() []Cause {
	told := v.rollsNow() && (v.t.RolloutOnTemplateChange || !v.d.Deleting)
	if busy := v.busy(); busy != nil && !told {
		return []Cause{*busy}
	}
	return nil
}

// quiet leaves out the steps that have to wait until the cloud's work on the group has ended.
func (v *view) quiet(steps ...*Step) []*Step {
	if v.busy() == nil {
		return steps
	}
	for k, s := range steps {
		if s != nil && v.waits(s.Kind) {
			steps[k] = nil
		}
	}
	return steps
}

// drainsNow says that a member whose turn has come may be drained: a drain that has begun goes on, but while the cloud is at
// work none begins that a removal has to follow.
func (v *view) drainsNow(m *member) bool {
	return m.asked() || v.busy() == nil || v.d.Deleting && v.t.CanDeleteBusyGroup
}

// deleteRest is how long after a deletion that the cloud gave up another one is begun. Nobody says how often it has failed
// already, so that the pause is that of a permanent failure: a dozen tries an hour.
const deleteRest = 5 * time.Minute

// deletable says that the last deletion of the group has not failed a moment ago.
func (v *view) deletable() bool {
	failed := v.o.Group.DeleteFailedAt
	return failed.IsZero() || v.reached(failed.Add(deleteRest))
}

// remakeStep deletes a group that the cloud failed to make or to delete, so that it is made again: where a restart was asked
// for after it was made, where it was made from what is wanted no more and can't be changed, or where its deletion, whoever
// asked for that, has failed: it can serve no more then. A group that has brought a node is never taken for that.
func (v *view) remakeStep() *Step {
	if v.o.Group.Failed == nil || v.d.CreateBlocked != nil || v.o.NodesUnknown || !v.deletable() {
		return nil
	}
	cause := v.remade()
	if cause == nil || slices.ContainsFunc(v.o.Instances, func(i Instance) bool { return i.Node != nil }) {
		return nil
	}
	s := &Step{Kind: DeleteGroup, Cause: *cause}
	for _, m := range v.members {
		target := targetOf(m)
		target.Cause = s.Cause
		s.Targets = append(s.Targets, target)
	}
	return s
}

// remade is why a group that has failed would be another one if it was made again.
func (v *view) remade() *Cause {
	g := v.o.Group
	if r := v.d.Restart; r != nil && !g.Created.IsZero() && g.Created.Before(r.Before) {
		return &r.Cause
	}
	if !g.DeleteFailedAt.IsZero() {
		return &Cause{"DeletionUnfinished", fmt.Sprintf("the %s was to be deleted, which failed: its deletion is finished, and it is made again", v.t.Group)}
	}
	if len(g.Unchangeable) == 0 {
		return nil
	}
	return &Cause{"GroupChanged", fmt.Sprintf("the %s has failed and is made again, because it differs in %s, which can't be changed", v.t.Group, listed(g.Unchangeable))}
}
