package instancepool_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/evidence"
	"github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/sim/oci/compute"
)

// disturbances are the faults that requests meet, each by chance.
var disturbances = []sim.Fault{
	{Kind: sim.ErrorBefore}, {Kind: sim.ErrorAfter}, {Kind: sim.DropBefore}, {Kind: sim.DropAfter}, {Kind: sim.Throttle},
	{Kind: sim.Stale, Delay: sim.Duration(5 * time.Second)}, {Kind: sim.PageLimit, Limit: 1},
	{Kind: sim.NoCapacity}, {Kind: sim.Dies, Delay: sim.Duration(10 * time.Minute)},
}

// TestLoopUnderFaults plays rollouts and sizes while requests fail, processes end, and the cloud gives other plausible answers. After the
// last fault the pool is as desired; no instance has gone without a drain; and nothing is left of a pool that is deleted.
func TestLoopUnderFaults(t *testing.T) {
	seeds := 6
	if testing.Short() {
		seeds = 2
	}
	if os.Getenv("MUSTER_LONG") != "" {
		seeds = 150
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 0))
			on := sim.DrawSwitches(evidence.Switches(compute.Beliefs()), r)
			inWorld(t, oci.Options{Switches: on}, func(w *world) {
				w.Logf("switches: %v", on)
				w.disturbed(r)
			})
		})
	}
}

// disturbed plays the life of a pool under faults.
func (w *world) disturbed(r *rand.Rand) {
	w.Helper()
	shapes := []string{flexible, "VM.Standard.E5.Flex", "VM.Standard3.Flex"}
	l := w.loop(desired(1+r.IntN(3), 1, 0))
	for range 2 + r.IntN(3) {
		l.Desired = desired(r.IntN(4), 1+r.IntN(2), 0)
		l.Target.Spec = with(func(s source) { s.Pool.InstanceConfiguration.Shape = shapes[r.IntN(len(shapes))] })(l.Target.Spec)
		l.Target.Bootstrap = cloud.NewBootstrap(fmt.Appendf(nil, "#cloud-config\n# token %d\n", r.IntN(3)), "cloud-config")
		for range 1 + r.IntN(2) {
			fault := disturbances[r.IntN(len(disturbances))]
			fault.Probability = 0.1 + 0.4*r.Float64()
			if err := w.cloud.Faults().Add(fault); err != nil {
				w.Fatal(err)
			}
		}
		l.Faulty = true
		for range 10 + r.IntN(20) {
			l.Pass()
			if r.IntN(5) == 0 {
				w.again()
				l.Driver = w.driver
			}
		}
		w.cloud.Faults().Clear()
		settle()
		l.Faulty = false
		l.Run()
		o := l.Look()
		if o.Group == nil || o.Group.Size != l.Desired.Replicas || len(o.Instances) != l.Desired.Replicas || len(o.Group.Drift) > 0 {
			w.Fatalf("want a pool of %d, got %+v with %d instances", l.Desired.Replicas, o.Group, len(o.Instances))
		}
		for _, i := range o.Instances {
			if !i.Template.Same(o.Wanted) || i.State != pool.Running {
				w.Errorf("want an instance that runs from the desired template, got %+v", i)
			}
		}
	}
	l.Desired.Deleting, l.Target.Deleting = true, true
	if !l.Run().DeletionComplete {
		w.Error("want the pool deleted")
	}
	if left := w.cloud.GroupSnapshot(); len(left.Groups)+len(left.Templates) > 0 {
		w.Errorf("want nothing left, got %+v", left)
	}
}
