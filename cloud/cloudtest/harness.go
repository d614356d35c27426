// Package cloudtest is the contract suite: what every driver must do, whatever its cloud. A driver's own tests hand it a
// cloud that can be played with (a simulator as a rule) and the suite drives the driver through it.
package cloudtest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// Harness is one fresh, empty cloud with a driver on it.
type Harness[S any] struct {
	// Driver is the one that is tested. New makes another one on the same cloud, which has seen nothing.
	Driver cloud.Driver[S]
	New    func() cloud.Driver[S]
	// Target is a pool that can be made as it is, with room for sizes of 0 to 5. Its owner has an ID of its own.
	Target cloud.Target[S]
	// Changed is the pool with another template: machines of the two differ.
	Changed func(cloud.Target[S]) cloud.Target[S]
	// Reshaped is the pool with another shape of its group, which machines that exist need not take up.
	Reshaped func(cloud.Target[S]) cloud.Target[S]
	// Broken is the pool with something in its template that the cloud does not have; Field is what that error must name.
	Broken func(cloud.Target[S]) cloud.Target[S]
	Field  string
	// Settle lets the cloud's time pass until nothing moves in it.
	Settle func()
	// LoseReply makes the reply to the next write get lost once the write has taken effect.
	LoseReply func()
	// MakeForeign makes a group of the given name by hand, as some other tool would.
	MakeForeign func(name string)
	// DeleteByHand deletes the group of the given name behind the driver's back.
	DeleteByHand func(name string)
	// Exists says whether the cloud has a group of the name.
	Exists func(name string) bool
	// Writes and Reads are the numbers of requests so far.
	Writes, Reads func() int
	// SteadyReads is how many reads a look at a pool may cost in which nothing changed.
	SteadyReads int
}

// player drives one harness through a test.
type player[S any] struct {
	t *testing.T
	h Harness[S]
}

// observe looks afresh.
func (p player[S]) observe(target cloud.Target[S]) pool.Observed {
	p.t.Helper()
	target.MaxAge = 0
	o, err := p.h.Driver.Observe(p.t.Context(), target)
	if err != nil {
		p.t.Fatalf("observe: %v", err)
	}
	return o
}

// start begins a step that must work.
func (p player[S]) start(target cloud.Target[S], s pool.Step) {
	p.t.Helper()
	if err := p.h.Driver.Start(p.t.Context(), target, s); err != nil {
		p.t.Fatalf("start %s: %v", s.Kind, err)
	}
}

// put makes the target's template and gives what was seen after it.
func (p player[S]) put(target cloud.Target[S]) pool.Observed {
	p.t.Helper()
	before := p.observe(target)
	p.start(target, pool.Step{Kind: pool.PutTemplate, Base: before.Latest().Ref})
	return p.observe(target)
}

// create makes the target's template and group and waits until the cloud is at rest.
func (p player[S]) create(target cloud.Target[S], size int) pool.Observed {
	p.t.Helper()
	o := p.put(target)
	p.start(target, pool.Step{Kind: pool.CreateGroup, Size: size, Template: o.Latest().Ref})
	p.h.Settle()
	o = p.observe(target)
	if o.Group == nil || len(o.Instances) != size {
		p.t.Fatalf("create: want a group of %d instances, got group %+v, instances %+v, issues %v", size, o.Group, o.Instances, o.Issues)
	}
	return o
}

// check reports a difference.
func (p player[S]) check(what string, want, got any) {
	p.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		p.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// lost begins a step whose reply gets lost: the driver must say that it knows nothing.
func (p player[S]) lost(target cloud.Target[S], s pool.Step) {
	p.t.Helper()
	p.h.LoseReply()
	err := p.h.Driver.Start(p.t.Context(), target, s)
	if err == nil || cloud.KindOf(err) != cloud.Unavailable {
		p.t.Fatalf("%s with its reply lost: want an error of kind %s, got %v", s.Kind, cloud.Unavailable, err)
	}
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

// rotated is the pool with other bootstrap data.
func rotated[S any](target cloud.Target[S], n int) cloud.Target[S] {
	b := target.Bootstrap
	target.Bootstrap = cloud.NewBootstrap(fmt.Appendf(append([]byte(nil), b.Data()...), "\n# rotation %d\n", n), b.Format())
	return target
}
