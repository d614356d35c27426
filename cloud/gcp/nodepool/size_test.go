package nodepool_test

import (
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// TestZonesThatDoNotDivide holds that the number of machines is reached exactly where zones do not divide it, that this is no issue, and
// that nothing is asked for any more then.
func TestZonesThatDoNotDivide(t *testing.T) {
	inWorld(t, func(w *world) {
		w.regional()
		for _, c := range []struct {
			size  int
			zones string
		}{{2, "1 1 0"}, {3, "1 1 1"}, {4, "2 1 1"}, {9, "3 3 3"}, {11, "4 4 3"}} {
			o := w.reach(c.size)
			if got := w.zones(); got != c.zones {
				w.Errorf("%d machines: want %s in the zones, got %s", c.size, c.zones, got)
			}
			if len(o.Issues) > 0 {
				w.Errorf("%d machines: want no issue, got %+v", c.size, o.Issues)
			}
			if sent := w.sent(func() { w.start(pool.Step{Kind: pool.Resize, Size: c.size}) }); len(sent) > 0 {
				w.Errorf("%d machines: want nothing sent once they are there, got %v", c.size, sent)
			}
		}
	})
}

// TestSizeWhileItIsCreated holds that a node pool has its size before its instance groups are there: it would count as one of no machines,
// and replicas that follow GKE's autoscaler as 0.
func TestSizeWhileItIsCreated(t *testing.T) {
	inWorld(t, func(w *world) {
		w.regional()
		if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.CreateGroup, Size: 6}); err != nil {
			w.Fatal(err)
		}
		if o := w.observe(); o.Group.Size != 6 || len(o.Instances) != 0 || len(o.Issues) > 0 {
			w.Errorf("want a size of six without machines yet, got %d with %d, issues %v", o.Group.Size, len(o.Instances), o.Issues)
		}
	})
}

// TestMissingInstanceGroup holds that an instance group which the node pool names and Compute Engine does not have is told, that the others
// count, and that GKE makes it again when the node pool is sized.
func TestMissingInstanceGroup(t *testing.T) {
	inWorld(t, func(w *world) {
		w.regional()
		w.reach(6)
		at := w.held().Groups[1]
		if err := w.cloud.DeleteGroup(sim.Resource{Name: path.Base(at.Path)}); err != nil {
			w.Fatal(err)
		}
		settle()
		o := w.observe()
		if o.Group.Size != 4 || len(o.Instances) != 4 || len(o.Issues) != 1 || o.Issues[0].Reason != "InstanceGroupMissing" ||
			!strings.Contains(o.Issues[0].Message, at.Zone) {
			w.Errorf("want four machines and the missing group of %s told, got %d of %d, %v", at.Zone, len(o.Instances), o.Group.Size, o.Issues)
		}
		if o = w.reach(6); len(o.Issues) > 0 {
			w.Errorf("want six machines and no issue, got %v", o.Issues)
		}
	})
}

// TestNoZoneShrinksBesideAMissingGroup holds that a larger size takes no machine from a zone while an instance group is missing: GKE makes
// that one only with as many machines in each zone, and would choose in the others which go.
func TestNoZoneShrinksBesideAMissingGroup(t *testing.T) {
	inWorld(t, func(w *world) {
		w.regional()
		w.reach(8)
		if err := w.cloud.DeleteGroup(sim.Resource{Name: path.Base(w.held().Groups[2].Path)}); err != nil {
			w.Fatal(err)
		}
		settle()
		before := w.observe()
		sent := w.sent(func() { w.start(pool.Step{Kind: pool.Resize, Size: 8}) })
		if want := []string{"compute:instanceGroupManagers.resize", "compute:instanceGroupManagers.resize"}; !slices.Equal(sent, want) ||
			w.zones() != "4 4" {
			w.Errorf("want the groups sized that exist, got %s by %v", w.zones(), sent)
		}
		o := w.observe()
		for _, i := range before.Instances {
			if !slices.ContainsFunc(o.Instances, func(after pool.Instance) bool { return after.ID == i.ID }) {
				w.Errorf("want %s kept", i.ID)
			}
		}
		if len(o.Issues) != 1 || o.Issues[0].Reason != "InstanceGroupMissing" {
			w.Errorf("want the missing group told, got %v", o.Issues)
		}
		if o = w.reach(12); w.zones() != "4 4 4" || len(o.Issues) > 0 {
			w.Errorf("want the group made once no zone has more machines than each is to have, got %s, issues %v", w.zones(), o.Issues)
		}
	})
}

// TestGrowthWithoutGroups holds that a larger size is refused, in words that name the group, while no zone that stays has one and those
// that leave have more machines than each zone would get.
func TestGrowthWithoutGroups(t *testing.T) {
	inWorld(t, func(w *world) {
		w.regional()
		w.reach(8)
		missing := w.held().Groups[2]
		if err := w.cloud.DeleteGroup(sim.Resource{Name: path.Base(missing.Path)}); err != nil {
			w.Fatal(err)
		}
		settle()
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.NodeLocations = []string{missing.Zone} })
		w.observe()
		var err error
		sent := w.sent(func() { err = w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.Resize, Size: 7}) })
		if cloud.KindOf(err) != cloud.Conflict || cloud.CodeOf(err) != "InstanceGroupMissing" || !strings.Contains(err.Error(), missing.Zone) ||
			len(sent) > 0 {
			w.Errorf("want the growth refused for the group of %s, got %v, sent %v", missing.Zone, err, sent)
		}
	})
}

// TestGrowthInOtherZones holds that no machine comes in a zone that the specification names no more: it would be removed again.
func TestGrowthInOtherZones(t *testing.T) {
	inWorld(t, func(w *world) {
		w.zoned("-a", "-b")
		w.reach(0)
		w.zoned("-c")
		var err error
		sent := w.sent(func() { err = w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.Resize, Size: 1}) })
		if cloud.KindOf(err) != cloud.Conflict || cloud.CodeOf(err) != "ZonesMissing" || len(sent) > 0 {
			w.Errorf("want the growth to wait for the zone, got %v, sent %v", err, sent)
		}
		w.zoned("-b", "-c")
		if w.reach(1); w.zones() != "0 1" {
			w.Errorf("want the machine in the zone that stays, got %s", w.zones())
		}
	})
}

// TestFailedCreationIsSized holds that a node pool whose creation failed, and which has no instance groups, is brought to a size that its
// zones do not divide.
func TestFailedCreationIsSized(t *testing.T) {
	inWorld(t, func(w *world) {
		w.regional()
		if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.CreateGroup, Size: 4}); err != nil {
			w.Fatal(err)
		}
		if err := w.cloud.GKE.FailPool(clusterName+"/"+poolName, "GCE_QUOTA_EXCEEDED", "Insufficient regional quota N2_CPUS."); err != nil {
			w.Fatal(err)
		}
		settle()
		for range 3 {
			o := w.observe()
			if o.Group.Size == 4 {
				break
			}
			w.start(pool.Step{Kind: pool.Resize, Size: 4})
			settle()
		}
		if o := w.observe(); o.Group.Size != 4 || len(o.Instances) != 4 {
			w.Errorf("want four machines, got %d of %d", len(o.Instances), o.Group.Size)
		}
	})
}

// TestSizeIsReachedAgain holds that a zone is given a size that it was given before within the hour, as one restart after another needs it.
func TestSizeIsReachedAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.regional()
		w.reach(3)
		for range 2 {
			if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.Resize, Size: 4}); err != nil {
				w.Fatal(err)
			}
			<-time.After(5 * time.Minute)
			o := w.observe()
			at := slices.IndexFunc(o.Instances, func(i pool.Instance) bool { return i.Zone == region+"-a" })
			if len(o.Instances) != 4 || at < 0 {
				w.Fatalf("want 4 machines, got %+v", o.Instances)
			}
			if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.Remove,
				Targets: []pool.InstanceRef{{ID: o.Instances[at].ID}}}); err != nil {
				w.Fatal(err)
			}
			<-time.After(5 * time.Minute)
			w.observe()
		}
	})
}

// TestSizeAmidARollout holds that the size during a rollout, when the groups have the surge too, is the same to a process that has not seen
// the node pool before it. A node pool that was created with less than one machine a zone would count as one of none.
func TestSizeAmidARollout(t *testing.T) {
	inWorld(t, func(w *world) {
		w.regional()
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) {
			s.UpgradeSettings = &gcpv1.UpgradeSettings{MaxSurge: new(int32(4)), MaxUnavailable: new(int32(0))}
		})
		w.reach(2)
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("n2-standard-4") })
		o := w.roll(10 * time.Second)
		w.target.Operations = o.Operations
		for _, remembered := range []map[string]string{o.ResolvedLookups, nil} {
			w.newcomer()
			w.target.Remembered = remembered
			is := w.observe()
			if !is.ProviderRollout.Runs() || remembered != nil && is.Group.Size != 2 || is.Group.Size < 2 {
				w.Errorf("remembered %v: want a size of 2, or what is seen while it rolls, got %d, %+v", remembered, is.Group.Size, is.ProviderRollout)
			}
		}
		settle()
		if o = w.observe(); o.Group.Size != 2 || o.ResolvedLookups["size-at-rest"] != "" {
			w.Errorf("want a size of 2 at rest, and nothing remembered of it, got %d and %v", o.Group.Size, o.ResolvedLookups)
		}
	})
}
