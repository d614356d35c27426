package pool

import (
	"fmt"
	"slices"
	"time"
)

const (
	// rollPause is how long after the end of a roll of the cloud's own that did not do what it should another one begins; it
	// doubles with every failure in a row up to rollPauseMost.
	rollPause, rollPauseMost = 5 * time.Minute, 4 * time.Hour
)

// native says that stale instances are left to the cloud's own roll.
func (v *view) native() bool { return v.d.Strategy == nil && v.t.Rolls }

// byCloud are the stale instances that the cloud is to replace.
func (v *view) byCloud() []*member {
	var list []*member
	for _, m := range v.members {
		if m.why == stale && !m.ours {
			list = append(list, m)
		}
	}
	return list
}

// leftToCloud counts the stale instances that the cloud is to replace, and says whether some of them are of the wanted
// template.
func (v *view) leftToCloud() (n int, every bool) {
	list := v.byCloud()
	for _, m := range list {
		every = every || m.Template.Same(v.o.Wanted)
	}
	return len(list), every
}

// rollsNow says that the cloud's own roll is under way: what the group launches from is the roll's until it has ended.
func (v *view) rollsNow() bool { return v.o.Roll != nil && !v.o.Roll.ended() }

// pointsByRoll says that the group is pointed at the newest template by the roll that is to come, so that the cloud can take
// it back.
func (v *view) pointsByRoll() bool {
	if !v.d.Rollback || !v.native() || v.launchesWanted() || v.lost(v.launched()) {
		return false
	}
	n, _ := v.leftToCloud()
	return n > 0 || v.o.Roll != nil && !v.o.Roll.ended()
}

// startRollStep begins the cloud's own roll.
func (v *view) startRollStep() *Step {
	if roll := v.o.Roll; roll != nil && !roll.ended() || !v.native() {
		return nil
	}
	n, every := v.leftToCloud()
	if n == 0 || v.rollWaits() != nil {
		return nil
	}
	return &Step{Kind: StartRoll, Template: v.o.Latest().Ref, Every: every, Targets: targets(v.byCloud()), Cause: v.firstStale()}
}

// mayCancel says that a roll can be ended, and by us: what we can't recognise somebody else has begun, and it is waited for.
func (v *view) mayCancel(roll *Roll) bool {
	others := func() bool { return roll.Template.Content == "" && !v.fromNothing(roll) }
	return roll != nil && roll.cancellable() && !others()
}

// cancelRollStep ends a roll to what is not wanted any more, one that somebody pauses, one whose machines do not become Ready
// (the cloud does not know of nodes, and would go on to the last machine), and one that a strategy takes over from.
func (v *view) cancelRollStep() *Step {
	roll := v.o.Roll
	if !v.mayCancel(roll) {
		return nil
	}
	var cause Cause
	switch {
	case v.fromNothing(roll):
		cause = Cause{"TemplateDeleted", fmt.Sprintf("%s, from which the roll makes machines, does not exist any more", roll.Template.Ref)}
	case v.d.RolloutHeld != nil:
		cause = *v.d.RolloutHeld
	case v.o.Wanted.Content != "" && !roll.Template.Same(v.o.Wanted):
		cause = Cause{templateChanged, fmt.Sprintf("the roll makes machines of %s, which is not what the specification asks for any more", roll.Template.Ref)}
	case v.lost(roll.Template) && !v.lost(v.o.Latest()):
		cause = Cause{"BootstrapTokenLost", fmt.Sprintf("the bootstrap token in %s is gone, so that no machine of it can join any more", roll.Template.Ref)}
	case roll.State == RollRunning && v.halted() != nil:
		cause = *v.halted()
	case v.d.Strategy != nil:
		cause = Cause{"StrategyChanged", "the strategy of the pool replaces machines one by one"}
	default:
		return nil
	}
	return &Step{Kind: CancelRoll, Refs: []string{roll.ID}, Cause: cause}
}

// unlisted is for how long after its beginning a roll may make machines of a version that lists do not show yet.
const unlisted = time.Minute

// fromNothing says that the group launches, and the roll makes machines, from a version that was deleted.
func (v *view) fromNothing(r *Roll) bool {
	return r.Template.Ref != "" && r.Template.Ref == v.o.Group.Template && len(v.o.Versions) > 0 && !v.known(r.Template.Ref) && v.reached(r.Started.Add(unlisted))
}

// lost says that no machine launched from a template can join any more.
func (v *view) lost(t Template) bool { return t.Data != "" && slices.Contains(v.d.DataLost, t.Data) }

// rollWaits says why the cloud's own roll is not begun now.
func (v *view) rollWaits() *Cause {
	roll := v.o.Roll
	switch {
	case v.d.RolloutHeld != nil:
		return v.d.RolloutHeld
	case v.bounds() != nil:
		return v.bounds()
	case !v.o.Latest().Same(v.o.Wanted) || !v.d.Rollback && !v.launchesWanted():
		return &Cause{"TemplateBehind", fmt.Sprintf("the %s does not launch from the wanted %s yet", v.t.Group, v.t.Template)}
	case v.o.NodesUnknown:
		return &Cause{"WorkloadClusterUnreachable", "the workload cluster does not answer, so no machine is replaced"}
	case v.halted() != nil:
		return v.halted()
	case roll != nil && roll.Template.Same(v.o.Wanted) && !v.askedSince(roll) && !v.reached(roll.Ended.Add(pause(roll))):
		return &Cause{"RollFailed", fmt.Sprintf("the roll of the %s to %s has ended as %s and is begun again after a pause%s",
			v.t.Group, roll.Template.Ref, roll.State, because(roll))}
	}
	return nil
}

// askedSince says that a restart was asked for after the roll had begun.
func (v *view) askedSince(r *Roll) bool {
	return v.d.Restart != nil && r.Started.Before(v.d.Restart.Before)
}

// pause grows with the rolls that have failed in a row. A roll that has succeeded and left something stale behind is not
// begun again at once either.
func pause(r *Roll) time.Duration {
	if r.Failures > 6 {
		return rollPauseMost
	}
	return min(rollPause<<max(0, r.Failures-1), rollPauseMost)
}

func because(r *Roll) string {
	if r.Reason == "" {
		return ""
	}
	return ": " + r.Reason
}

// firstStale is the cause of the first stale instance, with how many there are.
func (v *view) firstStale() Cause {
	var c Cause
	n := 0
	for _, m := range v.members {
		if m.replaced() {
			if n == 0 {
				c = m.cause
			}
			n++
		}
	}
	c.Message = fmt.Sprintf("%d of %s to replace: %s", n, machines(len(v.members)), c.Message)
	return c
}
