package kapsule_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cloudtest"
	domain "github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/scaleway"
)

// TestVersionFollowsControlPlane: a pool gets the version of its control plane and no other, and is never taken back.
func TestVersionFollowsControlPlane(t *testing.T) {
	inWorld(t, scaleway.Options{}, func(w *world) {
		w.create(2)
		w.target.KubernetesVersion = newer
		if o := w.observe(); !has(o.Issues, domain.ControlPlaneUpgradePending) || !o.Wanted.Same(o.Instances[0].Template) {
			t.Errorf("want the control plane waited for, got %v, %+v", o.Issues, o.Wanted)
		}
		w.upgradeCluster(newer)
		w.target.KubernetesVersion = "v1.35.2"
		if o := w.observe(); !has(o.Issues, "VersionPassed") || !o.Wanted.Same(o.Instances[0].Template) {
			t.Errorf("want a version told that the control plane has passed, got %v, %+v", o.Issues, o.Wanted)
		}
		w.target.KubernetesVersion = newer
		before := w.observe()
		if before.Wanted.Same(before.Instances[0].Template) || len(before.Issues) > 0 {
			t.Fatalf("want an upgrade due, got %+v", before)
		}
		w.start(domain.Step{Kind: domain.StartProviderRollout, Template: before.Latest().Ref})
		o := w.observe()
		if o.ProviderRollout != nil || len(o.Instances) != 2 || !o.Instances[0].Template.Same(o.Wanted) ||
			slices.ContainsFunc(o.Instances, func(i domain.Instance) bool { return i.ID == before.Instances[0].ID }) {
			t.Errorf("want other nodes of the wanted version, got %+v", o)
		}
		w.target.KubernetesVersion = version
		if o := w.observe(); !has(o.Issues, "NewerVersion") || !o.Wanted.Same(o.Instances[0].Template) {
			t.Errorf("want the newer version kept, got %v", o.Issues)
		}
		if sent := w.sent(func() { w.start(domain.Step{Kind: domain.StartProviderRollout}) }); slices.Contains(sent, "UpgradePool") {
			t.Errorf("want nothing upgraded, got %v", sent)
		}
	})
}

// TestUpgradeWaitsForResize: Kapsule refuses an upgrade of a pool that scales. The driver does not ask for it, and tells.
func TestUpgradeWaitsForResize(t *testing.T) {
	inWorld(t, scaleway.Options{}, func(w *world) {
		w.create(1)
		w.upgradeCluster(newer)
		w.target.KubernetesVersion = newer
		if err := w.try(domain.Step{Kind: domain.Resize, Size: 2}); err != nil {
			t.Fatal(err)
		}
		var err error
		sent := w.sent(func() { w.observe(); err = w.try(domain.Step{Kind: domain.StartProviderRollout}) })
		if cloud.KindOf(err) != cloud.Conflict || !strings.Contains(err.Error(), "is scaling") || slices.Contains(sent, "UpgradePool") {
			t.Errorf("want the resize waited for, got %v after %v", err, sent)
		}
		settle()
		w.start(domain.Step{Kind: domain.StartProviderRollout})
		if o := w.observe(); len(o.Instances) != 2 || !o.Instances[1].Template.Same(o.Wanted) {
			t.Errorf("want both nodes upgraded, got %+v", o.Instances)
		}
	})
}

// TestUpgradeOfPoolThatScalesOn: nodes that never become Ready hold an upgrade back for a limited time, also where Kapsule does not show
// that they will not come.
func TestUpgradeOfPoolThatScalesOn(t *testing.T) {
	inWorld(t, scaleway.Options{Switches: sim.Switches{scaleway.ScalesOn, scaleway.UpgradesScaling}}, func(w *world) {
		w.create(1)
		w.upgradeCluster(newer)
		w.target.KubernetesVersion = newer
		if err := w.cloud.Faults().Add(sim.Fault{Kind: sim.NeverBoots, Times: 1}); err != nil {
			t.Fatal(err)
		}
		w.start(domain.Step{Kind: domain.Resize, Size: 2})
		sent := w.sent(func() { w.observe(); w.start(domain.Step{Kind: domain.StartProviderRollout}) })
		if !slices.Contains(sent, "UpgradePool") {
			t.Errorf("want the upgrade requested, got %v", sent)
		}
		if o := w.observe(); len(o.Instances) != 2 || !o.Instances[1].Template.Same(o.Wanted) {
			t.Errorf("want both nodes upgraded, got %+v", o.Instances)
		}
	})
}

// TestUpgradeSurge: an upgrade adds a node before it takes one, unless the specification asks otherwise; that is told.
func TestUpgradeSurge(t *testing.T) {
	inWorld(t, scaleway.Options{}, func(w *world) {
		w.create(1)
		w.upgradeCluster(newer)
		w.target.KubernetesVersion = newer
		if o := w.observe(); len(o.Caveats) > 0 || o.Group.ProviderRolloutSurge != 1 {
			t.Errorf("want a surge of 1 and nothing to tell, got %+v", o)
		}
		if err := w.try(domain.Step{Kind: domain.StartProviderRollout}); err != nil {
			t.Fatal(err)
		}
		for range 40 {
			<-time.After(10 * time.Second)
			running := 0
			for _, i := range w.observe().Instances {
				if i.State == domain.Running {
					running++
				}
			}
			if running == 0 {
				t.Fatal("want a node that runs at any time of the upgrade, got none")
			}
		}
		w.change(func(s *spec) {
			s.UpgradePolicy = &scalewayv1.UpgradePolicy{MaxSurge: new(int32(0)), MaxUnavailable: new(int32(1))}
		})
		w.start(domain.Step{Kind: domain.UpdateGroup})
		w.upgradeCluster("v1.36.1")
		w.target.KubernetesVersion = "v1.36.1"
		if o := w.observe(); !has(o.Caveats, "UpgradeWithoutSurge") {
			t.Errorf("want told that the upgrade has no surge, got %+v", o.Caveats)
		}
	})
}

// TestStatus: a lock and a warning are told and freeze nothing: all nodes are observed, and what differs is changed where Scaleway takes
// it.
func TestStatus(t *testing.T) {
	t.Run("locked", func(t *testing.T) {
		inWorld(t, scaleway.Options{}, func(w *world) {
			w.create(2)
			if err := w.cloud.Lock(clusterName, "pool", true); err != nil {
				t.Fatal(err)
			}
			w.change(func(s *spec) { s.Autohealing = new(true) })
			o := w.observe()
			if !has(o.Issues, "PoolLocked") || !has(o.Issues, "NodeLocked") || len(o.Instances) != 2 ||
				!slices.Equal(o.Group.Drift, []string{"spec.autohealing"}) {
				t.Errorf("want a locked pool told and observed, got %+v", o)
			}
			if err := w.try(domain.Step{Kind: domain.UpdateGroup}); cloud.KindOf(err) != cloud.Denied {
				t.Errorf("want a change of a locked pool refused in Scaleway's words, got %v", err)
			}
		})
	})
	t.Run("warning", func(t *testing.T) {
		inWorld(t, scaleway.Options{}, func(w *world) {
			w.create(1)
			if err := w.cloud.Faults().Add(sim.Fault{Kind: sim.NeverBoots, Times: 1}); err != nil {
				t.Fatal(err)
			}
			w.start(domain.Step{Kind: domain.Resize, Size: 2})
			w.change(func(s *spec) { s.Autohealing = new(true) })
			o := w.observe()
			if !has(o.Issues, "PoolWarning") || len(o.Instances) != 2 || !slices.Equal(o.Group.Drift, []string{"spec.autohealing"}) {
				t.Errorf("want a pool in warning told and observed, got %+v", o)
			}
			if err := w.try(domain.Step{Kind: domain.UpdateGroup}); err != nil {
				t.Errorf("want it changed, got %v", err)
			}
			w.start(domain.Step{Kind: domain.Resize, Size: 3})
			if o := w.observe(); len(o.Instances) != 3 {
				t.Errorf("want it resized, got %+v", o.Instances)
			}
		})
	})
}

// TestFailedNodes: machines that could not be created are told with the words and the zone, whether Kapsule shows them or not.
func TestFailedNodes(t *testing.T) {
	for _, shows := range []bool{false, true} {
		t.Run(fmt.Sprintf("shown %t", shows), func(t *testing.T) {
			inWorld(t, scaleway.Options{Switches: switched(scaleway.ShowsFailedNodes, shows)}, func(w *world) {
				w.create(1)
				if err := w.cloud.Faults().Add(sim.Fault{Kind: sim.NoCapacity}); err != nil {
					t.Fatal(err)
				}
				w.start(domain.Step{Kind: domain.Resize, Size: 2})
				o := w.observe()
				failed := slices.ContainsFunc(o.Instances, func(i domain.Instance) bool { return i.State == domain.Failed })
				if !has(o.Issues, string(cloud.Capacity)) || !strings.Contains(o.Issues[0].Message, "fr-par-1") || failed != shows {
					t.Errorf("want the lack of machines told, and a failed node %t, got %+v, %+v", shows, o.Issues, o.Instances)
				}
			})
		})
	}
}

// TestLimits: a size that the control plane or a placement group can't have is refused in words before any write.
func TestLimits(t *testing.T) {
	inWorld(t, scaleway.Options{}, func(w *world) {
		w.create(1)
		other := *w
		other.target.Owner.Name, other.target.Owner.ID = "other", "other-id"
		other.target.Spec = managedPool()
		other.target.Spec.Name = "other"
		other.create(3)
		for _, c := range []struct {
			change func(*spec)
			size   int
			words  string
		}{
			{func(*spec) {}, 148, "type kapsule has at most 150"},
			{func(s *spec) { s.PlacementGroupID = "22222222-1111-4111-8111-111111111111" }, 21, "placement group holds 20"},
		} {
			before := w.target.Spec
			w.change(c.change)
			var err error
			sent := w.sent(func() { w.observe(); err = w.try(domain.Step{Kind: domain.Resize, Size: c.size}) })
			var e *cloud.Error
			if !errors.As(err, &e) || e.Kind != cloud.Invalid || e.Field != "MachinePool spec.replicas" || !strings.Contains(err.Error(), c.words) ||
				slices.Contains(sent, "UpdatePool") {
				t.Errorf("want %d nodes refused with %q, got %v after %v", c.size, c.words, err, sent)
			}
			w.target.Spec = before
		}
		w.start(domain.Step{Kind: domain.Resize, Size: 147})
	})
}

// TestBusyPools: where Kapsule takes no other size while a pool scales, steps are conflicts until it does, and all that was asked for is
// done.
func TestBusyPools(t *testing.T) {
	inWorld(t, scaleway.Options{Switches: sim.Switches{scaleway.BusyPools, scaleway.BusyClusters}}, func(w *world) {
		w.create(3)
		if err := w.try(domain.Step{Kind: domain.Resize, Size: 4}); err != nil {
			t.Fatal(err)
		}
		w.observe()
		if err := w.try(domain.Step{Kind: domain.Resize, Size: 5}); cloud.KindOf(err) != cloud.Conflict {
			t.Errorf("want a conflict while the pool scales, got %v", err)
		}
		settle()
		o := w.observe()
		step, stays := remove(o, 0, 2), []string{o.Instances[1].ID, o.Instances[3].ID}
		for n := 0; ; n++ {
			if err := w.try(step); err != nil && cloud.KindOf(err) != cloud.Conflict || n > 30 {
				t.Fatalf("want both nodes gone after some tries, got %v after %d", err, n)
			}
			<-time.After(30 * time.Second)
			if o = w.observe(); len(o.Instances) == len(stays) {
				break
			}
		}
		if got := []string{o.Instances[0].ID, o.Instances[1].ID}; !slices.Equal(got, stays) || o.Group.Size != 2 {
			t.Errorf("want nodes %v and size 2, got %v and %d", stays, got, o.Group.Size)
		}
	})
}

// TestSizeWithoutAutoscaling: a maximum that was left behind by an autoscaler is no limit.
func TestSizeWithoutAutoscaling(t *testing.T) {
	inWorld(t, scaleway.Options{}, func(w *world) {
		w.create(1)
		w.start(domain.Step{Kind: domain.Resize, Size: 3})
		if o := w.observe(); o.Group.Size != 3 || len(o.Instances) != 3 || o.Group.Max != 0 || len(o.Group.Drift) > 0 {
			t.Errorf("want 3 nodes without bounds, got %+v", o.Group)
		}
	})
}

// TestAutoscaler: the size that the autoscaler gives a pool is reported with its bounds, and is no drift, also where it ignores sizes.
func TestAutoscaler(t *testing.T) {
	for _, ignores := range []bool{false, true} {
		t.Run(fmt.Sprintf("ignores sizes %t", ignores), func(t *testing.T) {
			inWorld(t, scaleway.Options{Switches: switched(scaleway.IgnoresSize, ignores)}, func(w *world) {
				w.change(func(s *spec) {
					s.Scaling = &scalewayv1.Scaling{Autoscaling: new(true), MinSize: new(int32(1)), MaxSize: new(int32(5))}
				})
				w.create(1)
				w.byHand(sim.Autoscale, sim.Resource{Name: "pool", Size: 4})
				if o := w.observe(); o.Group.Size != 4 || o.Group.Min != 1 || o.Group.Max != 5 || len(o.Group.Drift) > 0 || len(o.Instances) != 4 {
					t.Errorf("want 4 nodes within 1 and 5, got %+v", o.Group)
				}
				w.change(func(s *spec) { s.Scaling = nil })
				if o := w.observe(); !slices.Equal(o.Group.Drift, []string{"spec.scaling.autoscaling"}) {
					t.Errorf("want the autoscaler to be turned off, got %v", o.Group.Drift)
				}
				w.start(domain.Step{Kind: domain.UpdateGroup})
				w.start(domain.Step{Kind: domain.Resize, Size: 5})
				if o := w.observe(); o.Group.Size != 5 || o.Group.Max != 0 || len(o.Group.Drift) > 0 {
					t.Errorf("want the size that was asked for, got %+v", o.Group)
				}
			})
		})
	}
}

// TestMaximumBelowSize: a maximum below the size is not requested before the autoscaler has made the pool smaller, because Kapsule would
// delete nodes that nothing has drained.
func TestMaximumBelowSize(t *testing.T) {
	for _, ignores := range []bool{false, true} {
		t.Run(fmt.Sprintf("ignores sizes %t", ignores), func(t *testing.T) {
			var on sim.Switches
			if ignores {
				on = sim.Switches{scaleway.IgnoresSize}
			}
			inWorld(t, scaleway.Options{Switches: on}, func(w *world) {
				w.create(4)
				bounds := func(maxSize int32) func(*spec) {
					return func(s *spec) {
						s.Scaling = &scalewayv1.Scaling{Autoscaling: new(true), MinSize: new(int32(1)), MaxSize: new(maxSize)}
					}
				}
				for _, maxSize := range []int32{3, 2} {
					w.change(bounds(maxSize))
					w.observe()
					w.start(domain.Step{Kind: domain.UpdateGroup})
					if o := w.observe(); o.Group.Size != 4 || len(o.Instances) != 4 || o.Group.Max != 4 || len(o.Group.Drift) > 0 {
						t.Errorf("maximum %d: want all 4 nodes kept, got %+v, %+v", maxSize, o.Group, o.Instances)
					}
				}
				w.byHand(sim.Autoscale, sim.Resource{Name: "pool", Size: 2})
				if o := w.observe(); !slices.Equal(o.Group.Drift, []string{"spec.scaling.maxSize"}) {
					t.Errorf("want the maximum lowered once the size allows it, got %v", o.Group.Drift)
				}
				w.start(domain.Step{Kind: domain.UpdateGroup})
				if o := w.observe(); o.Group.Max != 2 || len(o.Instances) != 2 || len(o.Group.Drift) > 0 {
					t.Errorf("want a maximum of 2, got %+v", o.Group)
				}
			})
		})
	}
}

// TestNormalisation: what Kapsule writes otherwise than the specification is no drift, and what it can't change is named.
func TestNormalisation(t *testing.T) {
	inWorld(t, scaleway.Options{}, func(w *world) {
		w.change(func(s *spec) {
			s.RootVolumeType, s.RootVolumeSizeGB, s.PublicIPDisabled = scalewayv1.VolumeBlock15K, 40, new(false)
			s.AdditionalTags = []string{"b", "a", "b"}
		})
		w.create(1)
		for _, written := range []string{"PRO2-XXS", "pro2_xxs", "PRO2_XXS"} {
			w.change(func(s *spec) { s.NodeType = written })
			if o := w.observe(); len(o.Group.Drift)+len(o.Group.Unchangeable) > 0 {
				t.Errorf("%s: want nothing that differs, got %v, %v", written, o.Group.Drift, o.Group.Unchangeable)
			}
		}
		w.change(func(s *spec) {
			s.NodeType, s.Zone, s.RootVolumeType, s.RootVolumeSizeGB = "PRO2-XS", "fr-par-2", scalewayv1.VolumeBlock5K, 50
			s.PlacementGroupID, s.PublicIPDisabled, s.SecurityGroupID = "22222222-1111-4111-8111-111111111111", new(true),
				"33333333-1111-4111-8111-111111111111"
		})
		o := w.observe()
		want := []string{"spec.nodeType", "spec.zone", "spec.placementGroupID", "spec.rootVolumeType", "spec.rootVolumeSizeGB",
			"spec.publicIPDisabled"}
		if !slices.Equal(o.Group.Unchangeable, want) || !slices.Equal(o.Group.Drift, []string{"spec.securityGroupID"}) {
			t.Errorf("want what can't be changed named, got %v, drift %v", o.Group.Unchangeable, o.Group.Drift)
		}
		w.start(domain.Step{Kind: domain.UpdateGroup})
		if o := w.observe(); len(o.Group.Drift) > 0 || len(o.Instances) != 1 {
			t.Errorf("want another security group, got drift %v", o.Group.Drift)
		}
	})
}

// TestRequestsOfTheirOwn: each change is sent by the request that it needs, and by no other.
func TestRequestsOfTheirOwn(t *testing.T) {
	inWorld(t, scaleway.Options{}, func(w *world) {
		w.create(1)
		taint := []scalewayv1.Taint{{Key: "a", Value: "b", Effect: "NoSchedule"}}
		for _, c := range []struct {
			change func(*spec)
			want   []string
		}{
			{func(s *spec) { s.Labels = scalewayv1.NodeLabels{"a": "b"} }, []string{"SetPoolLabels"}},
			{func(s *spec) { s.Taints = taint }, []string{"SetPoolTaints"}},
			{func(s *spec) { s.StartupTaints = taint }, []string{"SetPoolStartupTaints"}},
			{func(s *spec) { s.Autohealing, s.KubeletArgs = new(true), map[string]string{"maxPods": "50"} }, []string{"UpdatePool"}},
			{func(s *spec) { s.Labels, s.Taints = nil, nil }, []string{"SetPoolLabels", "SetPoolTaints"}},
			{func(*spec) {}, nil},
		} {
			w.change(c.change)
			w.observe()
			sent := w.sent(func() { w.start(domain.Step{Kind: domain.UpdateGroup}) })
			if !slices.Equal(sent, c.want) {
				t.Errorf("want %v, got %v", c.want, sent)
			}
		}
	})
}

// TestPlaceThatIsNone: a cluster that can't exist is named, and a pool that was never created there can be deleted.
func TestPlaceThatIsNone(t *testing.T) {
	inWorld(t, scaleway.Options{}, func(w *world) {
		w.target.Spec.Cluster.Name = cloudtest.Unexpanded
		cloudtest.PlaceThatIsNone(w.T, w.driver, w.target, "spec.clusterName", "scaleway:///projects/p/regions/r/clusters/c/pools/p")
	})
}

// TestClusterGone: nothing is created without a cluster; a pool goes with its cluster, and its object can go then.
func TestClusterGone(t *testing.T) {
	inWorld(t, scaleway.Options{}, func(w *world) {
		w.create(1)
		if _, err := w.cloud.DropCluster("", clusterName); err != nil {
			t.Fatal(err)
		}
		settle()
		var unmet *cloud.SpecUnsatisfiableError
		o, err := w.driver.Observe(w.Context(), w.target)
		if !errors.As(err, &unmet) || cloud.CodeOf(err) != "NoCluster" || o.Group != nil {
			t.Errorf("want the missing cluster told, got %+v, %v", o.Group, err)
		}
		if err := w.try(domain.Step{Kind: domain.CreateGroup, Size: 1}); cloud.KindOf(err) != cloud.Conflict {
			t.Errorf("want nothing created, got %v", err)
		}
		w.target.Deleting = true
		if o := w.observe(); o.Group != nil || len(o.Instances) > 0 || !o.Cache.Fresh {
			t.Errorf("want nothing left, got %+v", o)
		}
	})
}

// TestDeletedDuringUpgrade: a pool can be deleted whatever Kapsule does to it, and without a control plane that is ready.
func TestDeletedDuringUpgrade(t *testing.T) {
	inWorld(t, scaleway.Options{}, func(w *world) {
		w.create(2)
		w.upgradeCluster(newer)
		w.target.KubernetesVersion = newer
		if err := w.try(domain.Step{Kind: domain.StartProviderRollout}); err != nil {
			t.Fatal(err)
		}
		if o := w.observe(); !o.ProviderRollout.Runs() || o.ProviderRollout.ByOthers || o.Instances[0].Template.Content != "" {
			t.Errorf("want an upgrade that runs, and nodes of which the version is not known, got %+v, %+v", o.ProviderRollout, o.Instances)
		}
		w.target.Deleting, w.target.Spec.Cluster.Ready = true, false
		w.start(domain.Step{Kind: domain.DeleteGroup})
		if o := w.observe(); o.Group != nil {
			t.Errorf("want the pool gone, got %+v", o.Group)
		}
	})
}

// TestAdoption: a pool of the ecosystem's provider for the same object is adopted with its nodes; one for another object is not offered.
func TestAdoption(t *testing.T) {
	inWorld(t, scaleway.Options{}, func(w *world) {
		theirs := func(name, namespace, object string) {
			tags := []string{"team=a", "caps-namespace=" + namespace, "caps-scalewaymanagedmachinepool=" + object,
				"created-by=cluster-api-provider-scaleway"}
			theirs := scaleway.Theirs{NodeType: "pro2_xxs", Zone: "fr-par-1", Size: 2, Tags: tags}
			if err := w.cloud.CreatePool(clusterName, name, theirs); err != nil {
				t.Fatal(err)
			}
			settle()
		}
		theirs("other", "default", "other")
		w.target.Search = cloud.Search{Tagged: true, Provider: true}
		if o := w.observe(); o.OwnershipConflict != nil || o.Group != nil {
			t.Errorf("want another object's pool to keep none from being created, got %+v", o.OwnershipConflict)
		}
		theirs("elsewhere", "default", "pool")
		if o := w.observe(); o.OwnershipConflict == nil || !strings.Contains(o.OwnershipConflict.Message, "pool elsewhere of cluster managed") {
			t.Errorf("want the provider's pool of the object found under another name, got %+v", o.OwnershipConflict)
		}
		w.target.Owner.GroupName = "elsewhere"
		before := w.observe()
		if before.Unowned == nil || !before.Unowned.OfCluster || before.Unowned.Owner != "" {
			t.Fatalf("want a pool that may be adopted, got %+v", before.Unowned)
		}
		w.start(domain.Step{Kind: domain.Adopt})
		o := w.observe()
		if o.Group == nil || len(o.Instances) != 2 || !slices.Equal(o.Group.Drift, []string{"spec.upgradePolicy"}) ||
			!has(o.Caveats, "DefaultSurge") {
			t.Errorf("want the pool with its nodes, and its upgrade policy to be changed, got %+v, caveats %v", o.Group, o.Caveats)
		}
		theirs("pool", "team-b", "pool")
		asked := domain.Adoption{Namespace: "default", Grants: []domain.AdoptionGrant{
			{Name: "all", Accounts: []string{scaleway.ProjectID}, Groups: []string{"*/*"}}}}
		for group, tags := range map[string]string{
			"other": "caps-namespace=default, caps-scalewaymanagedmachinepool=other",
			"pool":  "caps-namespace=team-b, caps-scalewaymanagedmachinepool=pool",
		} {
			w.target.Owner.GroupName, asked.Name = group, group
			o, want := w.observe(), domain.Desired{Adopt: asked, Replicas: 2}
			plan := domain.Decide(want, o, w.driver.Traits(), time.Now())
			if o.Unowned == nil || o.Unowned.OfCluster || plan.Refused == nil || plan.Refused.Reason != domain.AdoptionNotAllowed ||
				!strings.Contains(plan.Refused.Message, tags) {
				t.Errorf("%s: want another object's pool not offered, whatever a grant allows, got %+v, %+v", group, o.Unowned, plan.Refused)
			}
		}
	})
}

// TestProxyIsNoCloud: the page of a proxy says nothing of clusters.
func TestProxyIsNoCloud(t *testing.T) {
	inWorld(t, scaleway.Options{}, func(w *world) {
		w.create(1)
		page := sim.Fault{Kind: sim.ErrorBefore, Action: "ListPools", Code: scaleway.ProxyPage, Status: http.StatusNotFound}
		if err := w.cloud.Faults().Add(page); err != nil {
			t.Fatal(err)
		}
		if o, err := w.driver.Observe(w.Context(), w.target); cloud.KindOf(err) != cloud.Unavailable || cloud.CodeOf(err) != cloud.CodeNoReply {
			t.Errorf("want no answer of the cloud, got %+v, %v", o.Group, err)
		}
	})
}

// switched returns a switch that is on.
func switched(one sim.Switch, on bool) sim.Switches {
	if !on {
		return nil
	}
	return sim.Switches{one}
}
