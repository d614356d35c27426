package cloudtest

import (
	"fmt"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

const (
	// atRest is longer than any move of a cloud takes, and than what others may change is remembered if reads for many pools tell of it.
	atRest = 40 * time.Minute
	// untraced is longer than a part of a group is remembered whose change leaves no trace in the group, unneeded than one is on which
	// nothing depends before it does leave a trace.
	untraced, unneeded = 70 * time.Minute, 7 * time.Hour
	// steadyPass is the time between two looks at a pool in which nothing moves.
	steadyPass = 100 * time.Second
	// nextPass is the time from one pass to the next.
	nextPass = 10 * time.Second
	// maxPasses bounds how many passes a step may need to be done, refusals included.
	maxPasses = 60
)

// stage holds the clouds of one case. It may need several.
type stage[S any] struct {
	declared
	suite Suite[S]
	made  []Cloud
}

// player drives one driver on one cloud through a case.
type player[S any] struct {
	T
	*stage[S]
	cloud  Cloud
	wire   *tap
	driver cloud.Driver[S]
}

// player makes a fresh cloud with a driver on it.
func (st *stage[S]) player(t T) player[S] {
	t.Helper()
	made, err := st.suite.Cloud(st.suite.on)
	if err != nil {
		t.Fatalf("make the simulated cloud: %v", err)
	}
	st.made = append(st.made, made)
	p := player[S]{T: t, stage: st, cloud: made, wire: &tap{t: t, next: sim.Transport{Handler: made}, published: st.suite.Published}}
	return p.again()
}

// again is the player with a driver that has seen nothing, on the same cloud.
func (p player[S]) again() player[S] {
	p.Helper()
	made, err := p.suite.Driver(p.wire)
	if err != nil {
		p.Fatalf("make the driver: %v", err)
	}
	p.driver = watched[S]{Driver: made, t: p.T, cloud: p.cloud, declared: p.declared}
	return p
}

// elsewhere is a player on a cloud of its own. What it reports begins with what it is about.
func (p player[S]) elsewhere(about string) player[S] {
	p.Helper()
	t := p.T
	if outer, ok := t.(named); ok {
		t, about = outer.T, outer.about+", "+about
	}
	return p.player(named{t, about})
}

// playElsewhere plays a scene on a cloud of its own, and closes the clouds that were made for it: what moves in them would go on moving,
// and cost time, while the scenes after it let the hours pass.
func playElsewhere[S any](p player[S], about string, play func(player[S])) {
	p.Helper()
	before := len(p.made)
	play(p.elsewhere(about))
	p.closeFrom(p, before)
}

// closeFrom closes the clouds that were made, but for the first ones.
func (st *stage[S]) closeFrom(t T, first int) {
	t.Helper()
	for _, made := range st.made[first:] {
		if err := made.Close(); err != nil {
			t.Errorf("close the simulated cloud: %v", err)
		}
	}
	st.made = st.made[:first]
}

// named reports with what it is about in front.
type named struct {
	T
	about string
}

func (n named) Errorf(format string, args ...any) {
	n.Helper()
	n.T.Errorf("%s: %s", n.about, fmt.Sprintf(format, args...))
}

func (n named) Fatalf(format string, args ...any) {
	n.Helper()
	n.T.Fatalf("%s: %s", n.about, fmt.Sprintf(format, args...))
}

// target is a pool as the suite has it, with the specification changed.
func (p player[S]) target(changes ...func(S) S) cloud.Target[S] {
	spec := p.suite.Pool()
	for _, change := range changes {
		spec = change(spec)
	}
	return cloud.Target[S]{
		Owner:             cloud.Owner{ID: "0f6f8d5e-owner", Cluster: "c", Namespace: "default", Name: "pool"},
		KubernetesVersion: p.suite.KubernetesVersion,
		FailureDomains:    p.suite.FailureDomains,
		Bootstrap:         cloud.NewBootstrap([]byte(bootstrap), "cloud-config"),
		Spec:              spec,
	}
}

// changed is a pool that wants other machines.
func (p player[S]) changed() cloud.Target[S] {
	p.Helper()
	if p.suite.Upgrade == nil {
		return p.target(p.suite.Changed)
	}
	target := p.target()
	version, err := p.suite.Upgrade(p.cloud)
	if err != nil {
		p.Fatalf("upgrade the control plane: %v", err)
	}
	target.KubernetesVersion = version
	return target
}

// rotated is the pool with other bootstrap data.
func rotated[S any](target cloud.Target[S], n int) cloud.Target[S] {
	target.Bootstrap = cloud.NewBootstrap(fmt.Appendf(nil, "%s# rotation %d\n", bootstrap, n), "cloud-config")
	return target
}

// rest lets time pass.
func rest(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// settle lets the cloud's time pass until nothing moves in it.
func settle() { rest(atRest) }

// observe looks afresh.
func (p player[S]) observe(target cloud.Target[S]) pool.Observed {
	p.Helper()
	target.Cache.MaxAge = 0
	return p.observeWithin(target)
}

// observeWithin looks at the target, with reads that may be as old as it allows.
func (p player[S]) observeWithin(target cloud.Target[S]) pool.Observed {
	p.Helper()
	o, err := p.driver.Observe(p.Context(), target)
	if err != nil {
		p.Fatalf("observe: %v", err)
	}
	return o
}

// try begins a step.
func (p player[S]) try(target cloud.Target[S], s pool.Step) error {
	return p.driver.Start(p.Context(), target, s)
}

// start begins a step that must work, as soon as the cloud is not at work on the group.
func (p player[S]) start(target cloud.Target[S], s pool.Step) {
	p.Helper()
	if s.Kind != pool.CancelProviderRollout { // which ends what the cloud is at work on
		p.idle(target)
	}
	if err := p.try(target, s); err != nil {
		p.Fatalf("start %s: %v", s.Kind, err)
	}
}

// idle waits until the cloud is not at work on the group, where it ever is.
func (p player[S]) idle(target cloud.Target[S]) {
	p.Helper()
	for n := 0; p.BusyAfterChange && working(p.observe(target)); n++ {
		if n == maxPasses {
			p.Fatalf("want the cloud's work on the group to end within %d minutes", maxPasses)
		}
		rest(time.Minute)
	}
}

// working reports whether the cloud is at work on the group.
func working(o pool.Observed) bool { return o.Group != nil && o.Group.Busy != nil }

// name returns the name of the target's group in the cloud.
func (p player[S]) name(target cloud.Target[S]) string {
	if p.suite.Name != nil {
		return p.suite.Name(target.Owner)
	}
	return target.Owner.ResourceName()
}

// groupIDOf returns what spec.providerID says of the group with a name.
func groupIDOf[S any](p player[S], name string) string {
	if p.suite.ByID {
		for _, g := range p.cloud.Capabilities().Snapshot().Groups {
			if g.Name == name {
				return p.suite.GroupID(g.ID)
			}
		}
	}
	return p.suite.GroupID(name)
}

// launch points the group at a version, where that is a step of its own and not the cloud's roll.
func (p player[S]) launch(target cloud.Target[S], ref string) {
	p.Helper()
	if !p.traits.RolloutOnTemplateChange && !p.inline() {
		p.start(target, pool.Step{Kind: pool.UpdateGroup, Template: ref})
	}
}

// dataOf returns the hash of the target's bootstrap data, as templates show it.
func dataOf[S any](p player[S], target cloud.Target[S]) string {
	if p.cloudTemplates {
		return ""
	}
	return target.Bootstrap.Hash()
}

// put makes the target's template, where there is one to be made, and gives what was seen after it.
func (p player[S]) put(target cloud.Target[S]) pool.Observed {
	p.Helper()
	before := p.observe(target)
	if p.cloudTemplates || p.inline() && before.Group == nil {
		return before
	}
	p.start(target, pool.Step{Kind: pool.PutTemplate, Base: before.Latest().Ref})
	return p.observe(target)
}

// create makes the target's template and group and waits until the cloud is at rest.
func (p player[S]) create(target cloud.Target[S], size int) pool.Observed {
	p.Helper()
	o := p.put(target)
	p.start(target, pool.Step{Kind: pool.CreateGroup, Size: size, Template: o.Latest().Ref})
	settle()
	if o = p.observe(target); p.CompletedLater {
		if o.Group == nil || len(o.Group.Drift) == 0 {
			p.Errorf("create: want drift, because this cloud's groups are completed once they exist, got group %+v", o.Group)
		}
		o = p.repair(target)
	}
	if o.Group == nil || len(o.Instances) != size {
		p.Fatalf("create: want a group of %d instances, got group %+v, instances %+v, issues %v", size, o.Group, o.Instances, o.Issues)
	}
	return o
}

// repair repairs drift, of which some is booked out in a pass of its own.
func (p player[S]) repair(target cloud.Target[S]) pool.Observed {
	p.Helper()
	for range maxPasses {
		o := p.observe(target)
		if working(o) {
			rest(time.Minute)
			continue
		}
		if o.Group == nil || len(o.Group.Drift) == 0 {
			return o
		}
		p.start(target, pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift})
		rest(nextPass)
	}
	o := p.observe(target)
	p.Fatalf("want drift repaired after %d tries, got %v", maxPasses, o.Group.Drift)
	return o
}

// check reports a difference.
func (p player[S]) check(what string, want, got any) {
	p.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		p.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// fault puts a rule in force, and calm takes all of them out of it.
func (p player[S]) fault(f sim.Fault) {
	p.Helper()
	if err := p.cloud.Faults().Add(f); err != nil {
		p.Fatalf("put a fault in force: %v", err)
	}
}

func (p player[S]) calm() {
	p.wire.retryAfter = ""
	p.cloud.Faults().Clear()
}

// sent are the requests that some work makes of the cloud.
func (p player[S]) sent(work func()) []sim.Call {
	last := p.cloud.Calls().Next()
	work()
	return p.cloud.Calls().Summary(last).Calls
}

// writes are those of some calls that write.
func writes(calls []sim.Call) []sim.Call {
	var list []sim.Call
	for _, c := range calls {
		if c.Mutating {
			list = append(list, c)
		}
	}
	return list
}

// ids are the instances' own names.
func ids(instances []pool.Instance) []string {
	list := make([]string, 0, len(instances))
	for _, i := range instances {
		list = append(list, i.ID)
	}
	return list
}

// alive are the instances that are not on their way out.
func alive(instances []pool.Instance) []pool.Instance {
	var list []pool.Instance
	for _, i := range instances {
		if i.State != pool.Terminating {
			list = append(list, i)
		}
	}
	return list
}
