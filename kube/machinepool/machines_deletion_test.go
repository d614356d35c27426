package machinepool

import (
	"context"
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/muster-project/muster/kube/machinepool/machinesync"
)

func TestRow52_MachinesAreDeletedBeforeTheirPool(t *testing.T) {
	t.Parallel()
	w := populated(t)
	w.delete()
	w.pass()
	for _, name := range []string{"m1", "m2"} {
		want(t, name+" is being deleted", !w.machine(name).DeletionTimestamp.IsZero(), true)
	}
	w.say("m1", clusterv1.MachineDeletingCondition, metav1.ConditionTrue, clusterv1.MachineDeletingDrainingNodeReason, "pods")
	res := w.settled()
	want(t, "Deleting", w.condition(clusterv1.DeletingCondition), "True "+machinesync.WaitingForDeletionReason)
	want(t, "message", w.message(clusterv1.DeletingCondition), "Waiting for Machines to be deleted, 2 left: m1 (DrainingNode: pods), m2")
	want(t, "next pass", res.RequeueAfter, machinesync.AfterDeletion)
	if o := w.get(infraGVK, "infra"); o == nil || o.GetDeletionTimestamp().IsZero() {
		t.Error("infrastructure: want it deleted, because it would replace its machines otherwise")
	}
	if o := w.get(configGVK, "boot"); !o.GetDeletionTimestamp().IsZero() {
		t.Error("bootstrap: want it there while machines are left")
	}
	wantAll(t, "nodes: their Machines remove them", w.nodeNames(), []string{"n1", "n2"})
	w.letGo("m1")
	w.settled()
	wantAll(t, "Machines: none is created again", w.machineNames(), []string{"m2"})
	want(t, "message", w.message(clusterv1.DeletingCondition), "Waiting for Machines to be deleted, 1 left: m2")
	w.letGo("m2")
	w.settled()
	want(t, "Deleting", w.condition(clusterv1.DeletingCondition), "True WaitingForInfrastructureDeletion")
	w.finish(infraGVK, "infra")
	w.settled()
	w.finish(configGVK, "boot")
	w.pass()
	if w.pool() != nil {
		t.Errorf("pool: want it gone, got %s", w.message(clusterv1.DeletingCondition))
	}
	wantAll(t, "nodes of deleted Machines", w.nodeNames(), []string{})
}

// TestMachinesOfNothingAreDeletedLast: the Machine controller deletes the Node of such a Machine without a drain.
func TestMachinesOfNothingAreDeletedLast(t *testing.T) {
	t.Parallel()
	w := populated(t)
	if err := w.mgmt.Delete(t.Context(), anInfraMachine("m1", id1)); err != nil {
		t.Fatal(err)
	}
	w.delete()
	w.settled()
	want(t, "m1 is held", w.machine("m1").DeletionTimestamp.IsZero(), true)
	want(t, "m2 is being deleted", !w.machine("m2").DeletionTimestamp.IsZero(), true)
	want(t, "message", w.message(clusterv1.DeletingCondition), "Waiting for Machines to be deleted, 1 left: m2")
	want(t, "infrastructure is being deleted", !w.get(infraGVK, "infra").GetDeletionTimestamp().IsZero(), true)
	w.letGo("m2")
	w.settled()
	want(t, "m1 is held while the infrastructure drains its instance", w.machine("m1").DeletionTimestamp.IsZero(), true)
	want(t, "Deleting", w.condition(clusterv1.DeletingCondition), "True WaitingForInfrastructureDeletion")
	w.finish(infraGVK, "infra")
	w.settled()
	want(t, "m1 is being deleted", !w.machine("m1").DeletionTimestamp.IsZero(), true)
	w.letGo("m1")
	w.settled()
	w.finish(configGVK, "boot")
	w.pass()
	if w.pool() != nil {
		t.Errorf("pool: want it gone, got %s", w.message(clusterv1.DeletingCondition))
	}
}

func TestUnreadableInfrastructureMachinesHoldTheDeletion(t *testing.T) {
	t.Parallel()
	w := populated(t)
	w.delete()
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
	want(t, "m1 is being deleted", !w.machine("m1").DeletionTimestamp.IsZero(), false)
	want(t, "Deleting", w.condition(clusterv1.DeletingCondition), "True "+machinesync.WaitingForDeletionReason)
	if m := w.message(clusterv1.DeletingCondition); !strings.Contains(m, down.Error()) {
		t.Errorf("Deleting: want what holds the deletion, got %q", m)
	}
}

func TestInfrastructureIsDeletedAfterAllMachinesAreDeleting(t *testing.T) {
	t.Parallel()
	w := populated(t)
	w.delete()
	down := errors.New("admission denied the request")
	w.r.Client = interceptor.NewClient(w.mgmt,
		interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if o.GetName() == "m2" {
				return down
			}
			return c.Delete(ctx, o, opts...)
		}})
	if _, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: poolKey}); !errors.Is(err, down) {
		t.Fatalf("want the error to be returned, got %v", err)
	}
	want(t, "m1 is being deleted", !w.machine("m1").DeletionTimestamp.IsZero(), true)
	want(t, "infrastructure is not deleted", w.get(infraGVK, "infra").GetDeletionTimestamp().IsZero(), true)
}
