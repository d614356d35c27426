package infrapool_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/pool"
)

func withMachines(o *awsv1.AWSMachinePool) {
	o.Annotations = map[string]string{settings.MachinesAnnotation: "true"}
}

// populated is a pool of two whose instances have Machines, and which is at rest.
func populated(t *testing.T, change ...func(*awsv1.AWSMachinePool)) *world {
	t.Helper()
	change = append([]func(*awsv1.AWSMachinePool){withMachines}, change...)
	w := running(t, machinePool(), awsMachinePool(change...), cluster(), place(), data(), definition())
	w.lives()
	w.account.take()
	w.writes = nil
	if got := w.names(); !slices.Equal(got, []string{"mp-i-1", "mp-i-2"}) {
		t.Fatalf("want an AWSMachine for each instance, got %v", got)
	}
	return w
}

// lives runs passes, with the core controllers between them, until nothing changes.
func (w *world) lives() {
	w.t.Helper()
	for range 40 {
		w.writes = nil
		w.pass()
		idle := len(w.writes) == 0 && !w.core() && w.again >= time.Minute
		w.join()
		w.now = w.now.Add(10 * time.Second)
		if idle {
			return
		}
	}
	w.t.Fatalf("still at work after 40 passes: %v\n%s", w.account.calls, w.say())
}

// infras are the AWSMachines, by name.
func (w *world) infras() map[string]*awsv1.AWSMachine {
	w.t.Helper()
	list := &awsv1.AWSMachineList{}
	if err := w.management.List(w.t.Context(), list); err != nil {
		w.t.Fatal(err)
	}
	out := map[string]*awsv1.AWSMachine{}
	for i := range list.Items {
		out[list.Items[i].Name] = &list.Items[i]
	}
	return out
}

func (w *world) names() []string {
	var out []string
	for name := range w.infras() {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func (w *world) machines() []clusterv1.Machine {
	w.t.Helper()
	list := &clusterv1.MachineList{}
	if err := w.management.List(w.t.Context(), list); err != nil {
		w.t.Fatal(err)
	}
	return list.Items
}

// core plays the core controllers: a Machine for each AWSMachine while the status announces them, and the deletion of a
// Machine in its order. One with an annotation of a hook waits for that. It reports whether it has done anything.
func (w *world) core() bool {
	w.t.Helper()
	do := func(err error) bool {
		if client.IgnoreNotFound(err) != nil {
			w.t.Fatal(err)
		}
		return true
	}
	changed := w.meetNodes()
	infras := w.infras()
	ctx := w.t.Context()
	have := map[string]bool{}
	for _, m := range w.machines() {
		have[m.Name] = true
		_, paused := m.Annotations[clusterv1.PausedAnnotation]
		infra := infras[m.Spec.InfrastructureRef.Name]
		hooked := slices.ContainsFunc(slices.Collect(keysOf(m.Annotations)),
			func(k string) bool { return strings.HasPrefix(k, clusterv1.PreTerminateDeleteHookAnnotationPrefix) })
		switch {
		case paused || m.DeletionTimestamp.IsZero() || hooked:
		case infra == nil:
			controllerutil.RemoveFinalizer(&m, clusterv1.MachineFinalizer)
			changed = do(w.management.Update(ctx, &m))
		case infra.DeletionTimestamp.IsZero():
			conditions.Set(&m, metav1.Condition{Type: clusterv1.MachineDeletingCondition, Status: metav1.ConditionTrue,
				Reason: clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason})
			m.SetV1Beta1Conditions(clusterv1.Conditions{{Type: clusterv1.DrainingSucceededV1Beta1Condition, Status: corev1.ConditionTrue}})
			changed = do(w.management.Status().Update(ctx, &m)) && do(w.management.Delete(ctx, infra))
		}
	}
	if o := (&awsv1.AWSMachinePool{}); w.management.Get(ctx, key, o) != nil || o.Status.InfrastructureMachineKind != "AWSMachine" {
		return changed
	}
	for name, infra := range infras {
		if have[name] || !infra.DeletionTimestamp.IsZero() {
			continue
		}
		m := &clusterv1.Machine{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: infra.Labels, Finalizers: []string{clusterv1.MachineFinalizer},
				UID:             infra.UID,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool", Name: "mp", UID: "mp"}}},
			Spec: clusterv1.MachineSpec{ClusterName: "c", ProviderID: infra.Spec.ProviderID,
				InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: awsv1.GroupVersion.Group, Kind: "AWSMachine", Name: name}},
		}
		changed = do(w.management.Create(ctx, m))
	}
	return changed
}

// meetNodes has the Machines of instances that have joined refer to their Nodes. It reports whether one was written.
func (w *world) meetNodes() (changed bool) {
	for _, m := range w.machines() {
		for _, n := range w.nodes() {
			if n.Spec.ProviderID != m.Spec.ProviderID || m.Status.NodeRef.IsDefined() {
				continue
			}
			m.Status.NodeRef.Name, changed = n.Name, true
			if err := w.management.Status().Update(w.t.Context(), &m); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	return changed
}

func keysOf(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// nodes are those of the workload cluster.
func (w *world) nodes() []corev1.Node {
	w.t.Helper()
	list := &corev1.NodeList{}
	if err := w.workload.List(w.t.Context(), list); err != nil {
		w.t.Fatal(err)
	}
	return list.Items
}

// errBudget is the API server's error for an eviction that a disruption budget forbids.
var errBudget = apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)

// vanish has an instance end by itself; the group launches another in its place at the next resize.
func (a *account) vanish(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, g := range a.groups {
		g.instances = slices.DeleteFunc(g.instances, func(i pool.Instance) bool { return i.ID == id })
		g.size = len(g.instances)
	}
}

func (w *world) machine(name string) *clusterv1.Machine {
	return &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

// destructive are the steps that ended machines, since the last time.
func (w *world) destructive() []string {
	return only(w.account.take(), pool.Remove, pool.Replace, pool.DeleteGroup)
}
