package nodepool_test

import (
	"slices"
	"testing"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/gcp/permissions"
	"github.com/muster-project/muster/sim/gcp"
)

// needed are the permissions that a node pool's driver asks for. Lists of a project are asked for where there are many node pools.
var needed = []string{
	"compute.instanceGroupManagers.get", "compute.instanceGroupManagers.update", "compute.instanceTemplates.get", "compute.instances.list",
	"compute.machineTypes.get", "container.clusters.get", "container.clusters.update", "container.operations.get", "container.operations.list",
}

// TestNoPermissionIsSuperfluous holds that the life of a node pool is denied something, or sees less, without any one of its
// permissions. That no more are needed is held by every test of the driver: newCloud allows those of package permissions alone.
func TestNoPermissionIsSuperfluous(t *testing.T) {
	role, err := permissions.RoleOf(permissions.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, without := range append([]string{""}, needed...) {
		t.Run("without "+without, func(t *testing.T) {
			inWorld(t, func(w *world) {
				allowed := slices.DeleteFunc(slices.Clone(role.IncludedPermissions), func(p string) bool { return p == without })
				if err := w.cloud.PutAccount(gcp.Account{Email: controller, Allowed: allowed}); err != nil {
					w.Fatal(err)
				}
				if denied := w.wholeLife(); denied != (without != "") {
					w.Errorf("want a life that is denied something only without a permission, got %t without %q", denied, without)
				}
			})
		})
	}
}

// wholeLife does to a node pool whatever may be done, with a failure on the way, and reports whether anything of it was denied.
func (w *world) wholeLife() (denied bool) {
	w.Helper()
	look := func() pool.Observed {
		o, err := w.driver.Observe(w.Context(), w.target)
		denied = denied || err != nil && cloud.KindOf(err) == cloud.Denied ||
			slices.ContainsFunc(o.Issues, func(i pool.Cause) bool { return i.Reason == string(cloud.Denied) })
		return o
	}
	do := func(s pool.Step) {
		err := w.driver.Start(w.Context(), w.target, s)
		denied = denied || err != nil && cloud.KindOf(err) == cloud.Denied
		look()
		settle()
		look()
	}
	do(pool.Step{Kind: pool.CreateGroup, Size: 2})
	do(pool.Step{Kind: pool.Resize, Size: 3})
	if o := look(); len(o.Instances) > 0 {
		do(pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}})
	}
	w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("n2-standard-4") })
	if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.StartProviderRollout}); err == nil {
		if o := look(); o.ProviderRollout != nil {
			do(pool.Step{Kind: pool.CancelProviderRollout, Refs: []string{o.ProviderRollout.ID}})
		}
	}
	w.target.Deleting = true
	do(pool.Step{Kind: pool.DeleteGroup})
	return denied
}
