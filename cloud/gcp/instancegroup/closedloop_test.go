package instancegroup_test

import (
	"fmt"
	"strings"
	"testing"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/pool"
)

func desired(n, surge, unavailable int, changes ...func(*pool.Desired)) pool.Desired {
	d := pool.Desired{
		Replicas: n, DeletePolicy: pool.Oldest, Seed: "0f6f8d5e-owner",
		Strategy: &pool.Strategy{
			MaxSurge: pool.IntOrPercent{Value: surge}, MaxUnavailable: pool.IntOrPercent{Value: unavailable},
			SurgeField: "spec.strategy.rollingUpdate.maxSurge", UnavailableField: "spec.strategy.rollingUpdate.maxUnavailable",
		},
	}
	for _, change := range changes {
		change(&d)
	}
	return d
}

// TestClosedLoop holds what becomes of rollouts: instances made and gone, the least that serve and the most that exist, and how it ends.
// Every instance that served is drained before it goes, and nothing is left of a pool that is deleted.
func TestClosedLoop(t *testing.T) {
	external := func(d *pool.Desired) { d.ReplicasManagedExternally = true }
	for _, c := range []struct {
		name string
		from int
		d    pool.Desired
		want string
	}{
		{"surge 1", 3, desired(3, 1, 0), "3 made, 3 gone, 3 to 4, Done"},
		{"unavailable 1", 3, desired(3, 0, 1), "3 made, 3 gone, 2 to 3, Done"},
		{"surge 3", 3, desired(3, 3, 0), "3 made, 3 gone, 3 to 6, Done"},
		{"a change and 5 to 3", 5, desired(3, 1, 0), "3 made, 5 gone, 3 to 5, Done"},
		{"a change and 3 to 5", 3, desired(5, 1, 0), "5 made, 3 gone, 3 to 6, Done"},
		{"a size that an autoscaler owns", 3, desired(1, 1, 0, external), "3 made, 3 gone, 3 to 4, Done"},
		{"to none", 2, desired(0, 1, 0), "0 made, 2 gone, 0 to 2, Done"},
	} {
		for _, zones := range [][]string{{zone}, {"us-central1-a", "us-central1-b", "us-central1-c"}} {
			if testing.Short() && (len(zones) > 1) != (c.name == "surge 3") {
				continue // one row in three zones, the others in one
			}
			t.Run(fmt.Sprintf("%s in %d zones", c.name, len(zones)), func(t *testing.T) {
				inWorld(t, zones, func(w *world) {
					p := cloudtest.NewLoop(w.T, w.driver, w.target, c.d)
					p.Desired.Replicas, p.Desired.ReplicasManagedExternally = c.from, false
					p.Run()
					p.Desired, p.Lowest, p.Highest = c.d, c.from, c.from
					before := len(p.Known)
					p.Target.Spec = spec(func(s *gcpv1.GCPMachinePoolSpec) { s.InstanceType = "n2-standard-4" })(p.Target.Spec)
					plan := p.Run()
					got := fmt.Sprintf("%d made, %d gone, %d to %d, %s", len(p.Known)-before, len(p.Left), p.Lowest, p.Highest, plan.Rollout.State)
					if got != c.want {
						t.Errorf("want %s, got %s", c.want, got)
					}
					p.Desired.Deleting, p.Target.Deleting = true, true
					if !p.Run().DeletionComplete {
						t.Error("want the pool deleted")
					}
					if left := w.cloud.State(); len(left.Groups)+len(left.Templates) > 0 {
						t.Errorf("want nothing left, got %+v", left)
					}
				})
			})
		}
	}
}

// TestRotationLeavesOneTemplate holds that new bootstrap data makes templates and replaces nothing, and that those which nothing needs go.
func TestRotationLeavesOneTemplate(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		p := cloudtest.NewLoop(w.T, w.driver, w.target, desired(2, 1, 0))
		p.Run()
		for n := range 5 {
			p.Target.Bootstrap = cloud.NewBootstrap([]byte("#cloud-config\n# token "+strings.Repeat("x", n+1)+"\n"), "cloud-config")
			p.Run()
		}
		o := p.Look()
		if len(p.Left) > 0 || len(o.Versions) > 3 || o.Group.Template != o.Latest().Ref || o.Latest().Data != p.Target.Bootstrap.Hash() {
			t.Errorf("want both machines kept, and a few templates, got %d gone, %+v", len(p.Left), o.Versions)
		}
	})
}
