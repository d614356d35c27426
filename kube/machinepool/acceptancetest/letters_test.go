package acceptancetest

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// The tests of this file are named after defects that were found in other machine pool controllers, as far as the API server is involved;
// the others are in package machinepool.

// TestDefectA_ProviderFailureIsReportedAndCleared holds that a terminal failure is reported in both versions of the API for as long as the
// provider reports it, while the Nodes of the pool are counted.
func TestDefectA_ProviderFailureIsReportedAndCleared(t *testing.T) {
	w := newWorld(t)
	w.running(1, nil)
	failure := func(p *clusterv1.MachinePool) string {
		d := p.Status.Deprecated.V1Beta1
		if d.FailureReason == nil || d.FailureMessage == nil {
			return "none"
		}
		return fmt.Sprintf("%s: %s", *d.FailureReason, *d.FailureMessage)
	}
	w.change(poolGVK, "infra", func(o map[string]any) {
		status := o["status"].(map[string]any)
		status["failureReason"], status["failureMessage"] = "CreateError", "no subnet"
	})
	eventuallyIs(w, "a failure", "CreateError: TestMachinePool infra reports a failure: no subnet", failure)
	w.runs(1)
	w.change(poolGVK, "infra", func(o map[string]any) {
		status := o["status"].(map[string]any)
		delete(status, "failureReason")
		delete(status, "failureMessage")
	})
	eventuallyIs(w, "a failure that is no longer reported", "none", failure)
}

// TestDefectE_UnknownCountsAreNotStored holds that unknown counts are missing in the stored object, and not 0.
func TestDefectE_UnknownCountsAreNotStored(t *testing.T) {
	w := newWorld(t)
	pool := w.aPool(3)
	pool.Spec.Template.Spec.Version = ""
	w.create(pool)
	w.create(w.aConfig("boot"))
	infra := w.anInfra(3)
	unstructured.RemoveNestedField(infra.Object, "status", "upToDateReplicas")
	w.create(infra)
	eventuallyIs(w, "three instances without nodes", "[3 0 0 -] ScalingUp", countsAndPhase)
	stored := w.get(clusterv1.GroupVersion.WithKind("MachinePool"), "pool")
	for field, there := range map[string]bool{"readyReplicas": true, "availableReplicas": true, "upToDateReplicas": false} {
		_, found, _ := unstructured.NestedFieldNoCopy(stored.Object, "status", field)
		want(t, "status."+field+" is stored", found, there)
	}
}

// TestDefectI_ExternallyManagedPoolIsScaling holds that a pool whose size an external autoscaler owns is counted as it is.
func TestDefectI_ExternallyManagedPoolIsScaling(t *testing.T) {
	w := newWorld(t)
	w.running(2, func(p *clusterv1.MachinePool) {
		p.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "external-autoscaler"}
	})
	w.node(3)
	w.instances(3)
	eventuallyIs(w, "one more than the pool asks for", "[3 3 3 3] Scaling", countsAndPhase)
	w.changePool(func(p *clusterv1.MachinePool) { *p.Spec.Replicas = 3 })
	w.runs(3)
}

// TestDefectP_PausedDeletionIsReported holds that a pool that is deleted while it is paused reports what it waits for, and is deleted when
// the pause ends.
func TestDefectP_PausedDeletionIsReported(t *testing.T) {
	w := newWorld(t)
	w.running(1, nil)
	w.changePool(func(p *clusterv1.MachinePool) {
		metav1.SetMetaDataAnnotation(&p.ObjectMeta, clusterv1.PausedAnnotation, "")
	})
	eventuallyIs(w, "Paused", "True Paused: MachinePool has the cluster.x-k8s.io/paused annotation"+poolAlone,
		condition(clusterv1.PausedCondition))
	w.deletePool()
	eventuallyIs(w, "Deleting", "True Paused: Deletion is blocked while the pool is paused: MachinePool has the cluster.x-k8s.io/paused "+
		"annotation"+poolAlone, condition(clusterv1.DeletingCondition))
	want(t, "phase", w.pool().Status.Phase, "Deleting")
	want(t, "infrastructure is left alone", w.get(poolGVK, "infra").GetDeletionTimestamp().IsZero(), true)
	w.changePool(func(p *clusterv1.MachinePool) { delete(p.Annotations, clusterv1.PausedAnnotation) })
	w.gone()
}

// TestDefectQ_InstanceListedTwiceIsCopiedOnce holds that the controller writes such a list in a form that admission accepts.
func TestDefectQ_InstanceListedTwiceIsCopiedOnce(t *testing.T) {
	w := newWorld(t)
	w.running(2, nil)
	w.change(poolGVK, "infra", func(o map[string]any) {
		_ = unstructured.SetNestedSlice(o, []any{w.id(1), w.id(3), w.id(1), w.id(2)}, "spec", "providerIDList")
	})
	eventuallyIs(w, "instances", fmt.Sprint([]string{w.id(1), w.id(3), w.id(2)}),
		func(p *clusterv1.MachinePool) string { return fmt.Sprint(p.Spec.ProviderIDList) })
	w.instances(2)
	w.runs(2)
}

// TestDefectC_NodesAreDeletedWithThePool holds that Nodes which are still Ready are deleted as well, and no Node of another owner.
func TestDefectC_NodesAreDeletedWithThePool(t *testing.T) {
	w := newWorld(t)
	w.running(2, nil)
	w.node(3)
	w.ready(2, corev1.ConditionFalse, metav1.Now().Time)
	w.deletePool()
	w.gone()
	for n, there := range map[int]bool{1: false, 2: false, 3: true} {
		node := w.getNode(n)
		want(t, fmt.Sprintf("node %d is there", n), node != nil && node.DeletionTimestamp.IsZero(), there)
	}
}

// TestDefectH_PoolOfAnUninitializedClusterIsDeleted holds that a workload cluster to which no connection is possible, because it was never
// initialized, is not waited for longer than the time limit of the pool.
func TestDefectH_PoolOfAnUninitializedClusterIsDeleted(t *testing.T) {
	w := emptyWorld(t)
	w.clusterThat(false)
	pool := w.aPool(1)
	pool.Spec.Template.Spec.Deletion.NodeDeletionTimeoutSeconds = new(int32(1))
	w.create(pool)
	w.create(w.aConfig("boot"))
	w.create(w.anInfra(1))
	eventuallyIs(w, "a pool without a control plane", "Unknown ConnectionDown: Waiting for the control plane of Cluster c1 to be initialized",
		condition(clusterv1.AvailableCondition))
	w.deletePool()
	w.gone()
}
