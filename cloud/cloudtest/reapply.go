package cloudtest

import (
	"strings"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// appliedAgain has an object be applied again without the owner ID of its group, with the group's derived name and with another.
func appliedAgain[S any](p player[S]) {
	target := p.target()
	target.Owner.Kind = "infrakind"
	withoutID(p, target)
	target.Owner.GroupName = "former"
	if p.name(target) != p.name(p.target()) {
		playElsewhere(p, "a group of another name", func(p player[S]) { withoutID(p, target) })
	}
	target.Owner.GroupName = ""
	playElsewhere(p, "a group that another process has created since the last list", func(p player[S]) { createdSince(p, target) })
}

// createdSince holds that a list of groups from before the object was created hides no group.
func createdSince[S any](p player[S], target cloud.Target[S]) {
	p.Helper()
	again := target
	again.Owner.ID = "applied-again"
	if o := searching(p, again); !empty(p, o) {
		p.Errorf("want nothing found, got %+v", o)
	}
	other := p.again()
	other.start(target, pool.Step{Kind: pool.CreateGroup, Size: sizeSmall, Template: other.put(target).Latest().Ref})
	rest(nextPass)
	again.Search.Since = time.Now()
	stranger(p, searching(p, again))
}

// searching looks for groups of other names that could be the target's, as the engine does: with a second look, beside what the first has
// read.
func searching[S any](p player[S], target cloud.Target[S]) pool.Observed {
	p.Helper()
	first := p.observe(target)
	target.Search.Tagged, target.Search.Provider, target.Cache.MaxAge = true, true, nextPass
	out := p.observeWithin(target)
	out.Cache.Fresh, out.Cache.GroupFresh = out.Cache.Fresh || first.Cache.Fresh, out.Cache.GroupFresh || first.Cache.GroupFresh
	return out
}

// withoutID creates the target's group, and has its object be applied again as it stands in Git.
func withoutID[S any](p player[S], target cloud.Target[S]) {
	p.Helper()
	own := p.create(target, sizeSmall)
	again := target
	again.Owner.ID, again.Owner.GroupName = "applied-again", ""
	for _, q := range []player[S]{p, p.again()} {
		takesBack(q, again, own)
	}
	for tag, owner := range claimants(again.Owner) {
		other := again
		if other.Owner = owner; p.name(again) == p.name(target) {
			break // the specification or the object's name is that of the group, and the other clauses are about it
		}
		if o := searching(p, other); !empty(p, o) || o.FormerGroup != nil {
			p.Errorf("want a pool of another %s not kept from its group, got %+v", tag, o)
		}
	}
	p.check("what the pool itself finds", own, searching(p, target))
	rest(time.Minute)
	p.start(target, pool.Step{Kind: pool.DeleteGroup})
	if o := searching(p.again(), again); o.OwnershipConflict != nil && p.name(again) != p.name(target) {
		p.Errorf("want a group that is being deleted waited for, got %+v", o.OwnershipConflict)
	}
	settle()
	if o := searching(p, again); o.OwnershipConflict != nil || o.FormerGroup != nil || o.Group != nil {
		p.Errorf("want nothing in the way once the group is gone, got %+v", o)
	}
}

// takesBack holds that nothing is created for an object whose group has another owner ID, and that the command in the message gives it the
// group as it is.
func takesBack[S any](p player[S], again cloud.Target[S], own pool.Observed) {
	p.Helper()
	o := searching(p, again)
	stranger(p, o)
	desired := pool.Desired{Replicas: own.Group.Size, Max: sizeLarge}
	plan := pool.Decide(desired, o, p.traits, time.Now())
	if plan.Step != nil || plan.Refused == nil || plan.Refused.Reason != cloud.ReasonOwnershipConflict {
		p.Fatalf("want nothing planned and %s told, got %+v", cloud.ReasonOwnershipConflict, plan)
	}
	_, command, found := strings.Cut(plan.Refused.Message, "run: kubectl annotate --overwrite --namespace default infrakind pool ")
	if !found {
		p.Fatalf("want the command that takes the group back, got %q", plan.Refused.Message)
	}
	for _, part := range strings.Fields(command) {
		switch key, value, _ := strings.Cut(part, "="); key {
		case "muster.dev/owner-id":
			again.Owner.ID = value
		case "muster.dev/group-name":
			again.Owner.GroupName = value
		default:
			p.Errorf("want annotations of Muster's set, got %q", part)
		}
	}
	o = searching(p, again)
	p.check("the group", own.Group, o.Group)
	p.check("the instances", own.Instances, o.Instances)
	if plan = pool.Decide(desired, o, p.traits, time.Now()); plan.Step != nil && plan.Step.Kind != pool.Protect {
		p.Errorf("want the group as it is once the command was run, got step %+v", plan.Step)
	}
}
