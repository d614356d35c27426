package cloudtest

import (
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

func nothing[S any](p player[S]) {
	target := p.target()
	o := p.observe(target)
	if !empty(p, o) {
		p.Errorf("want nothing, got %+v", o)
	}
	p.check("whether it is given", p.cloudTemplates, o.Wanted.UserManaged)
	for _, v := range o.Versions {
		p.check("whether it is given", p.cloudTemplates, v.UserManaged)
		p.check("whether the cloud makes it", p.cloudTemplates, v.ByCloud)
	}
	if o.Wanted.Content == "" || o.Wanted.Data != dataOf(p, target) || o.Wanted.Ref != "" {
		p.Errorf("want the template that the specification asks for, without a ref, got %+v", o.Wanted)
	}
	bare := target
	bare.Bootstrap = cloud.Bootstrap{}
	without := p.observe(bare).Wanted
	if p.Bootstraps != (without.Content != "") || without.Data == o.Wanted.Data && !p.cloudTemplates {
		p.Errorf("want a template without bootstrap data if machines boot without it (%t), and nothing else, got %+v", p.Bootstraps,
			without)
	}
}

// empty reports whether nothing of the pool is in the cloud.
func empty[S any](p player[S], o pool.Observed) bool {
	return o.Group == nil && o.OwnershipConflict == nil && (len(o.Versions) == 0 || p.cloudTemplates) && len(o.Instances) == 0
}

func created[S any](p player[S]) {
	target := p.target()
	o := p.create(target, sizeMiddle)
	p.check("versions", []pool.Template{o.Latest()}, o.Versions)
	p.check("the newest version's content", o.Wanted.Content, o.Latest().Content)
	p.check("the newest version's data", dataOf(p, target), o.Latest().Data)
	p.check("the group launches from", o.Latest().Ref, o.Group.Template)
	p.check("size", sizeMiddle, o.Group.Size)
	p.check("drift", []string(nil), o.Group.Drift)
	p.check("issues", 0, len(o.Issues))
	if o.Group.ID == "" || o.Group.Deleting {
		p.Errorf("want a group with an ID that is not being deleted, got %+v", o.Group)
	}
	if c := o.Capacity; !p.traits.SelectsInstances &&
		(c == nil || c.CPUs == 0 || c.MemoryMiB == 0 || c.Pods == 0 || c.Architecture == "" || c.OperatingSystem == "") {
		p.Errorf("want what each machine offers, for an autoscaler that scales from zero, got %+v", c)
	}
	p.running(o, sizeMiddle)
}

// running reports where there are not that many instances, each itself, that run from the wanted template.
func (p player[S]) running(o pool.Observed, many int) {
	p.Helper()
	keys := map[string]bool{}
	for _, i := range o.Instances {
		if i.State != pool.Running || !i.Template.Same(o.Wanted) || i.Zone == "" || i.Node != nil ||
			i.Created.IsZero() != p.HidesCreationTimes {
			p.Errorf("want an instance that runs from the wanted template in some zone, and since when, got %+v", i)
		}
		keys[cloud.ProviderKey(i.ProviderID)] = true
	}
	if len(o.Instances) != many || len(keys) != many || keys[""] {
		p.Errorf("want %d different provider IDs, got %d of %d instances", many, len(keys), len(o.Instances))
	}
}

func steady[S any](p player[S]) {
	target := p.target()
	target.Remembered = p.create(target, sizeSmall).ResolvedLookups
	p.observe(target)
	settle()
	p.observe(target)
	for range int(atRest / steadyPass) {
		rest(steadyPass)
		sent := p.sent(func() { p.observe(target) })
		if len(sent) > p.suite.SteadyReads {
			p.Errorf("requests: want at most %d, got %+v", p.suite.SteadyReads, sent)
		}
	}
}

func forgetful[S any](p player[S]) {
	target := p.target()
	p.create(target, sizeSmall)
	p.put(rotated(target, 1))
	want := p.observe(target)
	p.check("what a new driver observes", unhinted(want), unhinted(p.again().observe(target)))
}

// unhinted returns an observation without hints that only the process has which began an operation, and without the age of its reads.
func unhinted(o pool.Observed) pool.Observed {
	o.Operations, o.Cache.Fresh, o.Cache.GroupFresh, o.Cache.Reused = nil, false, false, false
	return o
}

func aged[S any](p player[S]) {
	target := p.target()
	p.create(target, sizeSmall)
	want := p.observe(target)
	old := target
	old.Cache.MaxAge = time.Minute
	look := func() pool.Observed {
		o, err := p.driver.Observe(p.Context(), old)
		if err != nil {
			p.Fatalf("observe: %v", err)
		}
		return o
	}
	sent := p.sent(func() { p.check("what is observed without asking", unhinted(want), unhinted(look())) })
	p.check("requests", 0, len(sent))
	p.start(target, pool.Step{Kind: pool.Resize, Size: sizeMiddle})
	sent = p.sent(func() { want = look() })
	if len(sent) == 0 || !working(want) && want.Group.Size != sizeMiddle {
		p.Errorf("want a new look right after a write of our own, which shows the size or the cloud's work on it, got %+v after %d requests",
			want.Group, len(sent))
	}
}

func remembered[S any](p player[S]) {
	if p.suite.Searching == nil {
		return
	}
	target := p.target(p.suite.Searching)
	first := p.observe(target)
	if len(first.ResolvedLookups) == 0 {
		p.Fatalf("want look-ups to be remembered, got none")
	}
	target.Remembered = first.ResolvedLookups
	p = p.again()
	var o pool.Observed
	sent := p.sent(func() { o = p.observe(target) })
	p.check("what is remembered", first.ResolvedLookups, o.ResolvedLookups)
	p.check("what is wanted", first.Wanted, o.Wanted)
	if len(sent) > p.suite.SteadyReads {
		p.Errorf("requests with look-ups remembered: want at most %d, got %+v", p.suite.SteadyReads, sent)
	}
}

func rotation[S any](p player[S]) {
	if p.cloudTemplates {
		return
	}
	before := p.create(p.target(), sizeSmall)
	target := rotated(p.target(), 1)
	o := p.put(target)
	versions := 2
	if p.inline() {
		versions = 1
	}
	p.check("versions", versions, len(o.Versions))
	p.check("the newest version's data", target.Bootstrap.Hash(), o.Latest().Data)
	if !o.Latest().Same(before.Latest()) || o.Latest().Ref == before.Latest().Ref {
		p.Errorf("want another version of the same content, got %+v after %+v", o.Latest(), before.Latest())
	}
	p.launch(target, o.Latest().Ref)
	settle()
	o = p.observe(target)
	launches := o.Latest().Ref
	if p.traits.RolloutOnTemplateChange {
		launches = before.Group.Template
	}
	p.check("the group launches from", launches, o.Group.Template)
	p.check("instances", ids(before.Instances), ids(o.Instances))
	for _, i := range o.Instances {
		if !i.Template.Same(o.Wanted) {
			p.Errorf("want no instance stale after a rotation, got %+v", i)
		}
	}
	p.start(target, pool.Step{Kind: pool.Resize, Size: sizeMiddle})
	settle()
	o = p.observe(target)
	fresh := slices.DeleteFunc(slices.Clone(o.Instances), func(i pool.Instance) bool {
		return i.Template.Ref != launches || slices.Contains(ids(before.Instances), i.ID)
	})
	p.check("instances of the version that the group launches from", sizeMiddle-sizeSmall, len(fresh))
	p.check("instances, in the order in which they were made", append(ids(before.Instances), ids(fresh)...), ids(o.Instances))
}

func changed[S any](p player[S]) {
	before := p.create(p.target(), sizeSmall)
	target := p.changed()
	o := p.put(target)
	if o.Latest().Same(before.Latest()) || !o.Latest().Same(o.Wanted) {
		p.Fatalf("want a version of other content, got %+v after %+v", o.Latest(), before.Latest())
	}
	p.launch(target, o.Latest().Ref)
	o = p.observe(target)
	if !p.traits.RolloutOnTemplateChange {
		p.check("the group launches from", o.Latest().Ref, o.Group.Template)
	}
	for _, i := range o.Instances {
		if i.Template.Same(o.Wanted) || i.Template.Content == "" {
			p.Errorf("want the instances known to be stale, got %+v", i)
		}
	}
}

func drift[S any](p player[S]) {
	before := p.create(p.target(), sizeSmall)
	target := p.target(p.suite.Reshaped)
	if o := p.observe(target); len(o.Group.Drift) == 0 {
		p.Fatalf("want drift after the group's shape changed, got none")
	}
	o := p.repair(target)
	p.check("size after the repair", sizeSmall, o.Group.Size)
	p.check("instances after the repair", ids(before.Instances), ids(o.Instances))
	o = p.repair(p.target())
	p.check("the group after the way back", before.Group, o.Group)
}

func removed[S any](p player[S]) {
	target := p.target()
	o := p.create(target, sizeMiddle)
	if p.traits.SelectsInstances {
		p.start(target, pool.Step{Kind: pool.Resize, Size: sizeMiddle - 1})
		settle()
		o = p.observe(target)
		p.check("size", sizeMiddle-1, o.Group.Size)
		p.running(o, sizeMiddle-1)
		return
	}
	goes := o.Instances[1]
	p.start(target, pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: goes.ID, ProviderID: goes.ProviderID}}})
	o = p.observe(target)
	p.check("size", sizeMiddle-1, o.Group.Size)
	left := ids(alive(o.Instances))
	if slices.Contains(left, goes.ID) {
		p.Errorf("want %s on its way out at once, got %+v", goes.ID, o.Instances)
	}
	settle()
	o = p.observe(target)
	p.check("instances that are left", left, ids(o.Instances))
	p.check("how many", sizeMiddle-1, len(left))
}

// notOurs starts steps that are no driver's with a driver that has read nothing: they are refused before any request.
func notOurs[S any](p player[S]) {
	target := p.target()
	p.create(target, sizeSmall)
	p = p.again()
	for _, kind := range []pool.StepKind{pool.Drain, pool.Undrain, "Dance"} {
		sent := p.sent(func() {
			if err := p.try(target, pool.Step{Kind: kind}); err == nil {
				p.Errorf("step %s: want it refused, got no error", kind)
			}
		})
		p.check("requests", 0, len(sent))
	}
}

func deleted[S any](p player[S]) {
	target := p.target()
	p.create(target, sizeSmall)
	p.start(target, pool.Step{Kind: pool.DeleteGroup})
	o := p.observe(target)
	if o.Group != nil && !o.Group.Deleting {
		p.Errorf("want the group on its way out at once, got %+v", o.Group)
	}
	settle()
	if o = p.observe(target); o.Group != nil || len(o.Instances) > 0 || (len(o.Versions) == 0) != p.inline() {
		p.Errorf("want the template alone to be left, and nothing where it is a part of the group, got %+v", o)
	}
	if !p.cloudTemplates && !p.inline() {
		p.start(target, pool.Step{Kind: pool.DeleteTemplates})
	}
	for _, owner := range []string{target.Owner.ID, "another-owner"} {
		left := target
		left.Owner.ID, left.Owner.GroupName = owner, p.name(target)
		o = p.again().observe(left)
		if !empty(p, o) {
			p.Errorf("want nothing left for a driver that has seen nothing, got %+v", o)
		}
	}
}

const caseConfiguration = "ChangedBootstrapConfigurationMakesInstancesStale"

// configuration is a change of the bootstrap configuration that is to replace machines, and its end.
func configuration[S any](p player[S]) {
	if p.cloudTemplates {
		return
	}
	before := p.create(p.target(), sizeSmall)
	target := rotated(p.target(), 1)
	target.Bootstrap = target.Bootstrap.Marked("another")
	o := p.observe(target)
	if o.Latest().Same(o.Wanted) {
		p.Errorf("want another template for another bootstrap configuration, got %+v", o.Wanted)
	}
	for _, i := range o.Instances {
		if i.Template.Same(o.Wanted) || !slices.ContainsFunc(i.TemplateDiff,
			func(field string) bool { return strings.HasSuffix(field, "bootstrap") }) {
			p.Errorf("want instances stale that were launched with the configuration before, by the field of the configuration, got %+v", i)
		}
	}
	o = p.put(target)
	if latest := o.Latest(); !latest.Same(o.Wanted) || latest.Data != target.Bootstrap.Hash() {
		p.Errorf("want a template of the new configuration, got %+v for %+v", latest, o.Wanted)
	}
	o = p.observe(p.target())
	if stale := slices.DeleteFunc(slices.Clone(o.Instances), func(i pool.Instance) bool { return i.Template.Same(o.Wanted) }); len(stale) > 0 {
		p.Errorf("want nothing stale once the first configuration is wanted again, got %+v", stale)
	}
	p.check("what is wanted again", before.Wanted.Content, o.Wanted.Content)
}
