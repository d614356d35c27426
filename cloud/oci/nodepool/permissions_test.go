package nodepool_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	domain "github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/oci/permissions"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/oci"
)

// allowed are the permissions under which all tests run: the documented ones that are about node pools.
func allowed() (names []string) {
	for _, grant := range permissions.Grants() {
		for _, p := range grant.Permissions {
			if strings.HasPrefix(p.Name, "CLUSTER_NODE_POOL_") || strings.HasPrefix(p.Name, "CLUSTER_WORK_REQUEST_") {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// TestNoPermissionIsSuperfluous holds that the life of a pool is denied something without any one of the permissions, and nothing with all
// of them.
func TestNoPermissionIsSuperfluous(t *testing.T) {
	for _, without := range append([]string{""}, allowed()...) {
		t.Run("without "+without, func(t *testing.T) {
			names := slices.DeleteFunc(allowed(), func(name string) bool { return name == without })
			inWorld(t, oci.Options{Keys: keyWith(names)}, func(w *world) {
				if denied, _ := w.wholeLife(); denied != (without != "") {
					w.Errorf("want a life that is denied something only without a permission, got %t without %q", denied, without)
				}
			})
		})
	}
}

// TestOperations holds which operations the driver sends, and that none but those of looks is sent with the permissions of looks.
func TestOperations(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		_, sent := w.wholeLife()
		if want := []string{"CreateNodePool", "DeleteNode", "DeleteNodePool", "GetNodePool", "GetNodePoolOptions", "ListNodePools",
			"ListWorkRequestErrors", "ListWorkRequests", "UpdateNodePool"}; !slices.Equal(sent, want) {
			w.Errorf("want %v sent in a whole life, got %v", want, sent)
		}
	})
	t.Run("looks", func(t *testing.T) {
		looks := slices.DeleteFunc(allowed(), func(name string) bool {
			return !strings.HasSuffix(name, "_INSPECT") && !strings.HasSuffix(name, "_READ")
		})
		inWorld(t, oci.Options{Keys: keyWith(looks)}, func(w *world) {
			if o := w.observe(); o.Capacity == nil || o.Wanted.Content == "" || len(o.Issues) > 0 {
				t.Errorf("want a whole look, got %+v", o)
			}
			if err := w.try(domain.Step{Kind: domain.CreateGroup, Size: 1}); cloud.KindOf(err) != cloud.Denied {
				t.Errorf("want a write denied, got %v", err)
			}
		})
	})
}

// wholeLife does to a pool whatever may be done, and reports whether anything of it was denied and what was sent.
func (w *world) wholeLife() (denied bool, sent []string) {
	w.Helper()
	look := func() domain.Observed {
		o, err := w.driver.Observe(w.Context(), w.target)
		denied = denied || err != nil && cloud.KindOf(err) == cloud.Denied || has(o.Issues, string(cloud.Denied)) ||
			o.ProviderRolloutUnknown != nil && o.ProviderRolloutUnknown.Reason == string(cloud.Denied)
		return o
	}
	do := func(s domain.Step) {
		look()
		err := w.try(s)
		denied = denied || err != nil && cloud.KindOf(err) == cloud.Denied
		<-time.After(time.Minute)
		look()
	}
	sent = w.sent(func() {
		do(domain.Step{Kind: domain.CreateGroup, Size: 2})
		settle()
		do(domain.Step{Kind: domain.Resize, Size: 3})
		settle()
		if o := look(); len(o.Instances) > 0 {
			do(remove(o, 0))
		}
		settle()
		w.change(other)
		do(domain.Step{Kind: domain.UpdateGroup, Template: look().Latest().Ref})
		settle()
		do(domain.Step{Kind: domain.StartProviderRollout})
		_, err := w.cloud.Capabilities().OutOfBand.Do(sim.FailRollout, sim.Resource{Cluster: clusterName, Name: "pool"})
		denied = denied || err != nil && w.cloud.Snapshot().Groups != nil
		look()
		settle()
		w.target.Deleting = true
		do(domain.Step{Kind: domain.DeleteGroup})
		settle()
		look()
	})
	slices.Sort(sent)
	return denied, slices.Compact(sent)
}
