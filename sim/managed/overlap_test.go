package managed_test

import (
	"testing"
	"time"

	"github.com/muster-project/muster/sim/managed"
)

// overlapping is a cloud whose operations overlap and fail with nodes that can't be drained.
func overlapping(t *testing.T) *cloud {
	t.Helper()
	k := newCloudOf(t, managed.Settings{Create: time.Minute, Change: time.Second, Join: 20 * time.Minute, Kept: time.Hour, Overlaps: true,
		OldestFirst: true, ID: func(i *managed.Instance) string { return "id-" + i.Key }})
	k.pool.Drain.Late = managed.LateFails
	k.pass(5 * time.Minute)
	k.rests(managed.Running, 3)
	return k
}

// TestOverlaps: an operation goes on with the machines that leave, also with one that could not be drained before.
func TestOverlaps(t *testing.T) {
	t.Parallel()
	k := overlapping(t)
	all := k.Instances.Of(k.pool.Key())
	k.nodes.guarded[all[0].ID] = true
	k.DeleteMachines(k.cluster, k.pool, false, all[0])
	k.DeleteMachines(k.cluster, k.pool, true, all[1])
	k.pool.Leaving[all[1].Key].How = &managed.Drain{Skip: true}
	k.pass(5 * time.Minute)
	if !all[1].Deleting && k.Instances.Rows.Get(all[1].Key) != nil || k.pool.Op == "" {
		t.Error("want the second machine gone without a drain, while the first one drains")
	}
	k.pass(6 * time.Minute)
	if k.pool.State != managed.Failed || k.pool.Failure.Code != "DrainFailed" || k.Instances.Rows.Get(all[0].Key) == nil {
		t.Errorf("want the operation failed and the machine kept, got %s, %v", k.pool.State, k.pool.Failure)
	}
	k.pass(time.Hour)
	k.nodes.guarded[all[0].ID] = false
	k.change(func(s *managed.Spec) { s.Surge = "2" })
	k.pass(5 * time.Minute)
	k.rests(managed.Running, 2)
	if k.Instances.Rows.Get(all[0].Key) != nil {
		t.Error("want the next operation to go on with the machine that was to be deleted")
	}
	k.nodes.guarded[all[2].ID] = true
	k.DeletePool(k.cluster, k.pool)
	k.pass(15 * time.Minute)
	if k.Pools.Len() != 1 || k.pool.State != managed.Failed {
		t.Errorf("want a pool kept whose machines can't be drained, got %s", k.pool.State)
	}
}

// TestRebuild: machines are rebuilt in place, no more than may be missing at a time, and are open to pods again afterwards.
func TestRebuild(t *testing.T) {
	t.Parallel()
	k := overlapping(t)
	before := k.Instances.Of(k.pool.Key())
	next := k.pool.Spec
	next.Version, next.InPlace, next.Surge, next.Missing = "1.34.2", true, "0", "1"
	k.ChangePoolBy(k.cluster, k.pool, next, managed.Updating)
	k.pass(5 * time.Minute)
	if k.pool.State != managed.Running || before[0].Version != "1.34.1" {
		t.Errorf("want no machine rebuilt by another operation than an upgrade, got %s, %s", k.pool.State, before[0].Version)
	}
	k.ChangePoolBy(k.cluster, k.pool, next, managed.Upgrading)
	for _, i := range before {
		k.nodes.unready[i.ID] = false
	}
	machines, _ := k.pass(20 * time.Minute)
	k.rests(managed.Running, 3)
	for n, i := range k.Instances.Of(k.pool.Key()) {
		if i.ID != before[n].ID || i.Version != "1.34.2" || k.nodes.cordoned[i.ID] || machines != 3 {
			t.Errorf("want the machine %s rebuilt and open, got %s of %s, cordoned %t, of %d", before[n].ID, i.ID, i.Version,
				k.nodes.cordoned[i.ID], machines)
		}
	}
	k.Instances.Power()
	if got := k.nodes.on[before[0].ID].KubeletVersion; got != "v1.34.2" {
		t.Errorf("want the machine powered on with the new version, got %s", got)
	}
}

// TestRefuses: a machine that the cloud refuses is told as one that there is no capacity for.
func TestRefuses(t *testing.T) {
	t.Parallel()
	k := newCloudOf(t, managed.Settings{Create: time.Minute, Join: 20 * time.Minute, Kept: time.Hour,
		Refuses: func(*managed.Pool, *managed.Instance) *managed.Failure {
			return &managed.Failure{Code: "LimitExceeded", Message: "no more"}
		}})
	k.pass(30 * time.Minute)
	if k.pool.State != managed.Failed || k.pool.Failure.Code != "LimitExceeded" {
		t.Errorf("want the pool failed with the reason, got %s, %v", k.pool.State, k.pool.Failure)
	}
}
