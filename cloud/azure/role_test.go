package azure_test

import (
	"slices"
	"testing"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud/azure"
	"github.com/muster-project/muster/pool"
)

// systemAssigned is a pool whose scale set has an identity of its own.
func (w *world) systemAssigned() azure.Target {
	return with(w.aTarget(), func(s *azurev1.AzureMachinePoolSpec) { s.Identity = azurev1.VMIdentitySystemAssigned })
}

// remembering is the target after its object has been written.
func remembering(t azure.Target, o pool.Observed) azure.Target {
	t.Remembered = o.Remember
	return t
}

// The identity of a scale set gets its role, and the role assignment goes with the pool, also by a driver that has seen nothing.
func TestRoleLives(t *testing.T) {
	inWorld(t, azurev1.UniformOrchestrationMode, func(t *testing.T, w *world) {
		target := w.systemAssigned()
		o := w.create(target, 1)
		if len(o.Needs) != 1 || len(o.Leftovers) > 0 {
			t.Fatalf("want the role assignment needed, got %v, %v", o.Needs, o.Leftovers)
		}
		w.start(remembering(target, o), pool.Step{Kind: pool.Provide, Fields: o.Needs})
		o = w.observe(remembering(target, o))
		list := w.cloud.State().Assignments
		if len(o.Needs) > 0 || len(list) != 1 {
			t.Fatalf("want one role assignment and nothing needed, got %v, %+v", o.Needs, list)
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

// A role assignment whose name somebody chose and that somebody else has is left alone.
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
		if err := w.driver.Start(t.Context(), remembering(target, o), pool.Step{Kind: pool.Provide, Fields: o.Needs}); err == nil {
			t.Error("want the role assignment of somebody else refused, got no error")
		}
		if o = w.observe(remembering(target, o)); len(o.Needs) != 1 || len(o.Leftovers) > 0 {
			t.Errorf("want it needed and not ours to delete, got %v, %v", o.Needs, o.Leftovers)
		}
		w.start(remembering(target, o), pool.Step{Kind: pool.CleanUp})
		if after := w.cloud.State().Assignments; !slices.Equal(before, after) {
			t.Errorf("want it as it was, %+v, got %+v", before, after)
		}
	})
}
