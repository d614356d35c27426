package agentpool_test

import (
	"testing"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/azure/permissions"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/permissions/allowed"
)

// TestNoPermissionIsSuperfluous holds that a whole life of an agent pool asks for each action that is allowed for agent pools. That no more
// are needed is held by every test of the driver: newDriver allows these alone.
func TestNoPermissionIsSuperfluous(t *testing.T) {
	inWorld(t, func(w *world) {
		role, err := allowed.New(permissions.Options{})
		if err != nil {
			w.Fatal(err)
		}
		if w.driver, err = newDriver(role.Wrap(sim.Transport{Handler: w.cloud})); err != nil {
			w.Fatal(err)
		}
		w.wholeLife()
		grants, err := permissions.Grants(permissions.Options{})
		if err != nil {
			w.Fatal(err)
		}
		for _, g := range grants {
			for _, a := range g.Actions {
				if a.AgentPools && role.Uses(a.Name) == 0 {
					w.Errorf("%s is allowed, and nothing asks for it", a.Name)
				}
			}
		}
	})
}

// wholeLife does to an agent pool whatever may be done, with a failure on the way.
func (w *world) wholeLife() {
	w.Helper()
	if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.CreateGroup, Size: 3}); err != nil {
		w.Fatal(err)
	}
	if err := w.cloud.AKS.FailPool(clusterName+"/"+poolName, "SubnetIsFull", "Subnet nodes is full."); err != nil {
		w.Fatal(err)
	}
	settle()
	w.observe()
	w.start(pool.Step{Kind: pool.Resize, Size: 3})
	o := w.observe()
	w.start(pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}})
	w.target.Spec = spec(func(s *aksv1.AzureManagedMachinePoolSpec) { s.SKU = "Standard_D4s_v3" })(w.target.Spec)
	o = w.observe()
	if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.StartProviderRollout, Template: o.Latest().Ref}); err != nil {
		w.Fatal(err)
	}
	if o = w.observe(); o.ProviderRollout == nil {
		w.Fatalf("want a rollout that runs, got %+v", o.Group)
	}
	w.start(pool.Step{Kind: pool.CancelProviderRollout, Refs: []string{o.ProviderRollout.ID}})
	w.start(pool.Step{Kind: pool.StartProviderRollout, Template: w.observe().Latest().Ref})
	if err := w.cloud.AKS.ReleaseImage("202610.01.0"); err != nil {
		w.Fatal(err)
	}
	w.target.Spec = atLeast(newImage)(w.target.Spec)
	w.start(pool.Step{Kind: pool.StartProviderRollout, Template: w.observe().Latest().Ref})
	w.target.Deleting = true
	w.start(pool.Step{Kind: pool.DeleteGroup})
}
