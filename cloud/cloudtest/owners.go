package cloudtest

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// claimants are owners that claim the ID of another's group: it is an annotation, which everyone sets who can write an object.
func claimants(owner cloud.Owner) map[string]cloud.Owner {
	out := map[string]cloud.Owner{}
	for tag, change := range map[string]func(*cloud.Owner){
		cloud.TagNamespace: func(o *cloud.Owner) { o.Namespace = "tenant" },
		cloud.TagPool:      func(o *cloud.Owner) { o.Name = "mine" },
		cloud.TagCluster:   func(o *cloud.Owner) { o.Cluster = "other" },
	} {
		o := owner
		change(&o)
		out[tag] = o
	}
	return out
}

// renamed changes the tag of a group that names its cluster, as the operator does who moves it, and back.
func renamed[S any](p player[S]) {
	target := p.target()
	own := p.create(target, sizeSmall)
	thing := sim.Resource{Name: p.name(target), Key: p.suite.Spelling.Key(cloud.TagCluster), Value: "theirs"}
	if !p.by(sim.ChangeTag, thing) {
		return
	}
	rest(untraced)
	if o := p.observe(target); o.OwnershipConflict == nil || !strings.Contains(o.OwnershipConflict.Message, thing.Key) {
		p.Fatalf("want the conflict with the tag named, got %+v", o)
	}
	p.refuses(target, pool.Step{Kind: pool.DeleteGroup}, pool.Step{Kind: pool.UpdateGroup}, pool.Step{Kind: pool.Adopt})
	moved := target
	moved.Owner.Cluster, moved.Owner.GroupName = "theirs", p.name(target)
	if o := p.observe(moved); o.Group == nil || len(o.Instances) != sizeSmall {
		p.Errorf("want the group to be that of the pool whose name its tags have, got %+v", o)
	}
	thing.Value = target.Owner.Cluster
	p.by(sim.ChangeTag, thing)
	rest(untraced)
	o := p.observe(target)
	p.check("the group", own.Group, o.Group)
	p.check("the instances", own.Instances, o.Instances)
}

// claimed has pools of other objects claim the owner ID of a group, with the driver that runs it and with one that has seen nothing.
func claimed[S any](p player[S]) {
	target := p.target()
	own := p.create(target, sizeSmall)
	for tag, owner := range claimants(target.Owner) {
		settle()
		for _, q := range []player[S]{p, p.again()} {
			other := target
			other.Owner = owner
			other.Owner.GroupName = p.name(target)
			for _, adopt := range []bool{false, true} {
				other.Adopt = adopt
				o := q.observe(other)
				if stranger(q, o); o.OwnershipConflict.Reason != cloud.ReasonOwnershipConflict ||
					!strings.Contains(o.OwnershipConflict.Message, tag) {
					q.Errorf("want %s with the tag that names another %s, got %+v", cloud.ReasonOwnershipConflict, tag, o.OwnershipConflict)
				}
				q.refuses(other, pool.Step{Kind: pool.Adopt}, pool.Step{Kind: pool.DeleteGroup}, pool.Step{Kind: pool.Resize, Size: sizeMiddle},
					pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: own.Instances[0].ID}}})
			}
			other.Adopt, other.Deleting = false, true
			if o := q.observe(other); o.Unowned == nil || slices.ContainsFunc(o.Versions, func(v pool.Template) bool { return !v.UserManaged }) {
				q.Errorf("want nothing of the group deleted with a pool that claims it, got %+v", o)
			}
		}
	}
	settle()
	p.check("the pool whose group was claimed", own, p.observe(target))
}

// consented has another tool make a group whose tags name neither the pool nor its cluster, and the operator allow its adoption.
func consented[S any](p player[S]) {
	target := p.target()
	thing := sim.Resource{Name: p.name(target)}
	if !p.by(sim.CreateGroup, thing) {
		return
	}
	target.Adopt = true
	is := p.observe(target).Unowned
	if is == nil || is.Invited || is.OfCluster || is.Owner != "" {
		p.Fatalf("want a group without an owner or a cluster, got %+v", is)
	}
	thing.Key, thing.Value, _ = strings.Cut(is.ConsentTag, "=")
	for value, invited := range map[string]bool{"another": false, thing.Value: true} {
		thing.Value = value
		if !p.by(sim.ChangeTag, thing) {
			return
		}
		rest(untraced)
		if is = p.again().observe(target).Unowned; is == nil || is.Invited != invited {
			p.Errorf("tag %s=%s: want the pool invited: %t, got %+v", thing.Key, value, invited, is)
		}
	}
}

// granted has another tool make a group whose tags name no cluster, and the operator grant its adoption to the pool's namespace.
func granted[S any](p player[S]) {
	target := p.target()
	if !p.by(sim.CreateGroup, sim.Resource{Name: p.name(target)}) {
		return
	}
	rest(untraced)
	target.Adopt = true
	is := p.observe(target).Unowned
	if is == nil || is.Account == "" || path.Base(is.Path) != is.Name {
		p.Fatalf("want a group with its account and the path of its name, got %+v", is)
	}
	for about, g := range map[string]pool.AdoptionGrant{
		"another account": grant("another", is.Path), "another name": grant(is.Account, is.Path+"-2"),
		"another place": grant(is.Account, "another/"+is.Path), "the grant of another namespace": {},
	} {
		if plan := adoption(p, target, g); plan.Step != nil || plan.Refused == nil || plan.Refused.Reason != pool.AdoptionNotAllowed ||
			!strings.Contains(plan.Refused.Message, is.Account) || !strings.Contains(plan.Refused.Message, is.Path) {
			p.Errorf("%s: want the adoption refused with the grant that is missing, got %+v", about, plan)
		}
	}
	adopts(p, target, grant(is.Account, is.Path), true)
	all := grant(is.Account, path.Join(path.Dir(is.Path), "*"))
	adopts(p, target, all, true)
	ofOthers(p, target, all)
}

// ofOthers has the tags of a group name another object, and no grant reach it.
func ofOthers[S any](p player[S], target cloud.Target[S], all pool.AdoptionGrant) {
	for _, tag := range []struct {
		name, value string
		allowed     bool
	}{
		{cloud.TagNamespace, "theirs", false}, {cloud.TagNamespace, target.Owner.Namespace, true}, {cloud.TagOwner, "another", false},
	} {
		thing := sim.Resource{Name: p.name(target), Key: p.suite.Spelling.Key(tag.name), Value: tag.value}
		if p.by(sim.ChangeTag, thing) {
			rest(untraced)
			adopts(p.again(), target, all, tag.allowed)
		}
	}
}

// grant returns a grant of the pool's namespace.
func grant(account, pattern string) pool.AdoptionGrant {
	return pool.AdoptionGrant{Name: "g", Accounts: []string{account}, Groups: []string{pattern}}
}

// adopts checks whether a grant has the target adopt its group.
func adopts[S any](p player[S], target cloud.Target[S], g pool.AdoptionGrant, allowed bool) {
	p.Helper()
	plan := adoption(p, target, g)
	if allowed != (plan.Step != nil && plan.Step.Kind == pool.Adopt) || allowed == (plan.Refused != nil) {
		p.Errorf("groups %v: want the adoption allowed: %t, got %+v", g.Groups, allowed, plan)
	}
}

// adoption returns what is decided about the adoption that a target asks for, with one grant of its namespace.
func adoption[S any](p player[S], target cloud.Target[S], g pool.AdoptionGrant) pool.Plan {
	p.Helper()
	o := p.observe(target)
	adoption := pool.Adoption{Name: p.name(target), Namespace: target.Owner.Namespace}
	if g.Name != "" {
		adoption.Grants = []pool.AdoptionGrant{g}
	}
	return pool.Decide(pool.Desired{Replicas: sizeSmall, Adopt: adoption}, o, p.traits, time.Now())
}
