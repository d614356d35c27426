package machinepool

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/labels/format"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/kube/machinepool/reference"
)

// withMachines returns an infrastructure object that reports a kind of infrastructure machines.
func withMachines(ids ...string) *unstructured.Unstructured {
	infra := anInfra(ids...)
	_ = unstructured.SetNestedField(infra.Object, "TestMachine", "status", "infrastructureMachineKind")
	return infra
}

// anInfraMachine returns an infrastructure machine of the pool.
func anInfraMachine(name, providerID string) *unstructured.Unstructured {
	o := object(machineGVK, name, map[string]any{"providerID": providerID}, map[string]any{"ready": true, "failureDomain": "zone-a"})
	o.SetLabels(map[string]string{clusterv1.ClusterNameLabel: "c1", clusterv1.MachinePoolNameLabel: format.MustFormatValue("pool")})
	return o
}

// upstream acts as the Machine controller: it adds a finalizer to Machines, and reports each as ready.
func (w *world) upstream() {
	w.t.Helper()
	list := &clusterv1.MachineList{}
	if err := w.mgmt.List(w.t.Context(), list); err != nil {
		w.t.Fatal(err)
	}
	for i := range list.Items {
		m := &list.Items[i]
		if controllerutil.AddFinalizer(m, clusterv1.MachineFinalizer) || m.Spec.ProviderID == "" {
			infra := w.get(machineGVK, m.Spec.InfrastructureRef.Name)
			if infra != nil {
				m.Spec.ProviderID = reference.NestedString(infra, "spec", "providerID")
			}
			if err := w.mgmt.Update(w.t.Context(), m); err != nil {
				w.t.Fatal(err)
			}
			for _, t := range []string{clusterv1.MachineReadyCondition, clusterv1.MachineAvailableCondition} {
				w.say(m.Name, t, metav1.ConditionTrue, t, "")
			}
		}
	}
	w.writes = nil
}

// say sets a condition of a Machine.
func (w *world) say(machine, condition string, status metav1.ConditionStatus, reason, message string) {
	w.t.Helper()
	m := w.machine(machine)
	conditions.Set(m, metav1.Condition{Type: condition, Status: status, Reason: reason, Message: message})
	if err := w.mgmt.Status().Update(w.t.Context(), m); err != nil {
		w.t.Fatal(err)
	}
	w.writes = nil
}

// machine returns a stored Machine, nil if there is none.
func (w *world) machine(name string) *clusterv1.Machine {
	w.t.Helper()
	m := &clusterv1.Machine{}
	if err := w.mgmt.Get(w.t.Context(), client.ObjectKey{Namespace: "default", Name: name}, m); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil
		}
		w.t.Fatal(err)
	}
	return m
}

func (w *world) machineNames() []string {
	w.t.Helper()
	list := &clusterv1.MachineList{}
	if err := w.mgmt.List(w.t.Context(), list); err != nil {
		w.t.Fatal(err)
	}
	names := []string{}
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

// machineCondition returns a condition of a Machine as status, reason and message.
func (w *world) machineCondition(name, t string) string {
	w.t.Helper()
	m := w.machine(name)
	if m == nil {
		return "no Machine"
	}
	c := conditions.Get(m, t)
	if c == nil {
		return "missing"
	}
	s := string(c.Status) + " " + c.Reason
	if c.Message != "" {
		s += ": " + c.Message
	}
	return s
}

func (w *world) changeMachine(name string, how func(*clusterv1.Machine)) {
	w.t.Helper()
	change(w, w.mgmt, client.ObjectKey{Namespace: "default", Name: name}, &clusterv1.Machine{}, how)
}

func (w *world) changeInfraMachine(name string, how func(o map[string]any)) {
	w.t.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(machineGVK)
	change(w, w.mgmt, client.ObjectKey{Namespace: "default", Name: name}, o, func(o *unstructured.Unstructured) { how(o.Object) })
}

// populated returns a settled world with a pool of two ready Machines.
func populated(t *testing.T, options ...option) *world {
	t.Helper()
	w := newWorld(t, []client.Object{aCluster(), aPool(2), aConfig(), withMachines(id1, id2), anInfraMachine("m1", id1),
		anInfraMachine("m2", id2)}, options...)
	w.node("n1", id1, true)
	w.node("n2", id2, true)
	w.settled()
	w.upstream()
	w.settled()
	want(t, "phase", w.pool().Status.Phase, "Running")
	want(t, "ready, available, up to date", w.counts(), [3]int32{2, 2, 2})
	w.events()
	return w
}

// aMachine returns a Machine that the controller has not created.
func aMachine(name string, owner *metav1.OwnerReference) *clusterv1.Machine {
	m := &clusterv1.Machine{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name + "-machine-uid"),
			Finalizers: []string{clusterv1.MachineFinalizer}},
		Spec: clusterv1.MachineSpec{ClusterName: "c1",
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: machineGVK.Group, Kind: machineGVK.Kind, Name: name}},
	}
	if owner != nil {
		m.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	return m
}

func controllerRef(kind, name, uid string) *metav1.OwnerReference {
	yes := true
	return &metav1.OwnerReference{APIVersion: clusterv1.GroupVersion.String(), Kind: kind, Name: name, UID: types.UID(uid), Controller: &yes}
}

// letGo removes the finalizer of a deleting Machine, as its controller does at the end, and its infrastructure machine.
func (w *world) letGo(name string) {
	w.t.Helper()
	m := w.machine(name)
	if m == nil || m.DeletionTimestamp.IsZero() {
		w.t.Fatalf("Machine %s: want it being deleted, got %v", name, m)
	}
	if infra := w.get(machineGVK, m.Spec.InfrastructureRef.Name); infra != nil {
		if err := w.mgmt.Delete(w.t.Context(), infra); err != nil {
			w.t.Fatal(err)
		}
	}
	w.changeMachine(name, func(m *clusterv1.Machine) { m.Finalizers = nil })
}

// unhealthy marks a Machine for remediation, as a MachineHealthCheck does.
func (w *world) unhealthy(name string) {
	w.t.Helper()
	w.say(name, clusterv1.MachineHealthCheckSucceededCondition, metav1.ConditionFalse, "UnhealthyNode",
		"Health check failed:\n  * Condition Ready on Node is reporting status False for more than 5m0s")
	w.say(name, clusterv1.MachineOwnerRemediatedCondition, metav1.ConditionFalse, clusterv1.MachineOwnerRemediatedWaitingForRemediationReason,
		"Waiting for remediation")
}

func silent(n *corev1.Node, since time.Time) { setReady(n, false, since) }
