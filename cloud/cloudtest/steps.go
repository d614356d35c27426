package cloudtest

import (
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// exercise is one kind of step with a pool in which it is due.
type exercise[S any] struct {
	name string
	// kind is that of the step.
	kind pool.StepKind
	// ready brings a pool to where the step is due.
	ready func(player[S]) scene[S]
	// due is the step that is to be begun, or nothing once it has happened: a function of what is observed and no more, like
	// the engine's.
	due func(scene[S], pool.Observed) *pool.Step
	// done reports what is not as it should be once the step has happened, and happened once.
	done func(player[S], scene[S], pool.Observed)
}

// scene is the state in which an exercise begins its step.
type scene[S any] struct {
	target cloud.Target[S]
	// before is the observation when the step was due.
	before pool.Observed
	// chosen are the instances or the versions that shall go.
	chosen []string
	// declared are the player's.
	declared
}

// sizes of the groups in exercises, as small as they can be for something to be left of them.
const (
	sizeSmall, sizeMiddle, sizeLarge = 2, 3, 4
)

// exercises are all steps that drivers start.
func exercises[S any]() []exercise[S] {
	return []exercise[S]{
		{nameFirst, pool.PutTemplate, readyNothing[S], duePut[S], donePut[S]},
		{"another version", pool.PutTemplate, readyVersion[S], duePut[S], donePut[S]},
		{"a group", pool.CreateGroup, readyTemplate[S], dueCreate[S], doneCreate[S]},
		{nameLaunch, pool.UpdateGroup, readyLaunch[S], dueLaunch[S], doneLaunch[S]},
		{"another shape", pool.UpdateGroup, readyShape[S], dueShape[S], doneShape[S]},
		{"the shape on those that exist", pool.Apply, readyApply[S], dueApply[S], doneApply[S]},
		{"none that the cloud may choose", pool.Protect, readyGroup[S], dueProtect[S], doneProtect[S]},
		{"all that the cloud may choose", pool.Unprotect, readyProtected[S], dueUnprotect[S], doneUnprotect[S]},
		{"more instances", pool.Resize, readyGroup[S], dueResize[S], doneResize[S]},
		{"fewer instances", pool.Remove, readyRemove[S], dueRemove[S], doneRemove[S]},
		{"another instance", pool.Replace, readyReplace[S], dueReplace[S], doneReplace[S]},
		{"an instance set aside", pool.EnterStandby, readyReplace[S], dueSetAside[S], doneSetAside[S]},
		{nameAside, pool.Replace, readyAside[S], dueReplace[S], doneReplace[S]},
		{"what was held", pool.Release, readyHeld[S], dueRelease[S], doneHeld[S]},
		{"a longer hold", pool.Renew, readyExpiring[S], dueRenew[S], doneHeld[S]},
		{"a roll", pool.StartProviderRollout, readyRoll[S], dueRoll[S], doneRoll[S]},
		{nameSomeRoll, pool.StartProviderRollout, readySomeRoll[S], dueRoll[S], doneSomeRoll[S]},
		{nameRestart, pool.StartProviderRollout, readyRestart[S], dueRestart[S], doneRestart[S]},
		{"no roll", pool.CancelProviderRollout, readyRolling[S], dueCancel[S], doneCancel[S]},
		{"another default", pool.DefaultTemplate, readyDefault[S], dueDefault[S], doneDefault[S]},
		{"what the group needs", pool.EnsurePrerequisites, readyNeedy[S], dueProvide[S], doneProvide[S]},
		{"what is left", pool.CleanUp, readyProvided[S], dueCleanUp[S], doneCleanUp[S]},
		{"fewer versions", pool.PruneTemplates, readyPrune[S], duePrune[S], donePrune[S]},
		{"no group", pool.DeleteGroup, readyGroup[S], dueDelete[S], doneDelete[S]},
		{"no template", pool.DeleteTemplates, readyTemplate[S], dueDeleteTemplates[S], doneDeleteTemplates[S]},
	}
}

func seen[S any](p player[S], target cloud.Target[S]) scene[S] {
	p.Helper()
	p.idle(target)
	return scene[S]{target: target, before: p.observe(target), declared: p.declared}
}

func readyNothing[S any](p player[S]) scene[S] { return seen(p, p.target()) }

func readyTemplate[S any](p player[S]) scene[S] {
	p.put(p.target())
	return seen(p, p.target())
}

func readyGroup[S any](p player[S]) scene[S] {
	p.create(p.target(), sizeSmall)
	return seen(p, p.target())
}

func readyVersion[S any](p player[S]) scene[S] {
	p.create(p.target(), sizeSmall)
	return seen(p, rotated(p.target(), 1))
}

func readyLaunch[S any](p player[S]) scene[S] {
	sc := readyVersion(p)
	p.put(sc.target)
	return seen(p, sc.target)
}

// repairs is the step that completes a group which gets some of what it shall have late.
func repairs[S any](sc scene[S], o pool.Observed) *pool.Step {
	if !sc.CompletedLater || o.Group == nil || len(o.Group.Drift) == 0 {
		return nil
	}
	return &pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift}
}

func readyShape[S any](p player[S]) scene[S] {
	p.create(p.target(), sizeSmall)
	return seen(p, p.target(p.suite.Reshaped))
}

func readyRemove[S any](p player[S]) scene[S] {
	p.create(p.target(), sizeLarge)
	sc := seen(p, p.target())
	sc.chosen = spread(sc.before.Instances, sizeLarge-sizeSmall)
	return sc
}

// spread chooses instances so that those that are left are spread over the zones as before, and no cloud evens them out.
func spread(instances []pool.Instance, n int) []string {
	left := slices.Clone(instances)
	var chosen []string
	for range n {
		in := map[string]int{}
		for _, i := range left {
			in[i.Zone]++
		}
		goes := slices.MaxFunc(left, func(a, b pool.Instance) int { return in[a.Zone] - in[b.Zone] })
		left = slices.DeleteFunc(left, func(i pool.Instance) bool { return i.ID == goes.ID })
		chosen = append(chosen, goes.ID)
	}
	return chosen
}

func readyPrune[S any](p player[S]) scene[S] {
	p.create(p.target(), 0)
	for n := range 3 {
		p.put(rotated(p.target(), n+1))
	}
	sc := seen(p, rotated(p.target(), 3))
	for _, v := range sc.before.Versions[1:] {
		if !v.Undeletable && v.Ref != sc.before.Group.Template {
			sc.chosen = append(sc.chosen, v.Ref)
		}
	}
	if len(sc.chosen) == 0 {
		p.Fatalf("want versions that can be pruned, got %+v", sc.before.Versions)
	}
	return sc
}

func duePut[S any](_ scene[S], o pool.Observed) *pool.Step {
	if o.Wanted.UserManaged || o.Latest().Same(o.Wanted) && o.Latest().Data == o.Wanted.Data {
		return nil
	}
	return &pool.Step{Kind: pool.PutTemplate, Base: o.Latest().Ref}
}

func donePut[S any](p player[S], sc scene[S], o pool.Observed) {
	p.Helper()
	versions := len(sc.before.Versions) + 1
	if p.inline() {
		versions = 1
		group := *sc.before.Group
		group.Template = o.Latest().Ref
		sc.before.Group = &group
	}
	p.check("versions", versions, len(o.Versions))
	p.check("the newest version's data", sc.target.Bootstrap.Hash(), o.Latest().Data)
	p.check("the newest version's content", o.Wanted.Content, o.Latest().Content)
	p.check("the group", sc.before.Group, o.Group)
}

func dueCreate[S any](sc scene[S], o pool.Observed) *pool.Step {
	if o.Group != nil {
		return repairs(sc, o)
	}
	if s := duePut(sc, o); s != nil && !sc.inline() {
		return s
	}
	return &pool.Step{Kind: pool.CreateGroup, Size: sizeSmall, Template: o.Latest().Ref}
}

func doneCreate[S any](p player[S], sc scene[S], o pool.Observed) {
	p.Helper()
	if sc.inline() {
		sc.before.Versions = []pool.Template{{Ref: o.Latest().Ref, Content: o.Wanted.Content, Data: o.Wanted.Data}}
	}
	if o.Group == nil || o.Group.Size != sizeSmall || o.Group.Template != sc.before.Latest().Ref || len(o.Instances) != sizeSmall ||
		o.Group.Drift != nil {
		p.Errorf("want a group of %d from %s, got %+v with %d instances", sizeSmall, sc.before.Latest().Ref, o.Group, len(o.Instances))
	}
	p.check("the versions", sc.before.Versions, o.Versions)
}

func dueLaunch[S any](sc scene[S], o pool.Observed) *pool.Step {
	if s := duePut(sc, o); s != nil {
		return s
	}
	if o.Group == nil || o.Group.Template == o.Latest().Ref {
		return nil
	}
	return &pool.Step{Kind: pool.UpdateGroup, Template: o.Latest().Ref}
}

func doneLaunch[S any](p player[S], sc scene[S], o pool.Observed) {
	p.Helper()
	want := *sc.before.Group
	want.Template = sc.before.Latest().Ref
	p.check("the versions", sc.before.Versions, o.Versions)
	p.check("the group", &want, o.Group)
	p.check("the instances", sc.before.Instances, o.Instances)
}

func dueShape[S any](_ scene[S], o pool.Observed) *pool.Step {
	if o.Group == nil || len(o.Group.Drift) == 0 {
		return nil
	}
	return &pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift}
}

func doneShape[S any](p player[S], sc scene[S], o pool.Observed) {
	p.Helper()
	p.check("drift", []string(nil), o.Group.Drift)
	p.check("size", sizeSmall, o.Group.Size)
	p.check("what the group launches from", sc.before.Group.Template, o.Group.Template)
	p.check("how many instances", sizeSmall, len(o.Instances))
}

func dueResize[S any](_ scene[S], o pool.Observed) *pool.Step {
	if o.Group == nil || o.Group.Size >= sizeLarge {
		return nil
	}
	return &pool.Step{Kind: pool.Resize, Size: sizeLarge}
}

func doneResize[S any](p player[S], sc scene[S], o pool.Observed) {
	p.Helper()
	p.check("size", sizeLarge, o.Group.Size)
	p.check("how many instances", sizeLarge, len(o.Instances))
	for _, id := range ids(sc.before.Instances) {
		if !slices.Contains(ids(o.Instances), id) {
			p.Errorf("want %s kept when others come, got %v", id, ids(o.Instances))
		}
	}
}

func dueRemove[S any](sc scene[S], o pool.Observed) *pool.Step {
	targets := chosenTargets(sc, o)
	if len(targets) == 0 {
		return nil
	}
	return &pool.Step{Kind: pool.Remove, Targets: targets}
}

func doneRemove[S any](p player[S], sc scene[S], o pool.Observed) {
	p.Helper()
	p.check("size", sizeLarge-len(sc.chosen), o.Group.Size)
	left := slices.DeleteFunc(ids(sc.before.Instances), func(id string) bool { return slices.Contains(sc.chosen, id) })
	p.check("instances", left, ids(o.Instances))
}

func duePrune[S any](sc scene[S], o pool.Observed) *pool.Step {
	var refs []string
	for _, v := range o.Versions {
		if slices.Contains(sc.chosen, v.Ref) {
			refs = append(refs, v.Ref)
		}
	}
	if len(refs) == 0 {
		return nil
	}
	return &pool.Step{Kind: pool.PruneTemplates, Refs: refs}
}

func donePrune[S any](p player[S], sc scene[S], o pool.Observed) {
	p.Helper()
	left := slices.DeleteFunc(slices.Clone(sc.before.Versions), func(v pool.Template) bool { return slices.Contains(sc.chosen, v.Ref) })
	p.check("versions", left, o.Versions)
}

func dueDelete[S any](_ scene[S], o pool.Observed) *pool.Step {
	if o.Group == nil || o.Group.Deleting {
		return nil
	}
	return &pool.Step{Kind: pool.DeleteGroup}
}

func doneDelete[S any](p player[S], sc scene[S], o pool.Observed) {
	p.Helper()
	if sc.inline() {
		sc.before.Versions = nil
	}
	if o.Group != nil || len(o.Instances) > 0 {
		p.Errorf("want neither group nor instances, got %+v, %+v", o.Group, o.Instances)
	}
	p.check("versions", sc.before.Versions, o.Versions)
}

func dueDeleteTemplates[S any](_ scene[S], o pool.Observed) *pool.Step {
	if len(o.Versions) == 0 {
		return nil
	}
	return &pool.Step{Kind: pool.DeleteTemplates}
}

func doneDeleteTemplates[S any](p player[S], _ scene[S], o pool.Observed) {
	p.Helper()
	p.check("versions", 0, len(o.Versions))
}

// begin brings an exercise to where its step is due, and gives the step.
func (p player[S]) begin(e exercise[S]) (scene[S], pool.Step) {
	p.Helper()
	sc := e.ready(p)
	s := e.due(sc, sc.before)
	if s == nil || s.Kind != e.kind {
		p.Fatalf("want the step %s due, got %+v at %+v", e.kind, s, sc.before)
		return sc, pool.Step{}
	}
	return sc, *s
}

// finish goes on like the engine until nothing is due, lets the cloud come to rest, and looks whether all is as it should be.
func (p player[S]) finish(e exercise[S], sc scene[S]) {
	p.Helper()
	var refused error
	for range maxPasses {
		o := p.observe(sc.target)
		if working(o) && e.kind != pool.CancelProviderRollout {
			rest(time.Minute)
			continue
		}
		if roll := o.ProviderRollout; e.kind == pool.StartProviderRollout && !sc.hooks && roll.Runs() && roll.Template.Content == "" {
			p.Errorf("want a roll that runs to tell what it makes, got %+v", roll)
		}
		s := e.due(sc, o)
		if s == nil {
			settle()
			e.done(p, sc, p.observe(sc.target))
			return
		}
		refused = p.try(sc.target, *s)
		if refused != nil && cloud.KindOf(refused) != cloud.Conflict {
			p.Fatalf("start %s: %v", s.Kind, refused)
		}
		rest(nextPass)
	}
	p.Fatalf("want nothing due any more after %d passes, the last refusal was: %v", maxPasses, refused)
}

// each plays all exercises of steps that are requested of the driver's cloud, each in a cloud of its own.
func each[S any](p player[S], play func(player[S], exercise[S])) {
	for _, e := range exercises[S]() {
		if p.suite.requests(p.declared, e) {
			playElsewhere(p, e.name, func(p player[S]) { play(p, e) })
		}
	}
}

// twice starts every step again right after it and once more when it has long happened.
func twice[S any](p player[S]) {
	each(p, func(p player[S], e exercise[S]) {
		sc, s := p.begin(e)
		p.start(sc.target, s)
		p.start(sc.target, s)
		p.finish(e, sc)
		p.start(sc.target, s)
		p.finish(e, sc)
		p = p.again()
		p.start(sc.target, s)
		p.finish(e, sc)
	})
}

func pagedSteps[S any](p player[S]) {
	each(p, func(p player[S], e exercise[S]) {
		p.fault(onePage)
		sc, _ := p.begin(e)
		p = p.again()
		p.finish(e, sc)
	})
}
