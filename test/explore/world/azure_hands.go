package world

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	simazure "github.com/muster-project/muster/sim/azure"
	simcompute "github.com/muster-project/muster/sim/azure/compute"
)

// toScaleSet changes something of the pool's scale set, or of one of its machines. A user whom a running operation refuses tries again.
func (w *World) toScaleSet(e Event) error {
	s, a := w.account.ourScaleSet(), w.account
	if s == nil || s.State == "Deleting" {
		return nil
	}
	switch e.What {
	case HandTerminate, HandFail, HandInterrupt, HandUnhealthy, HandExpose, HandTagMachine:
		return w.strikeVM(s, e)
	case HandQuota:
		return a.azure.SetQuota(simazure.Location, "cores", 2*(1+e.N))
	case HandHeal:
		return a.azure.ClearQuotas()
	}
	return w.toSet(s, e)
}

// toSet changes something of the scale set itself.
func (w *World) toSet(s *simcompute.Set, e Event) error {
	a := w.account
	switch e.What {
	case HandResize:
		a.moved = time.Now()
		return a.hand(func(ctx context.Context) error { return a.scale(ctx, e.N) })
	case Autoscaler:
		if !w.external() {
			return nil
		}
		return a.hand(func(ctx context.Context) error { return a.scale(ctx, e.N) })
	case HandTags:
		key := []string{"team", "stage", "muster.dev_cluster"}[e.N%3]
		if s.Tags[key] == "" {
			key = theirs // what others put there stays there, whatever its name
		}
		return a.noted("tag "+key, a.hand(func(ctx context.Context) error { return a.tag(ctx, key, "hand") }))
	case HandDisown:
		a.disowned = time.Now()
		return a.hand(func(ctx context.Context) error { return a.tag(ctx, tagOwnerAzure, thief) })
	case HandDropGroup:
		a.notes = map[string]string{}
		return a.hand(func(ctx context.Context) error { return a.ask(ctx, http.MethodDelete, setPath(s.Name), nil) })
	}
	return nil
}

// scale sets the scale set's size. Azure chooses who goes when it is made smaller.
func (a *account) scale(ctx context.Context, n int) error {
	s := a.scaleSet()
	if s == nil {
		return nil
	}
	a.moved = time.Now()
	return a.ask(ctx, http.MethodPatch, setPath(s.Name), map[string]any{"sku": map[string]any{"name": s.Size, "tier": "Standard", "capacity": n}})
}

// tag sets one tag of the scale set, and leaves the others as they are.
func (a *account) tag(ctx context.Context, key, value string) error {
	s := a.scaleSet()
	if s == nil {
		return nil
	}
	tags := maps.Clone(s.Tags)
	tags[key] = value
	return a.ask(ctx, http.MethodPatch, setPath(s.Name), map[string]any{"tags": tags})
}

// strikeVM does something to one of the scale set's machines.
func (w *World) strikeVM(s *simcompute.Set, e Event) error {
	living := slices.DeleteFunc(slices.Clone(s.Machines), func(m simcompute.Machine) bool { return m.State == "Deleting" })
	if len(living) == 0 {
		return nil
	}
	m, c := living[e.N%len(living)], w.account.azure
	path := setPath(s.Name) + "/virtualMachines/" + m.ID
	switch e.What {
	case HandTerminate:
		w.account.moved = time.Now()
		return c.Terminate(m.UID)
	case HandFail:
		return c.Fail(m.UID, "VMExtensionProvisioningError", "played by the explorer")
	case HandInterrupt:
		if !m.Spot {
			return nil
		}
		w.account.moved = time.Now()
		return c.Evict(m.UID)
	case HandExpose:
		return w.account.hand(func(ctx context.Context) error {
			return w.account.ask(ctx, http.MethodPut, path, map[string]any{
				"location": simazure.Location, "tags": m.Tags, "properties": map[string]any{"protectionPolicy": map[string]any{"protectFromScaleIn": false}},
			})
		})
	case HandTagMachine:
		tags := maps.Clone(m.Tags)
		delete(tags, tagContentAzure)
		return w.account.hand(func(ctx context.Context) error {
			return w.account.ask(ctx, http.MethodPut, path, map[string]any{
				"location": simazure.Location, "tags": tags, "properties": map[string]any{"protectionPolicy": map[string]any{"protectFromScaleIn": m.Protected}},
			})
		})
	}
	if e.M%2 == 0 {
		return c.Stop(m.UID)
	}
	return c.Deallocate(m.UID)
}

// ownScaleSet gives the scale set back that was taken from us.
func (w *World) ownScaleSet() {
	if s := w.account.scaleSet(); s != nil && s.Tags[tagOwnerAzure] == thief {
		_ = w.account.hand(func(ctx context.Context) error { return w.account.tag(ctx, tagOwnerAzure, w.owner().ID) })
		w.account.owned = time.Now()
	}
}

// foreignScaleSets makes scale sets of another owner: beside the pool's, under the pool's name before it has one, or both.
func (w *World) foreignScaleSets(n int) {
	group := simazure.DefaultSubscription().Groups[0]
	for _, name := range [][]string{{theirGroup}, {w.account.setName()}, {theirGroup, w.account.setName()}}[n] {
		err := w.account.hand(func(ctx context.Context) error {
			return w.account.ask(ctx, http.MethodPut, setPath(name), simazure.Example(simazure.SubscriptionID, group, string(w.scenario.Mode), name, 1))
		})
		if err != nil {
			w.trace.add("hand", "failed: %v", err)
		}
	}
}

// dropForeignScaleSet deletes the scale set of another owner that has the pool's name.
func (w *World) dropForeignScaleSet() {
	if w.scenario.Named {
		_ = w.account.hand(func(ctx context.Context) error {
			return w.account.ask(ctx, http.MethodDelete, setPath(theirGroup), nil)
		})
		return
	}
	if s := w.account.scaleSet(); s == nil || s.Tags[tagOwnerAzure] == w.owner().ID || strings.EqualFold(s.State, "Deleting") {
		return
	}
	_ = w.account.hand(func(ctx context.Context) error {
		return w.account.ask(ctx, http.MethodDelete, setPath(w.account.setName()), nil)
	})
}
