package instancegroup

import (
	"context"
	"net/http"
	"strconv"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// The out-of-band actions that exist only for managed instance groups: HandRecreate recreates a machine, HandAbandon removes one from the
// group without deleting it, HandDelete deletes one together with its place, HandRoll has the group replace machines by itself,
// HandDropUnused deletes an unused template.
const (
	HandRecreate   script.What = "hand recreates"
	HandAbandon    script.What = "hand abandons"
	HandDelete     script.What = "hand deletes a place"
	HandRoll       script.What = "hand lets the group roll"
	HandDropUnused script.What = "hand deletes unused templates"
)

// number returns a number in a text, 0 for none.
func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// change changes something of the pool's group, or of one of its machines.
func (p *pool) change(e script.Event) error {
	if e.What == HandDropUnused {
		return p.dropUnused()
	}
	g := p.World.Group.Owned()
	if g == nil {
		return nil
	}
	switch e.What {
	case script.HandTerminate, script.HandInterrupt, script.HandUnhealthy, HandRecreate, HandAbandon, HandDelete:
		return p.failInstance(g, e)
	case gcp.HandQuota:
		return p.SetQuota(1 + e.N)
	case script.HandHeal:
		return p.Heal()
	}
	switch e.What {
	case script.Autoscaler:
		if !p.World.Objects.External() {
			return nil
		}
		p.World.Notes.Moved()
		return p.World.RetryAsUser(func(ctx context.Context) error { return p.resize(ctx, g.Name, e.N) })
	case script.HandTags:
		return p.World.Group.Do(sim.ChangeTag, sim.Resource{Key: []string{"team", "stage"}[e.N%2], Value: "hand"})
	case HandRoll:
		p.World.Notes.Moved()
		return p.Cloud.SetPolicy(compute.Policy{Group: g.Name,
			Policy: map[string]any{"type": "PROACTIVE", "minimalAction": []string{"REPLACE", "RESTART", "REFRESH"}[e.N%3]}})
	}
	return p.World.Group.Change(g, e)
}

// resize sets the group's size. Compute Engine chooses who goes when it is lowered.
func (p *pool) resize(ctx context.Context, name string, n int) error {
	return p.Ask(ctx, http.MethodPost, own(p.World.Scenario).location()+"/instanceGroupManagers/"+name+"/resize?size="+strconv.Itoa(n), nil)
}

// failInstance does something to one of the group's machines.
func (p *pool) failInstance(g *sim.Group, e script.Event) error {
	var living []sim.Member
	for _, m := range g.Staying() {
		if m.ID != "" {
			living = append(living, m)
		}
	}
	if len(living) == 0 {
		return nil
	}
	m := living[e.N%len(living)]
	do := func(action sim.Action) error { return p.World.Group.Do(action, sim.Resource{Instance: m.ID}) }
	p.World.Notes.Moved()
	switch e.What {
	case script.HandTerminate:
		// Where the group creates none in its place, the empty place goes, and the size with it, also one that an autoscaler has set: the
		// user has deleted exactly this instance.
		p.World.Instances.RequestDeletion(m.Name)
		return do(sim.TerminateInstance)
	case script.HandInterrupt:
		if m.Spot {
			return do(sim.InterruptInstance)
		}
		return nil
	case HandRecreate:
		return do(sim.RecreateInstance)
	case HandAbandon:
		return do(sim.DetachInstance)
	case HandDelete:
		return p.World.RetryAsUser(func(ctx context.Context) error {
			return p.Ask(ctx, http.MethodPost, own(p.World.Scenario).location()+"/instanceGroupManagers/"+g.Name+"/deleteInstances",
				map[string]any{"instances": []string{m.Ref}})
		})
	}
	if e.M%2 == 0 {
		return p.Cloud.Sicken(m.ID)
	}
	return do(sim.StopInstance)
}

// dropUnused deletes the pool's templates that nothing is made from.
func (p *pool) dropUnused() error {
	p.World.Notes.Rewritten()
	for _, t := range p.World.Cloud.Snapshot().Templates {
		if t.Tags[gcp.LabelOwner] == p.World.Objects.Owner().ID {
			_ = p.World.Group.Do(sim.DeleteTemplate, sim.Resource{Name: t.Name}) // one that is in use stays
		}
	}
	return nil
}

// foreign creates groups of another owner: under another name, under the pool's name before the pool has a group, or both.
func (p *pool) foreign(n int) {
	ours := p.World.Objects.Owner().ResourceName()
	err := p.World.RetryAsUser(func(ctx context.Context) error {
		return p.unlessThere(ctx, "global/instanceTemplates", compute.Example(theirTemplate))
	})
	for _, name := range [][]string{{world.TheirGroup}, {ours}, {world.TheirGroup, ours}}[n] {
		at := own(p.World.Scenario).location()
		if name == world.TheirGroup {
			at = "zones/" + gcp.Zones[0]
		}
		if err == nil {
			err = p.World.RetryAsUser(func(ctx context.Context) error {
				return p.unlessThere(ctx, at+"/instanceGroupManagers",
					map[string]any{"name": name, "targetSize": 1, "instanceTemplate": "global/instanceTemplates/" + theirTemplate})
			})
		}
	}
	if err != nil {
		p.World.Trace("hand", "failed: %v", err)
	}
}
