package machinepool

import (
	"context"
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	v1beta1conditions "sigs.k8s.io/cluster-api/util/conditions/deprecated/v1beta1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/muster-project/muster/kube/machines"
)

func TestUnhealthyMachinesAreDeleted(t *testing.T) {
	t.Parallel()
	pause := func(w *world) {
		w.changeMachine("m1", func(m *clusterv1.Machine) { m.Annotations = map[string]string{clusterv1.PausedAnnotation: ""} })
	}
	for name, tc := range map[string]struct {
		reason string
		make   func(w *world)
		goes   bool
	}{
		"marked": {"the health check has marked it", func(w *world) { w.unhealthy("m1") }, true},
		"unhealthy only": {"the health check has not marked it, because its budget does not allow it", func(w *world) {
			w.say("m1", clusterv1.MachineHealthCheckSucceededCondition, metav1.ConditionFalse, "UnhealthyNode", "")
		}, false},
		"paused Machine": {"the user may want to debug a paused Machine", func(w *world) { w.unhealthy("m1"); pause(w) }, false},
		"skipped Machine": {"the annotation excludes it", func(w *world) {
			w.unhealthy("m1")
			w.changeMachine("m1", func(m *clusterv1.Machine) {
				m.Annotations = map[string]string{clusterv1.MachineSkipRemediationAnnotation: ""}
			})
		}, false},
		"paused pool": {"nothing is done for a paused pool", func(w *world) {
			w.changePool(func(p *clusterv1.MachinePool) { p.Annotations = map[string]string{clusterv1.PausedAnnotation: ""} })
			w.unhealthy("m1")
		}, false},
		"paused cluster": {"nothing is done for a paused cluster", func(w *world) {
			yes := true
			change(w, w.mgmt, clusterKey, &clusterv1.Cluster{}, func(c *clusterv1.Cluster) { c.Spec.Paused = &yes })
			w.unhealthy("m1")
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := populated(t)
			tc.make(w)
			w.settled()
			m := w.machine("m1")
			want(t, tc.reason, !m.DeletionTimestamp.IsZero(), tc.goes)
			want(t, "m2 stays", w.machine("m2").DeletionTimestamp.IsZero(), true)
			if !tc.goes {
				return
			}
			want(t, "OwnerRemediated", w.machineCondition("m1", clusterv1.MachineOwnerRemediatedCondition),
				"False MachineDeleting: Machine is deleting")
			want(t, "OwnerRemediated of v1beta1", v1beta1conditions.IsTrue(m, clusterv1.MachineOwnerRemediatedV1Beta1Condition), true)
			want(t, "cause on the Machine", m.Annotations[machines.CauseAnnotation],
				"UnhealthyMachine: Health check failed: Condition Ready on Node is reporting status False for more than 5m0s")
			want(t, "Remediating", w.condition(clusterv1.RemediatingCondition)+": "+w.message(clusterv1.RemediatingCondition),
				"True Remediating: Remediating m1 (UnhealthyNode)")
			wantAll(t, "events", w.events(), []string{"Normal UnhealthyMachine Deleted Machine m1: " +
				"Health check failed: Condition Ready on Node is reporting status False for more than 5m0s"})
			w.letGo("m1")
			w.settled()
			want(t, "Remediating", w.condition(clusterv1.RemediatingCondition), "False NotRemediating")
		})
	}
}

func TestInterruptedRemediationIsRepeated(t *testing.T) {
	t.Parallel()
	w := populated(t)
	w.unhealthy("m1")
	down := errors.New("the API is down for the test")
	w.r.Client = interceptor.NewClient(w.mgmt,
		interceptor.Funcs{Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error { return down }})
	if _, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: poolKey}); !errors.Is(err, down) {
		t.Fatalf("want the error to be returned, got %v", err)
	}
	w.r.Client = w.mgmt
	w.settled()
	want(t, "deleted", !w.machine("m1").DeletionTimestamp.IsZero(), true)
}

func TestEventsAreRecordedIfTheStatusWriteFails(t *testing.T) {
	t.Parallel()
	w := populated(t)
	w.unhealthy("m1")
	w.r.Client = interceptor.NewClient(w.mgmt,
		interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch,
			opts ...client.SubResourcePatchOption) error {
			if _, ok := o.(*clusterv1.MachinePool); ok {
				return apierrors.NewConflict(clusterv1.GroupVersion.WithResource("machinepools").GroupResource(), "pool", errors.New("changed"))
			}
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		}})
	w.pass()
	want(t, "deleted", !w.machine("m1").DeletionTimestamp.IsZero(), true)
	want(t, "events", len(w.events()), 1)
}

func TestRecoveredMachineIsNotRemediated(t *testing.T) {
	t.Parallel()
	w := populated(t)
	w.unhealthy("m1")
	w.say("m1", clusterv1.MachineHealthCheckSucceededCondition, metav1.ConditionTrue, "HealthCheckSucceeded", "")
	m := w.machine("m1")
	v1beta1conditions.MarkTrue(m, clusterv1.MachineHealthCheckSucceededV1Beta1Condition)
	v1beta1conditions.MarkFalse(m, clusterv1.MachineOwnerRemediatedV1Beta1Condition, "WaitingForRemediation",
		clusterv1.ConditionSeverityWarning, "")
	if err := w.mgmt.Status().Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	w.settled()
	want(t, "OwnerRemediated", w.machineCondition("m1", clusterv1.MachineOwnerRemediatedCondition), "missing")
	want(t, "OwnerRemediated of v1beta1", v1beta1conditions.Has(w.machine("m1"), clusterv1.MachineOwnerRemediatedV1Beta1Condition), false)
	want(t, "kept", w.machine("m1").DeletionTimestamp.IsZero(), true)
}

func TestObsoleteMachinesAreDeleted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		make   func(w *world)
		goes   bool
	}{
		"instance is gone": {"it represents nothing any more", func(w *world) {
			w.changeNode("n1", func(n *corev1.Node) { setReady(n, false, w.clock) })
			w.changeInfra(func(o map[string]any) {
				_ = unstructured.SetNestedStringSlice(o, []string{id2}, "spec", "providerIDList")
			})
		}, true},
		"instance is listed": {"its provider may create the infrastructure machine again, and the deletion of the Machine would terminate " +
			"the instance", func(*world) {}, false},
		"instance is unknown": {"it may be the one that is listed and has no infrastructure machine", func(w *world) {
			w.changeMachine("m1", func(m *clusterv1.Machine) { m.Spec.ProviderID = "" })
		}, false},
		"never had an instance": {"all that are listed have infrastructure machines: it is none of theirs", func(w *world) {
			w.changeMachine("m1", func(m *clusterv1.Machine) { m.Spec.ProviderID = "" })
			w.changeInfra(func(o map[string]any) {
				_ = unstructured.SetNestedStringSlice(o, []string{id2}, "spec", "providerIDList")
			})
		}, true},
		"the cache is behind": {"the infrastructure machine is there", func(w *world) {
			w.changeInfra(func(o map[string]any) {
				_ = unstructured.SetNestedStringSlice(o, []string{id2}, "spec", "providerIDList")
			})
			w.r.Live = interceptor.NewClient(w.mgmt,
				interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
					return nil
				}})
		}, false},
		"infrastructure is gone": {"its machines are unknown then", func(w *world) {
			_ = w.mgmt.Delete(w.t.Context(), w.get(infraGVK, "infra"))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := populated(t)
			if err := w.mgmt.Delete(t.Context(), w.get(machineGVK, "m1")); err != nil {
				t.Fatal(err)
			}
			tc.make(w)
			w.settled()
			want(t, tc.reason, !w.machine("m1").DeletionTimestamp.IsZero(), tc.goes)
			want(t, "m2 stays", w.machine("m2").DeletionTimestamp.IsZero(), true)
			told := slices.Contains(w.events(), "Normal SuccessfulDeleteMachine Deleted Machines of terminated instances: m1")
			want(t, "recorded as an event", told, tc.goes)
		})
	}
}
