package pool

import (
	"fmt"
	"slices"
	"time"
)

// providerRolloutCause says how far the cloud's own roll is, in its words.
func providerRolloutCause(r *ProviderRollout, t Traits) Cause {
	to := r.Template.Ref
	if to == "" {
		to = "another template"
	}
	text := fmt.Sprintf("the rollout of the %s to %s is %s at %d %%", t.Group, to, r.State, r.Percent)
	return Cause{"ProviderRollout" + string(r.State), text + reasonSuffix(r)}
}

const (
	// rolloutPause is the time between the end of a failed provider rollout and the start of the next one. It doubles with each failure in a
	// row, up to maxRolloutPause.
	rolloutPause, maxRolloutPause = 5 * time.Minute, 4 * time.Hour
)

// usesProviderRollout reports whether stale instances are left to a provider rollout.
func (v *inputs) usesProviderRollout() bool {
	return v.t.RolloutOnTemplateChange || v.d.Strategy == nil && v.t.ProviderRollout
}

// leftToCloud returns the stale instances that the cloud replaces.
func (v *rollout) leftToCloud() []*member {
	var list []*member
	for _, m := range v.fleet.members {
		if m.reason == stale && !m.byMuster {
			list = append(list, m)
		}
	}
	return list
}

// countLeftToCloud returns how many stale instances the cloud replaces, and whether some of them have the wanted template.
func (v *rollout) countLeftToCloud() (n int, every bool) {
	list := v.leftToCloud()
	for _, m := range list {
		every = every || m.Template.Same(v.in.o.Wanted)
	}
	return len(list), every
}

// providerRolloutRuns reports whether a provider rollout is running. Until it has ended, it decides what the group launches from.
func (v *inputs) providerRolloutRuns() bool { return v.o.ProviderRollout.Runs() }

// pointedByRollout reports whether the next provider rollout points the group at the newest template, so that the cloud can roll back.
func (v *rollout) pointedByRollout() bool {
	if !v.in.d.Rollback || !v.in.usesProviderRollout() || v.in.launchesWanted() || v.in.dataLost(v.in.launched()) {
		return false
	}
	n, _ := v.countLeftToCloud()
	return n > 0 || v.in.o.ProviderRollout != nil && !v.in.o.ProviderRollout.ended()
}

// cloudFirst reports whether a provider rollout comes before any replacement by Muster: the two together would exceed the budgets.
func (v *rollout) cloudFirst() bool {
	n, _ := v.countLeftToCloud()
	return v.in.t.RolloutOnTemplateChange && n > 0
}

// needsRepointing reports whether the group must be pointed at the newest template by a provider rollout alone, although no instance has to
// be replaced, or because an earlier one is left half-done, or because the bootstrap data of its template is lost and instances are
// missing. A rollout replaces all instances of another template even where that is no reason to: then it is not needed.
func (v *rollout) needsRepointing() bool {
	if !v.in.t.RolloutOnTemplateChange || v.in.o.Wanted.Content == "" {
		return false
	}
	if v.in.launchesWanted() && v.in.o.Group.Unfinished == nil {
		return v.in.dataLost(v.in.launched()) && !v.in.dataLost(v.in.o.Latest()) && v.missesInstances()
	}
	return !slices.ContainsFunc(v.fleet.members, func(m *member) bool { return v.fleet.otherTemplate(m.Instance) })
}

// leftHalfDone reports whether a provider rollout is needed to end an earlier one alone.
func (v *rollout) leftHalfDone() bool {
	return v.in.o.Group.Unfinished != nil && v.needsRepointing()
}

// missesInstances reports whether instances are missing that only the group's template can launch.
func (v *rollout) missesInstances() bool {
	joined := 0
	for _, m := range v.fleet.members {
		if m.Node != nil {
			joined++
		}
	}
	return joined < v.in.o.Group.Size
}

// repointingCause returns why a provider rollout is started although no instance is stale.
func (v *rollout) repointingCause() Cause {
	if left := v.in.o.Group.Unfinished; left != nil {
		return *left
	}
	if v.in.launchesWanted() {
		return Cause{"BootstrapTokenLost", fmt.Sprintf("the bootstrap token in %s is gone, so that no machine of it can join any more",
			v.in.o.Group.Template)}
	}
	return Cause{"TemplateOutOfDate", fmt.Sprintf("the %s launches from %s, which is not what the specification asks for", v.in.t.Group,
		v.in.o.Group.Template)}
}

// startProviderRolloutStep starts a provider rollout.
func (v *steps) startProviderRolloutStep() *Step {
	if v.in.providerRolloutRuns() || !v.in.usesProviderRollout() {
		return nil
	}
	n, every := v.rollout.countLeftToCloud()
	if n == 0 && !v.rollout.needsRepointing() || v.rolloutWaits() != nil || v.tooLargeForRollout() {
		return nil
	}
	if n == 0 {
		return &Step{Kind: StartProviderRollout, Template: v.in.o.Latest().Ref, Cause: v.rollout.repointingCause()}
	}
	return &Step{Kind: StartProviderRollout, Template: v.in.o.Latest().Ref, ReplaceMatching: every,
		Targets: instanceRefs(v.rollout.leftToCloud()), Cause: v.fleet.firstStale()}
}

// tooLargeForRollout reports whether the group is larger than wanted until selected instances are gone, also while their drain is refused.
// A provider rollout would add its own surge to that size.
func (v *steps) tooLargeForRollout() bool {
	return v.in.t.RolloutOnTemplateChange && v.in.o.Group.Size > v.in.want &&
		slices.ContainsFunc(v.fleet.members, func(m *member) bool { return m.selected })
}

// mayCancel reports whether a provider rollout is running and Muster started it. One that another client began, or that Muster does not
// recognize, is waited for.
func (v *rollout) mayCancel(roll *ProviderRollout) bool {
	others := func() bool { return roll.ByOthers || roll.Template.Content == "" && !v.in.fromDeletedVersion(roll) }
	return roll != nil && roll.cancellable() && !others()
}

// cancelProviderRolloutStep cancels a provider rollout that should not continue.
func (v *steps) cancelProviderRolloutStep() *Step {
	if !v.in.t.CanCancelRollout {
		return nil
	}
	cause := v.rollout.unwantedRollout()
	if cause == nil {
		return nil
	}
	return &Step{Kind: CancelProviderRollout, Refs: []string{v.in.o.ProviderRollout.ID}, Cause: *cause}
}

// unwantedRollout returns why a running provider rollout that Muster started should not continue, or nil: its template is not wanted any
// more, the user paused it, its instances do not become Ready (the cloud knows no nodes and would continue to the last instance), or a
// strategy replaces it.
func (v *rollout) unwantedRollout() *Cause {
	roll := v.in.o.ProviderRollout
	if !v.mayCancel(roll) {
		return nil
	}
	switch {
	case v.in.fromDeletedVersion(roll):
		return &Cause{"TemplateDeleted", fmt.Sprintf("%s, from which the rollout launches machines, does not exist any more", roll.Template.Ref)}
	case v.in.d.rolloutHeld() != nil:
		return v.in.d.rolloutHeld()
	case v.in.o.Wanted.Content != "" && !roll.Template.Same(v.in.o.Wanted):
		return &Cause{templateChanged, fmt.Sprintf("the rollout launches machines from %s, which is not what the specification asks for any more",
			roll.Template.Ref)}
	case v.in.dataLost(roll.Template) && !v.in.dataLost(v.in.o.Latest()):
		return &Cause{"BootstrapTokenLost", fmt.Sprintf("the bootstrap token in %s is gone, so that no machine of it can join any more",
			roll.Template.Ref)}
	case roll.State == ProviderRolloutRunning && v.halted() != nil:
		return v.halted()
	case !v.in.usesProviderRollout():
		return &Cause{"StrategyChanged", "the strategy of the pool replaces machines one by one"}
	}
	return nil
}

// listingDelay is for how long after its beginning a roll may make machines of a version that lists do not show yet.
const listingDelay = time.Minute

// fromDeletedVersion reports whether the group and the rollout launch from a version that was deleted.
func (v *inputs) fromDeletedVersion(r *ProviderRollout) bool {
	return r.Template.Ref != "" && r.Template.Ref == v.o.Group.Template && len(v.o.Versions) > 0 && !v.known(r.Template.Ref) &&
		v.clock.Reached(r.Started.Add(listingDelay))
}

// launchesDeletedVersion reports whether the group launches from a version that was deleted while a rollout replaces instances with
// whatever the group launches: the rollout decides about no template, and waits for instances that can't be launched.
func (v *inputs) launchesDeletedVersion() bool {
	r := v.o.ProviderRollout
	return r.Template.Ref == "" && len(v.o.Versions) > 0 && !v.known(v.o.Group.Template) && v.clock.Reached(r.Started.Add(listingDelay))
}

// rolloutWaits returns why a provider rollout is not started now, or nil.
func (v *steps) rolloutWaits() *Cause {
	switch held := Cause(v.rollout.limits.HoldsRoll()); {
	case v.in.d.rolloutHeld() != nil:
		return v.in.d.rolloutHeld()
	case v.in.outOfBounds() != nil:
		return v.in.outOfBounds()
	case v.in.o.ProviderRolloutUnknown != nil:
		return v.in.o.ProviderRolloutUnknown
	case v.in.templateNotReady():
		return &Cause{"TemplateOutOfDate", fmt.Sprintf("the %s does not launch from the wanted %s yet", v.in.t.Group, v.in.t.Template)}
	case v.in.o.NodesUnknown:
		return &Cause{"ConnectionDown", "the workload cluster does not answer, so no machine is replaced"}
	case v.in.t.RolloutOnTemplateChange && slices.ContainsFunc(v.fleet.members, func(m *member) bool { return m.selected && m.isDraining() }):
		return v.rollout.waitsForDrains()
	case v.rollout.halted() != nil:
		return v.rollout.halted()
	case held != Cause{}:
		return &held
	}
	return v.rollout.rolloutInBackoff()
}

// waitsForDrains returns that a provider rollout starts when the drained machines are gone, and how the last one failed.
func (v *rollout) waitsForDrains() *Cause {
	c := &Cause{"Draining", fmt.Sprintf("the rollout of the %s waits until the machines that are being drained are gone", v.in.t.Group)}
	if failed := rolloutFailed(v.in); failed != nil {
		c.Message += "; " + failed.Message
	}
	return c
}

// rolloutFailed returns how the last provider rollout to what is wanted failed, or nil. It holds until the next one starts.
func rolloutFailed(in *inputs) *Cause {
	roll := in.o.ProviderRollout
	if roll == nil || roll.State != ProviderRolloutFailed && roll.State != ProviderRolloutReverted || !roll.Template.Same(in.o.Wanted) ||
		in.restartedSince(roll) {
		return nil
	}
	return &Cause{providerRolloutFailed, fmt.Sprintf("the rollout of the %s to %s ended as %s%s", in.t.Group, roll.Template.Ref, roll.State,
		reasonSuffix(roll))}
}

// providerRolloutFailed is the reason of a provider rollout that has failed.
const providerRolloutFailed = "ProviderRolloutFailed"

// templateNotReady reports whether the template that a provider rollout would launch from is not in place yet.
func (v *inputs) templateNotReady() bool {
	return !v.o.Latest().Same(v.o.Wanted) || !v.d.Rollback && !v.t.RolloutOnTemplateChange && !v.launchesWanted()
}

// rolloutInBackoff returns that the last provider rollout failed and that the next one starts after a pause, or nil.
func (v *rollout) rolloutInBackoff() *Cause {
	roll := v.in.o.ProviderRollout
	if roll == nil || !roll.Template.Same(v.in.o.Wanted) || v.in.restartedSince(roll) ||
		v.in.clock.Reached(roll.Ended.Add(rolloutBackoff(roll))) {
		return nil
	}
	return &Cause{providerRolloutFailed, fmt.Sprintf("the rollout of the %s to %s ended as %s, retrying after a pause%s",
		v.in.t.Group, roll.Template.Ref, roll.State, reasonSuffix(roll))}
}

// restartedSince reports whether a restart was requested after the rollout started.
func (v *inputs) restartedSince(r *ProviderRollout) bool {
	return v.d.Restart != nil && r.Started.Before(v.d.Restart.Before)
}

// rolloutBackoff grows with the rolls that have failed in a row. A roll that has succeeded and left something stale behind is not
// begun again at once either.
func rolloutBackoff(r *ProviderRollout) time.Duration {
	if r.Failures > 6 {
		return maxRolloutPause
	}
	return min(rolloutPause<<max(0, r.Failures-1), maxRolloutPause)
}

func reasonSuffix(r *ProviderRollout) string {
	if r.Reason == "" {
		return ""
	}
	return ": " + r.Reason
}

// hasProviderRollout reports whether there is something for a provider rollout to do.
func (v *status) hasProviderRollout() bool {
	n, _ := v.rollout.countLeftToCloud()
	return v.in.usesProviderRollout() && n > 0 || v.rollout.needsRepointing()
}

// providerRolloutProgress returns how far the provider rollout is, and whether it continues only because it can't be cancelled.
func (v *steps) providerRolloutProgress() Cause {
	c := providerRolloutCause(v.in.o.ProviderRollout, v.in.t)
	if v.in.o.ProviderRollout.ByOthers {
		c.Message += "; another client began it, and it is waited for"
	}
	if unwanted := v.rollout.unwantedRollout(); unwanted != nil && !v.in.t.CanCancelRollout {
		c.Message += "; it can't be cancelled, and it is waited for although " + unwanted.Message
	}
	return c
}

// ControlPlaneUpgradePending is the reason of the issue that a wanted version of Kubernetes waits for the control plane: until then no
// machine is to be replaced for it.
const ControlPlaneUpgradePending = "ControlPlaneUpgradePending"
