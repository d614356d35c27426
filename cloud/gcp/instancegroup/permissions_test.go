package instancegroup_test

import (
	"slices"
	"testing"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/gcp/permissions"
	simgcp "github.com/muster-project/muster/sim/gcp"
)

// controller is the account that the driver of these tests is.
const controller = "controller"

// allowed are all permissions of the role but one.
func allowed(t testing.TB, without string) []string {
	role, err := permissions.RoleOf(permissions.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(role.IncludedPermissions, func(p string) bool { return p == without })
}

// permit makes these the permissions of the driver's account.
func (w *world) permit(permissions []string) {
	w.Helper()
	if err := w.cloud.PutAccount(simgcp.Account{Email: controller, Allowed: permissions}); err != nil {
		w.Fatal(err)
	}
}

// TestNoPermissionIsSuperfluous holds that the life of a pool is denied something without any one of the permissions for groups. That no
// more are needed is held by every test of the driver: newCloud allows these alone.
func TestNoPermissionIsSuperfluous(t *testing.T) {
	for _, without := range append([]string{"", forRegions}, forGroups...) {
		zones := []string{zone}
		if without == forRegions {
			zones = append(zones, "us-central1-b")
		}
		t.Run("without "+without, func(t *testing.T) {
			inWorld(t, zones, func(w *world) {
				w.permit(allowed(w, without))
				err := w.life()
				if without == "" && err != nil || without != "" && cloud.KindOf(err) != cloud.Denied {
					w.Errorf("want a pool that lives with all and is denied something without %q, got %v", without, err)
				}
			})
		})
	}
}

// forGroups are the permissions that the life of a group needs each time.
var forGroups = []string{
	"compute.instanceGroupManagers.get", "compute.instanceGroupManagers.create", "compute.instanceGroupManagers.update",
	"compute.instanceGroupManagers.delete",
	"compute.instanceTemplates.list", "compute.instanceTemplates.get", "compute.instanceTemplates.create", "compute.instanceTemplates.delete",
	"compute.instanceTemplates.useReadOnly",
	"compute.instances.get", "compute.instances.list", "compute.instances.setLabels", "compute.machineTypes.get",
	"compute.images.getFromFamily",
	"compute.zoneOperations.get",
}

// forRegions is the one that the life of a regional group needs in place of compute.zoneOperations.get.
const forRegions = "compute.regionOperations.get"

// life does to pools whatever may be done, until something is refused.
func (w *world) life() error {
	w.Helper()
	w.target.Spec = spec(func(s *gcpv1.GCPMachinePoolSpec) { s.Image, s.ImageFamily = nil, new(family) })(w.target.Spec)
	var o pool.Observed
	relabel := func() pool.Step {
		w.target.Spec = spec(func(s *gcpv1.GCPMachinePoolSpec) { s.AdditionalLabels = gcpv1.Labels{"stage": "b"} })(w.target.Spec)
		return pool.Step{Kind: pool.UpdateGroup, Fields: []string{"spec.additionalLabels"}}
	}
	for _, next := range []func() pool.Step{
		func() pool.Step { return pool.Step{Kind: pool.PutTemplate} },
		func() pool.Step { return pool.Step{Kind: pool.CreateGroup, Size: 1, Template: o.Latest().Ref} },
		func() pool.Step { return pool.Step{Kind: pool.Resize, Size: 5} },
		func() pool.Step {
			return pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}}
		},
		relabel,
		func() pool.Step {
			return pool.Step{Kind: pool.Apply, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}}
		},
		func() pool.Step { return pool.Step{Kind: pool.DeleteGroup} },
		func() pool.Step { return pool.Step{Kind: pool.DeleteTemplates} },
	} {
		if err := w.driver.Start(w.Context(), w.target, next()); err != nil {
			return err
		}
		if _, err := w.look(); err != nil && cloud.KindOf(err) == cloud.Denied {
			return err
		}
		settle()
		var err error
		if o, err = w.look(); err != nil {
			return err
		}
	}
	const name = clusterName + "-" + poolName
	w.otherTools(name, clusterName)
	w.target.Owner.GroupName = name
	if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.Adopt}); err != nil {
		return err
	}
	_, err := w.look()
	return err
}

// look observes the pool. A read that an observation does without and that is denied is an error here.
func (w *world) look() (pool.Observed, error) {
	o, err := w.driver.Observe(w.Context(), w.target)
	for _, i := range o.Issues {
		if err == nil && i.Reason == string(cloud.Denied) {
			err = &cloud.Error{Kind: cloud.Denied, Message: i.Message}
		}
	}
	return o, err
}
