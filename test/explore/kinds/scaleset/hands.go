package scaleset

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	simazure "github.com/muster-project/muster/sim/azure"
	simcompute "github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/test/explore/kinds/azure"
	"github.com/muster-project/muster/test/explore/world"
)

// What is done to scale sets alone: HandExpose takes a machine's protection away, HandTagMachine changes a machine's tags.
const (
	HandExpose     world.What = "hand takes protection away"
	HandTagMachine world.What = "hand retags a machine"
)

// change changes something of the pool's scale set, or of one of its machines. A user whom a running operation refuses tries again.
func (p *pool) change(e world.Event) error {
	s := p.ourScaleSet()
	if s == nil || s.State == "Deleting" {
		return nil
	}
	switch e.What {
	case world.HandTerminate, world.HandFail, world.HandInterrupt, world.HandUnhealthy, HandExpose, HandTagMachine:
		return p.strikeVM(s, e)
	case azure.HandQuota:
		return p.Cloud.SetQuota(simazure.Location, "cores", 2*(1+e.N))
	case world.HandHeal:
		return p.Cloud.ClearQuotas()
	}
	return p.toSet(s, e)
}

// toSet changes something of the scale set itself.
func (p *pool) toSet(s *simcompute.Set, e world.Event) error {
	switch e.What {
	case world.HandResize:
		p.World.Notes.Moved()
		return p.World.Hand(func(ctx context.Context) error { return p.scale(ctx, e.N) })
	case world.Autoscaler:
		if !p.World.Objects.External() {
			return nil
		}
		return p.World.Hand(func(ctx context.Context) error { return p.scale(ctx, e.N) })
	case world.HandTags:
		key := []string{"team", "stage", "muster.dev_cluster"}[e.N%3]
		if s.Tags[key] == "" {
			key = world.Theirs // what others put there stays there, whatever its name
		}
		return p.World.Notes.Kept("tag "+key, p.World.Hand(func(ctx context.Context) error { return p.tag(ctx, key, "hand") }))
	case world.HandDisown:
		p.World.Notes.Disowned()
		return p.World.Hand(func(ctx context.Context) error { return p.tag(ctx, azure.TagOwner, world.Thief) })
	case world.HandDropGroup:
		p.World.Notes.Dropped()
		return p.World.Hand(func(ctx context.Context) error { return p.Ask(ctx, http.MethodDelete, setPath(s.Name), nil) })
	}
	return nil
}

// scale sets the scale set's size. Azure chooses who goes when it is made smaller.
func (p *pool) scale(ctx context.Context, n int) error {
	s := p.scaleSet()
	if s == nil {
		return nil
	}
	p.World.Notes.Moved()
	return p.Ask(ctx, http.MethodPatch, setPath(s.Name),
		map[string]any{"sku": map[string]any{"name": s.Size, "tier": "Standard", "capacity": n}})
}

// tag sets one tag of the scale set, and leaves the others as they are.
func (p *pool) tag(ctx context.Context, key, value string) error {
	s := p.scaleSet()
	if s == nil {
		return nil
	}
	tags := maps.Clone(s.Tags)
	tags[key] = value
	return p.Ask(ctx, http.MethodPatch, setPath(s.Name), map[string]any{"tags": tags})
}

// strikeVM does something to one of the scale set's machines.
func (p *pool) strikeVM(s *simcompute.Set, e world.Event) error {
	living := slices.DeleteFunc(slices.Clone(s.Machines), func(m simcompute.Machine) bool { return m.State == "Deleting" })
	if len(living) == 0 {
		return nil
	}
	m, c := living[e.N%len(living)], p.Cloud
	path := setPath(s.Name) + "/virtualMachines/" + m.ID
	switch e.What {
	case world.HandTerminate:
		p.World.Notes.Moved()
		return c.Terminate(m.UID)
	case world.HandFail:
		return c.Fail(m.UID, "VMExtensionProvisioningError", "played by the explorer")
	case world.HandInterrupt:
		if !m.Spot {
			return nil
		}
		p.World.Notes.Moved()
		return c.Evict(m.UID)
	case HandExpose:
		return p.World.Hand(func(ctx context.Context) error {
			return p.Ask(ctx, http.MethodPut, path, map[string]any{
				"location": simazure.Location, "tags": m.Tags,
				"properties": map[string]any{"protectionPolicy": map[string]any{"protectFromScaleIn": false}},
			})
		})
	case HandTagMachine:
		tags := maps.Clone(m.Tags)
		delete(tags, tagContent)
		return p.World.Hand(func(ctx context.Context) error {
			return p.Ask(ctx, http.MethodPut, path, map[string]any{
				"location": simazure.Location, "tags": tags,
				"properties": map[string]any{"protectionPolicy": map[string]any{"protectFromScaleIn": m.Protected}},
			})
		})
	}
	if e.M%2 == 0 {
		return c.Stop(m.UID)
	}
	return c.Deallocate(m.UID)
}

// own gives the scale set back that was taken from us.
func (p *pool) own() {
	if s := p.scaleSet(); s != nil && s.Tags[azure.TagOwner] == world.Thief {
		_ = p.World.Hand(func(ctx context.Context) error { return p.tag(ctx, azure.TagOwner, p.World.Objects.Owner().ID) })
		p.World.Notes.Owned()
	}
}

// foreign makes scale sets of another owner: beside the pool's, under the pool's name before it has one, or both.
func (p *pool) foreign(n int) {
	group := simazure.DefaultSubscription().Groups[0]
	for _, name := range [][]string{{world.TheirGroup}, {world.InfraKey.Name}, {world.TheirGroup, world.InfraKey.Name}}[n] {
		err := p.World.Hand(func(ctx context.Context) error {
			return p.Ask(ctx, http.MethodPut, setPath(name), simazure.Example(simazure.SubscriptionID, group, string(own(p.World.Scenario).Mode),
				name, 1))
		})
		if err != nil {
			p.World.Trace("hand", "failed: %v", err)
		}
	}
}

// dropForeign deletes the scale set of another owner that has the pool's name.
func (p *pool) dropForeign() {
	if p.World.Scenario.Named {
		_ = p.World.Hand(func(ctx context.Context) error {
			return p.Ask(ctx, http.MethodDelete, setPath(world.TheirGroup), nil)
		})
		return
	}
	if s := p.scaleSet(); s == nil || s.Tags[azure.TagOwner] == p.World.Objects.Owner().ID || strings.EqualFold(s.State, "Deleting") {
		return
	}
	_ = p.World.Hand(func(ctx context.Context) error {
		return p.Ask(ctx, http.MethodDelete, setPath(world.InfraKey.Name), nil)
	})
}
