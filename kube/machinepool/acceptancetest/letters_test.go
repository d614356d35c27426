package acceptancetest

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// The tests of this file are named for the defects that were found in machine pool controllers of the field, as far as the API server
// has a part in them; the others are in package machinepool.

// TestDefectA_AFailureOfAProviderStopsNobody holds that a terminal failure is told in both versions of the API, and no longer when it is taken
// back, while the pool's nodes are counted as ever.
func TestDefectA_AFailureOfAProviderStopsNobody(t *testing.T) {
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
	says(w, "a failure", "CreateError: TestMachinePool infra reports a failure: no subnet", failure)
	w.runs(1)
	w.change(poolGVK, "infra", func(o map[string]any) {
		status := o["status"].(map[string]any)
		delete(status, "failureReason")
		delete(status, "failureMessage")
	})
	says(w, "a failure that is taken back", "none", failure)
}

// TestDefectE_WhatIsNotKnownIsNotStored holds that counts that nobody can tell are missing in the stored object, and not zero.
func TestDefectE_WhatIsNotKnownIsNotStored(t *testing.T) {
	w := newWorld(t)
	pool := w.aPool(3)
	pool.Spec.Template.Spec.Version = ""
	w.create(pool)
	w.create(w.aConfig("boot"))
	infra := w.anInfra(3)
	unstructured.RemoveNestedField(infra.Object, "status", "upToDateReplicas")
	w.create(infra)
	says(w, "three instances without nodes", "[3 0 0 -] ScalingUp", countsAndPhase)
	stored := w.get(clusterv1.GroupVersion.WithKind("MachinePool"), "pool")
	for field, there := range map[string]bool{"readyReplicas": true, "availableReplicas": true, "upToDateReplicas": false} {
		_, found, _ := unstructured.NestedFieldNoCopy(stored.Object, "status", field)
		want(t, "status."+field+" is stored", found, there)
	}
}

// TestDefectI_APoolThatAnotherSizesScalesInNoDirection holds that a pool whose size an autoscaler of the cloud sets is counted as it is.
func TestDefectI_APoolThatAnotherSizesScalesInNoDirection(t *testing.T) {
	w := newWorld(t)
	w.running(2, func(p *clusterv1.MachinePool) {
		p.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "external-autoscaler"}
	})
	w.node(3)
	w.instances(3)
	says(w, "one more than the pool asks for", "[3 3 3 3] Scaling", countsAndPhase)
	w.changePool(func(p *clusterv1.MachinePool) { *p.Spec.Replicas = 3 })
	w.runs(3)
}

// TestDefectP_ADeletionThatIsPausedSaysSo holds that a pool that is deleted while it is paused says what it waits for, and goes when the pause
// ends.
func TestDefectP_ADeletionThatIsPausedSaysSo(t *testing.T) {
	w := newWorld(t)
	w.running(1, nil)
	w.changePool(func(p *clusterv1.MachinePool) {
		metav1.SetMetaDataAnnotation(&p.ObjectMeta, clusterv1.PausedAnnotation, "")
	})
	says(w, "Paused", "True Paused: MachinePool has the cluster.x-k8s.io/paused annotation"+poolAlone, condition(clusterv1.PausedCondition))
	w.deletePool()
	says(w, "Deleting", "True Paused: Deletion waits while the pool is paused: MachinePool has the cluster.x-k8s.io/paused annotation"+poolAlone, condition(clusterv1.DeletingCondition))
	want(t, "phase", w.pool().Status.Phase, "Deleting")
	want(t, "infrastructure is left alone", w.get(poolGVK, "infra").GetDeletionTimestamp().IsZero(), true)
	w.changePool(func(p *clusterv1.MachinePool) { delete(p.Annotations, clusterv1.PausedAnnotation) })
	w.gone()
}

// TestDefectQ_AnInstanceThatAProviderListsTwiceIsTakenOnce holds that such a list is written by the controller in a form that admission takes.
func TestDefectQ_AnInstanceThatAProviderListsTwiceIsTakenOnce(t *testing.T) {
	w := newWorld(t)
	w.running(2, nil)
	w.change(poolGVK, "infra", func(o map[string]any) {
		_ = unstructured.SetNestedSlice(o, []any{w.id(1), w.id(3), w.id(1), w.id(2)}, "spec", "providerIDList")
	})
	says(w, "instances", fmt.Sprint([]string{w.id(1), w.id(3), w.id(2)}), func(p *clusterv1.MachinePool) string { return fmt.Sprint(p.Spec.ProviderIDList) })
	w.instances(2)
	w.runs(2)
}

// TestDefectC_TheNodesOfAPoolGoWithIt holds that nodes that still tell of themselves go as well, and no other's does.
func TestDefectC_TheNodesOfAPoolGoWithIt(t *testing.T) {
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

// TestDefectH_APoolOfAClusterThatNeverCameUpGoes holds that a workload cluster to which nobody can connect, for it never came up, is waited for no
// longer than the pool says.
func TestDefectH_APoolOfAClusterThatNeverCameUpGoes(t *testing.T) {
	w := emptyWorld(t)
	w.clusterThat(false)
	pool := w.aPool(1)
	pool.Spec.Template.Spec.Deletion.NodeDeletionTimeoutSeconds = new(int32(1))
	w.create(pool)
	w.create(w.aConfig("boot"))
	w.create(w.anInfra(1))
	says(w, "a pool without a control plane", "Unknown ConnectionDown: Waiting for the control plane of Cluster c1 to be initialized", condition(clusterv1.AvailableCondition))
	w.deletePool()
	w.gone()
}
