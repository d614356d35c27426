package azure_test

import (
	"slices"
	"testing"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud/azure"
	"github.com/muster-project/muster/pool"
	simazure "github.com/muster-project/muster/sim/azure"
)

// systemAssigned is a pool whose scale set has an identity of its own.
func (w *world) systemAssigned() azure.Target {
	return with(w.aTarget(), func(s *azurev1.AzureMachinePoolSpec) { s.Identity = azurev1.VMIdentitySystemAssigned })
}

// remembering is the target after its object has been written.
func remembering(t azure.Target, o pool.Observed) azure.Target {
	t.Remembered = o.ResolvedLookups
	return t
}

// The identity of a scale set gets its role, and the role assignment goes with the pool, also by a driver that has seen nothing.
func TestRoleLives(t *testing.T) {
	inWorld(t, azurev1.UniformOrchestrationMode, func(t *testing.T, w *world) {
		target := w.systemAssigned()
		o := w.create(target, 1)
		if len(o.MissingPrerequisites) != 1 || len(o.Leftovers) > 0 {
			t.Fatalf("want the role assignment needed, got %v, %v", o.MissingPrerequisites, o.Leftovers)
		}
		w.start(remembering(target, o), pool.Step{Kind: pool.EnsurePrerequisites, Fields: o.MissingPrerequisites})
		o = w.observe(remembering(target, o))
		list := w.cloud.State().Assignments
		if len(o.MissingPrerequisites) > 0 || len(list) != 1 {
			t.Fatalf("want one role assignment and nothing needed, got %v, %+v", o.MissingPrerequisites, list)
		}
		if calls := w.wire.during(func() { w.observe(remembering(target, o)) }); len(calls) != 2 {
			t.Errorf("want the role assignment not asked for again, got %v", calls)
		}
		w.start(remembering(target, o), pool.Step{Kind: pool.DeleteGroup})
		settle()
		w.driver = w.newDriver()
		o = w.observe(remembering(target, o))
		if o.Group != nil || len(o.Leftovers) != 1 {
			t.Fatalf("want the role assignment left, got %+v", o)
		}
		w.start(remembering(target, o), pool.Step{Kind: pool.CleanUp, Fields: o.Leftovers})
		if o = w.observe(remembering(target, o)); len(o.Leftovers) > 0 || len(w.cloud.State().Assignments) > 0 {
			t.Errorf("want nothing left, got %v, %+v", o.Leftovers, w.cloud.State().Assignments)
		}
	})
}

// A scale set that is made again has another identity: the role assignment follows it.
func TestRoleFollowsTheIdentity(t *testing.T) {
	for _, name := range []string{"", "11111111-2222-4333-8444-555555555555"} {
		t.Run("named "+name, func(t *testing.T) {
			inWorld(t, azurev1.UniformOrchestrationMode, func(t *testing.T, w *world) {
				target := with(w.systemAssigned(), func(s *azurev1.AzureMachinePoolSpec) {
					s.SystemAssignedIdentityRole = &azurev1.SystemAssignedIdentityRole{Name: name}
				})
				p := newPlay(w, target, desired(1, number(1), number(0)))
				p.keeps = true
				p.run()
				before := w.cloud.State().Assignments
				w.start(p.target, pool.Step{Kind: pool.DeleteGroup})
				settle()
				p.left["0"] = true
				p.run()
				after := w.cloud.State().Assignments
				if len(before) != 1 || len(after) != 1 || before[0].Principal == after[0].Principal || before[0].Name != after[0].Name {
					t.Errorf("want one role assignment of the same name for another identity, got %+v after %+v", after, before)
				}
			})
		})
	}
}

// A role assignment whose name a user chose and that another client has is left alone.
func TestRoleOfSomebodyElse(t *testing.T) {
	inWorld(t, azurev1.UniformOrchestrationMode, func(t *testing.T, w *world) {
		named := func(s *azurev1.AzureMachinePoolSpec) {
			s.SystemAssignedIdentityRole = &azurev1.SystemAssignedIdentityRole{Name: "11111111-2222-4333-8444-555555555555"}
		}
		theirs := with(w.systemAssigned(), named)
		theirs.Owner.ID, theirs.Owner.Name = "theirs", "other"
		p := newPlay(w, theirs, desired(1, number(1), number(0)))
		p.keeps = true
		p.run()
		before := w.cloud.State().Assignments
		target := with(w.systemAssigned(), named)
		o := w.create(target, 1)
		if err := w.driver.Start(t.Context(), remembering(target, o),
			pool.Step{Kind: pool.EnsurePrerequisites, Fields: o.MissingPrerequisites}); err == nil {
			t.Error("want the role assignment of another client refused, got no error")
		}
		if o = w.observe(remembering(target, o)); len(o.MissingPrerequisites) != 1 || len(o.Leftovers) > 0 {
			t.Errorf("want it needed and not ours to delete, got %v, %v", o.MissingPrerequisites, o.Leftovers)
		}
		w.start(remembering(target, o), pool.Step{Kind: pool.CleanUp})
		if after := w.cloud.State().Assignments; !slices.Equal(before, after) {
			t.Errorf("want it as it was, %+v, got %+v", before, after)
		}
	})
}

// A role assignment goes when the specification wants another scope, or no identity of the scale set's own any more: what it allows is
// not allowed for longer than that.
func TestRoleOfBefore(t *testing.T) {
	const name = "11111111-2222-4333-8444-555555555555"
	narrow := "/subscriptions/" + simazure.SubscriptionID + "/resourceGroups/" + simazure.ResourceGroup
	for _, c := range []struct {
		reason, name string
		change       func(*azurev1.AzureMachinePoolSpec)
		scopes       []string
	}{
		{"another scope", "", func(s *azurev1.AzureMachinePoolSpec) {
			s.SystemAssignedIdentityRole = &azurev1.SystemAssignedIdentityRole{Scope: narrow}
		}, []string{narrow}},
		{"another scope, name chosen", name, func(s *azurev1.AzureMachinePoolSpec) {
			s.SystemAssignedIdentityRole = &azurev1.SystemAssignedIdentityRole{Name: name, Scope: narrow}
		}, []string{narrow}},
		{"no identity", "", func(s *azurev1.AzureMachinePoolSpec) { s.Identity = azurev1.VMIdentityNone }, nil},
		{"no identity, name chosen", name, func(s *azurev1.AzureMachinePoolSpec) {
			s.Identity, s.SystemAssignedIdentityRole = azurev1.VMIdentityNone, nil
		}, nil},
	} {
		t.Run(c.reason, func(t *testing.T) {
			inWorld(t, azurev1.UniformOrchestrationMode, func(t *testing.T, w *world) {
				target := with(w.systemAssigned(), func(s *azurev1.AzureMachinePoolSpec) {
					s.SystemAssignedIdentityRole = &azurev1.SystemAssignedIdentityRole{Name: c.name}
				})
				p := newPlay(w, target, desired(1, number(1), number(0)))
				p.keeps = true
				p.run()
				if n := len(w.cloud.State().Assignments); n != 1 {
					t.Fatalf("want one role assignment, got %d", n)
				}
				p.target = with(p.target, c.change)
				w.driver = w.newDriver()
				p.run()
				var scopes []string
				for _, a := range w.cloud.State().Assignments {
					scopes = append(scopes, a.Scope)
				}
				if !slices.Equal(scopes, c.scopes) {
					t.Errorf("%s: want role assignments for %v, got %v", c.reason, c.scopes, scopes)
				}
				if calls := w.wire.during(func() { w.observe(p.target) }); len(calls) != 2 {
					t.Errorf("%s: want no more than the scale set and its machines read at rest, got %v", c.reason, calls)
				}
			})
		})
	}
}

// A cluster that names no subscription is in the controller's: IDs and role assignments name it all the same, as each cluster spells it.
func TestSubscriptionOfTheController(t *testing.T) {
	t.Setenv("AZURE_SUBSCRIPTION_ID", simazure.SubscriptionID)
	inWorld(t, azurev1.UniformOrchestrationMode, func(t *testing.T, w *world) {
		target := w.systemAssigned()
		spec := *target.Spec
		spec.Cluster.SubscriptionID = ""
		target.Spec = &spec
		p := newPlay(w, target, desired(1, number(1), number(0)))
		p.keeps = true
		p.run()
		set, all := w.cloud.State().Sets[0], w.cloud.State().Assignments
		if o := p.look(); len(o.Instances) != 1 || o.Instances[0].ProviderID != set.Machines[0].ProviderID {
			t.Errorf("want %s, got %+v", set.Machines[0].ProviderID, o.Instances)
		}
		if want := "/subscriptions/" + simazure.SubscriptionID; len(all) != 1 || all[0].Scope != want {
			t.Errorf("want a role for %s, got %+v", want, all)
		}
	})
}
