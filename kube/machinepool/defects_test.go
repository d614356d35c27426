package machinepool

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/nodes"
)

// The tests of this file are named after defects that were found in other machine pool controllers.

const (
	id1 = "aws:///zone-a/i-1"
	id2 = "aws:///zone-a/i-2"
	id3 = "aws:///zone-a/i-3"
)

// running returns a settled world with a pool of two whose Nodes are Ready.
func running(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, []client.Object{aCluster(), aPool(2), aConfig(), anInfra(id1, id2)})
	w.node("n1", id1, true)
	w.node("n2", id2, true)
	w.settled()
	want(t, "phase", w.pool().Status.Phase, "Running")
	w.events()
	return w
}

func TestDefectA_ProviderFailuresAreReportedAndCleared(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(2), aConfig(), anInfra(id1, id2)})
	w.changeInfra(func(o map[string]any) {
		_ = unstructured.SetNestedField(o, "CreateError", "status", "failureReason")
		_ = unstructured.SetNestedField(o, "no subnet", "status", "failureMessage")
	})
	w.settled()
	d := w.pool().Status.Deprecated.V1Beta1
	if d.FailureReason == nil || *d.FailureReason != "CreateError" || d.FailureMessage == nil ||
		!strings.Contains(*d.FailureMessage, "no subnet") {
		t.Errorf("failure: want CreateError with the provider's message, got %v %v", d.FailureReason, d.FailureMessage)
	}
	w.changeInfra(func(o map[string]any) {
		unstructured.RemoveNestedField(o, "status", "failureReason")
		unstructured.RemoveNestedField(o, "status", "failureMessage")
	})
	w.settled()
	if d := w.pool().Status.Deprecated.V1Beta1; d.FailureReason != nil || d.FailureMessage != nil {
		t.Errorf("failure that is no longer reported: want none, got %v %v", d.FailureReason, d.FailureMessage)
	}
}

func TestDefectB_EitherContractProvisions(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]map[string]any{
		"newer contract": {"initialization": map[string]any{"provisioned": true}, "replicas": int64(1)},
		"older contract": {"ready": true, "replicas": int64(1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			infra := object(infraGVK, "infra", map[string]any{"providerIDList": []any{id1}}, status)
			w := newWorld(t, []client.Object{aCluster(), aPool(1), aConfig(), infra})
			w.node("n1", id1, true)
			w.settled()
			want(t, "phase", w.pool().Status.Phase, "Running")
			wantAll(t, "provider IDs", w.pool().Spec.ProviderIDList, []string{id1})
		})
	}
}

func TestDefectC_NodesAreDeletedWithThePool(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.node("other", "aws:///zone-a/i-9", true)
	w.delete()
	w.settled()
	want(t, "phase", w.pool().Status.Phase, "Deleting")
	wantAll(t, "nodes while the infrastructure is there", w.nodeNames(), []string{"n1", "n2", "other"})
	w.finish(infraGVK, "infra")
	w.finish(configGVK, "boot")
	w.pass()
	if w.pool() != nil {
		t.Errorf("pool: want it gone, got %v", w.message(clusterv1.DeletingCondition))
	}
	wantAll(t, "nodes after the pool", w.nodeNames(), []string{"other"})
}

func TestDefectE_CountsAreOfNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(3), aConfig(), anInfra(id1, id2, id3)})
	w.changeInfra(func(o map[string]any) { _ = unstructured.SetNestedField(o, int64(1), "status", "upToDateReplicas") })
	w.settled()
	want(t, "ready, available, up to date", w.counts(), [3]int32{0, 0, 1})
	want(t, "MachinesUpToDate", w.condition(clusterv1.MachinesUpToDateCondition), "False NotUpToDate")
	want(t, "MachinesReady", w.condition(clusterv1.MachinesReadyCondition), "False NotReady")
	want(t, "message", w.message(clusterv1.MachinesReadyCondition), "no node yet for "+id1+", "+id2+", "+id3)
}

func TestDefectE_UpToDateWithoutAReportedCount(t *testing.T) {
	t.Parallel()
	const basis = "only the Kubernetes version was compared, because TestMachinePool infra reports no status.upToDateReplicas"
	for name, tc := range map[string]struct {
		reason, wanted, first string
		second                bool
		counts                [3]int32
		state, message        string
	}{
		"nothing to compare": {"nothing can be compared in a pool without a version", "", "v1.36.0", true, [3]int32{2, 2, -1},
			"Unknown UpToDateUnknown", "TestMachinePool infra reports no status.upToDateReplicas"},
		"all": {"every node runs the version", "v1.36.0", "v1.36.0", true, [3]int32{2, 2, 2}, "True UpToDate", basis},
		"one is behind": {"a node of another version is not up to date whatever else is equal", "v1.36.0", "v1.35.4", true, [3]int32{2, 2, 1},
			"False NotUpToDate", "1 of 2 machines are up to date; outdated: n1 (v1.35.4); " + basis},
		"one has no node": {"an instance without a Node cannot be compared", "v1.36.0", "v1.36.0", false, [3]int32{1, 1, 1},
			"Unknown UpToDateUnknown", "1 of 2 machines are up to date; unknown: " + id2 + "; " + basis},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := aPool(2)
			pool.Spec.Template.Spec.Version = tc.wanted
			w := newWorld(t, []client.Object{aCluster(), pool, aConfig(), anInfra(id1, id2)})
			w.changeInfra(func(o map[string]any) { unstructured.RemoveNestedField(o, "status", "upToDateReplicas") })
			w.node("n1", id1, true)
			w.changeNode("n1", func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = tc.first })
			if tc.second {
				w.node("n2", id2, true)
			}
			w.settled()
			want(t, tc.reason+": ready, available, up to date", w.counts(), tc.counts)
			want(t, tc.reason, w.condition(clusterv1.MachinesUpToDateCondition), tc.state)
			want(t, tc.reason, w.message(clusterv1.MachinesUpToDateCondition), tc.message)
			w.lose(clustercache.HealthCheckingState{ConsecutiveFailures: 1})
			if w.pass(); len(w.writes) != 0 {
				t.Errorf("an interrupted connection: want nothing written, got %v", w.writes)
			}
		})
	}
}

func TestDefectE_DrainingNodesAreNotAvailable(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.changeNode("n1", func(n *corev1.Node) {
		n.Spec.Unschedulable = true
		n.Annotations[nodes.DrainStartedAnnotation] = "2026-01-02T03:04:05Z"
	})
	w.changeNode("n2", func(n *corev1.Node) { n.Spec.Unschedulable = true })
	w.settled()
	want(t, "ready, available, up to date", w.counts(), [3]int32{2, 1, 2})
	want(t, "Available", w.message(clusterv1.AvailableCondition), "1 of 2 replicas are available: drained or being deleted: n1")
	want(t, "phase: one is missing, and the condition ScalingUp is true", w.pool().Status.Phase, "Provisioned")
	want(t, "MachinesReady", w.condition(clusterv1.MachinesReadyCondition), "True Ready")
	want(t, "unavailable of v1beta1", w.pool().Status.Deprecated.V1Beta1.UnavailableReplicas, 1)
}

func TestDefectF_NodeRefsAreOfListedInstances(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.changeInfra(func(o map[string]any) {
		_ = unstructured.SetNestedStringSlice(o, []string{"aws:///zone-a/i-7", "aws:///zone-a/i-8"}, "spec", "providerIDList")
	})
	w.settled()
	wantAll(t, "references", w.refs(), []string{})
	want(t, "ready, available, up to date", w.counts(), [3]int32{0, 0, 2})
	// The instances are gone, so their kubelets stop reporting: only then are their Nodes deleted.
	wantAll(t, "nodes that are still Ready", w.nodeNames(), []string{"n1", "n2"})
	for _, n := range []string{"n1", "n2"} {
		w.changeNode(n, func(n *corev1.Node) { setReady(n, false, w.clock) })
	}
	w.settled()
	wantAll(t, "nodes that are no longer Ready", w.nodeNames(), []string{})
}

func TestDefectH_PoolOfAnUnreachableClusterIsDeleted(t *testing.T) {
	t.Parallel()
	none, ten := int32(0), int32(10)
	for name, tc := range map[string]struct {
		reason  string
		timeout *int32
		early   time.Duration
		late    time.Duration
		limit   string
	}{
		"no limit": {"a pool without a time limit waits for a cluster that may come back, but not for ever", &none, 5 * time.Minute,
			11 * time.Minute,
			"; nodeDeletionTimeoutSeconds is 0: retrying without a time limit, unless the cluster is unreachable for 10m0s"},
		"limit":       {"the limit counts from when the infrastructure was gone", &ten, 5 * time.Second, 11 * time.Second, ""},
		"unset limit": {"the default is the webhook's", nil, 5 * time.Second, 11 * time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := running(t)
			w.changePool(func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Deletion.NodeDeletionTimeoutSeconds = tc.timeout })
			w.delete()
			w.settled()
			disconnected(w)
			// The time that the cloud takes does not count.
			w.clock = w.clock.Add(time.Hour)
			w.settled()
			w.finish(infraGVK, "infra")
			w.finish(configGVK, "boot")
			w.settled()
			w.clock = w.clock.Add(tc.early)
			res := w.settled()
			if w.pool() == nil {
				t.Fatalf("%s: the pool went too early", tc.reason)
			}
			if res.RequeueAfter == 0 {
				t.Errorf("%s: want a time to look again, got none", tc.reason)
			}
			want(t, "Deleting", w.condition(clusterv1.DeletingCondition), "True DeletingNode")
			want(t, "message", w.message(clusterv1.DeletingCondition),
				"Waiting for nodes to be deleted: The connection to Cluster c1 is down"+tc.limit)
			w.events()
			w.clock = w.clock.Add(tc.late)
			w.pass()
			if w.pool() != nil {
				t.Errorf("%s: want the pool gone, got %s", tc.reason, w.message(clusterv1.DeletingCondition))
			}
			wantAll(t, "events", w.events(), []string{
				"Warning NodesLeft Gave up deleting nodes in Cluster c1: The connection to Cluster c1 is down"})
		})
	}
}

func TestDefectI_ExternallyManagedSizeIsFollowed(t *testing.T) {
	t.Parallel()
	pool := aPool(3)
	pool.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "external-autoscaler"}
	ids := []string{id1, id2, id3, "aws:///zone-a/i-4", "aws:///zone-a/i-5"}
	w := newWorld(t, []client.Object{aCluster(), pool, aConfig(), anInfra(ids...)})
	for _, id := range ids {
		w.node("node-"+id[len(id)-1:], id, true)
	}
	w.settled()
	want(t, "phase with five of three", w.pool().Status.Phase, "Scaling")
	want(t, "ready, available, up to date", w.counts(), [3]int32{5, 5, 5})
	five := int32(5)
	w.changePool(func(p *clusterv1.MachinePool) { p.Spec.Replicas = &five })
	w.settled()
	want(t, "phase with five of five", w.pool().Status.Phase, "Running")
}

func TestDefectJ_UnreadyNodesAreCounted(t *testing.T) {
	t.Parallel()
	w := running(t)
	for _, n := range []string{"n1", "n2"} {
		w.changeNode(n, func(n *corev1.Node) { setReady(n, false, w.clock) })
	}
	w.settled()
	want(t, "phase", w.pool().Status.Phase, "Provisioned")
	want(t, "ready, available, up to date", w.counts(), [3]int32{0, 0, 2})
	want(t, "Available", w.condition(clusterv1.AvailableCondition), "False NotAvailable")
	want(t, "message", w.message(clusterv1.AvailableCondition),
		"0 of 2 replicas are available: not Ready: n1 (KubeletNotReady), n2 (KubeletNotReady)")
	want(t, "Ready of v1beta1", w.older(clusterv1.ReadyV1Beta1Condition), "False")
	wantAll(t, "references", w.refs(), []string{"n1", "n2"})
}

func TestDefectK_AvailableAfterMinReadySeconds(t *testing.T) {
	t.Parallel()
	pool, minute := aPool(1), int32(60)
	pool.Spec.Template.Spec.MinReadySeconds = &minute
	w := newWorld(t, []client.Object{aCluster(), pool, aConfig(), anInfra(id1)})
	w.node("n1", id1, true)
	w.clock = w.clock.Add(20 * time.Second)
	res := w.settled()
	want(t, "ready, available, up to date", w.counts(), [3]int32{1, 0, 1})
	want(t, "next pass", res.RequeueAfter, 40*time.Second)
	want(t, "Available", w.message(clusterv1.AvailableCondition), "0 of 1 replicas are available: Ready for less than minReadySeconds: n1")
	w.clock = w.clock.Add(res.RequeueAfter)
	res = w.settled()
	want(t, "ready, available, up to date", w.counts(), [3]int32{1, 1, 1})
	want(t, "next pass", res.RequeueAfter, 0)
	want(t, "Available", w.condition(clusterv1.AvailableCondition), "True Available")
}

func TestDefectL_NodeMetadataIsRestored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(1), aConfig(), anInfra(id1)})
	n := w.node("n1", id1, true)
	w.changeNode("n1", func(n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{clusterv1.NodeUninitializedTaint, {Key: "mine", Effect: corev1.TaintEffectNoSchedule}}
	})
	marked := map[string]string{
		"cluster.x-k8s.io/cluster-name": "c1", "cluster.x-k8s.io/cluster-namespace": "default",
		"cluster.x-k8s.io/owner-kind": "MachinePool", "cluster.x-k8s.io/owner-name": "pool",
	}
	check := func(when string) {
		t.Helper()
		w.settled()
		if err := w.wl.Get(t.Context(), client.ObjectKeyFromObject(n), n); err != nil {
			t.Fatal(err)
		}
		for k, v := range marked {
			want(t, when+": "+k, n.Annotations[k], v)
		}
		if len(n.Spec.Taints) != 1 || n.Spec.Taints[0].Key != "mine" {
			t.Errorf("%s: taints: want the user's alone, got %v", when, n.Spec.Taints)
		}
	}
	check("when it joins")
	w.changeNode("n1", func(n *corev1.Node) { n.Annotations = nil })
	check("when another client removed them")
}

func TestDefectM_ProvisionedPoolStaysProvisioned(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.changeInfra(func(o map[string]any) {
		_ = unstructured.SetNestedField(o, false, "status", "ready")
		_ = unstructured.SetNestedField(o, false, "status", "initialization", "provisioned")
	})
	w.settled()
	want(t, "phase", w.pool().Status.Phase, "Running")
	want(t, "provisioned", *w.pool().Status.Initialization.InfrastructureProvisioned, true)
	want(t, "Available", w.condition(clusterv1.AvailableCondition), "True Available")
	want(t, "Ready of v1beta1", w.older(clusterv1.ReadyV1Beta1Condition), "True")
	want(t, "InfrastructureReady", w.message(clusterv1.InfrastructureReadyCondition),
		"TestMachinePool infra was ready, and now reports that it is not provisioned")
}

func TestDefectP_PausedDeletionIsReported(t *testing.T) {
	t.Parallel()
	w := running(t)
	yes, no := true, false
	change(w, w.mgmt, clusterKey, &clusterv1.Cluster{}, func(c *clusterv1.Cluster) { c.Spec.Paused = &yes })
	w.settled()
	want(t, "Paused", w.condition(clusterv1.PausedCondition), "True Paused")
	want(t, "Paused", w.message(clusterv1.PausedCondition), "Cluster spec.paused is set to true")
	w.delete()
	w.settled()
	want(t, "phase", w.pool().Status.Phase, "Deleting")
	want(t, "Deleting", w.condition(clusterv1.DeletingCondition), "True Paused")
	want(t, "Deleting", w.message(clusterv1.DeletingCondition),
		"Deletion is blocked while the pool is paused: Cluster spec.paused is set to true")
	if o := w.get(infraGVK, "infra"); !o.GetDeletionTimestamp().IsZero() {
		t.Error("infrastructure: want it left alone while paused, got it being deleted")
	}
	change(w, w.mgmt, clusterKey, &clusterv1.Cluster{}, func(c *clusterv1.Cluster) { c.Spec.Paused = &no })
	w.settled()
	want(t, "Paused", w.condition(clusterv1.PausedCondition), "False NotPaused")
	want(t, "Deleting", w.condition(clusterv1.DeletingCondition), "True WaitingForInfrastructureDeletion")
}

func TestDefectQ_InstanceListedTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(3), aConfig(), anInfra(id1, "aws:////i-1", id2)})
	w.changeInfra(func(o map[string]any) { _ = unstructured.SetNestedField(o, int64(3), "status", "replicas") })
	w.node("n1", id1, true)
	w.node("n2", id2, true)
	w.settled()
	wantAll(t, "provider IDs", w.pool().Spec.ProviderIDList, []string{id1, id2})
	want(t, "ready, available, up to date", w.counts(), [3]int32{2, 2, 3})
	want(t, "phase", w.pool().Status.Phase, "Provisioned")
}

func TestDefectR_DeletedNodesAreNotCounted(t *testing.T) {
	t.Parallel()
	w := running(t)
	if err := w.wl.DeleteAllOf(t.Context(), &corev1.Node{}); err != nil {
		t.Fatal(err)
	}
	w.settled()
	wantAll(t, "references", w.refs(), []string{})
	want(t, "ready, available, up to date", w.counts(), [3]int32{0, 0, 2})
	want(t, "phase", w.pool().Status.Phase, "ScalingUp")
	wantAll(t, "events", w.events(), []string{"Normal SuccessfulSetNodeRefs n1, n2 left; nodes now: 0"})
	w.node("n1", id1, true)
	w.node("n2", id2, true)
	w.settled()
	want(t, "phase", w.pool().Status.Phase, "Running")
}
