package acceptancetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/machines"
)

// restoredAlone has the Machine of an instance left without its infrastructure machine, as a restore does.
func (w *provided) restoredAlone(n int) {
	w.t.Helper()
	name := fmt.Sprintf("m%d", n)
	w.change(machineGVK, name, func(o map[string]any) { unstructured.RemoveNestedField(o, "metadata", "finalizers") })
	infra := &unstructured.Unstructured{}
	infra.SetGroupVersionKind(machineGVK)
	infra.SetNamespace(w.ns)
	infra.SetName(name)
	if err := admin.Delete(w.t.Context(), infra); err != nil {
		w.t.Fatal(err)
	}
}

// TestMachinesOfNothingAreDrained holds that the Machine controller drains a restored Machine that a user deletes before its infrastructure
// machine is created again.
func TestMachinesOfNothingAreDrained(t *testing.T) {
	t.Parallel()
	w := newProvided(t, 2, nil)
	w.runs(2)
	w.restoredAlone(2)
	w.eventually("the hook is set", func(ctx context.Context) error {
		m := &clusterv1.Machine{}
		if err := admin.Get(ctx, w.key("m2"), m); err != nil {
			return err
		}
		if _, held := m.Annotations[machines.HoldAnnotation]; !held {
			return fmt.Errorf("want the annotation %s, got %v", machines.HoldAnnotation, m.Annotations)
		}
		return nil
	})
	if err := admin.Delete(t.Context(), &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "m2"}}); err != nil {
		t.Fatal(err)
	}
	w.eventually("the Machine waits", func(ctx context.Context) error {
		m := &clusterv1.Machine{}
		if err := admin.Get(ctx, w.key("m2"), m); err != nil {
			return err
		}
		c := meta.FindStatusCondition(m.Status.Conditions, clusterv1.MachineDeletingCondition)
		if c == nil || c.Reason != clusterv1.MachineDeletingWaitingForPreDrainHookReason {
			return fmt.Errorf("Deleting: want reason %s, got %+v", clusterv1.MachineDeletingWaitingForPreDrainHookReason, c)
		}
		return nil
	})
	node := &corev1.Node{}
	if err := admin.Get(t.Context(), client.ObjectKey{Name: w.nodeName(2)}, node); err != nil || node.Spec.Unschedulable {
		t.Errorf("node while its Machine waits: want it there and not cordoned, got cordoned %v, %v", node.Spec.Unschedulable, err)
	}
	w.infraMachine(2)
	w.eventually("the Machine goes", func(ctx context.Context) error {
		names, err := w.machines(ctx)
		if !slices.Equal(names, []string{"m1"}) {
			return errors.Join(fmt.Errorf("Machines: want m1, got %v", names), err)
		}
		return err
	})
	if got := played.state(w.id(2)); got != "cordoned" {
		t.Errorf("node when its instance was taken: want it drained, so cordoned, got %s", got)
	}
}
