package cloudtest

import (
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// declared holds the declarations of a driver and its simulated cloud. No suite repeats them.
type declared struct {
	// GroupBehavior is that of the simulator's groups.
	sim.GroupBehavior
	// traits are the driver's.
	traits pool.Traits
	// hooks is true if the cloud keeps an instance that is to go running until it is released: it has hooks that can be deleted by hand.
	hooks bool
	// takes is true if the cloud can be made to take an instance for a reason of its own.
	takes bool
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
		takes:          can.OutOfBand[sim.MarkUnhealthy] != nil,
		cloudTemplates: p.observe(p.target()).Wanted.ByCloud,
	}
}

// inline reports whether the template is a part of the group.
func (d declared) inline() bool { return d.traits.InlineTemplate }

// versioned reports whether the template has versions that exist beside the group.
func (d declared) versioned() bool {
	return !d.traits.RolloutOnTemplateChange && !d.inline() && !d.cloudTemplates
}

// undeclared returns what an observation shows that asks for steps which the driver does not declare, or that the cloud does not do. The
// exercises of such steps are left out, so that a driver which declares too little would be held to too little.
func (d declared) undeclared(o pool.Observed) []string {
	var list []string
	r := o.ProviderRollout
	switch {
	case r != nil && !d.traits.ProviderRollout:
		list = append(list, "a rollout of the cloud")
	case r != nil && r.State == pool.ProviderRolloutSucceeded && !d.RecordsRollouts:
		list = append(list, "the record of a rollout that succeeded")
	}
	if working(o) && !d.BusyAfterChange {
		list = append(list, "a group that the cloud works on")
	}
	for _, i := range o.Instances {
		if what := d.undeclaredOf(i); what != "" {
			list = append(list, what+" of "+i.ID)
		}
	}
	return list
}

// undeclaredOf returns what an instance shows in that sense, empty if there is nothing.
func (d declared) undeclaredOf(i pool.Instance) string {
	switch {
	case len(i.InPlaceDrift) > 0 && !d.traits.SupportsInPlaceChanges:
		return "in-place drift"
	case (i.ScaleInUnprotected || i.ScaleInProtected) && !d.traits.SupportsScaleInProtection:
		return "the scale-in protection"
	case (i.Standby || i.EnteringStandby) && !d.traits.SupportsStandby:
		return "the standby"
	case i.LifecycleHook != nil && !d.hooks:
		return "a lifecycle hook"
	default:
		return ""
	}
}
