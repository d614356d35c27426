package instancepool_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/sim/oci/catalogue"
	"github.com/muster-project/muster/sim/oci/compute"
)

func (w *world) loop(d pool.Desired) *cloudtest.Loop[source] {
	return cloudtest.NewLoop(w.T, w.driver, w.target, d)
}

func desired(n, surge, unavailable int, changes ...func(*pool.Desired)) pool.Desired {
	d := pool.Desired{Replicas: n, DeletePolicy: pool.Oldest, Seed: "owner-id", Strategy: &pool.Strategy{
		MaxSurge: pool.IntOrPercent{Value: surge}, MaxUnavailable: pool.IntOrPercent{Value: unavailable},
		SurgeField: "spec.strategy.rollingUpdate.maxSurge", UnavailableField: "spec.strategy.rollingUpdate.maxUnavailable",
	}}
	for _, change := range changes {
		change(&d)
	}
	return d
}

// TestClosedLoop holds what becomes of rollouts: instances launched and gone, the least that serve and the most that exist, and how it
// ends. Every instance that served is drained before it goes, and nothing is left of a pool that is deleted.
func TestClosedLoop(t *testing.T) {
	external := func(d *pool.Desired) { d.ReplicasManagedExternally = true }
	for _, c := range []struct {
		name string
		from int
		d    pool.Desired
		want string
	}{
		{"surge 1", 3, desired(3, 1, 0), "3 launched, 3 gone, 3 to 4, Done"},
		{"unavailable 1", 3, desired(3, 0, 1), "3 launched, 3 gone, 2 to 3, Done"},
		{"surge 3", 3, desired(3, 3, 0), "3 launched, 3 gone, 3 to 6, Done"},
		{"a change and 5 to 3", 5, desired(3, 1, 0), "3 launched, 5 gone, 3 to 5, Done"},
		{"a change and 3 to 5", 3, desired(5, 1, 0), "5 launched, 3 gone, 3 to 6, Done"},
		{"a size that an autoscaler owns", 3, desired(1, 1, 0, external), "3 launched, 3 gone, 3 to 4, Done"},
		{"to none", 2, desired(0, 1, 0), "0 launched, 2 gone, 0 to 2, Done"},
	} {
		for _, on := range []sim.Switches{nil, {compute.ChangesWhileScaling, compute.HooksScaleInOnly},
			{compute.DetachesAtRest, compute.ProceedsAnyway, compute.UpperStates, compute.ShowsTerminated}} {
			if testing.Short() && len(on) > 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s, %v", c.name, on), func(t *testing.T) {
				inWorld(t, oci.Options{Switches: on}, func(w *world) {
					l := w.loop(c.d)
					l.Desired.Replicas, l.Desired.ReplicasManagedExternally = c.from, false
					l.Run()
					l.Desired, l.Lowest, l.Highest = c.d, c.from, c.from
					before := len(l.Known)
					l.Target.Spec = with(func(s source) { s.Pool.InstanceConfiguration.Shape = "VM.Standard.E5.Flex" })(l.Target.Spec)
					plan := l.Run()
					got := fmt.Sprintf("%d launched, %d gone, %d to %d, %s", len(l.Known)-before, len(l.Left), l.Lowest, l.Highest, plan.Rollout.State)
					if got != c.want {
						t.Errorf("want %s, got %s", c.want, got)
					}
					l.Desired.Deleting, l.Target.Deleting = true, true
					if !l.Run().DeletionComplete {
						t.Error("want the pool deleted")
					}
					if left := w.cloud.GroupSnapshot(); len(left.Groups)+len(left.Templates) > 0 {
						t.Errorf("want nothing left, got %+v", left)
					}
				})
			})
		}
	}
}

// TestRotationLeavesFewConfigurations holds that new bootstrap data makes configurations and replaces nothing, and that those which nothing
// needs go.
func TestRotationLeavesFewConfigurations(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		l := w.loop(desired(2, 1, 0))
		l.Run()
		for n := range 5 {
			l.Target.Bootstrap = cloud.NewBootstrap([]byte("#cloud-config\n# token "+strings.Repeat("x", n+1)+"\n"), "cloud-config")
			l.Run()
		}
		o := l.Look()
		if len(l.Left) > 0 || len(o.Versions) > 3 || o.Group.Template != o.Latest().Ref || o.Latest().Data != l.Target.Bootstrap.Hash() {
			t.Errorf("want both instances kept, and a few configurations, got %d gone, %+v", len(l.Left), o.Versions)
		}
	})
}

// TestScaleInByHandIsDrained holds that an instance which a size by hand takes is drained while the hook holds it, and goes then.
func TestScaleInByHandIsDrained(t *testing.T) {
	inWorld(t, oci.Options{}, func(w *world) {
		l := w.loop(desired(3, 1, 0, func(d *pool.Desired) { d.ReplicasManagedExternally = true }))
		l.Desired.ReplicasManagedExternally = false
		l.Run()
		l.Desired.ReplicasManagedExternally = true
		w.byHand(sim.SetSize, sim.Resource{Name: w.groupName(), Size: 1})
		l.Run()
		if o := l.Look(); len(o.Instances) != 1 || len(l.Left) != 2 {
			t.Errorf("want one instance left, got %+v", o.Instances)
		}
	})
}

// TestBadImageIsReplaced holds that a pool whose first instances can't be launched comes up once its image is corrected.
func TestBadImageIsReplaced(t *testing.T) {
	for _, on := range []sim.Switches{nil, {compute.ChangesWhileScaling}} {
		t.Run(fmt.Sprint(on), func(t *testing.T) {
			inWorld(t, oci.Options{Switches: on}, func(w *world) {
				l := w.loop(desired(2, 1, 0))
				image := func(ocid string) func(source) source {
					return with(func(s source) { s.Pool.InstanceConfiguration.InstanceSourceViaImageConfig.ImageID = &ocid })
				}
				l.Target.Spec = image("ocid1.image.oc1.iad.nope")(l.Target.Spec)
				for range 20 {
					l.Pass()
				}
				l.Target.Spec = image(catalogue.Image(oci.RegionKey, version, "amd64"))(l.Target.Spec)
				l.Run()
				if o := l.Look(); len(o.Instances) != 2 || !o.Instances[0].Template.Same(o.Wanted) {
					t.Errorf("want two instances of the corrected image, got %+v with %v", o.Instances, o.Issues)
				}
			})
		})
	}
}
