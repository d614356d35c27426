package cloudtest

import (
	"encoding/base64"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// capacity lets the cloud have no machines for a while.
func capacity[S any](p player[S]) {
	target := p.target()
	words := p.cloud.Capabilities().NoCapacity
	o := wantMachines(p, target)
	if !slices.ContainsFunc(o.Issues, func(i pool.Cause) bool {
		return i.Reason == string(cloud.Capacity) && strings.Contains(i.Message, words)
	}) {
		p.Fatalf("want an issue with the reason %s and the words %q, got %+v", cloud.Capacity, words, o.Issues)
	}
	issues := o.Issues
	settle()
	p.check("the issues after more tries", issues, p.observe(target).Issues)
	hinted := target
	hinted.Operations = o.Operations
	p.check("the issues for a driver that has seen nothing but what the object keeps", issues, p.again().observe(hinted).Issues)
	p.calm()
	if p.traits.KeepsFailedInstances && !p.RecreatesInstances {
		// Such a cloud tries once to bring the machines that a group lacks, and must be asked again when that failed.
		p.start(target, pool.Step{Kind: pool.Resize, Size: sizeSmall})
	}
	settle()
	o = p.observe(target)
	p.running(o, sizeSmall)
	p.check("issues once there is capacity", 0, len(o.Issues))
	if !slices.ContainsFunc(o.Instances, func(i pool.Instance) bool { return mentions(issues, i.Zone) }) {
		p.Errorf("want the zone named that had no capacity, one of those of %+v, got %+v", o.Instances, issues)
	}
}

// wantMachines asks for machines while the cloud has none: with a new group, or, where a cloud gives up a group whose first machines
// do not come, with a larger one.
func wantMachines[S any](p player[S], target cloud.Target[S]) pool.Observed {
	p.Helper()
	if p.BusyAfterChange {
		p.create(target, 0)
		p.fault(sim.Fault{Kind: sim.NoCapacity})
		p.start(target, pool.Step{Kind: pool.Resize, Size: sizeSmall})
	} else {
		p.fault(sim.Fault{Kind: sim.NoCapacity})
		p.start(target, pool.Step{Kind: pool.CreateGroup, Size: sizeSmall, Template: p.put(target).Latest().Ref})
	}
	settle()
	return p.observe(target)
}

func mentions(issues []pool.Cause, words string) bool {
	return slices.ContainsFunc(issues, func(i pool.Cause) bool { return strings.Contains(i.Message, words) })
}

// invalid looks for the refusal on the whole way to a group: what the driver does not find out, the cloud will.
func invalid[S any](p player[S]) {
	for _, field := range slices.Sorted(maps.Keys(p.suite.Broken)) {
		q := p.elsewhere(field)
		target := q.target(p.suite.Broken[field])
		err := asFarAsItGoes(q, target)
		var e *cloud.Error
		if !errors.As(err, &e) || e.Kind != cloud.Invalid || e.Field != field || e.Message == "" {
			q.Errorf("want an error of kind %s about %s, with words, got %#v", cloud.Invalid, field, err)
		}
		var unmet *cloud.SpecUnsatisfiableError
		o, err := q.driver.Observe(q.Context(), target)
		if err != nil && !errors.As(err, &unmet) {
			q.Errorf("want an observation beside the refusal, so that the pool can be deleted, got %v", err)
		}
		q.check("the group", (*pool.Group)(nil), o.Group)
		q.running(q.create(q.target(), sizeSmall), sizeSmall)
	}
}

// asFarAsItGoes makes a pool until something is refused.
func asFarAsItGoes[S any](p player[S], target cloud.Target[S]) error {
	o, err := p.driver.Observe(p.Context(), target)
	if err == nil && !p.cloudTemplates && !p.inline() {
		err = p.try(target, pool.Step{Kind: pool.PutTemplate, Base: o.Latest().Ref})
	}
	if err != nil {
		return err
	}
	if o, err = p.driver.Observe(p.Context(), target); err != nil {
		return err
	}
	return p.try(target, pool.Step{Kind: pool.CreateGroup, Size: sizeSmall, Template: o.Latest().Ref})
}

// broken breaks the specification of a pool that exists, in each way that can be found out by looking.
func broken[S any](p player[S]) {
	for _, field := range slices.Sorted(maps.Keys(p.suite.Broken)) {
		q := p.elsewhere(field)
		before := q.create(q.target(), sizeSmall)
		target := q.target(p.suite.Broken[field])
		o := q.observe(target)
		for k := range o.Instances {
			// What they differ in from what can't be had is no concern here.
			o.Instances[k].TemplateDiff = nil
		}
		q.check("the instances", before.Instances, o.Instances)
		if o.Group == nil || !mentions(o.Unresolved, field) && !differs(before, o) {
			q.Errorf("want the group as it is, and either a difference or the field among what was not compared, got %+v", o)
		}
		q.start(target, pool.Step{Kind: pool.Resize, Size: sizeMiddle})
		settle()
		q.check("instances: sizing goes on", sizeMiddle, len(q.observe(target).Instances))
		q.start(target, pool.Step{Kind: pool.DeleteGroup})
		settle()
		var unmet *cloud.SpecUnsatisfiableError
		o, err := q.driver.Observe(q.Context(), target)
		if err != nil && !errors.As(err, &unmet) || o.Group != nil {
			q.Errorf("want the group deleted all the same, got %+v, %v", o.Group, err)
		}
	}
}

// differs reports whether an observation shows a difference from what the specification asks for, which the cloud would refuse to end.
func differs(before, o pool.Observed) bool {
	return len(o.Group.Drift)+len(o.Group.Unchangeable) > 0 || o.Wanted.Content != "" && !o.Wanted.Same(before.Wanted)
}

// pages looks at a pool of which there is more than one of everything, with as much in a page as the cloud likes and with one
// thing in each.
func pages[S any](p player[S]) {
	searching := p.target(p.suite.Reshaped)
	if p.suite.Searching != nil {
		searching = p.target(p.suite.Searching, p.suite.Reshaped)
	}
	samePages(p, "nothing there", searching)
	p.create(searching, sizeMiddle)
	for n := range 2 {
		p.put(rotated(searching, n+1))
	}
	samePages(p, "several versions and instances", searching)
	p.fault(sim.Fault{Kind: sim.NoCapacity})
	p.start(searching, pool.Step{Kind: pool.Resize, Size: sizeLarge})
	settle()
	// With another answer a cloud may leave the size to its autoscaler: then no machine is missing.
	if o := p.observe(searching); len(o.Issues) == 0 && (len(p.suite.on) == 0 || o.Group.Size == sizeLarge) {
		p.Fatalf("want an issue, got none")
	}
	samePages(p, "machines missing", searching)
}

// samePages compares what drivers observe that have seen nothing.
func samePages[S any](p player[S], about string, target cloud.Target[S]) {
	p.Helper()
	want := p.again().observe(target)
	if len(want.ResolvedLookups) == 0 && p.suite.Searching != nil {
		p.Fatalf("%s: want look-ups, got none", about)
	}
	p.fault(onePage)
	got := p.again().observe(target)
	p.calm()
	p.check(about+", in pages of one", want, got)
}

// many makes more instances, and more versions, than a page of any list holds.
func many[S any](p player[S]) {
	target := p.target()
	o := p.create(target, p.suite.Many)
	p.running(o, p.suite.Many)
	p.check("what a new driver observes", o, p.again().observe(target))
	small := onePage
	small.Limit = max(1, p.suite.ManyInPage)
	p.fault(small)
	p.check("what a new driver observes in small pages", o, p.again().observe(target))
	p.calm()
	for range p.suite.Many {
		if !p.by(sim.CreateVersion, sim.Resource{Name: p.name(target)}) {
			return
		}
	}
	got := p.again().observe(target)
	p.check("versions", p.suite.Many+1, len(got.Versions))
	p.check("the first of them", o.Versions, got.Versions[len(got.Versions)-1:])
}

// secrets lets the cloud refuse every request that carries bootstrap data in words that repeat it, plain or encoded. That nothing
// else shows the data is looked at in every call of every case.
func secrets[S any](p player[S]) {
	if !leaks(bootstrap) || leaks(p.target().Bootstrap.String()) {
		p.Fatalf("want the secret found in the bootstrap data, and in that alone")
	}
	carried := 0
	each(p, func(p player[S], e exercise[S]) {
		for _, c := range callsOf(p, e, false) {
			if !c.carries {
				continue
			}
			carried++
			for _, echo := range []string{bootstrap, base64.StdEncoding.EncodeToString([]byte(bootstrap)), bootstrap[len(bootstrap)/2:]} {
				playElsewhere(p, "refused at "+c.String(), func(q player[S]) { echoed(q, e, c, echo) })
			}
		}
	})
	if (carried == 0) != p.cloudTemplates {
		p.Errorf("want bootstrap data to reach the cloud with some step unless the cloud makes templates itself (%t), got it in %d requests",
			p.cloudTemplates, carried)
	}
}

// echoed starts an exercise's step of which one request is refused in words that repeat what it carries.
func echoed[S any](q player[S], e exercise[S], c call, echo string) {
	q.Helper()
	sc, s := q.begin(e)
	disturb(q, sim.Fault{Kind: sim.ErrorBefore, Code: "ValidationError", Status: 400,
		Message: "Value '" + echo + "' is not valid"}, c)
	err := q.try(sc.target, s)
	played(q)
	q.calm()
	if err == nil || !strings.Contains(err.Error(), "is not valid") {
		q.Errorf("want the cloud's words but for the data, got %v", err)
	}
	q.finish(e, sc)
}
