package cloudtest

import (
	"slices"

	"github.com/muster-project/muster/pool"
)

// requests reports whether the engine ever requests the step of an exercise from the driver.
func (s Suite[S]) requests(d declared, e exercise[S]) bool {
	t := d.traits
	requested, conditional := map[pool.StepKind]bool{
		pool.CancelProviderRollout: t.ProviderRollout && t.CanCancelRollout,
		pool.StartProviderRollout:  t.ProviderRollout,
		pool.EnsurePrerequisites:   s.Needy != nil,
		pool.CleanUp:               s.Needy != nil,
		pool.Release:               d.hooks,
		pool.Renew:                 d.hooks && !d.HoldsOnce,
		pool.EnterStandby:          t.SupportsStandby,
		pool.Replace:               t.ReplaceKeepsSize,
		pool.Remove:                !t.SelectsInstances,
		pool.Apply:                 t.SupportsInPlaceChanges,
		pool.Protect:               t.SupportsScaleInProtection,
		pool.Unprotect:             t.SupportsScaleInProtection,
		pool.DefaultTemplate:       s.TemplateName == nil,
	}[e.kind]
	switch {
	case conditional && !requested:
		return false
	case slices.Contains(ofTemplates, e.kind):
		return !d.cloudTemplates && (!t.InlineTemplate || e.kind == pool.PutTemplate && e.name != nameFirst)
	case e.name == nameAside:
		return t.SupportsStandby
	case e.name == nameSomeRoll, e.name == nameRestart, e.name == nameLaunch:
		return d.versioned()
	}
	return true
}

// ofTemplates are the steps that are never requested if templates are the cloud's own.
var ofTemplates = []pool.StepKind{pool.PutTemplate, pool.DefaultTemplate, pool.PruneTemplates, pool.DeleteTemplates}

// nameFirst is the exercise in which there is no template yet, nameLaunch that in which the group is pointed at another version;
// nameRestart has a roll replace what is as wanted.
const (
	nameFirst   = "the first template"
	nameLaunch  = "launching from another version"
	nameRestart = "another roll for those that the last one left"
)

// nameAside is the exercise that begins with instances set aside.
const nameAside = "none set aside"

func readyReplace[S any](p player[S]) scene[S] {
	p.create(p.target(), sizeMiddle)
	sc := seen(p, p.target())
	sc.chosen = spread(sc.before.Instances, 1)
	return sc
}

func readyAside[S any](p player[S]) scene[S] {
	sc := readyReplace(p)
	p.start(sc.target, pool.Step{Kind: pool.EnterStandby, Targets: chosenTargets(sc, sc.before)})
	settle()
	sc.before = p.observe(sc.target)
	return sc
}

// chosenTargets are the chosen instances that are not on their way out, in the order in which they were chosen: a step of which
// only the beginning is done leaves the others spread over the zones too.
func chosenTargets[S any](sc scene[S], o pool.Observed) []pool.InstanceRef {
	var targets []pool.InstanceRef
	for _, id := range sc.chosen {
		for _, i := range alive(o.Instances) {
			if i.ID == id {
				targets = append(targets, pool.InstanceRef{ID: i.ID, ProviderID: i.ProviderID})
			}
		}
	}
	return targets
}

func dueReplace[S any](sc scene[S], o pool.Observed) *pool.Step {
	targets := chosenTargets(sc, o)
	if len(targets) == 0 {
		return nil
	}
	return &pool.Step{Kind: pool.Replace, Targets: targets}
}

// doneReplace wants the size as it was, the others as they were, and as many new ones as are needed.
func doneReplace[S any](p player[S], sc scene[S], o pool.Observed) {
	p.Helper()
	p.check("size", sizeMiddle, o.Group.Size)
	p.check("how many instances", sizeMiddle, len(o.Instances))
	left := slices.DeleteFunc(ids(sc.before.Instances), func(id string) bool { return slices.Contains(sc.chosen, id) })
	p.check("those that were not chosen", left, ids(o.Instances)[:min(len(left), len(o.Instances))])
	for _, i := range o.Instances {
		if slices.Contains(sc.chosen, i.ID) || i.Standby {
			p.Errorf("want none of %v, and none set aside, got %+v", sc.chosen, i)
		}
	}
}

func dueSetAside[S any](sc scene[S], o pool.Observed) *pool.Step {
	var targets []pool.InstanceRef
	for _, i := range alive(o.Instances) {
		if slices.Contains(sc.chosen, i.ID) && !i.Standby {
			targets = append(targets, pool.InstanceRef{ID: i.ID, ProviderID: i.ProviderID})
		}
	}
	if len(targets) == 0 {
		return nil
	}
	return &pool.Step{Kind: pool.EnterStandby, Targets: targets}
}

// doneSetAside wants everybody to run on, one more, and the size as it was.
func doneSetAside[S any](p player[S], sc scene[S], o pool.Observed) {
	p.Helper()
	p.check("size", sizeMiddle, o.Group.Size)
	p.check("drift", []string(nil), o.Group.Drift)
	p.check("issues", 0, len(o.Issues))
	p.check("how many instances", sizeMiddle+1, len(o.Instances))
	p.check("those that were there", ids(sc.before.Instances), ids(o.Instances)[:min(sizeMiddle, len(o.Instances))])
	for _, i := range o.Instances {
		if i.Standby != slices.Contains(sc.chosen, i.ID) || i.State != pool.Running {
			p.Errorf("want all to run, and %v alone set aside, got %+v", sc.chosen, i)
		}
	}
}
