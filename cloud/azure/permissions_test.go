package azure_test

import (
	"testing"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud/azure"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/azure/permissions"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/permissions/allowed"
)

// everything is all that package permissions can allow.
var everything = permissions.Options{RoleAssignments: true}

// A whole life in both modes asks for each action that is allowed because we ask for it. That no more are needed is held by every
// test of the driver: newDriver allows these alone.
func TestNoPermissionIsSuperfluous(t *testing.T) {
	role, err := allowed.New(everything)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("lives", func(t *testing.T) {
		inBothModes(t, func(t *testing.T, w *world) {
			w.wire.next = role.Wrap(w.wire.next)
			target := w.aTarget()
			if w.mode == azurev1.UniformOrchestrationMode {
				target = w.systemAssigned()
			}
			w.wholeLife(target)
		})
	})
	grants, err := permissions.Grants(everything)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range grants {
		for _, a := range g.Actions {
			if n := role.Uses(a.Name); n == 0 && !a.ByService && !a.AgentPools {
				t.Errorf("%s is allowed, and nothing asks for it", a.Name)
			} else if n > 0 && a.ByService {
				t.Errorf("%s is asked for, and said to be checked by Azure alone", a.Name)
			}
		}
	}
}

// wholeLife does to a pool whatever may be done, with a failure on the way.
func (w *world) wholeLife(target azure.Target) {
	w.t.Helper()
	o := w.create(target, 2)
	target = remembering(target, o)
	if len(o.MissingPrerequisites) > 0 {
		w.start(target, pool.Step{Kind: pool.EnsurePrerequisites, Fields: o.MissingPrerequisites})
	}
	w.start(target, pool.Step{Kind: pool.Protect, Targets: chosen(o, func(i pool.Instance) bool { return i.ScaleInUnprotected })})
	target = with(target, func(s *azurev1.AzureMachinePoolSpec) {
		s.AdditionalTags = azurev1.Tags{"stage": "test"}
		s.SystemAssignedIdentityRole = nil
	})
	o = w.observe(target)
	w.start(target, pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift})
	settle()
	o = w.observe(target)
	w.start(target, pool.Step{Kind: pool.Apply, Targets: chosen(o, func(i pool.Instance) bool { return len(i.InPlaceDrift) > 0 })})
	settle()
	o = w.observe(target)
	w.start(target, pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}})
	settle()
	w.fault(sim.Fault{Kind: sim.NoCapacity})
	w.start(target, pool.Step{Kind: pool.Resize, Size: 4})
	settle()
	w.observe(target)
	w.calm()
	w.start(target, pool.Step{Kind: pool.DeleteGroup})
	settle()
	w.driver = w.newDriver()
	if o = w.observe(target); len(o.Leftovers) > 0 {
		w.start(target, pool.Step{Kind: pool.CleanUp, Fields: o.Leftovers})
	}
}

// chosen are the targets among the instances that something holds of.
func chosen(o pool.Observed, of func(pool.Instance) bool) []pool.InstanceRef {
	var list []pool.InstanceRef
	for _, i := range o.Instances {
		if of(i) {
			list = append(list, pool.InstanceRef{ID: i.ID, ProviderID: i.ProviderID})
		}
	}
	return list
}
