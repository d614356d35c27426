package infrapool_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/infrapool/status"
)

// orphaned drops the owner references of an AWSMachine, as a restore does.
func orphaned(o *awsv1.AWSMachine) { o.OwnerReferences = nil }

func (w *world) infra(name string) *awsv1.AWSMachine {
	return &awsv1.AWSMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

// TestALostOwnerReference: a restore drops owner references. The pool takes back what has its name, labels and provider ID, and
// nothing that stands for a serving instance is removed for it.
func TestALostOwnerReference(t *testing.T) {
	t.Parallel()
	const finalizer = "backup.example.org/x"
	for name, tc := range map[string]struct {
		why  string
		lose func(w *world)
	}{
		"one": {"the object is the pool's by its labels, name and provider ID", func(w *world) { change(w, w.infra("mp-i-1"), orphaned) }},
		"all": {"a restore drops them everywhere",
			func(w *world) { change(w, w.infra("mp-i-1"), orphaned); change(w, w.infra("mp-i-2"), orphaned) }},
		"and the labels": {"the name is left, and the provider ID", func(w *world) {
			change(w, w.infra("mp-i-1"), func(o *awsv1.AWSMachine) { orphaned(o); o.Labels = nil })
		}},
		"of another name": {"another provider named it, and its provider ID is the pool's", func(w *world) {
			o := w.infras()["mp-i-1"].DeepCopy()
			change(w, o, func(o *awsv1.AWSMachine) { o.Finalizers = nil })
			w.remove(o)
			o = &awsv1.AWSMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "theirs-1", Labels: o.Labels}, Spec: o.Spec}
			if err := w.management.Create(w.t.Context(), o); err != nil {
				w.t.Fatal(err)
			}
		}},
		"and deleted": {"without its owner its deletion asks for nothing: the serving instance stays, and the object is made again",
			func(w *world) {
				change(w, w.infra("mp-i-1"), orphaned)
				w.remove(w.infra("mp-i-1"))
			}},
		"deleted by the garbage collector": {"its reference names the pool as it was before the restore", func(w *world) {
			change(w, w.infra("mp-i-1"), func(o *awsv1.AWSMachine) { o.OwnerReferences[0].UID = "before" })
			w.remove(w.infra("mp-i-1"))
		}},
		"without labels, and deleted": {"as with its labels", func(w *world) {
			change(w, w.infra("mp-i-1"), func(o *awsv1.AWSMachine) { orphaned(o); o.Labels = nil; o.Finalizers = append(o.Finalizers, finalizer) })
			w.remove(w.infra("mp-i-1"))
			w.passes(4)
			change(w, w.infra("mp-i-1"), func(o *awsv1.AWSMachine) {
				if slices.Contains(o.Finalizers, awsv1.MachineFinalizer) {
					w.t.Error("want the pool's finalizer taken off")
				}
				o.Finalizers = nil
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := populated(t)
			tc.lose(w)
			w.lives()
			for k := range w.infras() {
				if o := w.infras()[k]; len(o.OwnerReferences) != 1 || o.OwnerReferences[0].UID != uid || !o.DeletionTimestamp.IsZero() {
					t.Errorf("%s: want %s the pool's, got %v, deleted %v", tc.why, k, o.OwnerReferences, o.DeletionTimestamp)
				}
			}
			if len(w.infras()) != 2 {
				t.Errorf("%s: want two AWSMachines, got %v", tc.why, w.names())
			}
			if got := w.destructive(); len(got) > 0 {
				t.Errorf("%s: but %v", tc.why, got)
			}
			for _, n := range w.nodes() {
				if n.Spec.Unschedulable {
					t.Errorf("%s: but %s is cordoned", tc.why, n.Name)
				}
			}
			change(w, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = new(int32(3)) })
			w.lives()
			if got := len(w.infras()); got != 3 {
				t.Errorf("%s: want the pool scaled, got %v", tc.why, w.names())
			}
		})
	}
}

// TestAMachineOfAnotherOwner: an object that another pool owns keeps its owner, and the pool tells of it and does everything else.
func TestAMachineOfAnotherOwner(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*awsv1.AWSMachine)
		want   string
	}{
		"another pool's": {func(o *awsv1.AWSMachine) {
			o.OwnerReferences = []metav1.OwnerReference{{APIVersion: awsv1.GroupVersion.String(), Kind: "AWSMachinePool", Name: "other",
				UID: "other"}}
		}, "AWSMachine default/mp-i-3 is owned by AWSMachinePool other"},
		"another instance's": {func(o *awsv1.AWSMachine) { o.Spec.ProviderID = "aws:///zone-a/i-9" },
			"AWSMachine default/mp-i-3 has the provider ID aws:///zone-a/i-9"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := populated(t)
			o := w.infra("mp-i-3")
			o.Spec.ProviderID = "aws:///zone-a/i-3"
			tc.change(o)
			if err := w.management.Create(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			before := w.infras()["mp-i-3"]
			change(w, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = new(int32(4)) })
			for range 6 {
				w.passes(1)
				w.core()
				w.join()
			}
			if got := w.infras()["mp-i-3"]; got.ResourceVersion != before.ResourceVersion {
				t.Errorf("want it left alone, got %+v", got)
			}
			if _, ok := w.infras()["mp-i-4"]; !ok {
				t.Errorf("want the others made, got %v", w.names())
			}
			for _, c := range []string{status.MachinesOwned, "Ready"} {
				if got := w.condition(c); got.Status != metav1.ConditionFalse || got.Reason != "MachineNameTaken" ||
					!strings.Contains(got.Message, tc.want) {
					t.Errorf("want %s to say %q, got %+v", c, tc.want, got)
				}
			}
			if got := strings.Join(w.events(), "\n"); strings.Count(got, "MachineNameTaken") != 1 {
				t.Errorf("want one event, got\n%s", got)
			}
			change(w, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = new(int32(2)) })
			o = w.infras()["mp-i-3"].DeepCopy()
			w.remove(o)
			w.lives()
			if c := meta.FindStatusCondition(w.get().Status.Conditions, status.MachinesOwned); c != nil {
				t.Errorf("want it told no more, got %+v", c)
			}
			if got := len(w.destructive()); got == 0 {
				t.Error("want the pool scaled in")
			}
		})
	}
}
