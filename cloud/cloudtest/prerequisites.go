package cloudtest

import (
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// needy is a pool whose group has a prerequisite that has to be created.
func (p player[S]) needy() cloud.Target[S] { return p.target(p.suite.Needy) }

// readyNeedy is a pool that lacks what its group needs. Where the template is a part of the group, what is needed is for a group that
// exists.
func readyNeedy[S any](p player[S]) scene[S] {
	if p.inline() {
		p.create(p.needy(), sizeSmall)
	} else {
		p.put(p.needy())
	}
	return seen(p, p.needy())
}

func dueProvide[S any](_ scene[S], o pool.Observed) *pool.Step {
	if len(o.MissingPrerequisites) == 0 {
		return nil
	}
	return &pool.Step{Kind: pool.EnsurePrerequisites, Fields: o.MissingPrerequisites}
}

// doneProvide wants nothing missing any more, and what was made known to be ours.
func doneProvide[S any](p player[S], sc scene[S], o pool.Observed) {
	p.Helper()
	p.check("what is missing", 0, len(o.MissingPrerequisites))
	p.check("versions", sc.before.Versions, o.Versions)
	if len(o.Leftovers) == 0 {
		p.Errorf("want what was made among what is to be deleted, got %+v", o)
	}
}

func readyProvided[S any](p player[S]) scene[S] {
	sc := readyNeedy(p)
	for n := 0; len(sc.before.MissingPrerequisites) > 0; n++ {
		if n == maxPasses {
			p.Fatalf("want everything made that is needed after %d passes, got %v", n, sc.before.MissingPrerequisites)
		}
		p.start(sc.target, *dueProvide(sc, sc.before))
		rest(nextPass)
		sc = seen(p, sc.target)
	}
	return sc
}

func dueCleanUp[S any](_ scene[S], o pool.Observed) *pool.Step {
	if len(o.Leftovers) == 0 {
		return nil
	}
	return &pool.Step{Kind: pool.CleanUp, Fields: o.Leftovers}
}

func doneCleanUp[S any](p player[S], _ scene[S], o pool.Observed) {
	p.Helper()
	p.check("what is left", 0, len(o.Leftovers))
}

// readyDefault is a template whose newest version is not its default.
func readyDefault[S any](p player[S]) scene[S] {
	p.put(p.target())
	target := rotated(p.target(), 1)
	p.put(target)
	return seen(p, target)
}

func dueDefault[S any](_ scene[S], o pool.Observed) *pool.Step {
	if o.Latest().Undeletable || o.Latest().Ref == "" {
		return nil
	}
	return &pool.Step{Kind: pool.DefaultTemplate, Template: o.Latest().Ref}
}

// doneDefault wants the newest version, and that alone, to be the default.
func doneDefault[S any](p player[S], sc scene[S], o pool.Observed) {
	p.Helper()
	p.check("versions", len(sc.before.Versions), len(o.Versions))
	for k, v := range o.Versions {
		if v.Undeletable != (k == 0) {
			p.Errorf("want the newest version alone to be the default, got %+v", o.Versions)
		}
	}
}
