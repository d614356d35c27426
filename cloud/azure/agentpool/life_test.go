package agentpool_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/containerservice"
)

// names returns the names of the machines of an agent pool.
func (w *world) names(of string) []string {
	w.Helper()
	var out []string
	for _, p := range w.cloud.State().Clusters[0].Pools {
		if p.Name != of {
			continue
		}
		for _, m := range p.Machines {
			out = append(out, m.Name)
		}
	}
	return out
}

// byProvider are the tags of a managed cluster that the existing provider has made for the Cluster.
var byProvider = map[string]string{"sigs.k8s.io_cluster-api-provider-azure_cluster_" + clusterName: "owned"}

// TestSystemPoolIsAdopted holds that the System pool that was created with the managed cluster, without Muster's tag, is named with its
// cluster, left alone, and adopted without a change of its machines.
func TestSystemPoolIsAdopted(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target.Spec = spec(func(s *aksv1.AzureManagedMachinePoolSpec) { s.Mode, s.AvailabilityZones = "System", nil })(w.target.Spec)
		w.target.Spec.Name = "system"
		before := w.names("system")
		const older = 4 * within
		for _, c := range []struct {
			why     string
			created time.Duration
			group   string
			tags    map[string]string
			want    bool
		}{
			{"an object that names a managed cluster which the existing provider has not made for its Cluster", older, "", nil, false},
			{"an object that is older than its agent pool", older, "", byProvider, true},
			{"an object that was created beside an agent pool of its name", time.Minute, "", byProvider, false},
			{"an object that another controller has found it for", older,
				"azure:///subscriptions/s/resourceGroups/g/providers/p/managedClusters/managed/agentPools/system", byProvider, false},
		} {
			if err := putCluster(w.cloud, version, c.tags); err != nil {
				w.Fatal(err)
			}
			w.target.Spec.Created, w.target.GroupID = time.Now().Add(-c.created), c.group
			if o := w.observe(); o.Unowned == nil || o.Unowned.CreatedWithCluster != c.want || o.Unowned.Busy != nil {
				w.Errorf("%s: want an agent pool that was created with the cluster to be %t, got %+v", c.why, c.want, o.Unowned)
			}
		}
		w.target.GroupID = ""
		o := w.observe()
		if o.Group != nil || o.OwnershipConflict == nil || o.Unowned == nil || o.Unowned.Group != "agent pool system of managed cluster managed" {
			w.Fatalf("want the agent pool named that can be adopted, got %+v", o)
		}
		w.start(pool.Step{Kind: pool.Adopt})
		o = w.observe()
		if o.Group == nil || o.OwnershipConflict != nil || len(o.Instances) != 1 || o.Group.Drift == nil || o.Group.Least != 1 {
			w.Fatalf("want the agent pool adopted, got %+v", o)
		}
		if after := w.names("system"); !slices.Equal(before, after) {
			w.Errorf("want no machine replaced, got %v after %v", after, before)
		}
	})
}

// TestLastSystemPoolGoesWithItsCluster holds that AKS's refusal to delete the last System pool blocks neither the deletion of the cluster,
// nor is circumvented while the cluster stays.
func TestLastSystemPoolGoesWithItsCluster(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target.Spec = spec(func(s *aksv1.AzureManagedMachinePoolSpec) { s.Mode, s.AvailabilityZones = "System", nil })(w.target.Spec)
		w.target.Spec.Name = "system"
		w.start(pool.Step{Kind: pool.Adopt})
		w.target.Deleting = true
		if o := w.observe(); o.Group == nil {
			w.Fatalf("want the agent pool observed while its cluster stays, got %+v", o)
		}
		if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.DeleteGroup}); err == nil {
			w.Errorf("want AKS's refusal to delete the last System pool, got none")
		}
		w.target.Spec.Cluster.Deleting = true
		if o := w.observe(); o.Group != nil || len(o.Instances) > 0 || o.OwnershipConflict != nil {
			w.Errorf("want nothing left to delete beside the cluster, got %+v", o)
		}
		if len(w.names("system")) != 1 {
			w.Errorf("want the machines of the last System pool left to AKS, got %v", w.names("system"))
		}
	})
}

// TestStoppedPoolWaitsAndIsDeleted holds that a stopped agent pool has not failed and is changed only once it is started, but can be
// deleted.
func TestStoppedPoolWaitsAndIsDeleted(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 2})
		if err := w.cloud.AKS.StopPool(clusterName + "/" + poolName); err != nil {
			w.Fatal(err)
		}
		settle()
		o := w.observe()
		if o.Group.Busy == nil || o.Group.Busy.Reason != "Stopped" || o.Group.Failed != nil || len(o.Issues) > 0 || o.Group.Size != 0 {
			w.Errorf("want a stopped agent pool that has not failed, got %+v, issues %+v", o.Group, o.Issues)
		}
		w.target.Deleting = true
		if o := w.observe(); o.Group.Busy != nil {
			w.Errorf("want nothing in the way of a deletion, got %+v", o.Group.Busy)
		}
		w.start(pool.Step{Kind: pool.DeleteGroup})
		if o := w.observe(); o.Group != nil {
			w.Errorf("want the agent pool deleted, got %+v", o.Group)
		}
	})
}

// TestFailedPoolStaysManageable holds that a failure is told in AKS's words, which are asked for once, and that the agent pool can be
// changed.
func TestFailedPoolStaysManageable(t *testing.T) {
	inWorld(t, func(w *world) {
		if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.CreateGroup, Size: 2}); err != nil {
			w.Fatal(err)
		}
		if err := w.cloud.AKS.FailPool(clusterName+"/"+poolName, "SubnetIsFull", "Subnet nodes is full."); err != nil {
			w.Fatal(err)
		}
		settle()
		last := w.cloud.Calls().Next()
		for range 2 {
			o := w.observe()
			want := []pool.Cause{{Reason: "Capacity", Message: "SubnetIsFull: Subnet nodes is full."}}
			if !slices.Equal(o.Issues, want) || o.Group.Busy != nil || o.Group.State != "Failed" {
				w.Errorf("want AKS's words on an agent pool that is not busy, got %+v, issues %+v", o.Group, o.Issues)
			}
		}
		reads := 0
		for _, c := range w.cloud.Calls().Summary(last).Calls {
			if c.Action == "Operations_Get" {
				reads++
			}
		}
		if reads != 1 {
			w.Errorf("want the failed operation read once, got %d", reads)
		}
		w.start(pool.Step{Kind: pool.Resize, Size: 2})
		if o := w.observe(); len(o.Instances) != 2 || len(o.Issues) > 0 {
			w.Errorf("want the machines brought with another request, got %+v, issues %+v", o.Instances, o.Issues)
		}
	})
}

// TestWriteOverAnotherClientsChange holds that a request made from an older read than another client's change is refused, and changes
// nothing, whether AKS shows eTags or not.
func TestWriteOverAnotherClientsChange(t *testing.T) {
	for name, b := range map[string]sim.Switches{"without eTags": {}, "with eTags": {containerservice.ETags}} {
		t.Run(name, func(t *testing.T) {
			inWorldOf(t, b, func(w *world) {
				w.start(pool.Step{Kind: pool.CreateGroup, Size: 1})
				for step, edit := range map[pool.StepKind]func(*aksv1.AzureManagedMachinePoolSpec){
					pool.Resize: func(*aksv1.AzureManagedMachinePoolSpec) {}, pool.UpdateGroup: reshape,
					pool.StartProviderRollout: func(s *aksv1.AzureManagedMachinePoolSpec) { s.SKU = "Standard_D4s_v3" },
				} {
					w.target.Spec = spec(edit)(managedPool())
					size := w.observe().Group.Size + 2
					if err := w.cloud.AKS.ScalePool(clusterName+"/"+poolName, size); err != nil {
						w.Fatal(err)
					}
					settle()
					err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: step, Size: size - 1})
					if cloud.KindOf(err) != cloud.Conflict {
						w.Errorf("%s: want a conflict, got %v", step, err)
					}
					settle()
					if o := w.observe(); o.Group.Size != size || len(o.Instances) != size {
						w.Errorf("%s: want the other client's size kept, got %+v", step, o.Group)
					}
				}
			})
		})
	}
}

// TestSpotPoolAtRest holds that the label and the taint that AKS adds to a spot pool are no drift, whether the specification names them and
// whether AKS shows them, and that they stay when others change.
func TestSpotPoolAtRest(t *testing.T) {
	const key = "kubernetes.azure.com/scalesetpriority"
	named := func(s *aksv1.AzureManagedMachinePoolSpec) {
		s.NodeLabels, s.Taints = map[string]string{key: "spot"}, []aksv1.Taint{{Key: key, Value: "spot", Effect: "NoSchedule"}}
	}
	for name, b := range map[string]sim.Switches{"shown": {}, "hidden": {containerservice.HidesOwn},
		"lost with other labels": {containerservice.LosesOwn}} {
		for _, change := range []func(*aksv1.AzureManagedMachinePoolSpec){nil, named} {
			t.Run(fmt.Sprintf("%s, named %t", name, change != nil), func(t *testing.T) {
				inWorldOf(t, b, func(w *world) {
					spot := spec(func(s *aksv1.AzureManagedMachinePoolSpec) {
						if s.ScaleSetPriority = new("Spot"); change != nil {
							change(s)
						}
					})
					w.target.Spec = spot(w.target.Spec)
					w.start(pool.Step{Kind: pool.CreateGroup, Size: 1})
					if o := w.observe(); len(o.Group.Drift) > 0 || len(o.Group.Unchangeable) > 0 {
						w.Errorf("want nothing to differ, got %v and %v", o.Group.Drift, o.Group.Unchangeable)
					}
					w.target.Spec = spec(func(s *aksv1.AzureManagedMachinePoolSpec) { s.NodeLabels = map[string]string{"a": "b"} })(w.target.Spec)
					w.start(pool.Step{Kind: pool.UpdateGroup})
					if o := w.observe(); len(o.Group.Drift) > 0 {
						w.Errorf("want nothing to differ after a change, got %v", o.Group.Drift)
					}
					for _, p := range w.cloud.State().Clusters[0].Pools {
						if p.Name == poolName && (p.Labels["a"] != "b" || p.Labels[key] != "spot" && !b.On(containerservice.HidesOwn)) {
							w.Errorf("want the new label and AKS's, got %v", p.Labels)
						}
					}
				})
			})
		}
	}
}

// TestSizeThatAKSRefuses holds that a size that AKS does not change on a scale set is announced before, requested once, and then reported
// as unchangeable with AKS's words: no machine is stale for it, and everything else goes on.
func TestSizeThatAKSRefuses(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 1})
		const armed = "Standard_D2ps_v5"
		w.target.Spec = spec(func(s *aksv1.AzureManagedMachinePoolSpec) { s.SKU = armed })(w.target.Spec)
		if o := w.observe(); len(o.Caveats) != 1 || o.Caveats[0].Reason != "SizeChangeIsPreview" || len(o.Group.Unchangeable) > 0 {
			w.Errorf("want it announced that AKS may refuse, got %+v", o.Caveats)
		}
		roll := pool.Step{Kind: pool.StartProviderRollout}
		if err := w.driver.Start(w.Context(), w.target, roll); cloud.KindOf(err) != cloud.Invalid || !strings.Contains(err.Error(), "spec.sku") {
			w.Errorf("want AKS's refusal with its field, got %v", err)
		}
		o := w.observe()
		if len(o.Caveats) != 1 || o.Caveats[0].Reason != "SizeUnchangeable" || !strings.Contains(o.Caveats[0].Message, "CpuArchitectureType") ||
			!slices.Equal(o.Group.Unchangeable, []string{"spec.sku"}) || !o.Wanted.Same(o.Instances[0].Template) {
			w.Errorf("want AKS's words, the field and no stale machine, got %+v, %v", o.Caveats, o.Group.Unchangeable)
		}
		w.target.Spec = spec(func(s *aksv1.AzureManagedMachinePoolSpec) { s.NodeLabels = map[string]string{"a": "b"} })(w.target.Spec)
		w.start(pool.Step{Kind: pool.UpdateGroup})
		if o := w.observe(); len(o.Group.Drift) > 0 {
			w.Errorf("want the labels changed all the same, got a difference in %v", o.Group.Drift)
		}
		w.target.Spec = spec(func(s *aksv1.AzureManagedMachinePoolSpec) { s.SKU = "Standard_D4s_v3" })(w.target.Spec)
		if o := w.observe(); len(o.Caveats) != 1 || o.Caveats[0].Reason != "SizeChangeIsPreview" {
			w.Errorf("want another size requested again, got %+v", o.Caveats)
		}
	})
}

// TestAutoscaledPool holds that an agent pool that AKS's autoscaler sizes shows the autoscaler's bounds, and that its size is no drift.
func TestAutoscaledPool(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target.Spec = spec(func(s *aksv1.AzureManagedMachinePoolSpec) {
			s.Scaling = &aksv1.ManagedMachinePoolScaling{MinSize: new(1), MaxSize: new(5)}
		})(w.target.Spec)
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 2})
		if err := w.cloud.AKS.Autoscale(clusterName+"/"+poolName, 4); err != nil {
			w.Fatal(err)
		}
		settle()
		o := w.observe()
		if o.Group.Size != 4 || len(o.Instances) != 4 || o.Group.Min != 1 || o.Group.Max != 5 || o.Group.Drift != nil {
			w.Errorf("want the autoscaler's size within its bounds, got %+v", o.Group)
		}
	})
}

// TestAutoscaledPoolIsStartedAgain holds that an agent pool that AKS's autoscaler sizes is as it was once it was stopped and started, with
// nothing to repair.
func TestAutoscaledPoolIsStartedAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target.Spec = spec(func(s *aksv1.AzureManagedMachinePoolSpec) {
			s.Scaling = &aksv1.ManagedMachinePoolScaling{MinSize: new(1), MaxSize: new(5)}
		})(w.target.Spec)
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 2})
		for _, power := range []struct {
			act  func(string) error
			busy bool
			left int
		}{{w.cloud.AKS.StopPool, true, 0}, {w.cloud.AKS.StartPool, false, 2}} { // a stopped agent pool shows count 0
			if err := power.act(clusterName + "/" + poolName); err != nil {
				w.Fatal(err)
			}
			settle()
			o := w.observe()
			if (o.Group.Busy != nil) != power.busy || len(o.Instances) != power.left || o.Group.Size != power.left || o.Group.Drift != nil ||
				o.ProviderRollout != nil {
				w.Errorf("want %d machines, busy %t, got %+v in %+v", power.left, power.busy, o.Instances, o.Group)
			}
		}
	})
}

// TestAdoptionIsOneWrite holds that an agent pool that is as the specification asks for is adopted with one write, and that tags which the
// specification names no more are removed afterwards as if Muster had written them.
func TestAdoptionIsOneWrite(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 1})
		for _, key := range []string{"muster.dev_owner", "muster.dev_tags"} {
			// A tag that is not there has nothing to lose.
			_ = w.cloud.AKS.UntagPool(clusterName+"/"+poolName, key)
			settle()
		}
		w.target.Adopt = true
		if o := w.observe(); o.Unowned == nil {
			w.Fatalf("want an agent pool without owner, got %+v", o.Group)
		}
		w.start(pool.Step{Kind: pool.Adopt})
		if o := w.observe(); o.Group == nil || o.Group.Drift != nil {
			w.Errorf("want nothing left to write, got %+v", o.Group)
		}
		w.target.Spec = spec(func(s *aksv1.AzureManagedMachinePoolSpec) { s.AdditionalTags = nil })(w.target.Spec)
		if o := w.observe(); !slices.Equal(o.Group.Drift, []string{"spec.additionalTags"}) {
			w.Errorf("want the tag removed that is named no more, got %v", o.Group.Drift)
		}
	})
}

// TestUnownedPoolIsLookedAtCheaply holds that a look at an agent pool of another tool reads its scale set once.
func TestUnownedPoolIsLookedAtCheaply(t *testing.T) {
	inWorld(t, func(w *world) {
		if err := putCluster(w.cloud, version, byProvider); err != nil {
			w.Fatal(err)
		}
		w.target.Spec.Name, w.target.Spec.Created = "system", time.Now()
		last := w.cloud.Calls().Next()
		for range 3 {
			if o := w.observe(); o.Unowned == nil || o.Unowned.CreatedWithCluster {
				w.Fatalf("want an agent pool of another tool, got %+v", o)
			}
		}
		lists := 0
		for _, c := range w.cloud.Calls().Summary(last).Calls {
			if c.Action == "VirtualMachineScaleSets_List" {
				lists++
			}
		}
		if lists != 1 {
			w.Errorf("want the scale sets listed once, got %d", lists)
		}
	})
}

// TestSurge holds how many machines AKS adds in a rollout of its own.
func TestSurge(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 4})
		if got := w.observe().Group.ProviderRolloutSurge; got != 1 {
			w.Errorf("want AKS's default of 10 %% of 4 machines, rounded up, got %d", got)
		}
		for surge, want := range map[string]int{"33%": 2, "3": 3} {
			w.target.Spec = spec(func(s *aksv1.AzureManagedMachinePoolSpec) { s.UpgradeSettings.MaxSurge = &surge })(w.target.Spec)
			w.start(pool.Step{Kind: pool.UpdateGroup})
			if got := w.observe().Group.ProviderRolloutSurge; got != want {
				w.Errorf("maxSurge %s of 4 machines: want %d, got %d", surge, want, got)
			}
		}
	})
}

// TestBoundsAndCount holds that bounds which the present count is not within are brought in steps that AKS takes: the count is raised to
// the lower bound, and no machine is taken for the upper one.
func TestBoundsAndCount(t *testing.T) {
	inWorld(t, func(w *world) {
		bounds := func(minSize, maxSize int) {
			w.target.Spec = spec(func(s *aksv1.AzureManagedMachinePoolSpec) {
				s.Scaling = &aksv1.ManagedMachinePoolScaling{MinSize: &minSize, MaxSize: &maxSize}
			})(w.target.Spec)
		}
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 4})
		bounds(1, 3)
		w.start(pool.Step{Kind: pool.UpdateGroup})
		o := w.observe()
		if o.Group.Size != 4 || len(o.Instances) != 4 || o.Group.Max != 4 || !slices.Equal(o.Group.Drift, []string{"spec.scaling.maxSize"}) {
			w.Errorf("want the autoscaler on, and every machine kept, got %+v", o.Group)
		}
		bounds(6, 8)
		w.start(pool.Step{Kind: pool.UpdateGroup})
		if o = w.observe(); o.Group.Size != 6 || len(o.Instances) != 6 || o.Group.Drift != nil {
			w.Errorf("want the count raised to the lower bound, got %+v", o.Group)
		}
		w.target.Spec = spec(func(s *aksv1.AzureManagedMachinePoolSpec) { s.SKU = "Standard_D4s_v3" })(w.target.Spec)
		bounds(7, 9)
		w.start(pool.Step{Kind: pool.StartProviderRollout})
		if o = w.observe(); o.Group.Size != 7 || o.Group.Template == o.Latest().Ref {
			w.Errorf("want the count raised first, which AKS does not take with another size of machines, got %+v", o.Group)
		}
		w.start(pool.Step{Kind: pool.StartProviderRollout})
		if o = w.observe(); o.Group.Template != o.Latest().Ref {
			w.Errorf("want machines of the other size then, got %+v", o.Group)
		}
	})
}

// TestModeWaitsForMachine holds that an agent pool without machines is not asked to become a System pool, which AKS refuses with all that
// is asked for beside it: everything else is changed, and the reason says what the mode waits for.
func TestModeWaitsForMachine(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(pool.Step{Kind: pool.CreateGroup})
		w.target.Spec = spec(func(s *aksv1.AzureManagedMachinePoolSpec) {
			s.Mode, s.NodeLabels = "System", map[string]string{"tier": "b"}
		})(w.target.Spec)
		o := w.observe()
		if !slices.Equal(o.Group.Drift, []string{"spec.nodeLabels"}) || o.Group.Deferred == nil || o.Group.Deferred.Reason != "ModePending" {
			w.Fatalf("want the labels to be changed and the reason why the mode is not, got %v, %+v", o.Group.Drift, o.Group.Deferred)
		}
		w.start(pool.Step{Kind: pool.UpdateGroup})
		w.start(pool.Step{Kind: pool.Resize, Size: 1})
		if o = w.observe(); !slices.Equal(o.Group.Drift, []string{"spec.mode"}) || o.Group.Deferred != nil {
			w.Fatalf("want the mode to be changed once there is a machine, got %v, %+v", o.Group.Drift, o.Group.Deferred)
		}
		w.start(pool.Step{Kind: pool.UpdateGroup})
		if o = w.observe(); o.Group.Drift != nil || o.Group.Least != 1 {
			w.Errorf("want a System pool, got %+v", o.Group)
		}
	})
}

// TestVersionGoesBeforeTheSize holds the two rolls that a change of both takes: AKS refuses them in one request. It reimages the machines
// for the version, and makes others for the size.
func TestVersionGoesBeforeTheSize(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target.KubernetesVersion = "v1.33.7"
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 2})
		w.target.KubernetesVersion = version
		w.target.Spec = spec(func(s *aksv1.AzureManagedMachinePoolSpec) { s.SKU = "Standard_D4s_v3" })(w.target.Spec)
		for _, want := range []string{"aks:1.34.7/standard_d2s_v3", "aks:1.34.7/standard_d4s_v3"} {
			o := w.observe()
			if o.Latest().Ref != want {
				w.Fatalf("want %s next, got %+v", want, o.Versions)
			}
			before := w.names(poolName)
			w.start(pool.Step{Kind: pool.StartProviderRollout, Template: want})
			settle()
			o = w.observe()
			if same := slices.Equal(before, w.names(poolName)); same != (want == "aks:1.34.7/standard_d2s_v3") {
				w.Errorf("after the rollout to %s: the same machines: %t", want, same)
			}
			for _, i := range o.Instances {
				if i.Template.Ref != want {
					w.Errorf("want all machines of %s, got %+v", want, i)
				}
			}
			if o.ProviderRollout != nil || o.Group.Template != want {
				w.Errorf("want the rollout to %s ended, got %+v in %+v", want, o.ProviderRollout, o.Group)
			}
		}
	})
}

// TestClusterIsReadOnce holds that one read of a managed cluster serves all pools of it.
func TestClusterIsReadOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 1})
		last := w.cloud.Calls().Next()
		w.observe()
		w.target.Spec = spec(func(*aksv1.AzureManagedMachinePoolSpec) {})(w.target.Spec)
		w.target.Spec.Name, w.target.Owner.Name, w.target.Cache.MaxAge = "system", "system", time.Minute
		w.observe()
		n := 0
		for _, c := range w.cloud.Calls().Summary(last).Calls {
			if c.Action == "ManagedClusters_Get" {
				n++
			}
		}
		if n != 1 {
			w.Errorf("want one read of the managed cluster for both pools, got %d", n)
		}
	})
}

// TestManifestPool holds the life of an agent pool whose specification is a manifest: properties that the other kind has no field for reach
// AKS, in the manifest's version of the API; what Muster sets itself is refused with the manifest's field.
func TestManifestPool(t *testing.T) {
	inWorld(t, func(w *world) {
		manifest := w.manifest
		manifest(map[string]any{
			"azureName": poolName, "mode": "User", "vmSize": "Standard_D2s_v3", "type": "VirtualMachineScaleSets", "workloadRuntime": "OCIContainer",
			"nodeLabels": map[string]any{"tier": "blue"},
		})
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 2})
		o := w.observe()
		if o.Group == nil || len(o.Instances) != 2 || o.Group.Drift != nil || o.Group.Unchangeable != nil || len(o.Issues) > 0 {
			w.Fatalf("want an agent pool of 2 machines as the manifest says, got %+v, issues %+v", o.Group, o.Issues)
		}
		manifest(map[string]any{"mode": "User", "vmSize": "Standard_D2s_v3", "maxPods": 30.0, "nodeLabels": map[string]any{"tier": "green"}})
		o = w.observe()
		if !slices.Equal(o.Group.Drift, []string{"spec.resources[0].spec.nodeLabels"}) || !slices.Equal(o.Group.Unchangeable,
			[]string{"spec.resources[0].spec.maxPods"}) {
			w.Errorf("want the manifest's fields named, got drift %v and unchangeable %v", o.Group.Drift, o.Group.Unchangeable)
		}
		w.start(pool.Step{Kind: pool.UpdateGroup})
		if o = w.observe(); o.Group.Drift != nil {
			w.Errorf("want the labels repaired, got drift %v", o.Group.Drift)
		}
		manifest(map[string]any{"mode": "User", "vmSize": "Standard_D2s_v3", "orchestratorVersion": "1.33.7"})
		incompatible := func(want string) {
			w.Helper()
			o := w.observe()
			if o.Group == nil || len(o.Issues) != 1 || o.Issues[0].Message != want || len(o.Instances) != 2 {
				w.Errorf("want an agent pool as it is with the issue %q, got %+v, issues %+v", want, o.Group, o.Issues)
			}
		}
		incompatible("spec.resources[0].spec.orchestratorVersion: incompatible value: found 1.33.7, and Muster must set it to 1.34.7")
		manifest(map[string]any{"mode": "User", "vmSize": "Standard_D2s_v3", "count": 3.0})
		w.target.Spec.Replicas = new(int32(2))
		incompatible("spec.resources[0].spec.count: incompatible value: found 3, and Muster must set it to 2, spec.replicas of the MachinePool")
		w.target.Spec.Replicas = new(int32(3))
		if o = w.observe(); len(o.Issues) > 0 || len(o.Group.Drift) > 0 {
			w.Errorf("want the MachinePool's own count accepted, got drift %v, issues %+v", o.Group.Drift, o.Issues)
		}
	})
}

// manifest makes the specification a manifest.
func (w *world) manifest(spec map[string]any) {
	changed := *w.target.Spec
	changed.Managed = nil
	changed.Manifest = &aksv1.AgentPoolManifest{Index: 0, APIVersion: "2023-10-01", Spec: spec}
	w.target.Spec = &changed
}

// TestDeletionReadsNoMachines holds that looks at a pool that is being deleted leave its machines as they were read, before and while AKS
// deletes it: the nodes tell when they are drained, and Azure gives all pools of a subscription few such reads.
func TestDeletionReadsNoMachines(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 2})
		w.observe()
		reads := func(maxAge time.Duration) int {
			w.Helper()
			before := w.cloud.Calls().Count("compute", "VirtualMachineScaleSetVMs_List")
			w.target.Cache.MaxAge = maxAge
			if o := w.observe(); len(o.Instances) != 2 || o.Cache.Fresh != (maxAge == 0) || o.Cache.GroupFresh != o.Cache.Fresh {
				// The engine takes no second look before it deletes a group that was read anew.
				w.Errorf("want both machines, fresh only of an exact read, got %d, fresh %t and %t", len(o.Instances), o.Cache.Fresh,
					o.Cache.GroupFresh)
			}
			return w.cloud.Calls().Count("compute", "VirtualMachineScaleSetVMs_List") - before
		}
		w.target.Deleting = true
		for range 3 {
			<-time.After(time.Minute)
			if n := reads(time.Second); n != 0 {
				w.Errorf("want no read of machines while they are drained, got %d", n)
			}
		}
		if n := reads(0); n != 1 {
			w.Errorf("want an exact read before the agent pool is deleted, got %d", n)
		}
		if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.DeleteGroup}); err != nil {
			w.Fatal(err)
		}
		<-time.After(time.Second)
		if n := reads(time.Millisecond); n != 0 {
			w.Errorf("want no read of machines while AKS deletes them, got %d", n)
		}
		settle()
		if o := w.observe(); o.Group != nil {
			w.Errorf("want the agent pool deleted, got %+v", o.Group)
		}
	})
}
