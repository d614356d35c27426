package nodepool_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/sim/gcp/project"
)

// regional puts the node pool into three zones.
func (w *world) regional() {
	w.target.Spec = spec(func(s *gcpv1.GCPManagedMachinePoolSpec) {
		s.NodeLocations = []string{region + "-a", region + "-b", region + "-c"}
	})(w.target.Spec)
}

// change changes the specification.
func (w *world) change(change func(*gcpv1.GCPManagedMachinePoolSpec)) {
	w.target.Spec = spec(change)(w.target.Spec)
}

// held returns what the simulator holds of the node pool.
func (w *world) held() container.InspectedPool {
	w.Helper()
	for _, is := range w.cloud.State().Clusters[0].Pools {
		if is.Name == poolName {
			return is
		}
	}
	w.Fatalf("want node pool %s, got %+v", poolName, w.cloud.State().Clusters)
	return container.InspectedPool{}
}

// zones returns the number of machines in each zone, in the order of their names.
func (w *world) zones() string {
	w.Helper()
	sizes := map[string]int{}
	for _, g := range w.held().Groups {
		sizes[g.Zone] += g.Size
	}
	var parts []string
	for _, zone := range slices.Sorted(maps.Keys(sizes)) {
		parts = append(parts, fmt.Sprint(sizes[zone]))
	}
	return strings.Join(parts, " ")
}

// reach asks for a number of machines, creating the node pool where there is none, until it has them.
func (w *world) reach(size int) pool.Observed {
	w.Helper()
	const tries = 4
	for range tries {
		o := w.observe()
		switch {
		case o.Group == nil:
			w.start(pool.Step{Kind: pool.CreateGroup, Size: size})
		case o.Group.Size != size || len(o.Instances) != size:
			w.start(pool.Step{Kind: pool.Resize, Size: size})
		default:
			return o
		}
	}
	w.Fatalf("want %d machines after %d steps, got %s", size, tries, w.zones())
	return pool.Observed{}
}

// sent returns the writes that a test sends, as service and action.
func (w *world) sent(test func()) []string {
	w.Helper()
	after := w.cloud.Calls().Next()
	test()
	var out []string
	for _, call := range w.cloud.Calls().Summary(after).Calls {
		if call.Mutating {
			out = append(out, call.Service+":"+call.Action)
		}
	}
	return out
}

// TestRemovalAndReplacement holds that chosen machines of several zones go, that no zone is made smaller by the way back, and that the last
// machine goes too.
func TestRemovalAndReplacement(t *testing.T) {
	inWorld(t, func(w *world) {
		w.regional()
		o := w.reach(6)
		var refs []pool.InstanceRef
		left := map[string]int{region + "-a": 2, region + "-b": 1}
		for _, i := range o.Instances {
			if left[i.Zone] > 0 {
				refs = append(refs, pool.InstanceRef{ID: i.ID})
				left[i.Zone]--
			}
		}
		w.start(pool.Step{Kind: pool.Remove, Targets: refs})
		if o = w.observe(); o.Group.Size != 3 || w.zones() != "0 1 2" {
			w.Errorf("want three machines left, got %d: %s", o.Group.Size, w.zones())
		}
		for _, i := range o.Instances {
			if slices.ContainsFunc(refs, func(r pool.InstanceRef) bool { return r.ID == i.ID }) {
				w.Errorf("want %s gone", i.ID)
			}
		}
		w.reach(6)
		if got := w.zones(); got != "2 2 2" {
			w.Errorf("want the zones even again, got %s", got)
		}
		refs = nil
		for _, i := range w.observe().Instances {
			refs = append(refs, pool.InstanceRef{ID: i.ID})
		}
		w.start(pool.Step{Kind: pool.Remove, Targets: refs})
		if o = w.observe(); o.Group == nil || o.Group.Size != 0 || len(o.Instances) != 0 {
			w.Errorf("want an empty node pool, got %+v", o.Group)
		}
	})
}

// TestNodePoolOfAnotherProject holds that no node pool is created beside one of another project that the object names.
func TestNodePoolOfAnotherProject(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target.GroupID = "projects/other-project/locations/" + region + "/clusters/" + clusterName + "/nodePools/" + poolName
		if o := w.observe(); o.OwnershipConflict == nil || !strings.Contains(o.OwnershipConflict.Message, "it is in project other-project") {
			w.Errorf("want a conflict, got %+v", o.OwnershipConflict)
		}
		if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.CreateGroup, Size: 1}); cloud.KindOf(err) != cloud.Conflict {
			w.Errorf("want nothing created, got %v", err)
		}
	})
}

// TestZonalCluster holds that the node pool of a cluster whose control plane is in one zone is made, sized and deleted there.
func TestZonalCluster(t *testing.T) {
	inWorld(t, func(w *world) {
		const at = region + "-b"
		_, err := w.cloud.GKE.PutCluster(container.DesiredCluster{Project: project.DefaultID, Location: at, Name: "zonal", Body: document.Object{
			"initialClusterVersion": master, "releaseChannel": document.Object{"channel": "UNSPECIFIED"},
		}})
		if err != nil {
			w.Fatal(err)
		}
		settle()
		changed := *w.target.Spec
		changed.Cluster.Name, changed.Cluster.Location = "zonal", at
		w.target.Spec = &changed
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.NodeLocations = nil })
		o := w.reach(2)
		if want := "projects/" + project.DefaultID + "/locations/" + at + "/clusters/zonal/nodePools/" + poolName; o.Group.ID != want ||
			o.Instances[1].Zone != at {
			w.Errorf("want %s with machines in %s, got %s and %+v", want, at, o.Group.ID, o.Instances)
		}
		w.target.Deleting = true
		w.start(pool.Step{Kind: pool.DeleteGroup})
		if o = w.observe(); o.Group != nil {
			w.Errorf("want the node pool deleted, got %+v", o.Group)
		}
	})
}

// TestNoMachineIsLeftToGKE holds that a smaller number is never asked for, whatever was observed.
func TestNoMachineIsLeftToGKE(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reach(3)
		err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.Resize, Size: 2})
		if cloud.KindOf(err) != cloud.Conflict || cloud.CodeOf(err) != "MachinesWouldGo" {
			w.Errorf("want the smaller size refused, got %v", err)
		}
	})
}

// TestEachPartIsChangedAlone holds that a change of every part that GKE changes in place takes one request after another, replaces no
// machine, and leaves what GKE has written itself.
func TestEachPartIsChangedAlone(t *testing.T) {
	inWorld(t, func(w *world) {
		before := w.reach(2)
		w.change(reshape)
		var sent []string
		for range 20 {
			if len(w.observe().Group.Drift) == 0 {
				break
			}
			calls := w.sent(func() { w.start(pool.Step{Kind: pool.UpdateGroup}) })
			if len(calls) != 1 {
				w.Fatalf("want one request for each step, got %v", calls)
			}
			sent = append(sent, strings.TrimPrefix(calls[0], "container:projects.locations.clusters.nodePools."))
		}
		want := []string{"update", "update", "update", "update", "update", "setAutoscaling", "setManagement"}
		if !slices.Equal(sent, want) {
			w.Errorf("want %v, got %v", want, sent)
		}
		o := w.observe()
		if len(o.Instances) != 2 || o.Instances[0].ID != before.Instances[0].ID || o.Group.Max != 6 || o.Group.Min != 1 {
			w.Errorf("want the same machines and the bounds of the autoscaler, got %+v", o)
		}
		is := w.held()
		if is.Resource["goog-gke-node-pool-provisioning-model"] != "on-demand" || is.Resource["stage"] != "test" || is.Resource["team"] != "" {
			w.Errorf("want GKE's own label kept, and the pool's replaced, got %v", is.Resource)
		}
	})
}

// TestNothingIsSentForGKEsOwn holds that a specification that names nothing is met by what GKE makes of it: no part differs, and no request
// is sent at rest.
func TestNothingIsSentForGKEsOwn(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target.Spec.Pool = &gcpv1.GCPManagedMachinePoolSpec{LinuxNodeConfig: &gcpv1.LinuxNodeConfig{}}
		w.target.KubernetesVersion = ""
		o := w.reach(3)
		if len(o.Group.Drift) > 0 || len(o.Group.Unchangeable) > 0 || len(o.Issues) > 0 || !o.Instances[0].Template.Same(o.Wanted) {
			w.Errorf("want no difference, got drift %v, unchangeable %v, issues %v", o.Group.Drift, o.Group.Unchangeable, o.Issues)
		}
		sent := w.sent(func() {
			for range 10 {
				w.observe()
				<-time.After(2 * time.Minute)
			}
		})
		if len(sent) > 0 {
			w.Errorf("want no write at rest, got %v", sent)
		}
	})
}

// TestAutoscaler holds that the size that GKE's autoscaler chooses is reported with its bounds, that it is on at creation, and that zones
// of different sizes are then no matter.
func TestAutoscaler(t *testing.T) {
	inWorld(t, func(w *world) {
		w.regional()
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) {
			s.Scaling = &gcpv1.NodePoolAutoScaling{TotalMinCount: new(int32(1)), TotalMaxCount: new(int32(7)),
				LocationPolicy: new(gcpv1.LocationAny)}
		})
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 3})
		if !w.held().Autoscaled {
			w.Errorf("want the autoscaler on from the beginning, got %+v", w.held())
		}
		if err := w.cloud.GKE.Autoscale(clusterName+"/"+poolName, 5); err != nil {
			w.Fatal(err)
		}
		settle()
		o := w.observe()
		if o.Group.Size != 5 || o.Group.Min != 1 || o.Group.Max != 7 || len(o.Group.Drift) > 0 || len(o.Issues) > 0 {
			w.Errorf("want the autoscaler's size with its bounds, got %+v, issues %v", o.Group, o.Issues)
		}
	})
}

// TestRemovalIsTriedAgain holds that a removal which Compute Engine accepted and did not carry out leaves the machine running, whose Node
// would be deleted otherwise, and is carried out when it is asked for again.
func TestRemovalIsTriedAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		o := w.reach(2)
		if err := w.cloud.Faults().Add(sim.Fault{Kind: sim.Ignore, Action: "instanceGroupManagers.deleteInstances", Times: 1}); err != nil {
			w.Fatal(err)
		}
		step := pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}}
		if err := w.driver.Start(w.Context(), w.target, step); err != nil {
			w.Fatal(err)
		}
		if o = w.observe(); len(o.Instances) != 2 || o.Instances[0].State != pool.Running {
			w.Errorf("want the machine running as long as nothing else is seen, got %+v", o.Instances)
		}
		w.start(step)
		if o = w.observe(); len(o.Instances) != 1 || o.Group.Size != 1 {
			w.Errorf("want one machine, got %d of %d", len(o.Instances), o.Group.Size)
		}
	})
}

// TestAdoption holds that a node pool of another tool is named with what its labels say, left alone, and adopted without a change of its
// machines.
func TestAdoption(t *testing.T) {
	inWorld(t, func(w *world) {
		at := clusterName + "/" + poolName
		if err := w.cloud.GKE.CreatePool(at, "e2-standard-4", 1); err != nil {
			w.Fatal(err)
		}
		settle()
		label := func(labels document.Object) {
			if err := w.cloud.GKE.UpdatePool(at, document.Object{"resourceLabels": document.Object{"labels": labels}}); err != nil {
				w.Fatal(err)
			}
			settle()
		}
		label(document.Object{"capg-cluster-other": "owned"})
		o := w.observe()
		if o.Group != nil || o.OwnershipConflict == nil || o.Unowned == nil || o.Unowned.OtherCluster != "other" {
			w.Errorf("want the node pool of another cluster left alone, got %+v, %+v", o.OwnershipConflict, o.Unowned)
		}
		label(document.Object{"capg-cluster-" + clusterName: "owned"})
		if o = w.observe(); o.Unowned == nil || o.Unowned.OtherCluster != "" {
			w.Errorf("want a node pool that can be adopted, got %+v", o.Unowned)
		}
		machines := w.held().Machines
		w.start(pool.Step{Kind: pool.Adopt})
		o = w.observe()
		if o.Group == nil || len(o.Instances) != len(machines) || w.held().Resource["capg-cluster-"+clusterName] != "owned" {
			w.Fatalf("want the node pool adopted with its labels, got %+v, labels %v", o, w.held().Resource)
		}
		if after := w.held().Machines; after[0].Name != machines[0].Name {
			w.Errorf("want no machine replaced, got %v after %v", after, machines)
		}
	})
}

// TestPoolOfNewCluster holds that a node pool that was created with its cluster for the object is adopted without an annotation, and one
// that another tool made later, or for an object that is younger than the cluster, is not.
func TestPoolOfNewCluster(t *testing.T) {
	inWorld(t, func(w *world) {
		const name = "new"
		if _, err := w.cloud.GKE.PutCluster(container.DesiredCluster{Project: project.DefaultID, Location: region, Name: name,
			Body: document.Object{
				"initialClusterVersion": master, "nodePools": []any{
					document.Object{"name": poolName, "initialNodeCount": 1.0,
						"config": document.Object{"resourceLabels": document.Object{"capg-cluster-new": "owned"}}},
					document.Object{"name": "default-pool", "initialNodeCount": 1.0},
				},
			}}); err != nil {
			w.Fatal(err)
		}
		created := time.Now()
		settle()
		changed := *w.target.Spec
		changed.Cluster.Name = name
		w.target.Spec = &changed
		for _, c := range []struct {
			reason, name, group string
			age                 time.Duration
			want                bool
		}{
			{"an object that is older than the cluster", poolName, "", time.Hour, true},
			{"an object that is younger", poolName, "", -time.Hour, false},
			{"an object that another controller has found it for", poolName, "projects/p/locations/l/clusters/new/nodePools/" + poolName,
				time.Hour, false},
			{"a node pool without the cluster's label", "default-pool", "", time.Hour, false},
		} {
			changed.Name, changed.Created, w.target.GroupID = c.name, created.Add(-c.age), c.group
			if o := w.observe(); o.Unowned == nil || o.Unowned.CreatedWithCluster != c.want {
				w.Errorf("%s: want a node pool that was created with the cluster to be %t, got %+v", c.reason, c.want, o.Unowned)
			}
		}
	})
}

// TestBusyClusterIsWaitedFor holds that another operation on the cluster is a conflict, in GKE's words, and that the step works afterwards.
func TestBusyClusterIsWaitedFor(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reach(1)
		if err := w.cloud.GKE.CreatePool(clusterName+"/other", "e2-medium", 1); err != nil {
			w.Fatal(err)
		}
		err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.Resize, Size: 2})
		if cloud.KindOf(err) != cloud.Conflict || !strings.Contains(err.Error(), "incompatible operation") {
			w.Errorf("want a conflict in GKE's words, got %v", err)
		}
		settle()
		w.reach(2)
	})
}

// TestDeletionWithoutCluster holds that a pool whose cluster is gone is observed as gone, and that a cluster that does not exist is said to
// be missing otherwise.
func TestDeletionWithoutCluster(t *testing.T) {
	inWorld(t, func(w *world) {
		w.reach(1)
		if _, err := w.cloud.GKE.DeleteCluster(project.DefaultID, region, clusterName); err != nil {
			w.Fatal(err)
		}
		w.target.Deleting = true
		if o := w.observe(); o.Group == nil || o.Group.Busy == nil {
			w.Errorf("want the node pool observed while it goes with its cluster, got %+v", o.Group)
		}
		settle()
		if o := w.observe(); o.Group != nil || len(o.Instances) > 0 {
			w.Errorf("want nothing left, got %+v", o)
		}
		w.target.Deleting = false
		_, err := w.driver.Observe(w.Context(), w.target)
		if cloud.CodeOf(err) != "NoCluster" {
			w.Errorf("want the missing cluster named, got %v", err)
		}
	})
}

// TestStockout holds that machines that do not come are told in the words of GKE and Compute Engine, with the zone, that the node pool can
// be deleted meanwhile, and that nothing is told once they have come: with the members of conditions that the API calls deprecated, and
// without them.
func TestStockout(t *testing.T) {
	for name, on := range map[string]sim.Switches{"deprecated members shown": nil, "absent": {container.OmitsDeprecated}} {
		t.Run(name, func(t *testing.T) { stockout(t, on) })
	}
}

func stockout(t *testing.T, on sim.Switches) {
	t.Helper()
	inWorldAs(t, on, func(w *world) {
		w.reach(1)
		if err := w.cloud.Faults().Add(sim.Fault{Kind: sim.NoCapacity}); err != nil {
			w.Fatal(err)
		}
		w.start(pool.Step{Kind: pool.Resize, Size: 2})
		o := w.observe()
		if o.Group.Busy != nil || o.Group.State != "RUNNING_WITH_ERROR" || o.Group.Failed != nil {
			w.Errorf("want a node pool that runs with an error and takes changes, got %+v", o.Group)
		}
		for _, i := range o.Issues {
			if i.Reason != "Capacity" {
				w.Errorf("want a lack of capacity, got %+v", i)
			}
		}
		for _, word := range []string{"ZONE_RESOURCE_POOL_EXHAUSTED", "GCE_STOCKOUT"} {
			if !slices.ContainsFunc(o.Issues, func(i pool.Cause) bool { return strings.Contains(i.Message, word) }) {
				w.Errorf("want the word %s, got %+v", word, o.Issues)
			}
		}
		w.cloud.Faults().Clear()
		settle()
		if o = w.observe(); len(o.Issues) > 0 {
			w.Errorf("want nothing told once the machines have come, got %+v", o.Issues)
		}
	})
}

// TestFailedCreation holds that a node pool whose machines did not come at all has failed, in GKE's words, and can be deleted.
func TestFailedCreation(t *testing.T) {
	inWorld(t, func(w *world) {
		if err := w.cloud.Faults().Add(sim.Fault{Kind: sim.NoCapacity}); err != nil {
			w.Fatal(err)
		}
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 2})
		o := w.observe()
		if o.Group.State != "ERROR" || o.Group.Failed == nil || !strings.Contains(o.Group.Failed.Message, "GCE_STOCKOUT") || o.Group.Busy != nil {
			w.Errorf("want a node pool that failed in GKE's words, got %+v", o.Group)
		}
		w.target.Deleting = true
		w.start(pool.Step{Kind: pool.DeleteGroup})
		if o = w.observe(); o.Group != nil {
			w.Errorf("want the node pool deleted, got %+v", o.Group)
		}
	})
}

// TestMachineTypesDenied holds that a node pool is made, and changed, although the credentials do not allow to look machine types up: only
// what its machines offer is unknown, which is told.
func TestMachineTypesDenied(t *testing.T) {
	inWorld(t, func(w *world) {
		denied := sim.Fault{Kind: sim.ErrorBefore, Action: "machineTypes.get", Code: "forbidden", Message: "no permission",
			Status: http.StatusForbidden}
		if err := w.cloud.Faults().Add(denied); err != nil {
			w.Fatal(err)
		}
		w.reach(2)
		w.change(func(s *gcpv1.GCPManagedMachinePoolSpec) { s.InstanceType = new("n2-standard-4") })
		o := w.observe()
		if o.Group == nil || len(o.Instances) != 2 || o.Capacity != nil || o.Wanted.Content == "" || o.Wanted.Same(o.Instances[0].Template) {
			w.Errorf("want two machines of unknown capacity and another template wanted, got %+v", o)
		}
		if len(o.Issues) != 1 || !strings.Contains(o.Issues[0].Message, "machineTypes.get") {
			w.Errorf("want the refused call told, got %+v", o.Issues)
		}
	})
}
