package cloudtest

import (
	"slices"
	"time"

	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// held removes an instance and keeps it for several times as long as the cloud would by itself.
func held[S any](p player[S]) {
	if !p.hooks {
		return
	}
	sc := readyHeld(p)
	hold := holdOf(sc.before, sc.chosen[0])
	if hold.Since.After(time.Now()) || !hold.Until.After(time.Now()) || (hold.Heartbeat <= 0) != p.HoldsOnce {
		p.Errorf("want it held since now or before, until later, and for some time with each renewal, got %+v", hold)
	}
	for range renewals(p.HoldsOnce) {
		rest(hold.Heartbeat * 2 / 3)
		p = p.again()
		p.start(sc.target, pool.Step{Kind: pool.Renew, Targets: heldTargets(sc, p.observe(sc.target))})
	}
	if p.HoldsOnce {
		rest(nextPass)
		p = p.again()
	}
	now := holdOf(p.observe(sc.target), sc.chosen[0])
	if now == nil || !now.Since.Equal(hold.Since) || now.Until.After(hold.Until) == p.HoldsOnce {
		p.Fatalf("want it held since the same moment, and longer, got %+v after %+v", now, hold)
	}
	p.start(sc.target, pool.Step{Kind: pool.Release, Targets: heldTargets(sc, p.observe(sc.target))})
	if o := p.observe(sc.target); holdOf(o, sc.chosen[0]) != nil {
		p.Errorf("want nothing held any more, got %+v", o.Instances)
	}
	settle()
	doneHeld(p, sc, p.observe(sc.target))
}

// renewals returns how often a hold is made longer.
func renewals(once bool) int {
	if once {
		return 0
	}
	return 3
}

// takenByCloud has the cloud take an instance for a reason of its own.
func takenByCloud[S any](p player[S]) {
	if !p.hooks {
		return
	}
	sc := readyReplace(p)
	if !p.by(sim.MarkUnhealthy, sim.Resource{Instance: sc.chosen[0]}) {
		return
	}
	for range maxPasses {
		rest(nextPass)
		sc.before = p.again().observe(sc.target)
		if holdOf(sc.before, sc.chosen[0]) != nil {
			break
		}
	}
	for _, i := range sc.before.Instances {
		chosen := i.ID == sc.chosen[0]
		if chosen != (i.LifecycleHook != nil) || chosen != (i.TerminationNotice != nil) || chosen &&
			(i.TerminationNotice.Reason == "" || i.TerminationNotice.Message == "") {
			p.Errorf("want %s alone held, with the reason for which the cloud takes it, got %+v", sc.chosen[0], i)
		}
	}
	p.start(sc.target, pool.Step{Kind: pool.Release, Targets: heldTargets(sc, sc.before)})
	settle()
	doneReplace(p, sc, p.observe(sc.target))
}

// holdOf returns the lifecycle hook that holds the instance; nil if none does.
func holdOf(o pool.Observed, id string) *pool.LifecycleHook {
	for _, i := range o.Instances {
		if i.ID == id {
			return i.LifecycleHook
		}
	}
	return nil
}

// readyHeld removes an instance, or has the cloud choose one where that alone is held, and waits until it is held.
func readyHeld[S any](p player[S]) scene[S] {
	sc := readyReplace(p)
	if p.RemovesUnheld {
		p.by(sim.SetSize, sim.Resource{Name: p.name(sc.target), Size: sizeMiddle - 1})
	} else {
		p.start(sc.target, pool.Step{Kind: pool.Remove, Targets: chosenTargets(sc, sc.before)})
	}
	for range maxPasses {
		sc.before = p.observe(sc.target)
		for _, i := range sc.before.Instances {
			if p.RemovesUnheld && i.LifecycleHook != nil {
				sc.chosen = []string{i.ID}
			}
		}
		if holdOf(sc.before, sc.chosen[0]) != nil {
			return sc
		}
		rest(nextPass)
	}
	p.Fatalf("want %s held, got %+v", sc.chosen[0], sc.before.Instances)
	return sc
}

// readyExpiring waits until most of the time is up.
func readyExpiring[S any](p player[S]) scene[S] {
	sc := readyHeld(p)
	rest(holdOf(sc.before, sc.chosen[0]).Heartbeat * 2 / 3)
	sc.before = p.observe(sc.target)
	return sc
}

// heldTargets are the chosen instances that are held.
func heldTargets[S any](sc scene[S], o pool.Observed) []pool.InstanceRef {
	var targets []pool.InstanceRef
	for _, i := range o.Instances {
		if i.LifecycleHook != nil && slices.Contains(sc.chosen, i.ID) {
			targets = append(targets, pool.InstanceRef{ID: i.ID, ProviderID: i.ProviderID})
		}
	}
	return targets
}

func dueRelease[S any](sc scene[S], o pool.Observed) *pool.Step {
	targets := heldTargets(sc, o)
	if len(targets) == 0 {
		return nil
	}
	return &pool.Step{Kind: pool.Release, Targets: targets}
}

// dueRenew is due until the hold is seen to be longer than it was.
func dueRenew[S any](sc scene[S], o pool.Observed) *pool.Step {
	targets := heldTargets(sc, o)
	if len(targets) == 0 || holdOf(o, sc.chosen[0]).Until.After(holdOf(sc.before, sc.chosen[0]).Until) {
		return nil
	}
	return &pool.Step{Kind: pool.Renew, Targets: targets}
}

// doneHeld wants the instance gone at last, with the size that it was removed with.
func doneHeld[S any](p player[S], sc scene[S], o pool.Observed) {
	p.Helper()
	p.check("size", sizeMiddle-1, o.Group.Size)
	left := slices.DeleteFunc(ids(sc.before.Instances), func(id string) bool { return slices.Contains(sc.chosen, id) })
	p.check("instances", left, ids(o.Instances))
}
