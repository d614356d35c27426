package cloudtest

import (
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/pool"
)

// readyRoll is a group that launches from another template than its instances were launched from.
func readyRoll[S any](p player[S]) scene[S] {
	p.create(p.target(), sizeSmall)
	target := p.changed()
	p.launch(target, p.put(target).Latest().Ref)
	return seen(p, target)
}

// readyRolling is a group whose roll has just begun.
func readyRolling[S any](p player[S]) scene[S] {
	sc := readyRoll(p)
	p.start(sc.target, *dueStart(sc.before))
	if p.traits.CanCancelRollout {
		sc.before = p.observe(sc.target) // it goes on, whatever else has to wait for it
	} else {
		sc = seen(p, sc.target)
	}
	if sc.before.ProviderRollout == nil || !sc.before.ProviderRollout.Template.Same(sc.before.Wanted) ||
		sc.before.ProviderRollout.State != pool.ProviderRolloutRunning {
		p.Fatalf("want a roll to %+v that runs, got %+v", sc.before.Wanted, sc.before.ProviderRollout)
	}
	sc.chosen = []string{sc.before.ProviderRollout.ID}
	return sc
}

// dueStart begins a roll for all that are not of the wanted template.
func dueStart(o pool.Observed) *pool.Step {
	s := &pool.Step{Kind: pool.StartProviderRollout, Template: o.Latest().Ref}
	for _, i := range alive(o.Instances) {
		if !i.Template.Same(o.Wanted) {
			s.Targets = append(s.Targets, pool.InstanceRef{ID: i.ID, ProviderID: i.ProviderID})
		}
	}
	return s
}

// dueRoll lets go what is held while the roll runs, as the engine would.
func dueRoll[S any](sc scene[S], o pool.Observed) *pool.Step {
	switch {
	case o.ProviderRollout == nil && !sc.RecordsRollouts && len(dueStart(o).Targets) == 0:
		return nil
	case o.ProviderRollout == nil || !o.ProviderRollout.Template.Same(o.Wanted):
		return dueStart(o)
	case o.ProviderRollout.State != pool.ProviderRolloutRunning:
		return nil
	}
	s := &pool.Step{Kind: pool.Release}
	for _, i := range o.Instances {
		if i.LifecycleHook != nil {
			s.Targets = append(s.Targets, pool.InstanceRef{ID: i.ID, ProviderID: i.ProviderID})
		}
	}
	if !sc.hooks {
		return nil // it goes on by itself
	}
	return s
}

func doneRoll[S any](p player[S], sc scene[S], o pool.Observed) {
	p.Helper()
	switch roll := o.ProviderRollout; {
	case !sc.RecordsRollouts && roll == nil:
	case roll == nil || roll.State != pool.ProviderRolloutSucceeded || roll.Percent != 100 || roll.Failures != 0 || roll.Started.IsZero() ||
		roll.Ended.Before(roll.Started):
		p.Errorf("want a roll that has succeeded, got %+v", roll)
	}
	p.check("size", sizeSmall, o.Group.Size)
	p.check("what the group launches from", sc.before.Latest().Ref, o.Group.Template)
	alike := 0
	for _, i := range o.Instances {
		if i.Template.Same(o.Wanted) {
			alike++
		}
		if slices.Contains(ids(sc.before.Instances), i.ID) {
			p.Errorf("want %s replaced, got %+v", i.ID, o.Instances)
		}
	}
	p.check("instances of the wanted template", sizeSmall, alike)
}

// nameSomeRoll is the exercise in which some instances are as they should be, of another version.
const nameSomeRoll = "a roll for some"

// readySomeRoll is a group of which one instance has the wanted content already, from a version with other bootstrap data than the
// newest.
func readySomeRoll[S any](p player[S]) scene[S] {
	sc := readyRoll(p)
	first := sc.before.Instances[0]
	p.start(sc.target, pool.Step{Kind: pool.Replace, Targets: []pool.InstanceRef{{ID: first.ID, ProviderID: first.ProviderID}}})
	settle()
	target := rotated(sc.target, 1)
	p.launch(target, p.put(target).Latest().Ref)
	sc = seen(p, target)
	for _, i := range sc.before.Instances {
		if i.Template.Same(sc.before.Wanted) && i.Template.Ref != sc.before.Latest().Ref {
			sc.chosen = append(sc.chosen, i.ID)
		}
	}
	if len(sc.chosen) != 1 || len(sc.before.Instances) != sizeSmall {
		p.Fatalf("want one of %d instances of the wanted content from an older version, got %+v", sizeSmall, sc.before.Instances)
	}
	return sc
}

// doneSomeRoll wants the one left that needed no replacement, whatever its version.
func doneSomeRoll[S any](p player[S], sc scene[S], o pool.Observed) {
	p.Helper()
	if o.ProviderRollout == nil || o.ProviderRollout.State != pool.ProviderRolloutSucceeded {
		p.Errorf("want a roll that has succeeded, got %+v", o.ProviderRollout)
	}
	p.check("how many instances", sizeSmall, len(o.Instances))
	left := 0
	for _, i := range o.Instances {
		switch before := slices.Contains(ids(sc.before.Instances), i.ID); {
		case slices.Contains(sc.chosen, i.ID):
			left++
		case before || !i.Template.Same(o.Wanted):
			p.Errorf("want all that are of other content replaced, and by the wanted, got %+v", i)
		}
	}
	p.check("instances that needed no replacement", 1, left)
}

// readyRestart is a group of the wanted template; one of its instances shall be replaced all the same.
func readyRestart[S any](p player[S]) scene[S] {
	p.create(p.target(), sizeMiddle)
	sc := seen(p, p.target())
	sc.chosen = spread(sc.before.Instances, 1)
	return sc
}

func dueRestart[S any](sc scene[S], o pool.Observed) *pool.Step {
	targets := chosenTargets(sc, o)
	if len(targets) == 0 || o.ProviderRollout != nil && o.ProviderRollout.State == pool.ProviderRolloutRunning {
		return dueRoll(sc, o)
	}
	return &pool.Step{Kind: pool.StartProviderRollout, Template: o.Latest().Ref, Targets: targets, ReplaceMatching: true}
}

// doneRestart wants the chosen one replaced and the others as they were.
func doneRestart[S any](p player[S], sc scene[S], o pool.Observed) {
	p.Helper()
	doneReplace(p, sc, o)
	if o.ProviderRollout == nil || o.ProviderRollout.State != pool.ProviderRolloutSucceeded {
		p.Errorf("want a roll that has succeeded, got %+v", o.ProviderRollout)
	}
}

func dueCancel[S any](sc scene[S], o pool.Observed) *pool.Step {
	if o.ProviderRollout == nil || o.ProviderRollout.ID != sc.chosen[0] || o.ProviderRollout.State != pool.ProviderRolloutRunning {
		return nil
	}
	return &pool.Step{Kind: pool.CancelProviderRollout, Refs: sc.chosen}
}

func doneCancel[S any](p player[S], sc scene[S], o pool.Observed) {
	p.Helper()
	if o.ProviderRollout == nil || o.ProviderRollout.ID != sc.chosen[0] || o.ProviderRollout.State != pool.ProviderRolloutCancelled ||
		o.ProviderRollout.Failures != 0 || o.ProviderRollout.Ended.IsZero() {
		p.Errorf("want the roll %v cancelled, got %+v", sc.chosen, o.ProviderRollout)
	}
	p.check("size", sizeSmall, o.Group.Size)
}

// otherRoll asks to cancel a roll that is over, or never was, while another runs.
func otherRoll[S any](p player[S]) {
	if !p.traits.ProviderRollout || !p.traits.CanCancelRollout {
		return
	}
	sc := readyRolling(p)
	p.start(sc.target, pool.Step{Kind: pool.CancelProviderRollout, Refs: []string{sc.chosen[0] + "0"}})
	if o := p.again().observe(sc.target); o.ProviderRollout == nil || o.ProviderRollout.ID != sc.chosen[0] ||
		o.ProviderRollout.State != pool.ProviderRolloutRunning {
		p.Errorf("want the roll %s to go on, got %+v", sc.chosen[0], o.ProviderRollout)
	}
}

// unjoinedRoll lets a roll launch an instance whose node never comes: past the progress deadline it is cancelled, or it is said why it is
// not.
func unjoinedRoll[S any](p player[S]) {
	if !p.traits.ProviderRollout {
		return
	}
	sc := readyRoll(p)
	p.start(sc.target, *dueStart(sc.before))
	launched := func(i pool.Instance) bool { return i.Template.Same(sc.before.Wanted) && i.State != pool.Terminating }
	o := p.observe(sc.target)
	for range maxPasses {
		if slices.ContainsFunc(slices.Concat(o.Instances, o.Beside), launched) {
			break
		}
		rest(nextPass)
		o = p.observe(sc.target)
	}
	if !o.ProviderRollout.Runs() {
		p.Fatalf("want an instance of the roll while it runs, got %+v", o)
	}
	d := pool.Desired{Replicas: sizeSmall, Max: sizeMiddle, MaxField: "max"}
	plan := pool.Decide(d, o, p.traits, time.Now().Add(pool.DefaultProgressDeadline+time.Second))
	switch {
	case p.traits.CanCancelRollout && (plan.Step == nil || plan.Step.Kind != pool.CancelProviderRollout):
		p.Errorf("want a roll cancelled whose machines do not join, got %+v for %+v", plan.Step, o)
	case !p.traits.CanCancelRollout && !strings.Contains(plan.Rollout.Cause.Message, "it can't be cancelled"):
		p.Errorf("want it said of the roll that its machines do not join, got %+v for %+v", plan.Rollout, o)
	}
}
