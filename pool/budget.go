package pool

import (
	"fmt"
	"slices"
	"time"

	"github.com/muster-project/muster/pool/words"
)

// budget is the sizes between which the group may be, and how many instances may go.
type budget struct {
	in      *inputs
	fleet   *classification
	rollout *rollout
	// minSize is the size that the group should have at least now: what is wanted, and the surge of a rollout that continues (rule 2).
	// Instances that are not serving need no surge. Where the cloud supports standby, the surge is not part of the size.
	minSize int
	// maxSize is the size above which the group is scaled in. A blocked rollout keeps its surge, because removing it would delete the
	// replacement it is waiting for. It keeps none for a rollout of the cloud's own, which comes first and adds its own.
	maxSize int
	// surgeNeed is the number of instances that need a surge. Those that Muster has to replace after a provider rollout have none yet:
	// cloudLeads is true if there is such a rollout, also when the instances left to it turn out to be surplus.
	surgeNeed  int
	cloudLeads bool
}

func newBudget(r *rollout) *budget {
	v := &budget{in: r.in, fleet: r.fleet, rollout: r, minSize: r.in.want, maxSize: r.in.want, cloudLeads: r.cloudFirst()}
	v.surgeNeed = v.fleet.requested + v.fleet.shrinking + r.remediating
	if v.in.t.SupportsStandby || v.in.o.Group == nil {
		return v
	}
	need := v.surgeNeed
	kept := need
	if !v.cloudLeads {
		kept += v.fleet.servingStale
		v.surgeNeed += v.replacesNow()
	}
	if v.rollout.mayReplace() {
		need = v.surgeNeed
		kept = max(v.surgeNeed, min(kept, v.rollout.limits.KeptSurge))
	}
	v.minSize = max(v.in.want+v.surgeFor(need), v.sizeForRemoval())
	v.maxSize = max(v.minSize, min(v.in.o.Group.Size, v.in.want+v.surgeFor(kept)))
	return v
}

// replacesNow returns how many serving stale instances are being replaced, or may begin to be.
func (v *budget) replacesNow() int {
	n := v.rollout.limits.Begins
	for _, m := range v.fleet.members {
		if m.reason == stale && m.toReplace && m.inRollout.Begun && v.rollout.limits.permitted(m) {
			n++
		}
	}
	if !v.rollout.mayReplace() {
		return v.fleet.servingStale
	}
	return min(v.fleet.servingStale, n)
}

// surgeFor returns how many instances stand in for so many that go. No more than are wanted are replaced: the others go as surplus.
func (v *budget) surgeFor(need int) int { return min(v.in.surge, need, v.in.want) }

// room returns how many serving instances the budget lets go now.
func (v *budget) room() int { return v.fleet.available - v.in.floor() - v.pendingScaleIn() }

// pendingScaleIn returns how many serving instances the cloud will terminate because the size was lowered out of band. Which ones is not
// known yet. Instances that Muster drained are the ones where Muster lowered the size.
func (v *budget) pendingScaleIn() int {
	n := v.fleet.counted - v.in.o.Group.Size
	for _, m := range v.fleet.members {
		if !m.Standby && m.isDraining() {
			n--
		}
	}
	return max(0, n)
}

// surplusCount returns how many instances of the group are surplus. Where the size is already lower than what exists, the cloud chooses.
func (v *budget) surplusCount() int {
	if v.in.outOfBounds() != nil || v.in.t.SelectsInstances {
		return 0
	}
	return max(0, min(v.fleet.counted, v.in.o.Group.Size)-v.maxSize)
}

// shrinkStep lowers a size that is not launched completely yet: what does not exist needs no drain. Where the cloud selects and drains the
// instances that go, it lowers every size that is too large.
func (v *budget) shrinkStep() *Step {
	if v.in.d.ReplicasManagedExternally || v.in.outOfBounds() != nil {
		return nil
	}
	size := v.maxSize
	if !v.in.t.SelectsInstances {
		size = max(size, v.fleet.counted+v.fleet.assumed) // if a removal is lost, the cloud would choose another instance
	}
	if size >= v.in.o.Group.Size {
		return v.forgoStep()
	}
	if size < v.fleet.counted {
		return &Step{Kind: Resize, Size: size, Cause: Cause{ScaleIn,
			fmt.Sprintf("the %s has a size of %d, the pool wants %d: the cloud selects the instances that go, and drains them", v.in.t.Group,
				v.in.o.Group.Size, size)}}
	}
	return &Step{Kind: Resize, Size: size, Surge: v.in.surgeIn(size), Cause: Cause{ScaleIn,
		fmt.Sprintf("the %s still waits for %d instances that the pool does not want any more", v.in.t.Group, v.in.o.Group.Size-size)}}
}

// forgoStep withdraws capacity that the cloud could not bring, as far as it exceeds what the pool wants. The cloud would bring it with the
// next change of the group otherwise.
func (v *budget) forgoStep() *Step {
	g := v.in.o.Group
	if larger := v.larger(); g.UnfulfilledCapacity == 0 || larger != nil && larger.Size >= g.Size+g.UnfulfilledCapacity {
		return nil
	}
	return &Step{Kind: Resize, Size: g.Size, Surge: v.in.surgeIn(g.Size), Cause: Cause{ScaleIn,
		fmt.Sprintf("the cloud could not bring %s that the %s was asked for, and the pool does not want as many any more",
			words.Machines(g.UnfulfilledCapacity), v.in.t.Group)}}
}

// replaceable cuts a list to the instances whose removal leaves enough: those whose replacement exists already where an external autoscaler
// owns the size, and as many as the cloud lets go. It reports whether that leaves some out.
func (v *budget) replaceable(list []*member) (now []*member, waits bool) {
	if room := v.in.o.Group.Surge; v.in.removalShrinksGroup() && len(list) > room {
		return list[:room], true
	}
	return v.aboveLeast(list)
}

// sizeForRemoval returns the size that the group needs before an instance can be removed where each removal lowers the size: the cloud
// refuses one that leaves fewer than it keeps at least. It is 0 if no instance is to be replaced.
func (v *budget) sizeForRemoval() int {
	replaces := func(m *member) bool {
		return m.reason != surplus && v.rollout.reasonHolds(m) && (m.byMuster || m.reason != stale)
	}
	if v.in.o.Group.Least == 0 || v.in.d.ReplicasManagedExternally || !slices.ContainsFunc(v.fleet.members, replaces) {
		return 0
	}
	return v.in.o.Group.Least + 1
}

// aboveLeast cuts a list to the instances that can go without lowering the size below what the cloud keeps at least, and reports whether
// that leaves some out.
func (v *budget) aboveLeast(list []*member) (now []*member, waits bool) {
	least := v.in.o.Group.Least
	if room := max(0, v.in.o.Group.Size-least); least > 0 && len(list) > room {
		return list[:room], true
	}
	return list, false
}

// lowered returns by how much the size is lowered when the whole list is gone: what is then above the wanted number and the surge that the
// rest of the rollout needs.
func (v *budget) lowered(list []*member) int {
	if !v.in.t.ReplaceKeepsSize {
		return len(list)
	}
	need := v.surgeNeed
	for _, m := range list {
		if m.needsSurge && (!m.toReplace || !v.cloudLeads) {
			need--
		}
	}
	size := v.in.want
	if !v.in.t.SupportsStandby {
		size += v.surgeFor(need)
	}
	return min(max(0, v.in.o.Group.Size-size), len(list))
}

// unwantedCount returns how many instances have to go, chosen by Muster or, where the size is lower already, by the cloud.
func (v *budget) unwantedCount() int {
	if v.in.outOfBounds() != nil || v.in.t.SelectsInstances {
		return 0
	}
	return max(0, v.fleet.counted-v.maxSize)
}

// surgeIn returns how much of size is surge when an external autoscaler owns the size of the group. It is 0 when Muster owns the size.
func (v *inputs) surgeIn(size int) int {
	if !v.d.ReplicasManagedExternally {
		return 0
	}
	return max(0, size-v.want)
}

// PlannedSurge is a size of the group with the number of machines in it that stand beside what the autoscaler asks for.
type PlannedSurge struct{ Surge, Size int }

// The reasons of steps that keep the account of a surge, and change nothing that a user asked for.
const (
	SurgeRecordStale = "SurgeRecordStale"
	SurgePlanned     = "SurgePlanned"
)

// planned returns the surge that must be recorded before the size is raised for it, or zero. A raised size without a record would count as
// the autoscaler's, and would be raised again in every pass.
func (v *budget) planned() PlannedSurge {
	grow := v.larger()
	if grow == nil || grow.Surge <= v.in.o.Group.Surge || v.scaleUpInBackoff() != nil {
		return PlannedSurge{}
	}
	return PlannedSurge{Surge: grow.Surge, Size: grow.Size}
}

// recordSurgeStep records what is left of a surge before another client raises the size and the used part seems to exist again. It comes
// before a size that is raised for the next instances: with an unchanged record, a lost reply could not be told from a call that never
// arrived.
func (v *budget) recordSurgeStep() *Step {
	planned := v.planned()
	step := &Step{Kind: UpdateGroup, Template: v.in.o.Group.Template, Surge: v.in.o.Group.Surge, Planned: planned}
	switch {
	case planned != PlannedSurge{} && planned != v.in.o.Group.SurgePlanned:
		step.Cause = Cause{SurgePlanned, fmt.Sprintf("of a size of %d of the %s %d are to be a surge", planned.Size, v.in.t.Group, planned.Surge)}
	case v.in.o.Group.SurgeRecordStale:
		step.Cause = Cause{SurgeRecordStale, fmt.Sprintf("of the size of the %s %d are left of a surge", v.in.t.Group, v.in.o.Group.Surge)}
	default:
		return nil
	}
	return step
}

// scaleUpBackoff is the time between a failed launch of instances and the next request for them. The number of earlier failures is unknown,
// so that the pause is that of a permanent failure: a dozen attempts an hour.
const scaleUpBackoff = 5 * time.Minute

// scaleUpInBackoff returns that the group should be larger and that the cloud failed to make it so a moment ago, or nil.
func (v *budget) scaleUpInBackoff() *Cause {
	failed := v.in.o.Group.ScaleUpFailedAt
	if failed.IsZero() || v.larger() == nil || v.in.clock.Reached(failed.Add(scaleUpBackoff)) {
		return nil
	}
	return &Cause{"ScaleUpFailed", fmt.Sprintf("the cloud could not launch all machines of the %s: retrying after a pause", v.in.t.Group)}
}

// scaleUpStep raises the size, unless the cloud has just failed to, or the record of a surge is not visible yet.
func (v *budget) scaleUpStep() *Step {
	if v.scaleUpInBackoff() != nil || v.planned() != (PlannedSurge{}) && v.planned() != v.in.o.Group.SurgePlanned {
		return nil
	}
	if grow := v.larger(); grow != nil {
		return grow
	}
	return v.refillStep()
}

// larger returns the step that raises the size, or nil. A size that was lowered out of band below what exists is raised to what exists: the
// surplus is then drained before the cloud terminates instances of its own choice.
func (v *budget) larger() *Step {
	size := v.in.o.Group.Size
	if v.in.outOfBounds() != nil {
		return nil
	}
	if !v.in.d.ReplicasManagedExternally && size < v.in.want {
		goal := max(v.minSize, v.fleet.counted)
		return &Step{Kind: Resize, Size: min(goal, max(v.in.d.MaxReplicas(), v.in.o.Group.Max, v.minSize)), Surge: v.in.surgeIn(goal),
			Cause: Cause{"ScaleOut", fmt.Sprintf("the %s has a size of %d, the pool wants %d", v.in.t.Group, size, v.in.want)}}
	}
	if v.in.o.Group.KeepsExcess && !v.in.d.ReplicasManagedExternally && v.fleet.counted > size {
		return &Step{Kind: Resize, Size: v.fleet.counted, Cause: Cause{"ExcessKept",
			fmt.Sprintf("the %s has %s and a size of %d: the cloud would choose which go with the next change", v.in.t.Group,
				words.Machines(v.fleet.counted), size)}}
	}
	// While more exist than the size says, some are about to leave that are not seen leaving yet.
	if goal := v.minSize; size < goal && v.fleet.counted <= size {
		return &Step{Kind: Resize, Size: goal, Surge: v.in.surgeIn(goal),
			Cause: Cause{"Surge", fmt.Sprintf("%s launched beside the %d that the pool wants, before others are replaced",
				words.Machines(goal-v.in.want), v.in.want)}}
	}
	return nil
}
