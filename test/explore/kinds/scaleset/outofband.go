package scaleset

import (
	"context"
	"maps"
	"net/http"

	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/test/explore/kinds/azure"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// The out-of-band actions that exist only for scale sets: HandExpose removes a machine's protection, HandTagMachine changes a machine's
// tags.
const (
	HandExpose     script.What = "hand takes protection away"
	HandTagMachine script.What = "hand retags a machine"
)

// change changes something of the pool's scale set, or of one of its machines. A user whom a running operation refuses tries again.
func (p *pool) change(e script.Event) error {
	s := p.World.Group.Owned()
	if s == nil {
		return nil
	}
	switch e.What {
	case script.HandUnhealthy, HandExpose, HandTagMachine:
		return p.strikeVM(s, e)
	case azure.HandQuota:
		return p.Cloud.SetQuota(simazure.Location, "cores", 2*(1+e.N))
	case script.HandHeal:
		return p.Cloud.ClearQuotas()
	}
	return p.World.Group.Change(s, e)
}

// resize sets the scale set's size. Azure chooses who goes when it is made smaller.
func (p *pool) resize(ctx context.Context, s *sim.Group, n int) error {
	return p.Ask(ctx, http.MethodPatch, setPath(s.Name),
		map[string]any{"sku": map[string]any{"name": s.Type, "tier": "Standard", "capacity": n}})
}

// tag sets one tag of the scale set, and leaves the others as they are.
func (p *pool) tag(ctx context.Context, s *sim.Group, key, value string) error {
	tags := maps.Clone(s.Tags)
	tags[key] = value
	return p.Ask(ctx, http.MethodPatch, setPath(s.Name), map[string]any{"tags": tags})
}

func (p *pool) drop(ctx context.Context, s *sim.Group) error {
	return p.Ask(ctx, http.MethodDelete, setPath(s.Name), nil)
}

// strikeVM does something to one of the scale set's machines.
func (p *pool) strikeVM(s *sim.Group, e script.Event) error {
	living := s.Staying()
	if len(living) == 0 {
		return nil
	}
	m, c := living[e.N%len(living)], p.Cloud
	path := setPath(s.Name) + "/virtualMachines/" + m.Ref
	switch e.What {
	case HandExpose:
		return p.World.RetryAsUser(func(ctx context.Context) error {
			return p.Ask(ctx, http.MethodPut, path, map[string]any{
				"location": simazure.Location, "tags": m.Tags,
				"properties": map[string]any{"protectionPolicy": map[string]any{"protectFromScaleIn": false}},
			})
		})
	case HandTagMachine:
		tags := maps.Clone(m.Tags)
		delete(tags, tagContent)
		return p.World.RetryAsUser(func(ctx context.Context) error {
			return p.Ask(ctx, http.MethodPut, path, map[string]any{
				"location": simazure.Location, "tags": tags,
				"properties": map[string]any{"protectionPolicy": map[string]any{"protectFromScaleIn": m.Protected}},
			})
		})
	}
	if e.M%2 == 0 {
		return c.Stop(m.ID)
	}
	return c.Deallocate(m.ID)
}

// foreign creates scale sets of another owner: under another name, under the pool's name before the pool has a scale set, or both.
func (p *pool) foreign(n int) {
	group := simazure.DefaultSubscription().Groups[0]
	for _, name := range [][]string{{world.TheirGroup}, {world.InfraKey.Name}, {world.TheirGroup, world.InfraKey.Name}}[n] {
		err := p.World.RetryAsUser(func(ctx context.Context) error {
			return p.Ask(ctx, http.MethodPut, setPath(name), simazure.Example(simazure.SubscriptionID, group, string(own(p.World.Scenario).Mode),
				name, 1))
		})
		if err != nil {
			p.World.Trace("hand", "failed: %v", err)
		}
	}
}
