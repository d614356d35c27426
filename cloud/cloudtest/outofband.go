package cloudtest

import (
	"slices"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// by does a deed by hand, and reports whether the cloud has such a thing.
func (p player[S]) by(d sim.Action, on sim.Resource) bool {
	p.Helper()
	has, err := p.cloud.Capabilities().OutOfBand.Do(d, on)
	if err != nil {
		p.Fatalf("%+v: %v", on, err)
	}
	return has
}

// refuses starts steps that must be refused without a write.
func (p player[S]) refuses(target cloud.Target[S], steps ...pool.Step) {
	p.Helper()
	for _, s := range steps {
		if s.Kind == pool.Remove && p.traits.SelectsInstances {
			continue
		}
		sent := p.sent(func() {
			if err := p.try(target, s); err == nil || cloud.KindOf(err) != cloud.Conflict {
				p.Errorf("%s: want what is not ours left alone and an error of kind %s, got %v", s.Kind, cloud.Conflict, err)
			}
		})
		if list := writes(sent); len(list) > 0 {
			p.Errorf("%s: want no write, got %+v", s.Kind, list)
		}
	}
}

// AtRest returns the actions of a user who waits with settle before each, where the cloud takes no change while it is at work. They reach
// the pools of the managed cluster.
func AtRest(all sim.OutOfBandActions, cluster string, settle func()) sim.OutOfBandActions {
	out := sim.OutOfBandActions{}
	for action, do := range all {
		out[action] = nil
		if do != nil {
			out[action] = func(on sim.Resource) error {
				settle()
				on.Cluster = cluster
				return do(on)
			}
		}
	}
	return out
}

// quicker starts a step while another client, which the driver has not seen yet, was faster.
func quicker[S any](p player[S], target cloud.Target[S], s pool.Step) {
	p.Helper()
	if err := p.try(target, s); err == nil || cloud.KindOf(err) != cloud.Conflict {
		p.Errorf("%s beside what another client has just made: want an error of kind %s, got %v", s.Kind, cloud.Conflict, err)
	}
}

// stranger reports where an observation does not tell of something of our name that is not ours.
func stranger[S any](p player[S], o pool.Observed) {
	p.Helper()
	if o.OwnershipConflict == nil || o.OwnershipConflict.Reason == "" || o.OwnershipConflict.Message == "" || o.Group != nil ||
		len(o.Instances) > 0 {
		p.Fatalf("want what is foreign named and nothing of the pool's, got %+v", o)
	}
}

func foreignGroup[S any](p player[S]) {
	target := p.target()
	thing := sim.Resource{Name: p.name(target)}
	version := p.put(target).Latest().Ref
	if !p.by(sim.CreateGroup, thing) {
		return
	}
	quicker(p, target, pool.Step{Kind: pool.CreateGroup, Size: sizeSmall, Template: version})
	stranger(p, p.observe(target))
	p.refuses(target,
		pool.Step{Kind: pool.DeleteGroup}, pool.Step{Kind: pool.Resize, Size: 1}, pool.Step{Kind: pool.UpdateGroup, Template: "x:1"})
	stranger(p, p.again().observe(target))
	p.by(sim.DeleteGroup, thing)
	settle()
	if o := p.observe(target); o.OwnershipConflict != nil {
		p.Errorf("want nothing foreign once it is gone, got %+v", o)
	}
	o := p.create(target, sizeSmall)
	other := target
	other.Owner.ID += "-other"
	other.Owner.GroupName = thing.Name
	if o := p.observe(other); o.OwnershipConflict == nil ||
		!strings.Contains(o.OwnershipConflict.Message, "muster.dev/owner-id="+target.Owner.ID) {
		p.Errorf("want the command that takes the group back, got %+v", o.OwnershipConflict)
	}
	stranger(p, p.observe(other))
	p.refuses(other, pool.Step{Kind: pool.DeleteGroup}, pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}})
	if !p.cloudTemplates {
		p.refuses(other, pool.Step{Kind: pool.PutTemplate})
	}
	if !p.cloudTemplates && !p.inline() {
		p.refuses(other, pool.Step{Kind: pool.DeleteTemplates})
	}
	settle()
	p.check("our own pool", o, p.observe(target))
}

// namedGroup hands over the object of another tool: it names a group that exists and is not the pool's.
func namedGroup[S any](p player[S]) {
	target := p.target()
	thing := sim.Resource{Name: "theirs"}
	if !p.by(sim.CreateGroup, thing) {
		return
	}
	target.GroupID = groupIDOf(p, thing.Name)
	o := p.observe(target)
	if stranger(p, o); !strings.Contains(o.OwnershipConflict.Message, thing.Name) ||
		!strings.Contains(o.OwnershipConflict.Message, "spec.providerID") {
		p.Errorf("want the group named, and the field that names it, got %q", o.OwnershipConflict.Message)
	}
	p.refuses(target, pool.Step{Kind: pool.CreateGroup, Size: sizeSmall, Template: "x:1"}, pool.Step{Kind: pool.DeleteGroup},
		pool.Step{Kind: pool.Resize, Size: 1})
	p.again().refuses(target, pool.Step{Kind: pool.CreateGroup, Size: sizeSmall, Template: "x:1"})
	if !p.cloudTemplates {
		p.again().refuses(target, pool.Step{Kind: pool.PutTemplate})
	}
	stranger(p, p.again().observe(target))
	p.by(sim.DeleteGroup, thing)
	settle()
	if o := p.observe(target); o.OwnershipConflict != nil {
		p.Errorf("want nothing foreign once it is gone, got %+v", o)
	}
	own := p.create(target, sizeSmall)
	target.GroupID = own.Group.ID
	p.check("the group that the object names and that is the pool's", own, p.observe(target))
	p = p.elsewhere("the pool has a group of its own")
	target.GroupID = ""
	own = p.create(target, sizeSmall)
	p.by(sim.CreateGroup, thing)
	target.GroupID = groupIDOf(p, thing.Name)
	p.check("the group", own, p.observe(target))
}

func foreignTemplate[S any](p player[S]) {
	target := p.target()
	thing := sim.Resource{Name: templateName(p, target, p.observe(target).Wanted)}
	if !p.by(sim.CreateTemplate, thing) {
		return
	}
	if p.suite.NamesRepeat {
		p.create(target, sizeSmall)
		p.start(target, pool.Step{Kind: pool.DeleteGroup})
		settle()
		p.start(target, pool.Step{Kind: pool.DeleteTemplates})
		if left := p.cloud.Capabilities().Snapshot().Templates; len(left) != 1 || left[0].Name != thing.Name {
			p.Errorf("want the template of the other owner left alone, got %+v", left)
		}
		return
	}
	quicker(p, target, pool.Step{Kind: pool.PutTemplate})
	stranger(p, p.observe(target))
	p.refuses(target, pool.Step{Kind: pool.PutTemplate}, pool.Step{Kind: pool.DeleteTemplates})
	stranger(p, p.again().observe(target))
	p.by(sim.DeleteTemplate, thing)
	settle()
	p.create(target, sizeSmall)
}

func sizeByHand[S any](p player[S]) {
	target := p.target()
	before := p.create(target, sizeSmall)
	if !p.by(sim.SetSize, sim.Resource{Name: p.name(target), Size: sizeMiddle}) {
		return
	}
	settle()
	o := p.observe(target)
	want := *before.Group
	want.Size = sizeMiddle
	p.check("the group", &want, o.Group)
	p.check("how many instances", sizeMiddle, len(o.Instances))
	p.start(target, pool.Step{Kind: pool.UpdateGroup, Template: o.Group.Template})
	settle()
	p.check("the group after an update", &want, p.observe(target).Group)
}

// changedByHand changes one thing after another on a group that has everything.
func changedByHand[S any](p player[S]) {
	target := p.target(p.suite.Reshaped)
	p.create(target, sizeSmall)
	before := p.repair(target)
	name := p.name(target)
	for _, done := range []struct {
		action sim.Action
		on     sim.Resource
	}{
		{sim.SetBounds, sim.Resource{Name: name, Size: sizeLarge}},
		{sim.RemoveTag, sim.Resource{Name: name, Key: p.suite.UserTag}},
		{sim.ChangeTag, sim.Resource{Name: name, Key: p.suite.UserTag, Value: "theirs"}},
		{sim.RemoveTag, sim.Resource{Name: name, Key: p.suite.Spelling.Key(cloud.TagCluster)}},
		{sim.ResumeProcesses, sim.Resource{Name: name}},
		{sim.RemoveHooks, sim.Resource{Name: name}},
	} {
		d := done.action
		if !p.by(d, done.on) {
			continue
		}
		rest(untraced)
		o := p.observe(target)
		if o.Group == nil || len(o.Group.Drift) != 1 {
			p.Errorf("%s: want one field named that differs, got %+v", d, o.Group)
		}
		p.check(string(d)+": what a new driver observes", o, p.again().observe(target))
		o = p.repair(target)
		p.check(string(d)+": the group after the repair", before.Group, o.Group)
		p.check(string(d)+": the instances after the repair", before.Instances, o.Instances)
	}
}

func templateByHand[S any](p player[S]) {
	target := p.target()
	before := p.create(target, sizeSmall)
	name := p.name(target)
	if p.by(sim.CreateVersion, sim.Resource{Name: name}) {
		settle()
		o := p.observe(target)
		p.check("versions after one was made by hand", len(before.Versions)+1, len(o.Versions))
		if o.Latest().Content != "" || o.Latest().Same(o.Wanted) {
			p.Errorf("want a version of unknown content, got %+v", o.Latest())
		}
		p.check("the group", before.Group, o.Group)
		p.start(target, pool.Step{Kind: pool.PutTemplate, Base: o.Latest().Ref})
		if o = p.observe(target); !o.Latest().Same(o.Wanted) || o.Latest().Ref == before.Latest().Ref {
			p.Errorf("want the wanted version made above the one by hand, got %+v", o.Versions)
		}
	}
	if !p.versioned() {
		return
	}
	target = rotated(target, 1)
	o := p.put(target)
	if !p.by(sim.LaunchFrom, sim.Resource{Name: name, Version: len(o.Versions)}) {
		return
	}
	settle()
	p.check("the group launches from", o.Latest().Ref, p.observe(target).Group.Template)
	p.start(target, pool.Step{Kind: pool.UpdateGroup, Template: before.Latest().Ref})
	settle()
	o = p.observe(target)
	p.check("the group after it was put back", before.Group, o.Group)
	p.check("the instances", ids(before.Instances), ids(o.Instances))
}

func groupDeleted[S any](p player[S]) {
	target := p.target()
	before := p.create(target, sizeSmall)
	if !p.by(sim.DeleteGroup, sim.Resource{Name: p.name(target)}) {
		return
	}
	settle()
	o := p.observe(target)
	if o.Group != nil || len(o.Instances) > 0 || o.OwnershipConflict != nil {
		p.Fatalf("want no group after it was deleted by hand, got %+v", o)
	}
	if p.inline() {
		before.Versions = nil
	}
	p.check("versions that are left", before.Versions, o.Versions)
	p.start(target, pool.Step{Kind: pool.CreateGroup, Size: sizeSmall, Template: o.Latest().Ref})
	settle()
	p.running(p.observe(target), sizeSmall)
}

// templateName returns the name of a template of the target in the cloud.
func templateName[S any](p player[S], target cloud.Target[S], t pool.Template) string {
	if p.suite.TemplateName == nil {
		return p.name(target)
	}
	return p.suite.TemplateName(target.Owner, t)
}

func templateDeleted[S any](p player[S]) {
	target := p.target()
	if p.suite.TemplateName != nil {
		// One that is in use can't be deleted.
		name := templateName(p, target, p.put(target).Latest())
		if p.by(sim.DeleteTemplate, sim.Resource{Name: name}) {
			settle()
			p.check("versions that are left", 0, len(p.observe(target).Versions))
			p.create(target, sizeSmall)
		}
		return
	}
	before := p.create(target, sizeSmall)
	if !p.by(sim.DeleteTemplate, sim.Resource{Name: p.name(target)}) {
		return
	}
	settle()
	o := p.observe(target)
	p.check("versions that are left", 0, len(o.Versions))
	p.check("the instances that are left", ids(before.Instances), ids(o.Instances))
	if o.Group == nil || o.Group.Size != sizeSmall {
		p.Fatalf("want the group as it was, got %+v", o.Group)
	}
	o = p.put(target)
	p.check("versions", 1, len(o.Versions))
	p.launch(target, o.Latest().Ref)
	p.start(target, pool.Step{Kind: pool.Resize, Size: sizeMiddle})
	settle()
	o = p.observe(target)
	if !p.traits.RolloutOnTemplateChange {
		p.check("the group launches from", o.Latest().Ref, o.Group.Template)
	}
	p.check("how many instances", sizeMiddle, len(o.Instances))
}

func versionDeleted[S any](p player[S]) {
	if !p.versioned() {
		// All instances are of one version, which is in use, or of the group's own.
		return
	}
	target := p.target()
	p.create(target, 0)
	for n := range 2 {
		target = rotated(target, n+1)
		p.start(target, pool.Step{Kind: pool.UpdateGroup, Template: p.put(target).Latest().Ref})
		p.start(target, pool.Step{Kind: pool.Resize, Size: n + 1})
		settle()
	}
	before := p.observe(target)
	middle := before.Versions[1]
	if !p.by(sim.DeleteVersion, sim.Resource{Name: p.name(target), Version: 2}) {
		return
	}
	rest(unneeded)
	o := p.observe(target)
	p.check("versions", []pool.Template{before.Versions[0], before.Versions[2]}, o.Versions)
	p.check("the group", before.Group, o.Group)
	p.check("how many instances", len(before.Instances), len(o.Instances))
	unknown := slices.DeleteFunc(slices.Clone(o.Instances), func(i pool.Instance) bool { return i.Template.Content != "" })
	if len(unknown) != 1 || unknown[0].Template != (pool.Template{Ref: middle.Ref}) {
		p.Errorf("want one instance of unknown content, from %s, got %+v", middle.Ref, o.Instances)
	}
	p.check("what a new driver observes", o, p.again().observe(target))
}

func instanceDeleted[S any](p player[S]) {
	target := p.target()
	before := p.create(target, sizeMiddle)
	gone := before.Instances[1].ID
	if !p.by(sim.TerminateInstance, sim.Resource{Name: p.name(target), Instance: gone}) {
		return
	}
	settle()
	o := p.observe(target)
	size := sizeMiddle
	if !p.RecreatesInstances {
		// The client that deletes an instance lowers the group's size.
		size--
	}
	before.Group.Size = size
	p.running(o, size)
	p.check("the group", before.Group, o.Group)
	if left := ids(o.Instances); slices.Contains(left, gone) {
		p.Errorf("want %s gone, got %v", gone, left)
	}
	if p.traits.SelectsInstances {
		return
	}
	p.start(target, pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: gone}}})
	settle()
	p.check("size after a removal of what was gone", size, p.observe(target).Group.Size)
}
