package azure_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

var seeds = flag.Int("seeds", 3, "how many rollouts under faults are played in each mode")

// trouble is what may go wrong at any time, none of it for long.
var trouble = []sim.Fault{
	{Kind: sim.Throttle, Service: "compute"},
	{Kind: sim.ErrorBefore, Service: "compute", Status: 500},
	{Kind: sim.ErrorAfter, Service: "compute", Status: 500},
	{Kind: sim.DropBefore, Service: "compute"},
	{Kind: sim.DropAfter, Service: "compute"},
	{Kind: sim.Stale, Delay: sim.Duration(8 * time.Second)},
	{Kind: sim.NoCapacity, Zone: "2"},
	{Kind: sim.NoCapacity},
	{Kind: sim.Impaired, Code: "OSProvisioningTimedOut"},
}

// Whatever goes wrong in between, and however often the process is replaced: when it is over the pool is as wanted, and nobody who served
// has gone without a drain.
func TestRolloutUnderFaults(t *testing.T) {
	for seed := range *seeds {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			inModes(t, func(t *testing.T, w *world) { rolloutUnderFaults(w, uint64(seed)) })
		})
	}
}

func rolloutUnderFaults(w *world, seed uint64) {
	w.t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	p := newPlay(w, w.aTarget(), desired(3, number(1), number(random.IntN(2)), func(d *pool.Desired) {
		d.DeletePolicy = []pool.DeletePolicy{pool.Oldest, pool.Newest, pool.Random}[random.IntN(3)]
	}))
	p.keeps, p.tolerant = true, true
	for range 60 {
		switch random.IntN(8) {
		case 0:
			f := trouble[random.IntN(len(trouble))]
			f.Times = 1 + random.IntN(3)
			w.fault(f)
		case 1:
			w.calm()
		case 2:
			w.driver = w.newDriver()
		case 3:
			p.target = with(p.target, []func(*azurev1.AzureMachinePoolSpec){otherImage, thirdImage, otherSize, reshape}[random.IntN(4)])
		case 4:
			p.d.Replicas = 1 + random.IntN(5)
		}
		p.pass()
	}
	w.calm()
	p.tolerant = false
	plan := p.run()
	o := p.look()
	if len(o.Instances) != p.d.Replicas || o.Group.Size != p.d.Replicas || len(o.Group.Drift) > 0 || plan.Rollout.State != pool.RolloutDone {
		w.t.Errorf("want %d machines and nothing to do, got %+v with %v, %+v", p.d.Replicas, o.Group, ids(o), plan)
	}
	for _, i := range o.Instances {
		if !i.Template.Same(o.Wanted) || i.State != pool.Running || i.Exposed || len(i.Behind) > 0 {
			w.t.Errorf("want it to run as is wanted, got %+v", i)
		}
	}
	if sets := w.cloud.State().Sets; len(sets) != 1 {
		w.t.Errorf("want one scale set, got %+v", sets)
	}
}
