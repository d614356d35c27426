package acceptancetest

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// populated creates a pool with a number of Machines, and waits until it is Running.
func (w *world) populated(replicas int, change func(*clusterv1.MachinePool)) {
	w.t.Helper()
	pool := w.aPool(int32(replicas))
	if change != nil {
		change(pool)
	}
	w.create(pool)
	w.create(w.aConfig("boot"))
	infra := w.anInfra(replicas)
	_ = unstructured.SetNestedField(infra.Object, "TestMachine", "status", "infrastructureMachineKind")
	w.create(infra)
	for n := range replicas {
		w.node(n + 1)
		w.infraMachine(n + 1)
	}
	w.runs(int32(replicas))
}

func (w *world) machine(name string) *clusterv1.Machine {
	w.t.Helper()
	m := &clusterv1.Machine{}
	if err := admin.Get(w.t.Context(), w.key(name), m); err != nil {
		w.t.Fatal(err)
	}
	return m
}

// TestRow28_MachinesFollowTheTemplateInPlace holds that changes of the pool's template are applied to existing Machines, which are not
// recreated for them, and reach their Nodes.
func TestRow28_MachinesFollowTheTemplateInPlace(t *testing.T) {
	w := newWorld(t)
	w.populated(1, func(p *clusterv1.MachinePool) {
		p.Spec.Template.Labels = map[string]string{"node.cluster.x-k8s.io/tier": "web"}
	})
	uid := w.machine("m1").UID
	w.changePool(func(p *clusterv1.MachinePool) {
		p.Spec.Template.Labels["node.cluster.x-k8s.io/tier"] = "db"
		p.Spec.Template.Annotations = map[string]string{"note": "x"}
		p.Spec.Template.Spec.Deletion.NodeDrainTimeoutSeconds = new(int32(300))
		p.Spec.Template.Spec.Deletion.NodeVolumeDetachTimeoutSeconds = new(int32(200))
	})
	w.eventually("the Machine and its node", func(context.Context) error {
		m, n := w.machine("m1"), w.getNode(1)
		d := m.Spec.Deletion
		if d.NodeDrainTimeoutSeconds == nil || d.NodeVolumeDetachTimeoutSeconds == nil {
			return fmt.Errorf("got %+v", d)
		}
		got := fmt.Sprint(m.UID == uid, *d.NodeDrainTimeoutSeconds, *d.NodeVolumeDetachTimeoutSeconds, m.Annotations["note"],
			m.Labels["node.cluster.x-k8s.io/tier"], n.Labels["node.cluster.x-k8s.io/tier"])
		if wanted := fmt.Sprint(true, 300, 200, "x", "db", "db"); got != wanted {
			return fmt.Errorf("want %s, got %s", wanted, got)
		}
		return nil
	})
}

// TestRow34_AdmissionOfMachinesOfPools holds what admission and the Machine controller do for pools: the same Machine without an owner
// would be rejected.
func TestRow34_AdmissionOfMachinesOfPools(t *testing.T) {
	w := newWorld(t)
	w.populated(1, nil)
	m := w.machine("m1")
	want(t, "bootstrap", fmt.Sprint(m.Spec.Bootstrap.ConfigRef, *m.Spec.Bootstrap.DataSecretName),
		fmt.Sprint(clusterv1.ContractVersionedObjectReference{}, ""))
	if len(m.OwnerReferences) != 1 || !metav1.IsControlledBy(m, w.pool()) {
		t.Errorf("owners: want the pool alone, got %v", m.OwnerReferences)
	}
	want(t, "what it stands for", m.Spec.InfrastructureRef, refTo(machineGVK, "m1"))
	w.eventually("the version that its node runs, and its node", func(context.Context) error {
		if m := w.machine("m1"); m.Spec.Version != "v1.36.0" || m.Status.NodeRef.Name != w.nodeName(1) {
			return fmt.Errorf("got %q, %v", m.Spec.Version, m.Status.NodeRef)
		}
		return nil
	})
	stray := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "stray"},
		Spec: clusterv1.MachineSpec{ClusterName: "c1", InfrastructureRef: refTo(machineGVK, "m2")}}
	refused(t, "a Machine without an owner", admin.Create(t.Context(), stray), "spec.bootstrap")
}
