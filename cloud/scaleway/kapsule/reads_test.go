package kapsule_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	domain "github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim/scaleway"
)

// quiet is the maximum age of a read for a pool at rest.
const quiet = 20 * time.Second

// soon is longer than an upgrade takes, and shorter than the document of a cluster is kept.
const soon = 12 * time.Minute

// several creates pools of one node each in the cluster, and returns them at rest.
func (w *world) several(pools int) (all []world) {
	w.Helper()
	for n := range pools {
		one := *w
		one.target.Spec = managedPool()
		name := fmt.Sprintf("pool-%d", n)
		one.target.Owner.Name, one.target.Owner.ID, one.target.Spec.Name = name, name+"-id", name
		one.create(1)
		one.target.Cache.MaxAge = quiet
		one.target.Remembered = one.observe().ResolvedLookups
		all = append(all, one)
	}
	return all
}

// TestIdle: pools of a cluster at rest share two reads, and its document is read twice an hour. Nothing is written.
func TestIdle(t *testing.T) {
	for pools, limit := range map[int]float64{1: 2.15, 10: 0.22, 40: 0.06} {
		t.Run(fmt.Sprint(pools), func(t *testing.T) {
			inWorld(t, scaleway.Options{}, func(w *world) {
				const passes = 36
				all := w.several(pools)
				sent := w.sent(func() {
					for range passes {
						<-time.After(100 * time.Second)
						for i := range all {
							if o := all[i].observe(); len(o.Group.Drift) > 0 || len(o.Instances) != 1 {
								t.Fatalf("want a pool at rest, got %+v", o)
							}
						}
					}
				})
				each := float64(len(sent)) / float64(pools*passes)
				t.Logf("%d pools: %.3f reads a pass", pools, each)
				if each > limit || slices.ContainsFunc(sent, func(op string) bool { return !strings.HasPrefix(op, "List") }) {
					t.Errorf("want at most %.2f reads a pass and no write, got %.3f of %v", limit, each, sent[:min(len(sent), 6)])
				}
			})
		})
	}
}

// TestClusterIsReadWhereItDecides: a pass that accepts old reads sees the version of the control plane as soon as it depends on it, and an
// upgrade rests on an exact read.
func TestClusterIsReadWhereItDecides(t *testing.T) {
	inWorld(t, scaleway.Options{}, func(w *world) {
		one := &w.several(1)[0]
		one.observe()
		if _, err := one.cloud.PutCluster(scaleway.Access{Name: clusterName, Version: newer[1:]}); err != nil {
			t.Fatal(err)
		}
		<-time.After(soon)
		if sent := one.sent(func() { one.observe() }); slices.Contains(sent, "ListClusters") {
			t.Errorf("want the cluster not read for a pool at rest, got %v", sent)
		}
		one.target.KubernetesVersion = newer
		if o := one.observe(); o.Wanted.Same(o.Instances[0].Template) || len(o.Issues) > 0 {
			t.Errorf("want an upgrade due, got %+v, %v", o.Wanted, o.Issues)
		}
		<-time.After(time.Second)
		var err error
		sent := one.sent(func() { err = one.try(domain.Step{Kind: domain.StartProviderRollout}) })
		if err != nil || !slices.Equal(sent, []string{"ListClusters", "UpgradePool"}) {
			t.Errorf("want the cluster read right before the upgrade, got %v, %v", sent, err)
		}
		<-time.After(soon)
		if sent := one.sent(func() { one.observe() }); slices.Contains(sent, "ListClusters") {
			t.Errorf("want the cluster not read afterwards, got %v", sent)
		}
	})
}

// TestClusterReplaced: a pool whose cluster was deleted and created again under the same name is created there, and is never taken for one
// that exists.
func TestClusterReplaced(t *testing.T) {
	inWorld(t, scaleway.Options{}, func(w *world) {
		one := &w.several(1)[0]
		for _, wants := range []string{version, newer} {
			if _, err := one.cloud.DropCluster("", clusterName); err != nil {
				t.Fatal(err)
			}
			settle()
			one.upgradeCluster(wants)
			one.target.KubernetesVersion = wants
			if o := one.observe(); o.Group != nil || len(o.Instances) > 0 {
				t.Errorf("want no pool in another cluster, got %+v", o.Group)
			}
			one.create(2)
			if o := one.observe(); o.Group == nil || len(o.Instances) != 2 {
				t.Errorf("want the pool in the new cluster, got %+v", o.Group)
			}
		}
	})
}

// TestLargerControlPlane: a size above the nodes of the type of control plane that was read long ago is granted if the type is larger now.
func TestLargerControlPlane(t *testing.T) {
	inWorld(t, scaleway.Options{}, func(w *world) {
		one := &w.several(1)[0]
		if err := one.try(domain.Step{Kind: domain.Resize, Size: 200}); cloud.KindOf(err) != cloud.Invalid {
			t.Fatalf("want 200 nodes refused, got %v", err)
		}
		is, err := one.cloud.PutCluster(scaleway.Access{Name: clusterName})
		if err != nil {
			t.Fatal(err)
		}
		change := httptest.NewRequest(http.MethodPost, fmt.Sprintf("/k8s/v1/regions/%s/clusters/%s/set-type", scaleway.Region, is["id"]),
			strings.NewReader(`{"type":"kapsule-dedicated-8"}`))
		change.Header.Set("X-Auth-Token", secretKey)
		reply := httptest.NewRecorder()
		if one.cloud.ServeHTTP(reply, change); reply.Code != http.StatusOK {
			t.Fatalf("want another type, got %d %s", reply.Code, reply.Body)
		}
		<-time.After(soon)
		if sent := one.sent(func() { one.observe() }); slices.Contains(sent, "ListClusters") {
			t.Errorf("want the cluster not read for a pool at rest, got %v", sent)
		}
		one.start(domain.Step{Kind: domain.Resize, Size: 200})
	})
}
