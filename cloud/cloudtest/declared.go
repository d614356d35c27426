package cloudtest

import (
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// declared are what a driver and its simulated cloud declare themselves. No suite repeats them.
type declared struct {
	// GroupBehavior is that of the simulator's groups.
	sim.GroupBehavior
	// traits are the driver's.
	traits pool.Traits
	// hooks is true if the cloud keeps an instance that is to go running until it is released: it has hooks that can be deleted by hand.
	hooks bool
	// cloudTemplates is true if the cloud makes templates of the group's settings (Template.ByCloud): none is created, changed or deleted,
	// and bootstrap data has no place in them.
	cloudTemplates bool
}

// declared asks the driver and its cloud, on a cloud of their own.
func (s Suite[S]) declared(t T) declared {
	t.Helper()
	st := &stage[S]{suite: s}
	defer st.closeFrom(t, 0)
	p := st.player(t)
	can := p.cloud.Capabilities()
	return declared{
		GroupBehavior: can.Groups, traits: p.driver.Traits(), hooks: can.OutOfBand[sim.RemoveHooks] != nil,
		cloudTemplates: p.observe(p.target()).Wanted.ByCloud,
	}
}

// inline reports whether the template is a part of the group.
func (d declared) inline() bool { return d.traits.InlineTemplate }

// undeclared returns what an observation shows that asks for steps which the driver does not declare, or that the cloud does not do. The
// exercises of such steps are left out, so that a driver which declares too little would be held to too little.
func (d declared) undeclared(o pool.Observed) []string {
	var list []string
	if working(o) && !d.BusyAfterChange {
		list = append(list, "a group that the cloud works on")
	}
	for _, i := range o.Instances {
		switch {
		case len(i.InPlaceDrift) > 0 && !d.traits.SupportsInPlaceChanges:
			list = append(list, "in-place drift of "+i.ID)
		case (i.ScaleInUnprotected || i.ScaleInProtected) && !d.traits.SupportsScaleInProtection:
			list = append(list, "the scale-in protection of "+i.ID)
		case i.LifecycleHook != nil && !d.hooks:
			list = append(list, "a lifecycle hook of "+i.ID)
		}
	}
	return list
}
