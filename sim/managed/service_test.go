package managed_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/managed"
)

// cloud is one that keeps plain machines, with a cluster and a pool of three machines.
type cloud struct {
	*managed.Service
	t       *testing.T
	base    *core.State
	nodes   *cluster
	cluster *managed.Cluster
	pool    *managed.Pool
}

func newCloud(t *testing.T, faults ...sim.Fault) *cloud {
	t.Helper()
	return newCloudOf(t, managed.Settings{Create: time.Minute, Upgrade: time.Minute, Change: time.Second, Join: 20 * time.Minute,
		Kept: time.Hour}, faults...)
}

func newCloudOf(t *testing.T, settings managed.Settings, faults ...sim.Fault) *cloud {
	t.Helper()
	base, nodes, _ := world()
	base.Faults = sim.NewFaults(1, sim.Known{})
	if err := base.Faults.Add(faults...); err != nil {
		t.Fatal(err)
	}
	k := &cloud{t: t, base: base, nodes: nodes, Service: managed.New(base, settings)}
	k.cluster = &managed.Cluster{Key: "c", Name: "one", Version: "1.34.1"}
	k.CreateCluster(k.cluster)
	k.pool = &managed.Pool{Name: "p", Spec: managed.Spec{Count: 3, Version: "1.34.1", Type: "small", Zones: []string{"a", "b"}, Surge: "1",
		Drain: managed.Drain{Limit: 10 * time.Minute}}}
	k.CreatePool(k.cluster, k.pool)
	return k
}

// pass lets time pass, and returns the most machines that there were and the fewest that took pods.
func (k *cloud) pass(d time.Duration) (maxMachines, minServing int) {
	minServing = 1000
	for until := k.base.Now.Add(d); k.base.Now.Before(until); k.base.Now = k.base.Now.Add(time.Second) {
		k.Tick()
		machines := k.Instances.Living(k.pool)
		serve := 0
		for _, m := range machines {
			if k.Nodes.Ready(m) && k.pool.Leaving[m.Key] == nil {
				serve++
			}
		}
		maxMachines, minServing = max(maxMachines, len(machines)), min(minServing, serve)
	}
	return maxMachines, minServing
}

// rests holds that the pool has so many machines that are all what it wants, and is in a state.
func (k *cloud) rests(state managed.State, count int) {
	k.t.Helper()
	machines := k.Instances.Living(k.pool)
	stale := slices.ContainsFunc(machines, func(m managed.Machine) bool { return m.Stale })
	if k.pool.State != state || k.pool.Op != "" || len(machines) != count || stale {
		k.t.Errorf("want a pool that is %s with %d machines and no operation, got %s, %d, %q, stale %v, %v", state, count, k.pool.State,
			len(machines), k.pool.Op, stale, k.pool.Failure)
	}
}

func (k *cloud) change(change func(*managed.Spec)) *managed.Operation {
	next := k.pool.Spec
	change(&next)
	return k.ChangePool(k.cluster, k.pool, next)
}

func TestPoolLife(t *testing.T) {
	t.Parallel()
	k := newCloud(t)
	if k.Busy(k.cluster, k.pool) == nil {
		t.Error("want a cluster that is being created busy")
	}
	k.pass(5 * time.Minute)
	k.rests(managed.Running, 3)
	zones := ""
	for _, i := range k.Instances.Of(k.pool.Key()) {
		zones += i.Zone
	}
	if zones != "aba" || k.cluster.State != managed.Running {
		t.Errorf("want machines in zones a, b, a of a cluster that runs, got %q, %s", zones, k.cluster.State)
	}
	k.change(func(s *managed.Spec) { s.Count = 5 })
	k.pass(5 * time.Minute)
	k.rests(managed.Running, 5)
	k.change(func(s *managed.Spec) { s.Count = 2 })
	k.pass(5 * time.Minute)
	k.rests(managed.Running, 2)
	k.DeleteMachines(k.cluster, k.pool, true, k.Instances.Of(k.pool.Key())[0])
	k.pass(5 * time.Minute)
	k.rests(managed.Running, 2)
	k.DeleteCluster(k.cluster)
	k.pass(5 * time.Minute)
	if k.Clusters.Len()+k.Pools.Len()+k.Instances.Rows.Len() != 0 {
		t.Error("want nothing left of a cluster that was deleted")
	}
	k.pass(time.Hour)
	if k.Operations.Len() != 0 {
		t.Error("want operations forgotten after an hour")
	}
}

// TestPoolWaitsForDrains: nodes that drain longer than others take to join end no operation, and those that a smaller count frees do not
// soak.
func TestPoolWaitsForDrains(t *testing.T) {
	t.Parallel()
	k := newCloud(t)
	k.pass(5 * time.Minute)
	k.pool.Drain = managed.Drain{Limit: time.Hour, Soak: time.Hour}
	last := k.Instances.Of(k.pool.Key())[2].ID
	k.nodes.guarded[last] = true
	k.DeleteMachines(k.cluster, k.pool, true, k.Instances.Of(k.pool.Key())[2])
	if k.pass(30 * time.Minute); k.pool.State != managed.Scaling {
		t.Errorf("want a pool that waits for a drain, got %s, %v", k.pool.State, k.pool.Failure)
	}
	k.nodes.guarded[last] = false
	k.pass(time.Minute)
	k.rests(managed.Running, 3)
}

// TestReconciles: a cloud that reconciles ends operations before nodes are gone, and none because nodes do not come.
func TestReconciles(t *testing.T) {
	t.Parallel()
	k := newCloudOf(t, managed.Settings{Create: time.Minute, Join: 20 * time.Minute, Kept: time.Hour, Stop: time.Minute, Reconciles: true,
		Boot:  func(*managed.Instance) time.Duration { return 30 * time.Second },
		Named: func(c *managed.Cluster, p *managed.Pool, _ *managed.Instance) string { return c.Name + " " + p.Name }})
	k.pool.Drain = managed.Drain{Limit: time.Hour, Late: managed.LateGoes}
	k.pass(10 * time.Minute)
	k.rests(managed.Running, 3)
	all := k.Instances.Of(k.pool.Key())
	if all[0].Name != "one p" {
		t.Errorf("want the name of the settings, got %q", all[0].Name)
	}
	for _, i := range all {
		k.nodes.guarded[i.ID] = true
	}
	k.change(func(s *managed.Spec) { s.Count = 2 })
	k.pass(30 * time.Second)
	if k.pool.Op != "" || k.pool.State != managed.Running || k.pool.Leaving[all[2].Key] == nil || len(k.Instances.Living(k.pool)) != 3 {
		t.Errorf("want a pool at rest whose newest machine drains, got %+v", k.pool.Work)
	}
	k.change(func(s *managed.Spec) { s.Version, s.Surge, s.Missing = "1.35.0", "0", "2" })
	k.pass(5 * time.Minute)
	if k.pool.Op != "" || k.pool.Current != "1.35.0" || len(k.pool.Leaving) != 3 || len(k.Instances.Living(k.pool)) != 5 {
		t.Errorf("want two new machines beside three that drain, got %+v, %s", k.pool.Work, k.pool.Current)
	}
	k.pass(2 * time.Hour)
	k.rests(managed.Running, 2)
	if op := k.change(func(s *managed.Spec) { s.Labels = map[string]string{"a": "b"} }); op != nil || k.pool.Labels["a"] != "b" {
		t.Errorf("want labels changed without an operation, got %v, %v", op, k.pool.Labels)
	}
	if err := k.base.Faults.Add(sim.Fault{Kind: sim.NoCapacity}); err != nil {
		t.Fatal(err)
	}
	k.change(func(s *managed.Spec) { s.Count = 3 })
	k.pass(time.Hour)
	if k.pool.Op == "" || k.pool.Failure == nil || k.pool.Lacking == nil {
		t.Errorf("want an operation that goes on and why, got %q, %v", k.pool.Op, k.pool.Failure)
	}
	k.base.Faults.Clear()
	k.pass(10 * time.Minute)
	k.rests(managed.Running, 3)
	i := k.Instances.Of(k.pool.Key())[0]
	k.Instances.Reboot(i)
	if k.pass(time.Second); !i.Booted.IsZero() {
		t.Error("want a machine that reboots not running")
	}
	if k.pass(time.Minute); i.Booted.IsZero() || i.Stopped {
		t.Errorf("want a machine that was rebooted running, got %+v", i)
	}
}

func TestPoolUpgrade(t *testing.T) {
	t.Parallel()
	k := newCloud(t)
	k.pass(5 * time.Minute)
	k.change(func(s *managed.Spec) { s.Version = "1.35.0" })
	if maxMachines, minServing := k.pass(time.Hour); maxMachines != 4 || minServing != 3 {
		t.Errorf("want at most 4 machines and at least 3 that take pods, got %d and %d", maxMachines, minServing)
	}
	k.rests(managed.Running, 3)
	if k.pool.Current != "1.35.0" {
		t.Errorf("want version 1.35.0, got %s", k.pool.Current)
	}
}

func TestPoolUpgradeIsStuckAndResumed(t *testing.T) {
	t.Parallel()
	k := newCloud(t)
	k.pass(5 * time.Minute)
	first := k.Instances.Of(k.pool.Key())[0].ID
	k.nodes.guarded[first] = true
	op := k.change(func(s *managed.Spec) { s.Version = "1.35.0" })
	k.pass(time.Hour)
	if k.pool.State != managed.Failed || op.Failure == nil || op.Failure.Code != "DrainFailed" {
		t.Errorf("want an upgrade that failed for a drain, got %s, %v", k.pool.State, op.Failure)
	}
	k.nodes.guarded[first] = false
	k.change(func(*managed.Spec) {})
	k.pass(time.Hour)
	k.rests(managed.Running, 3)
}

func TestPoolUpgradeIsCancelled(t *testing.T) {
	t.Parallel()
	k := newCloud(t)
	k.pass(5 * time.Minute)
	for _, i := range k.Instances.Of(k.pool.Key()) {
		k.nodes.guarded[i.ID] = true
	}
	op := k.change(func(s *managed.Spec) { s.Version = "1.35.0" })
	k.pass(5 * time.Minute)
	k.Cancel(k.pool)
	for id, closed := range k.nodes.cordoned {
		if closed {
			t.Errorf("want machine %s to take pods again", id)
		}
	}
	if op.Running() || !op.Aborted || k.pool.State != managed.Running {
		t.Errorf("want an operation that was aborted, got %+v and a pool that is %s", op, k.pool.State)
	}
}

func TestPoolThatLacksMachines(t *testing.T) {
	t.Parallel()
	k := newCloud(t, sim.Fault{Kind: sim.NoCapacity, Zone: "a", Limit: 1})
	k.pass(time.Hour)
	if k.pool.State != managed.Failed || k.pool.Failure == nil || k.pool.Failure.Code != "OutOfCapacity" {
		t.Errorf("want a pool that failed for want of machines, got %s, %v", k.pool.State, k.pool.Failure)
	}
	k.base.Faults.Clear()
	k.change(func(*managed.Spec) {})
	k.pass(5 * time.Minute)
	k.rests(managed.Running, 3)
}

func TestPoolHeals(t *testing.T) {
	t.Parallel()
	k := newCloud(t)
	k.pool.Heals = true
	k.pass(5 * time.Minute)
	gone := k.Instances.Of(k.pool.Key())
	k.Instances.Stop(gone[0])
	k.Instances.Delete(gone[1])
	k.pass(5 * time.Minute)
	k.rests(managed.Running, 3)
	for _, i := range k.Instances.Of(k.pool.Key()) {
		if i.ID == gone[0].ID || i.ID == gone[1].ID {
			t.Errorf("want machine %s replaced", i.ID)
		}
	}
}

func TestAutoscale(t *testing.T) {
	t.Parallel()
	k := newCloud(t)
	k.pass(5 * time.Minute)
	if err := k.Autoscale(k.cluster, k.pool, 4); err == nil {
		t.Error("want a pool that has no autoscaler left alone")
	}
	k.pool.Autoscaled, k.pool.Min, k.pool.Max = true, 1, 4
	if err := k.Autoscale(k.cluster, k.pool, 5); err == nil {
		t.Error("want no more machines than the bounds allow")
	}
	if err := k.Autoscale(k.cluster, k.pool, 4); err != nil {
		t.Error(err)
	}
	k.pass(5 * time.Minute)
	k.rests(managed.Running, 4)
}

// TestServiceIsFoundAgain: what was written is read as it was, and machines that ran are powered on again.
func TestServiceIsFoundAgain(t *testing.T) {
	t.Parallel()
	k := newCloud(t)
	k.pass(5 * time.Minute)
	k.change(func(s *managed.Spec) { s.Version = "1.35.0" })
	k.pass(5 * time.Second)
	docs := map[string]json.RawMessage{}
	if err := k.Tables().Flush(docs); err != nil {
		t.Fatal(err)
	}
	again := managed.New(k.base, managed.Settings{Cloud: "toy", Operator: "toy"})
	if err := again.Tables().Load(docs); err != nil {
		t.Fatal(err)
	}
	if got := again.Pools.Get(k.pool.Key()); !reflect.DeepEqual(got, k.pool) {
		t.Errorf("want the pool as it was, %+v, got %+v", k.pool, got)
	}
	k.nodes.on = map[string]sim.Machine{}
	again.Instances.Resume()
	again.Instances.Power()
	for _, i := range k.Instances.Of(k.pool.Key()) {
		m, on := k.nodes.on[i.ID]
		if on != !i.Booted.IsZero() || on && (m.Managed.Group != "p" || m.Managed.Operator != "toy" || m.KubeletVersion != "v"+i.Version) {
			t.Errorf("want machine %s on if it ran, as one of the pool, got %v, %+v", i.ID, on, m)
		}
	}
}
