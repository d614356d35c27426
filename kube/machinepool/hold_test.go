package machinepool

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/muster-project/muster/kube/machines"
)

// held reports whether the hook keeps a Machine from being deleted.
func (w *world) held(name string) bool {
	w.t.Helper()
	_, held := w.machine(name).Annotations[machines.HoldAnnotation]
	return held
}

// restored returns a pool whose Machine m1 was restored without its infrastructure machine.
func restored(t *testing.T) *world {
	t.Helper()
	w := populated(t)
	if err := w.mgmt.Delete(t.Context(), anInfraMachine("m1", id1)); err != nil {
		t.Fatal(err)
	}
	w.settled()
	return w
}

func (w *world) deleteMachine(name string) {
	w.t.Helper()
	if err := w.mgmt.Delete(w.t.Context(), w.machine(name)); err != nil {
		w.t.Fatal(err)
	}
	w.settled()
}

// TestMachinesOfNothingAreHeld: the Machine controller would delete the Node of such a Machine without a drain.
func TestMachinesOfNothingAreHeld(t *testing.T) {
	t.Parallel()
	w := restored(t)
	want(t, "m1 is held", w.held("m1"), true)
	want(t, "m2 is held", w.held("m2"), false)
	w.deleteMachine("m1")
	want(t, "m1 is held while it is being deleted", w.held("m1"), true)
	w.create(anInfraMachine("m1", id1))
	w.settled()
	want(t, "m1 is held when it can be drained", w.held("m1"), false)
}

func TestMachinesThatStayAreReleased(t *testing.T) {
	t.Parallel()
	w := restored(t)
	w.create(anInfraMachine("m1", id1))
	w.settled()
	want(t, "m1 is held", w.held("m1"), false)
	want(t, "m1 is being deleted", !w.machine("m1").DeletionTimestamp.IsZero(), false)
}

func TestMachinesOfGoneInstancesAreReleased(t *testing.T) {
	t.Parallel()
	w := restored(t)
	w.deleteMachine("m1")
	w.changeInfra(func(o map[string]any) {
		_ = unstructured.SetNestedStringSlice(o, []string{id2}, "spec", "providerIDList")
	})
	w.settled()
	want(t, "m1 is held", w.held("m1"), false)
}

// TestMachinesOfInstancesThatServeOutsideStay holds that a Machine which was restored without its infrastructure machine, and whose
// instance a user had taken out of the group, stays while its Node is Ready: the Machine controller would delete the Node undrained.
func TestMachinesOfInstancesThatServeOutsideStay(t *testing.T) {
	t.Parallel()
	w := restored(t)
	w.changeInfra(func(o map[string]any) {
		_ = unstructured.SetNestedStringSlice(o, []string{id2}, "spec", "providerIDList")
	})
	w.settled()
	want(t, "m1 is being deleted", !w.machine("m1").DeletionTimestamp.IsZero(), false)
	w.changeNode("n1", func(n *corev1.Node) { setReady(n, false, w.clock) })
	w.settled()
	want(t, "m1 is being deleted when its Node is not Ready", !w.machine("m1").DeletionTimestamp.IsZero(), true)
}

func TestMachinesOfAGoneInfrastructureAreReleased(t *testing.T) {
	t.Parallel()
	w := restored(t)
	w.deleteMachine("m1")
	w.delete()
	w.settled()
	want(t, "m1 is held while the infrastructure drains its instance", w.held("m1"), true)
	w.finish(infraGVK, "infra")
	w.settled()
	want(t, "m1 is held", w.held("m1"), false)
}

func TestMachinesAreNotHeldByWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := populated(t)
	down := errors.New("the API server is overloaded")
	w.r.Client = interceptor.NewClient(w.mgmt,
		interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if list.GetObjectKind().GroupVersionKind().Group == infraGVK.Group {
				return down
			}
			return c.List(ctx, list, opts...)
		}})
	if _, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: poolKey}); !errors.Is(err, down) {
		t.Fatalf("want the error to be returned, got %v", err)
	}
	want(t, "m1 is held", w.held("m1"), false)
}

func TestMachinesAreNotHeldByAStaleCache(t *testing.T) {
	t.Parallel()
	w := populated(t)
	w.r.Client = interceptor.NewClient(w.mgmt,
		interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if list.GetObjectKind().GroupVersionKind().Kind == machineGVK.Kind+"List" {
				return nil
			}
			return c.List(ctx, list, opts...)
		}})
	w.settled()
	want(t, "m1 is held", w.held("m1"), false)
}

// TestMachinesOfAnotherKindAreNotHeld: another controller creates what they refer to.
func TestMachinesOfAnotherKindAreNotHeld(t *testing.T) {
	t.Parallel()
	w := populated(t)
	w.changeMachine("m1", func(m *clusterv1.Machine) { m.Spec.InfrastructureRef.Kind = "OtherMachine" })
	if err := w.mgmt.Delete(t.Context(), anInfraMachine("m1", id1)); err != nil {
		t.Fatal(err)
	}
	w.settled()
	want(t, "m1 is held", w.held("m1"), false)
}
