package azure_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	simazure "github.com/muster-project/muster/sim/azure"
)

var seeds = flag.Int("seeds", 3, "how many rollouts under faults are played in each mode; one with -short")

// played returns the number of simulated rollouts under faults.
func played() int {
	if testing.Short() {
		return min(*seeds, 1)
	}
	return *seeds
}

// transientFaults may occur at any time. None lasts long.
var transientFaults = []sim.Fault{
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

// Whatever goes wrong in between, and however often the process is replaced: when it is over the pool is as wanted, and no machine that
// served has gone without a drain.
func TestRolloutUnderFaults(t *testing.T) {
	for seed := range played() {
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
	w.wire.next = &takesNobody{t: w.t, cloud: w.cloud, next: w.wire.next}
	for range 60 {
		switch random.IntN(9) {
		case 0:
			f := transientFaults[random.IntN(len(transientFaults))]
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
		case 5:
			p.hand(random)
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
		if !i.Template.Same(o.Wanted) || i.State != pool.Running || i.ScaleInUnprotected || len(i.InPlaceDrift) > 0 {
			w.t.Errorf("want it to run as is wanted, got %+v", i)
		}
	}
	if sets := w.cloud.State().Sets; len(sets) != 1 {
		w.t.Errorf("want one scale set, got %+v", sets)
	}
}

// hand does something to a machine that the pool did not ask for: it could not be drained.
func (p *play) hand(random *rand.Rand) {
	p.w.t.Helper()
	sets := p.w.cloud.State().Sets
	if len(sets) == 0 || len(sets[0].Machines) == 0 {
		return
	}
	m := sets[0].Machines[random.IntN(len(sets[0].Machines))]
	if m.State != "Succeeded" {
		return
	}
	var err error
	switch random.IntN(4) {
	case 0:
		err = p.w.cloud.Terminate(m.ProviderID)
	case 1:
		err = p.w.cloud.Stop(m.ProviderID)
	case 2:
		err = p.w.cloud.Deallocate(m.ProviderID)
	case 3:
		err = p.w.cloud.Fail(m.ProviderID, "VMExtensionProvisioningError", "VM has reported a failure")
	}
	if err != nil {
		p.w.t.Fatal(err)
	}
	id := m.ID
	if p.w.mode == azurev1.FlexibleOrchestrationMode {
		id = m.Name
	}
	p.left[id] = true
}

// takesNobody is a wire that reports a capacity which is asked for and is less than what is there: Azure would choose who goes.
type takesNobody struct {
	t     *testing.T
	cloud *simazure.Cloud
	next  http.RoundTripper
}

// RoundTrip looks at what is asked for, and carries it.
func (n *takesNobody) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodPatch && req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		var request struct {
			SKU *struct{ Capacity *int }
		}
		if err := json.Unmarshal(body, &request); err != nil {
			return nil, err
		}
		for _, s := range n.cloud.State().Sets {
			there := 0
			for _, m := range s.Machines {
				if m.State != "Deleting" {
					there++
				}
			}
			// With the ETag of an older capacity it is refused.
			if request.SKU != nil && *request.SKU.Capacity < there && req.Header.Get("If-Match") == s.Version {
				n.t.Errorf("want no capacity below the %d machines that there are, got %s", there, body)
			}
		}
	}
	return n.next.RoundTrip(req)
}

// Beside an autoscaler that grows the scale set while machines are replaced, whatever goes wrong: it ends with the size that he asked for,
// and the account of the surge is closed.
func TestSurgeUnderFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("the faults of TestRolloutUnderFaults beside an autoscaler: left out with -short")
	}
	for seed := range played() {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			inModes(t, func(t *testing.T, w *world) { surgeUnderFaults(w, uint64(seed)) })
		})
	}
}

func surgeUnderFaults(w *world, seed uint64) {
	w.t.Helper()
	random := rand.New(rand.NewPCG(seed, 2))
	p := newPlay(w, w.aTarget(), desired(3, number(1+random.IntN(2)), number(random.IntN(2)),
		func(d *pool.Desired) { d.ReplicasManagedExternally = true }))
	p.keeps = true
	w.create(p.target, 3)
	p.run()
	p.tolerant, p.lowest = true, 3
	size := 3
	for range 60 {
		switch random.IntN(8) {
		case 0:
			f := transientFaults[random.IntN(8)]
			f.Times = 1 + random.IntN(3)
			w.fault(f)
		case 1:
			w.calm()
		case 3:
			p.target = with(p.target, []func(*azurev1.AzureMachinePoolSpec){otherImage, thirdImage, otherSize}[random.IntN(3)])
		case 4:
			if w.grown() {
				size++
			}
		}
		p.pass()
	}
	w.calm()
	p.tolerant = false
	p.run()
	o := p.look()
	if o.Group.Size != size || o.Group.Surge != 0 || len(o.Instances) != size || len(o.Group.Drift) > 0 {
		w.t.Errorf("want %d machines as the autoscaler asked for, and no surge, got %+v with %v", size, o.Group, ids(o))
	}
	for _, i := range o.Instances {
		if !i.Template.Same(o.Wanted) || i.State != pool.Running {
			w.t.Errorf("want it to run as is wanted, got %+v", i)
		}
	}
	if p.lowest < 2 {
		w.t.Errorf("want no more than one machine fewer than the three that there were at first to serve, got %d", p.lowest)
	}
}

// grown is an autoscaler that asks for one machine more than there are asked for, and is heard unless Azure is at work.
func (w *world) grown() bool {
	w.t.Helper()
	set := w.cloud.State().Sets[0]
	if set.Busy || set.Capacity > 8 {
		return false
	}
	w.calm()
	w.patch(armcompute.VirtualMachineScaleSetUpdate{SKU: &armcompute.SKU{Name: new(set.Size), Tier: new("Standard"),
		Capacity: new(int64(set.Capacity + 1))}})
	return true
}
