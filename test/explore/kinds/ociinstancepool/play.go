package ociinstancepool

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	muster "github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	simoci "github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/test/explore/kinds/oci"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// The out-of-band actions that exist only for instance pools: HandDetach removes a machine from the pool without terminating it, HandStop
// stops one, HandStopAll stops all, HandHook takes the pool's hook away, HandPoint has the pool launch from a configuration of another
// tool, HandDropUnused deletes unused configurations.
const (
	HandDetach     script.What = "hand detaches"
	HandStop       script.What = "hand stops a machine"
	HandStopAll    script.What = "hand stops the pool"
	HandHook       script.What = "hand takes the hook away"
	HandPoint      script.What = "hand points at another configuration"
	HandDropUnused script.What = "hand deletes unused configurations"
)

var events = append([]script.What{
	script.Replicas, script.Replicas, script.Replicas, script.Replicas, script.Template, script.Template, script.Template, script.Template,
	script.Back, script.GroupEdit, script.GroupEdit, script.Token, script.Token, script.External, script.Autoscaler, script.Strategy,
	script.Strategy, script.BadTemplate, script.Hold, script.RestartNow, script.DropMachine, script.DropInfraMachine,
	script.HandInterrupt, script.Mark, script.Mark,
	script.HandTerminate, script.HandTerminate, script.HandResize, script.HandResize, script.HandTags, script.HandDisown, script.HandDropGroup,
	HandDetach, HandStop, HandStopAll, HandHook, HandPoint, HandDropUnused,
}, script.CommonEvents()...)

var actions = []string{"*", "*", "Get*", "List*", "ListInstancePools", "ListInstancePoolInstances", "CreateInstanceConfiguration",
	"CreateInstancePool", "UpdateInstancePool", "UpdateInstancePool", "DetachInstancePoolInstance", "DetachInstancePoolInstance",
	"TerminateInstancePool", "DeleteInstanceConfiguration", "TerminationProceed*", "ListInstanceConfigurations"}

// drawn draws a scenario.
func drawn(d *script.Drawing) {
	d.DrawRolled(func() { d.Scenario.Refresh, d.Scenario.Own = script.Plain, d.IntN(3) == 0 }, nil)
}

// golden are scenarios that are disturbed at every effect.
func golden() []script.Scenario {
	at := func(name string, events ...script.Event) script.Scenario {
		s := script.Scenario{Name: "oci: " + name, Own: false, Seed: 7, Replicas: 3, Least: 1, Most: 8, DrainTimeout: 10 * time.Minute, Pods: 2,
			Speed: 5}
		return s.With(events...)
	}
	shape := script.Event{What: script.Template, N: 7}
	return []script.Scenario{
		at("create"),
		at("scale in and out again", script.Event{What: script.Replicas, N: 1}, script.Event{What: script.Replicas, N: 4, At: 4 * time.Second}),
		at("shape change", shape),
		at("shape change, taken back in its midst", shape, script.Event{What: script.Back, At: 20 * time.Second}),
		at("shape change with one missing", script.Event{What: script.GroupEdit, N: 1, M: 1}, shape),
		at("placement change", script.Event{What: script.GroupEdit, M: 1}),
		at("scale-in by hand", script.Event{What: script.HandResize, N: 1}),
		at("deletion", script.Event{What: script.Delete}),
	}
}

// change changes something of the pool's group, or of one of its machines.
func (p *pool) change(e script.Event) error {
	g := p.world.Group.Owned()
	if g == nil {
		return nil
	}
	do := func(action sim.Action) error {
		p.world.Notes.Moved()
		return p.world.Group.Do(action, sim.Resource{})
	}
	switch e.What {
	case HandDetach, HandStop:
		return p.failInstance(g, e)
	case HandStopAll:
		return do(sim.StopGroup)
	case HandHook:
		return do(sim.RemoveHooks)
	case HandPoint:
		return p.point(g)
	case HandDropUnused:
		return p.dropUnused()
	}
	return p.world.Group.Change(g, e)
}

// failInstance does something to one of the machines.
func (p *pool) failInstance(g *sim.Group, e script.Event) error {
	living := g.Staying()
	if len(living) == 0 {
		return nil
	}
	p.world.Notes.Moved()
	action := map[script.What]sim.Action{HandDetach: sim.DetachInstance, HandStop: sim.StopInstance}[e.What]
	return p.world.Group.Do(action, sim.Resource{Instance: living[e.N%len(living)].ID})
}

// point has the pool launch from a configuration of another tool.
func (p *pool) point(g *sim.Group) error {
	const theirs = "by-hand"
	p.world.Notes.Rewritten()
	if !slices.ContainsFunc(p.world.Cloud.Snapshot().Templates, func(t sim.Template) bool { return t.Name == theirs }) {
		if err := p.world.Group.Do(sim.CreateTemplate, sim.Resource{Name: theirs}); err != nil {
			return err
		}
	}
	return p.sim.PointAt(simoci.Launching{Pool: g.Name, Configuration: theirs})
}

// dropUnused deletes the pool's configurations that nothing is launched from.
func (p *pool) dropUnused() error {
	p.world.Notes.Rewritten()
	for _, t := range p.world.Cloud.Snapshot().Templates {
		if t.Tags[oci.OwnerTag] == p.world.Objects.Owner().ID {
			_ = p.world.Group.Do(sim.DeleteTemplate, sim.Resource{Name: t.Name}) // one that is in use stays
		}
	}
	return nil
}

// want returns the state that the objects ask for.
func (p *pool) want(mp *clusterv1.MachinePool, o client.Object) map[string]string {
	s := &object(o).Spec
	want := p.world.Group.Want(mp, map[string]string{"team": "a"})
	maps.Copy(want, map[string]string{"type": s.InstanceConfiguration.Shape, "spare configurations": "0", "outside": "0"})
	if p.world.Objects.External() && world.Share(s.Strategy.RollingUpdate.MaxSurge).N == 0 {
		delete(want, "old") // without surge no machine of a size that an autoscaler owns may be removed
		delete(want, "stale")
	}
	return want
}

// is returns the state of the pool.
func (p *pool) is() map[string]string {
	more := map[string]string{}
	if g := p.world.Group.Now(); g != nil {
		more["type"], more["outside"] = g.Type, strconv.Itoa(p.outside(g))
	}
	c := p.world.Snapshot()
	for _, t := range c.Templates {
		if t.Owner == p.world.Objects.Owner().ID {
			more["spare configurations"] = strconv.Itoa(len(t.Spare(c.Groups, muster.DefaultTemplateHistoryLimit)))
		}
	}
	return p.world.Group.Is(func(m sim.Member) bool { return strings.EqualFold(m.State, "running") && !m.Leaving }, more)
}

// outside counts the machines in availability domains that the object does not name.
func (p *pool) outside(g *sim.Group) (n int) {
	_, o := p.world.Objects.Both()
	if o == nil {
		return 0
	}
	named := object(o).Spec.PlacementDetails
	for _, m := range g.Staying() {
		inside := func(d ociv1.PlacementDetails) bool {
			return strings.HasSuffix(m.Zone, "-"+strconv.Itoa(d.AvailabilityDomain))
		}
		if len(named) > 0 && !slices.ContainsFunc(named, inside) {
			n++
		}
	}
	return n
}

// clearBlockers has a user start a pool that was stopped, and terminate the machines that have stopped or should have joined long ago.
func (p *pool) clearBlockers() {
	_ = p.world.Group.Do(sim.StartGroup, sim.Resource{}) // one that runs can't be started
	p.world.Group.DropBroken(func(m sim.Member) bool { return m.Type == oci.BadShape })
}
