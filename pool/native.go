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
func (v *view) native() bool {
	return v.t.RolloutOnTemplateChange || v.d.Strategy == nil && v.t.ProviderRollout
}

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
func (v *view) rollsNow() bool { return v.o.ProviderRollout.Runs() }

// pointsByRoll says that the group is pointed at the newest template by the roll that is to come, so that the cloud can take
// it back.
func (v *view) pointsByRoll() bool {
	if !v.d.Rollback || !v.native() || v.launchesWanted() || v.lost(v.launched()) {
		return false
	}
	n, _ := v.leftToCloud()
	return n > 0 || v.o.ProviderRollout != nil && !v.o.ProviderRollout.ended()
}

// cloudFirst says that a roll of the cloud's own comes before whatever our hand replaces: the two together would take more than
// the budgets allow.
func (v *view) cloudFirst() bool {
	n, _ := v.leftToCloud()
	return v.t.RolloutOnTemplateChange && n > 0
}

// repoints says that the group has to be pointed at the newest template, which is done by a roll alone, although the roll has
// nobody to replace, or because the bootstrap data of what the group launches from is lost and machines wait for it. A roll
// replaces what is of another template even where that is no reason for it: then there is none.
func (v *view) repoints() bool {
	if !v.t.RolloutOnTemplateChange || v.o.Wanted.Content == "" {
		return false
	}
	if v.launchesWanted() {
		return v.lost(v.launched()) && !v.lost(v.o.Latest()) && v.lacks()
	}
	return !slices.ContainsFunc(v.members, func(m *member) bool { return v.outOfDate(m.Instance) })
}

// lacks says that machines are missing that only what the group launches from can bring.
func (v *view) lacks() bool {
	joined := 0
	for _, m := range v.members {
		if m.Node != nil {
			joined++
		}
	}
	return joined < v.o.Group.Size
}

// repointed is why the group is pointed at the newest template where no instance is stale.
func (v *view) repointed() Cause {
	if v.launchesWanted() {
		return Cause{"BootstrapTokenLost", fmt.Sprintf("the bootstrap token in %s is gone, so that no machine of it can join any more", v.o.Group.Template)}
	}
	return Cause{"TemplateOutOfDate", fmt.Sprintf("the %s launches from %s, which is not what the specification asks for", v.t.Group, v.o.Group.Template)}
}

// startRollStep begins the cloud's own roll.
func (v *view) startRollStep() *Step {
	if v.rollsNow() || !v.native() {
		return nil
	}
	n, every := v.leftToCloud()
	if n == 0 && !v.repoints() || v.rollWaits() != nil {
		return nil
	}
	if n == 0 {
		return &Step{Kind: StartProviderRollout, Template: v.o.Latest().Ref, Cause: v.repointed()}
	}
	return &Step{Kind: StartProviderRollout, Template: v.o.Latest().Ref, ReplaceMatching: every, Targets: targets(v.byCloud()), Cause: v.firstStale()}
}

// mayCancel says that a roll goes on and is ours to end: what we can't recognise somebody else has begun, and it is waited for.
func (v *view) mayCancel(roll *ProviderRollout) bool {
	others := func() bool { return roll.Template.Content == "" && !v.fromNothing(roll) }
	return roll != nil && roll.cancellable() && !others()
}

// cancelRollStep ends a roll to what is not wanted any more, one that somebody pauses, one whose machines do not become Ready
// (the cloud does not know of nodes, and would go on to the last machine), and one that a strategy takes over from.
func (v *view) cancelRollStep() *Step {
	if !v.t.CanCancelRollout {
		return nil
	}
	cause := v.unwantedRoll()
	if cause == nil {
		return nil
	}
	return &Step{Kind: CancelProviderRollout, Refs: []string{v.o.ProviderRollout.ID}, Cause: *cause}
}

// unwantedRoll says why a roll that runs and is ours should not go on.
func (v *view) unwantedRoll() *Cause {
	roll := v.o.ProviderRollout
	if !v.mayCancel(roll) {
		return nil
	}
	switch {
	case v.fromNothing(roll):
		return &Cause{"TemplateDeleted", fmt.Sprintf("%s, from which the roll makes machines, does not exist any more", roll.Template.Ref)}
	case v.d.RolloutPaused != nil:
		return v.d.RolloutPaused
	case v.o.Wanted.Content != "" && !roll.Template.Same(v.o.Wanted):
		return &Cause{templateChanged, fmt.Sprintf("the roll makes machines of %s, which is not what the specification asks for any more", roll.Template.Ref)}
	case v.lost(roll.Template) && !v.lost(v.o.Latest()):
		return &Cause{"BootstrapTokenLost", fmt.Sprintf("the bootstrap token in %s is gone, so that no machine of it can join any more", roll.Template.Ref)}
	case roll.State == ProviderRolloutRunning && v.halted() != nil:
		return v.halted()
	case !v.native():
		return &Cause{"StrategyChanged", "the strategy of the pool replaces machines one by one"}
	}
	return nil
}

// unlisted is for how long after its beginning a roll may make machines of a version that lists do not show yet.
const unlisted = time.Minute

// fromNothing says that the group launches, and the roll makes machines, from a version that was deleted.
func (v *view) fromNothing(r *ProviderRollout) bool {
	return r.Template.Ref != "" && r.Template.Ref == v.o.Group.Template && len(v.o.Versions) > 0 && !v.known(r.Template.Ref) && v.reached(r.Started.Add(unlisted))
}

// launchesNothing reports whether the group launches from a version that was deleted while a roll replaces machines by whatever the group
// launches from: the roll decides about no template, and waits for machines that nothing can launch.
func (v *view) launchesNothing() bool {
	r := v.o.ProviderRollout
	return r.Template.Ref == "" && len(v.o.Versions) > 0 && !v.known(v.o.Group.Template) && v.reached(r.Started.Add(unlisted))
}

// lost says that no machine launched from a template can join any more.
func (v *view) lost(t Template) bool {
	return t.Data != "" && slices.Contains(v.d.LostBootstrapData, t.Data)
}

// rollWaits says why the cloud's own roll is not begun now.
func (v *view) rollWaits() *Cause {
	switch {
	case v.d.RolloutPaused != nil:
		return v.d.RolloutPaused
	case v.bounds() != nil:
		return v.bounds()
	case v.o.ProviderRolloutUnknown != nil:
		return v.o.ProviderRolloutUnknown
	case v.unpointed():
		return &Cause{"TemplateOutOfDate", fmt.Sprintf("the %s does not launch from the wanted %s yet", v.t.Group, v.t.Template)}
	case v.o.NodesUnknown:
		return &Cause{"ConnectionDown", "the workload cluster does not answer, so no machine is replaced"}
	case v.t.RolloutOnTemplateChange && slices.ContainsFunc(v.members, func(m *member) bool { return m.going && m.drains() }):
		return &Cause{"Draining", fmt.Sprintf("the roll of the %s waits until the machines are gone that are being drained already", v.t.Group)}
	case v.halted() != nil:
		return v.halted()
	}
	return v.rollRests()
}

// unpointed says that there is not yet what a roll would make machines of.
func (v *view) unpointed() bool {
	return !v.o.Latest().Same(v.o.Wanted) || !v.d.Rollback && !v.t.RolloutOnTemplateChange && !v.launchesWanted()
}

// rollRests says that the last roll did not do what it should, and that the next one is begun after a pause.
func (v *view) rollRests() *Cause {
	roll := v.o.ProviderRollout
	if roll == nil || !roll.Template.Same(v.o.Wanted) || v.askedSince(roll) || v.reached(roll.Ended.Add(pause(roll))) {
		return nil
	}
	return &Cause{"ProviderRolloutFailed", fmt.Sprintf("the roll of the %s to %s has ended as %s and is begun again after a pause%s",
		v.t.Group, roll.Template.Ref, roll.State, because(roll))}
}

// askedSince says that a restart was asked for after the roll had begun.
func (v *view) askedSince(r *ProviderRollout) bool {
	return v.d.Restart != nil && r.Started.Before(v.d.Restart.Before)
}

// pause grows with the rolls that have failed in a row. A roll that has succeeded and left something stale behind is not
// begun again at once either.
func pause(r *ProviderRollout) time.Duration {
	if r.Failures > 6 {
		return rollPauseMost
	}
	return min(rollPause<<max(0, r.Failures-1), rollPauseMost)
}

func because(r *ProviderRollout) string {
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
				if m.old != nil {
					c = *m.old
				}
			}
			n++
		}
	}
	c.Message = fmt.Sprintf("%d of %s to replace: %s", n, machines(len(v.members)), c.Message)
	return c
}
