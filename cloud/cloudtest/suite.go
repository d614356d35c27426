package cloudtest

import (
	"slices"
	"testing"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// Run drives a driver through the contract. The function with makes a fresh harness for each case and hands it to the
// test, within a bubble of virtual time if it wants one.
func Run[S any](t *testing.T, with func(t *testing.T, test func(*testing.T, Harness[S]))) {
	for _, c := range []struct {
		sentence string
		test     func(player[S])
	}{
		{"a pool that does not exist is observed as nothing, and nothing is written", nothing[S]},
		{"what was created is observed exactly", created[S]},
		{"a pool at rest costs few reads and no writes", steady[S]},
		{"a driver that has seen nothing sees the same", forgetful[S]},
		{"each step twice does it once", twice[S]},
		{"what happened is found when its reply was lost", lostReplies[S]},
		{"what has our name and not our tag is left alone", foreign[S]},
		{"a group that was deleted by hand is made again", deletedByHand[S]},
		{"bootstrap data alone makes a version and nothing stale", rotation[S]},
		{"another template makes instances stale, and the group launches from it", changed[S]},
		{"drift is named, and repaired without touching the size", drift[S]},
		{"exactly the chosen instance goes", removed[S]},
		{"a specification that can't be met is refused with its field, and disturbs no group that exists", broken[S]},
		{"a look-up that is remembered is not made again", remembered[S]},
		{"an observation may be as old as the pass is content with", aged[S]},
		{"steps of others are refused", notOurs[S]},
		{"a pool is deleted without a trace", deleted[S]},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			with(t, func(t *testing.T, h Harness[S]) { c.test(player[S]{t: t, h: h}) })
		})
	}
}

func nothing[S any](p player[S]) {
	o := p.observe(p.h.Target)
	if o.Group != nil || o.Foreign != nil || len(o.Versions) > 0 || len(o.Instances) > 0 {
		p.t.Errorf("want nothing, got %+v", o)
	}
	if o.Wanted.Content == "" || o.Wanted.Data != p.h.Target.Bootstrap.Hash() || o.Wanted.Ref != "" {
		p.t.Errorf("want the template that the specification asks for, without a ref, got %+v", o.Wanted)
	}
	p.check("writes", 0, p.h.Writes())
	bare := p.h.Target
	bare.Bootstrap = cloud.Bootstrap{}
	p.check("what is wanted without bootstrap data", pool.Template{}, p.observe(bare).Wanted)
}

func created[S any](p player[S]) {
	o := p.create(p.h.Target, 3)
	p.check("versions", []pool.Template{o.Latest()}, o.Versions)
	p.check("the newest version's content", o.Wanted.Content, o.Latest().Content)
	p.check("the newest version's data", p.h.Target.Bootstrap.Hash(), o.Latest().Data)
	p.check("the group launches from", o.Latest().Ref, o.Group.Template)
	p.check("size", 3, o.Group.Size)
	p.check("drift", []string(nil), o.Group.Drift)
	if o.Group.ID == "" || o.Group.Deleting {
		p.t.Errorf("want a group with an ID that is not being deleted, got %+v", o.Group)
	}
	keys := map[string]bool{}
	for _, i := range o.Instances {
		if i.State != pool.Running || !i.Template.Same(o.Wanted) || i.Zone == "" || i.Node != nil {
			p.t.Errorf("want an instance that runs from the wanted template in some zone, got %+v", i)
		}
		keys[cloud.ProviderKey(i.ProviderID)] = true
	}
	if len(keys) != 3 || keys[""] {
		p.t.Errorf("want three different provider IDs, got %+v", o.Instances)
	}
}

func steady[S any](p player[S]) {
	target := p.h.Target
	target.Remembered = p.create(target, 2).Remember
	p.observe(target)
	for range 5 {
		reads, writes := p.h.Reads(), p.h.Writes()
		p.h.Settle()
		p.observe(target)
		p.check("writes", 0, p.h.Writes()-writes)
		if got := p.h.Reads() - reads; got > p.h.SteadyReads {
			p.t.Errorf("reads: want at most %d, got %d", p.h.SteadyReads, got)
		}
	}
}

func forgetful[S any](p player[S]) {
	p.create(p.h.Target, 2)
	p.put(rotated(p.h.Target, 1))
	want := p.observe(p.h.Target)
	p.h.Driver = p.h.New()
	p.check("what a new driver observes", want, p.observe(p.h.Target))
}

func twice[S any](p player[S]) {
	target := p.h.Target
	do := func(s pool.Step) {
		p.t.Helper()
		p.start(target, s)
		p.start(target, s)
	}
	do(pool.Step{Kind: pool.PutTemplate})
	o := p.observe(target)
	p.check("versions after the same template twice", 1, len(o.Versions))
	do(pool.Step{Kind: pool.CreateGroup, Size: 2, Template: o.Latest().Ref})
	p.h.Settle()
	do(pool.Step{Kind: pool.Resize, Size: 3})
	p.h.Settle()
	o = p.observe(target)
	p.check("instances after the same size twice", 3, len(o.Instances))
	target = rotated(target, 1)
	do(pool.Step{Kind: pool.PutTemplate, Base: o.Latest().Ref})
	o = p.observe(target)
	p.check("versions after the same version twice", 2, len(o.Versions))
	do(pool.Step{Kind: pool.UpdateGroup, Template: o.Latest().Ref})
	do(pool.Step{Kind: pool.Remove, Targets: []pool.Target{{ID: o.Instances[0].ID}}})
	p.h.Settle()
	o = p.observe(target)
	p.check("size after the same removal twice", 2, o.Group.Size)
	p.check("instances after the same removal twice", 2, len(o.Instances))
	do(pool.Step{Kind: pool.DeleteGroup})
	p.h.Settle()
	do(pool.Step{Kind: pool.DeleteTemplates})
	o = p.observe(target)
	if o.Group != nil || len(o.Versions) > 0 {
		p.t.Errorf("want nothing left, got %+v", o)
	}
}

func lostReplies[S any](p player[S]) {
	target := p.h.Target
	p.observe(target)
	p.lost(target, pool.Step{Kind: pool.PutTemplate})
	o := p.observe(target)
	p.check("versions after a lost first one", 1, len(o.Versions))
	p.lost(target, pool.Step{Kind: pool.CreateGroup, Size: 2, Template: o.Latest().Ref})
	p.h.Settle()
	o = p.observe(target)
	p.check("instances after a lost group", 2, len(o.Instances))
	target = rotated(target, 1)
	p.lost(target, pool.Step{Kind: pool.PutTemplate, Base: o.Latest().Ref})
	p.start(target, pool.Step{Kind: pool.PutTemplate, Base: o.Latest().Ref})
	o = p.observe(target)
	p.check("versions after a lost one that was asked for again", 2, len(o.Versions))
	p.lost(target, pool.Step{Kind: pool.Resize, Size: 3})
	p.h.Settle()
	o = p.observe(target)
	p.check("size after a lost resize", 3, o.Group.Size)
	gone := o.Instances[0].ID
	p.lost(target, pool.Step{Kind: pool.Remove, Targets: []pool.Target{{ID: gone}}})
	o = p.observe(target)
	p.check("size after a lost removal", 2, o.Group.Size)
	p.h.Settle()
	if o = p.observe(target); slices.Contains(ids(o.Instances), gone) {
		p.t.Errorf("want instance %s gone after a lost removal, got %v", gone, ids(o.Instances))
	}
	p.lost(target, pool.Step{Kind: pool.DeleteGroup})
	p.h.Settle()
	p.lost(target, pool.Step{Kind: pool.DeleteTemplates})
	o = p.observe(target)
	if o.Group != nil || len(o.Versions) > 0 {
		p.t.Errorf("want nothing left, got %+v", o)
	}
}
