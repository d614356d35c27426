package pool

import (
	"fmt"
	"time"
)

// minReplicas is the size that the group should have at least now: what is wanted, and the surge of a rollout that goes on
// (rule 2). For those that serve nobody nobody has to stand in. Where instances are set aside, the surge is not in the size.
func (v *view) least() int {
	need := v.asked + v.places
	if v.rolling() {
		need += v.serving
	}
	if v.t.SupportsStandby {
		return v.want
	}
	return v.want + min(v.surge, need)
}

// most is the size above which the group is made smaller. A rollout that is held up keeps its surge: who took it away would
// take away the new machine that it was stopped for, and begin again.
func (v *view) most() int {
	if v.t.SupportsStandby {
		return v.want
	}
	return max(v.least(), min(v.o.Group.Size, v.want+min(v.surge, v.asked+v.places+v.serving)))
}

// beside is how many machines of a size stand beside what somebody else wants, who sizes the group. Who sizes it himself knows what he
// wants, and keeps no account of it.
func (v *view) beside(size int) int {
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

// planned is the surge that has to be on the group's account before the group is made larger for it; zero if it needs none.
// A size that was raised without an account would be taken for the autoscaler's, and raised again with every pass.
func (v *view) planned() PlannedSurge {
	grow := v.larger()
	if grow == nil || grow.Surge <= v.o.Group.Surge || v.growRests() != nil {
		return PlannedSurge{}
	}
	return PlannedSurge{Surge: grow.Surge, Size: grow.Size}
}

// accountStep writes down what is left of a surge, before somebody makes the group larger and what was used up seems to be there
// again. It comes before a size that is raised for the next ones: an account that reads as it did before would tell nobody, after a
// reply that was lost, which of the two was heard.
func (v *view) accountStep() *Step {
	planned := v.planned()
	step := &Step{Kind: UpdateGroup, Template: v.o.Group.Template, Surge: v.o.Group.Surge, Planned: planned}
	switch {
	case planned != PlannedSurge{} && planned != v.o.Group.SurgePlanned:
		step.Cause = Cause{SurgePlanned, fmt.Sprintf("of a size of %d of the %s %d are to be a surge", planned.Size, v.t.Group, planned.Surge)}
	case v.o.Group.SurgeRecordStale:
		step.Cause = Cause{SurgeRecordStale, fmt.Sprintf("of the size of the %s %d are left of a surge", v.t.Group, v.o.Group.Surge)}
	default:
		return nil
	}
	return step
}

// growRest is how long after the cloud has given up bringing machines it is asked for them again. Nobody says how often it has
// given up already, so that the pause is that of a permanent failure: a dozen tries an hour.
const growRest = 5 * time.Minute

// growRests says that the group should be larger, and that the cloud could not make it so a moment ago.
func (v *view) growRests() *Cause {
	failed := v.o.Group.ScaleUpFailedAt
	if failed.IsZero() || v.larger() == nil || v.reached(failed.Add(growRest)) {
		return nil
	}
	return &Cause{"ScaleUpFailed", fmt.Sprintf("the cloud could not bring all machines that the %s was asked for, and is asked again after a pause", v.t.Group)}
}

// growStep raises the group's size, unless the cloud has just failed to, or the account of a surge is not shown yet.
func (v *view) growStep() *Step {
	if v.growRests() != nil || v.planned() != (PlannedSurge{}) && v.planned() != v.o.Group.SurgePlanned {
		return nil
	}
	return v.larger()
}

// larger raises the group's size. Where somebody lowered it by hand below what exists, it is raised to what exists: those
// that are too many are then drained, before the cloud takes some that it picks.
func (v *view) larger() *Step {
	size := v.o.Group.Size
	if v.bounds() != nil {
		return nil
	}
	if !v.d.ReplicasManagedExternally && size < v.want {
		goal := max(v.least(), v.counted)
		return &Step{Kind: Resize, Size: min(goal, max(v.d.MaxReplicas(), v.o.Group.Max, v.least())), Surge: v.beside(goal),
			Cause: Cause{"ScaleOut", fmt.Sprintf("the %s has a size of %d, the pool wants %d", v.t.Group, size, v.want)}}
	}
	// While more exist than the size says, some are about to leave that are not seen leaving yet.
	if goal := v.least(); size < goal && v.counted <= size {
		return &Step{Kind: Resize, Size: goal, Surge: v.beside(goal),
			Cause: Cause{"Surge", fmt.Sprintf("%s launched beside the %d that the pool wants, before others are replaced", machines(goal-v.want), v.want)}}
	}
	return nil
}

// asideStep is the surge where instances can be set aside: they serve on while the group launches others in their place.
func (v *view) asideStep() *Step {
	if !v.t.SupportsStandby || v.o.NodesUnknown || v.bounds() != nil {
		return nil
	}
	room := v.surge - v.aside - max(0, max(v.o.Group.Size, v.counted)-v.want)
	// More drains than may be unavailable are drains of instances that are set aside and not seen so yet.
	drains := 0
	for _, m := range v.queue {
		if m.drains() && !m.Standby {
			drains++
		}
	}
	room -= max(0, drains-v.unavailable)
	var list []*member
	for _, m := range v.queue {
		if len(list) < room && v.needsSuccessor(m) {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return nil
	}
	list, more := v.batch(list)
	return &Step{Kind: EnterStandby, More: more, Targets: targets(list),
		Cause: Cause{"Surge", fmt.Sprintf("%s launched beside the %d that the pool wants, before others are replaced", machines(len(list)), v.want)}}
}

// needsSuccessor says that a member serves and is to be replaced. It is set aside even where it may go at once: its successor
// comes the sooner, and two looks of which one shows less than the other choose the same.
func (v *view) needsSuccessor(m *member) bool {
	return (m.why == condemned || v.replaces(m)) && m.available && !m.Standby
}
