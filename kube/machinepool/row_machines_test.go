package machinepool

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/labels/format"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestRow25_MachinesIfTheInfrastructureReportsAKind holds that a pool has Machines if its infrastructure object reports a kind, and creates
// none when it no longer does.
func TestRow25_MachinesIfTheInfrastructureReportsAKind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{aCluster(), aPool(1), aConfig(), anInfra(id1), anInfraMachine("m1", id1)})
	w.node("n1", id1, true)
	w.settled()
	wantAll(t, "Machines of a pool without a kind", w.machineNames(), []string{})
	w.changeInfra(func(o map[string]any) {
		_ = unstructured.SetNestedField(o, "TestMachine", "status", "infrastructureMachineKind")
	})
	w.settled()
	wantAll(t, "Machines of a pool with Machines", w.machineNames(), []string{"m1"})
	w.upstream()
	w.changeInfra(func(o map[string]any) { unstructured.RemoveNestedField(o, "status", "infrastructureMachineKind") })
	w.settled()
	want(t, "ready in a pool without a kind again", w.counts()[0], 1)
	if m := w.machine("m1"); m == nil || !m.DeletionTimestamp.IsZero() {
		t.Error("Machine of a pool without a kind again: want it left to its provider, because its deletion would terminate the instance")
	}
}

// TestRow26_MachinesAreFoundByLabels holds that the pool label is the pool's name, or a hash if the name is no valid label, and that
// machines of another cluster's pool with that name are not the pool's.
func TestRow26_MachinesAreFoundByLabels(t *testing.T) {
	t.Parallel()
	pool := aPool(1)
	pool.Name = strings.Repeat("long-", 20) + "pool"
	mine, twin := anInfraMachine("m1", id1), anInfraMachine("m2", id2)
	for _, o := range []*unstructured.Unstructured{mine, twin} {
		labels := o.GetLabels()
		labels[clusterv1.MachinePoolNameLabel] = format.MustFormatValue(pool.Name)
		o.SetLabels(labels)
	}
	labels := twin.GetLabels()
	labels[clusterv1.ClusterNameLabel] = "c2"
	twin.SetLabels(labels)
	w := newWorld(t, []client.Object{aCluster(), pool, aConfig(), withMachines(id1), mine, twin})
	if _, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(pool)}); err != nil {
		t.Fatal(err)
	}
	wantAll(t, "Machines", w.machineNames(), []string{"m1"})
	want(t, "pool label", w.machine("m1").Labels[clusterv1.MachinePoolNameLabel], format.MustFormatValue(pool.Name))
}

// TestRow33_ScaleInDeletesNoMachine holds that the infrastructure selects the machine to remove: the pool deletes none because of its size,
// and follows what its provider deletes.
func TestRow33_ScaleInDeletesNoMachine(t *testing.T) {
	t.Parallel()
	w, one := populated(t), int32(1)
	w.changePool(func(p *clusterv1.MachinePool) { p.Spec.Replicas = &one })
	w.settled()
	for _, name := range []string{"m1", "m2"} {
		want(t, name+" stays", w.machine(name).DeletionTimestamp.IsZero(), true)
	}
	want(t, "phase", w.pool().Status.Phase, "ScalingDown")
	// The provider deletes the one that was marked.
	if err := w.mgmt.Delete(t.Context(), w.machine("m2")); err != nil {
		t.Fatal(err)
	}
	w.letGo("m2")
	w.changeInfra(func(o map[string]any) {
		_ = unstructured.SetNestedStringSlice(o, []string{id1}, "spec", "providerIDList")
		_ = unstructured.SetNestedField(o, int64(1), "status", "replicas")
		_ = unstructured.SetNestedField(o, int64(1), "status", "upToDateReplicas")
	})
	w.settled()
	wantAll(t, "Machines: none is created again", w.machineNames(), []string{"m1"})
	want(t, "phase", w.pool().Status.Phase, "Running")
	wantAll(t, "references", w.refs(), []string{"n1"})
}

// TestRow51_NodesAreDeletedBeforeThePool holds that the time limit for the deletion of Nodes begins when the machines are gone, so that a
// slow cloud does not prevent it.
func TestRow51_NodesAreDeletedBeforeThePool(t *testing.T) {
	t.Parallel()
	second := int32(1)
	w := running(t)
	w.changePool(func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Deletion.NodeDeletionTimeoutSeconds = &second })
	w.delete()
	w.settled()
	w.clock = w.clock.Add(time.Hour)
	w.settled()
	want(t, "pool while its machines go", w.pool().Finalizers[0], clusterv1.MachinePoolFinalizer)
	w.finish(infraGVK, "infra")
	w.finish(configGVK, "boot")
	w.pass()
	wantAll(t, "nodes", w.nodeNames(), []string{})
	want(t, "pool is gone", w.pool() == nil, true)
}

// TestRow67_MachinesHaveTheirOwnFailureDomain holds that the failure domains of the pool stay as the user has set them, and that each
// Machine has the one in which it runs.
func TestRow67_MachinesHaveTheirOwnFailureDomain(t *testing.T) {
	t.Parallel()
	pool := aPool(3)
	pool.Spec.FailureDomains = []string{"zone-a", "zone-b"}
	inB, unknown := anInfraMachine("m2", id2), anInfraMachine("m3", id3)
	_ = unstructured.SetNestedField(inB.Object, "zone-b", "status", "failureDomain")
	unstructured.RemoveNestedField(unknown.Object, "status", "failureDomain")
	w := newWorld(t, []client.Object{aCluster(), pool, aConfig(), withMachines(id1, id2, id3), anInfraMachine("m1", id1), inB, unknown})
	w.settled()
	for name, zone := range map[string]string{"m1": "zone-a", "m2": "zone-b", "m3": ""} {
		want(t, "zone of "+name, w.machine(name).Spec.FailureDomain, zone)
	}
	wantAll(t, "zones of the pool", w.pool().Spec.FailureDomains, []string{"zone-a", "zone-b"})
}
