package instancepool_test

import (
	"slices"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/oci/permissions"
	"github.com/muster-project/muster/sim/oci"
)

// documented returns the permissions that are documented for instance pools.
func documented() (names []string) {
	for _, grant := range permissions.Grants()[:2] {
		for _, p := range grant.Permissions {
			names = append(names, p.Name)
		}
	}
	return names
}

// TestNoPermissionIsSuperfluous holds that the life of a pool is denied something without any one of the permissions, and nothing with all
// of them.
func TestNoPermissionIsSuperfluous(t *testing.T) {
	for _, without := range append([]string{""}, documented()...) {
		t.Run("without "+without, func(t *testing.T) {
			allowed := slices.DeleteFunc(documented(), func(name string) bool { return name == without })
			inWorld(t, oci.Options{Keys: keys(allowed), Limits: map[string]int{flexible: 4}}, func(w *world) {
				if denied := w.wholeLife(); denied != (without != "") {
					w.Errorf("want a life that is denied something only without a permission, got %t without %q", denied, without)
				}
			})
		})
	}
}

// TestLooksNeedNoWrites holds that a manager which may only read observes everything.
func TestLooksNeedNoWrites(t *testing.T) {
	inWorld(t, oci.Options{Keys: keys([]string{"INSTANCE_POOL_INSPECT", "INSTANCE_POOL_READ", "INSTANCE_CONFIGURATION_INSPECT",
		"INSTANCE_CONFIGURATION_READ", "INSTANCE_INSPECT", "WORKREQUEST_INSPECT"})}, func(w *world) {
		if o := w.observe(); o.Capacity == nil || o.Wanted.Content == "" || len(o.Issues) > 0 {
			w.Errorf("want a whole look, got %+v", o)
		}
		if err := w.try(pool.Step{Kind: pool.PutTemplate}); cloud.KindOf(err) != cloud.Denied {
			w.Errorf("want a write denied, got %v", err)
		}
	})
}

// wholeLife does to a pool whatever may be done, and reports whether anything of it was denied.
func (w *world) wholeLife() (denied bool) {
	w.Helper()
	note := func(err error) { denied = denied || err != nil && cloud.KindOf(err) == cloud.Denied }
	look := func() pool.Observed {
		o, err := w.driver.Observe(w.Context(), w.target)
		note(err)
		denied = denied || slices.ContainsFunc(o.Issues, func(i pool.Cause) bool { return i.Reason == string(cloud.Denied) })
		return o
	}
	do := func(s pool.Step) pool.Observed {
		look()
		note(w.try(s))
		<-time.After(time.Minute)
		for _, i := range look().Instances {
			if i.LifecycleHook != nil {
				note(w.try(pool.Step{Kind: pool.Release, Targets: []pool.InstanceRef{{ID: i.ID}}}))
			}
		}
		settle()
		return look()
	}
	o := do(pool.Step{Kind: pool.PutTemplate})
	former := o.Latest().Ref
	do(pool.Step{Kind: pool.CreateGroup, Size: 2, Template: former})
	do(pool.Step{Kind: pool.Resize, Size: 5}) // one more than the limit
	if o = look(); len(o.Instances) > 2 {
		do(pool.Step{Kind: pool.Remove, Targets: targets(o, 0)})
		do(pool.Step{Kind: pool.Resize, Size: 4})
	}
	w.change(func(s source) { s.Pool.InstanceConfiguration.Shape = "VM.Standard.E5.Flex" })
	if o = do(pool.Step{Kind: pool.PutTemplate}); len(o.Versions) > 1 {
		o = do(pool.Step{Kind: pool.UpdateGroup, Template: o.Latest().Ref})
	}
	for range o.Instances {
		if o = look(); len(o.Instances) > 0 {
			do(pool.Step{Kind: pool.Replace, Targets: targets(o, 0)})
		}
	}
	do(pool.Step{Kind: pool.PruneTemplates, Refs: []string{former}})
	w.again()
	w.target.Deleting = true
	do(pool.Step{Kind: pool.DeleteGroup})
	do(pool.Step{Kind: pool.DeleteTemplates})
	return denied
}
