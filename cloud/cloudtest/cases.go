package cloudtest

import (
	"errors"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

func foreign[S any](p player[S]) {
	name := p.h.Target.Owner.ResourceName()
	p.h.MakeForeign(name)
	o := p.observe(p.h.Target)
	if o.Foreign == nil || o.Foreign.Reason == "" || o.Foreign.Message == "" || o.Group != nil {
		p.t.Fatalf("want the foreign group named and none of ours, got %+v", o)
	}
	writes := p.h.Writes()
	if err := p.h.Driver.Start(p.t.Context(), p.h.Target, pool.Step{Kind: pool.DeleteGroup}); err == nil {
		p.t.Error("want the deletion of a foreign group refused, got no error")
	}
	p.check("writes", 0, p.h.Writes()-writes)
	p.check("the foreign group exists", true, p.h.Exists(name))
	p.h.DeleteByHand(name)
	p.h.Settle()
	if o = p.observe(p.h.Target); o.Foreign != nil {
		p.t.Errorf("want nothing foreign once it is gone, got %+v", o.Foreign)
	}
	p.create(p.h.Target, 1)
	other := p.h.Target
	other.Owner.ID += "-other"
	other.Owner.GroupName = name
	if o = p.observe(other); o.Foreign == nil || o.Group != nil {
		p.t.Errorf("want another owner's group to be foreign, got %+v", o)
	}
}

func deletedByHand[S any](p player[S]) {
	o := p.create(p.h.Target, 2)
	p.h.DeleteByHand(p.h.Target.Owner.ResourceName())
	p.h.Settle()
	after := p.observe(p.h.Target)
	if after.Group != nil || len(after.Instances) > 0 {
		p.t.Fatalf("want no group after it was deleted by hand, got %+v", after)
	}
	p.check("versions that are left", o.Versions, after.Versions)
	p.start(p.h.Target, pool.Step{Kind: pool.CreateGroup, Size: 2, Template: after.Latest().Ref})
	p.h.Settle()
	p.check("instances of the new group", 2, len(p.observe(p.h.Target).Instances))
}

func rotation[S any](p player[S]) {
	before := p.create(p.h.Target, 2)
	target := rotated(p.h.Target, 1)
	o := p.put(target)
	p.check("versions", 2, len(o.Versions))
	p.check("the newest version's data", target.Bootstrap.Hash(), o.Latest().Data)
	if !o.Latest().Same(before.Latest()) || o.Latest().Ref == before.Latest().Ref {
		p.t.Errorf("want another version of the same content, got %+v after %+v", o.Latest(), before.Latest())
	}
	p.start(target, pool.Step{Kind: pool.UpdateGroup, Template: o.Latest().Ref})
	p.h.Settle()
	o = p.observe(target)
	p.check("the group launches from", o.Latest().Ref, o.Group.Template)
	p.check("instances", ids(before.Instances), ids(o.Instances))
	for _, i := range o.Instances {
		if !i.Template.Same(o.Wanted) {
			p.t.Errorf("want no instance stale after a rotation, got %+v", i)
		}
	}
	p.start(target, pool.Step{Kind: pool.Resize, Size: 3})
	p.h.Settle()
	o = p.observe(target)
	fresh := 0
	for _, i := range o.Instances {
		if i.Template.Ref == o.Latest().Ref {
			fresh++
		}
	}
	p.check("instances of the newest version", 1, fresh)
	prune(p, target)
}

// prune deletes what is neither fixed nor newest, twice.
func prune[S any](p player[S], target cloud.Target[S]) {
	p.t.Helper()
	target = rotated(target, 2)
	o := p.put(target)
	var refs []string
	for _, v := range o.Versions[1:] {
		if !v.Fixed {
			refs = append(refs, v.Ref)
		}
	}
	if len(refs) == 0 {
		p.t.Fatalf("want a version that can be pruned, got %+v", o.Versions)
	}
	for range 2 {
		p.start(target, pool.Step{Kind: pool.PruneTemplates, Refs: refs})
	}
	want := slices.DeleteFunc(slices.Clone(o.Versions), func(v pool.Template) bool { return slices.Contains(refs, v.Ref) })
	p.check("versions after pruning", want, p.observe(target).Versions)
	p.h.Driver = p.h.New()
	p.check("versions after pruning, for a driver that has seen nothing", want, p.observe(target).Versions)
}

func changed[S any](p player[S]) {
	before := p.create(p.h.Target, 2)
	target := p.h.Changed(p.h.Target)
	o := p.put(target)
	if o.Latest().Same(before.Latest()) || !o.Latest().Same(o.Wanted) {
		p.t.Fatalf("want a version of other content, got %+v after %+v", o.Latest(), before.Latest())
	}
	p.start(target, pool.Step{Kind: pool.UpdateGroup, Template: o.Latest().Ref})
	o = p.observe(target)
	p.check("the group launches from", o.Latest().Ref, o.Group.Template)
	for _, i := range o.Instances {
		if i.Template.Same(o.Wanted) || i.Template.Content == "" {
			p.t.Errorf("want the instances known to be stale, got %+v", i)
		}
	}
}

func drift[S any](p player[S]) {
	p.create(p.h.Target, 2)
	target := p.h.Reshaped(p.h.Target)
	o := p.observe(target)
	if len(o.Group.Drift) == 0 {
		p.t.Fatal("want drift after the group's shape changed, got none")
	}
	for range 3 { // some repairs are booked out in a pass of their own
		if o = p.observe(target); len(o.Group.Drift) > 0 {
			p.start(target, pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift})
		}
	}
	o = p.observe(target)
	p.check("drift after the repair", []string(nil), o.Group.Drift)
	p.check("size after the repair", 2, o.Group.Size)
	for range 3 {
		if o = p.observe(p.h.Target); len(o.Group.Drift) > 0 {
			p.start(p.h.Target, pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift})
		}
	}
	p.check("drift after the way back", []string(nil), p.observe(p.h.Target).Group.Drift)
}

func removed[S any](p player[S]) {
	o := p.create(p.h.Target, 3)
	goes := o.Instances[1].ID
	p.start(p.h.Target, pool.Step{Kind: pool.Remove, Targets: []pool.Target{{ID: goes, ProviderID: o.Instances[1].ProviderID}}})
	o = p.observe(p.h.Target)
	p.check("size", 2, o.Group.Size)
	if slices.Contains(ids(alive(o.Instances)), goes) {
		p.t.Errorf("want %s on its way out at once, got %+v", goes, o.Instances)
	}
	left := ids(alive(o.Instances))
	p.h.Settle()
	o = p.observe(p.h.Target)
	p.check("instances that are left", left, ids(o.Instances))
	p.check("how many", 2, len(left))
}

func broken[S any](p player[S]) {
	target := p.h.Broken(p.h.Target)
	_, err := p.h.Driver.Observe(p.t.Context(), target)
	var refused *cloud.Error
	if !errors.As(err, &refused) || refused.Kind != cloud.Invalid || refused.Field != p.h.Field {
		p.t.Fatalf("want an invalid %s, got %v", p.h.Field, err)
	}
	p.check("writes", 0, p.h.Writes())
	p.create(p.h.Target, 2)
	o := p.observe(target)
	if o.Group == nil || len(o.Instances) != 2 || o.Wanted.Content != "" || len(o.Issues) == 0 {
		p.t.Errorf("want the group as it is, nothing wanted and an issue, got %+v", o)
	}
	p.start(target, pool.Step{Kind: pool.Resize, Size: 3})
	p.h.Settle()
	p.check("instances: sizing goes on", 3, len(p.observe(target).Instances))
}

func remembered[S any](p player[S]) {
	first := p.observe(p.h.Target)
	target := p.h.Target
	target.Remembered = first.Remember
	p.h.Driver = p.h.New()
	reads := p.h.Reads()
	o := p.observe(target)
	p.check("what is remembered", first.Remember, o.Remember)
	p.check("what is wanted", first.Wanted, o.Wanted)
	if got := p.h.Reads() - reads; got > p.h.SteadyReads {
		p.t.Errorf("reads with look-ups remembered: want at most %d, got %d", p.h.SteadyReads, got)
	}
}

func aged[S any](p player[S]) {
	target := p.h.Target
	p.create(target, 2)
	want := p.observe(target)
	target.MaxAge = time.Minute
	reads := p.h.Reads()
	o, err := p.h.Driver.Observe(p.t.Context(), target)
	if err != nil {
		p.t.Fatal(err)
	}
	p.check("what is observed without asking", want, o)
	p.check("reads", 0, p.h.Reads()-reads)
	p.start(target, pool.Step{Kind: pool.Resize, Size: 3})
	if o, err = p.h.Driver.Observe(p.t.Context(), target); err != nil {
		p.t.Fatal(err)
	}
	p.check("size right after a write of our own", 3, o.Group.Size)
}

func notOurs[S any](p player[S]) {
	for _, kind := range []pool.StepKind{pool.Drain, pool.Undrain, "Dance"} {
		if err := p.h.Driver.Start(p.t.Context(), p.h.Target, pool.Step{Kind: kind}); err == nil {
			p.t.Errorf("step %s: want it refused, got no error", kind)
		}
	}
	p.check("writes", 0, p.h.Writes())
}

func deleted[S any](p player[S]) {
	p.create(p.h.Target, 2)
	p.start(p.h.Target, pool.Step{Kind: pool.DeleteGroup})
	o := p.observe(p.h.Target)
	if o.Group != nil && !o.Group.Deleting {
		p.t.Errorf("want the group on its way out at once, got %+v", o.Group)
	}
	p.h.Settle()
	if o = p.observe(p.h.Target); o.Group != nil || len(o.Instances) > 0 || len(o.Versions) == 0 {
		p.t.Errorf("want the template alone to be left, got %+v", o)
	}
	p.start(p.h.Target, pool.Step{Kind: pool.DeleteTemplates})
	o = p.observe(p.h.Target)
	p.check("versions", 0, len(o.Versions))
	p.check("the group exists", false, p.h.Exists(p.h.Target.Owner.ResourceName()))
	p.h.Driver = p.h.New()
	p.check("versions for a driver that has seen nothing", 0, len(p.observe(p.h.Target).Versions))
}
