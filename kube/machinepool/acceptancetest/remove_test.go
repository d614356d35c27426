package acceptancetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// keep adds the finalizer of a provider to its object, letGo removes it.
func (w *world) keep(gvk schema.GroupVersionKind, name string) {
	w.t.Helper()
	w.change(gvk, name, func(o map[string]any) { o["metadata"].(map[string]any)["finalizers"] = []any{"test/provider"} })
}

func (w *world) letGo(gvk schema.GroupVersionKind, name string) {
	w.t.Helper()
	w.change(gvk, name, func(o map[string]any) { delete(o["metadata"].(map[string]any), "finalizers") })
}

// deleting waits until an object is being deleted.
func (w *world) deleting(gvk schema.GroupVersionKind, name string) {
	w.t.Helper()
	w.eventually(name+" is being deleted", func(context.Context) error {
		if o := w.get(gvk, name); o == nil || o.GetDeletionTimestamp().IsZero() {
			return fmt.Errorf("got %v", o)
		}
		return nil
	})
}

// TestRow49_OrderOfDeletion holds the order of a deletion, what is reported of it, and that the pool waits only for objects that exist.
func TestRow49_OrderOfDeletion(t *testing.T) {
	w := newWorld(t)
	w.running(1, nil)
	w.keep(poolGVK, "infra")
	w.keep(configGVK, "boot")
	w.deletePool()
	w.deleting(poolGVK, "infra")
	w.deleting(configGVK, "boot")
	eventuallyIs(w, "Deleting", "True WaitingForInfrastructureDeletion: TestMachinePool infra is being deleted",
		condition(clusterv1.DeletingCondition))
	want(t, "phase", w.pool().Status.Phase, "Deleting")
	w.letGo(poolGVK, "infra")
	eventuallyIs(w, "Deleting", "True WaitingForBootstrapDeletion: TestConfig boot is being deleted", condition(clusterv1.DeletingCondition))
	if w.getNode(1) == nil {
		t.Error("node: want it there until all is gone")
	}
	w.letGo(configGVK, "boot")
	w.gone()
	if n := w.getNode(1); n != nil && n.DeletionTimestamp.IsZero() {
		t.Errorf("node: want it gone with the pool, got %v", n.Name)
	}
}

// TestRow49_DeletionWithoutTheKind holds that a provider that was uninstalled with its definitions does not block the deletion of a pool.
func TestRow49_DeletionWithoutTheKind(t *testing.T) {
	w := newWorld(t)
	fleetingGVK := schema.GroupVersionKind{Group: infrastructure, Version: "v1beta2",
		Kind: "Fleeting" + strings.ReplaceAll(w.ns, "-", "") + "Pool"}
	if err := define(t.Context(), fleetingGVK); err != nil {
		t.Fatal(err)
	}
	pool := w.aPool(0)
	pool.Spec.Template.Spec.InfrastructureRef = refTo(fleetingGVK, "infra")
	w.create(pool)
	w.create(w.aConfig("boot"))
	w.create(w.object(fleetingGVK, "infra", nil, map[string]any{"ready": true, "replicas": int64(0)}))
	eventuallyIs(w, "a pool of the kind", "Running", phase)
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: plural(fleetingGVK.Kind) + "." + fleetingGVK.Group}}
	if err := admin.Delete(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	w.deletePool()
	w.gone()
}

// TestRow53_PoolsAreDeletedBeforeTheControlPlane holds that Cluster API's controller of Clusters finds the pools, and waits for them while
// their machines need the control plane.
func TestRow53_PoolsAreDeletedBeforeTheControlPlane(t *testing.T) {
	w := newWorld(t)
	w.running(1, nil)
	w.keep(poolGVK, "infra")
	w.keep(planeGVK, "c1")
	if err := admin.Delete(t.Context(), &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "c1"}}); err != nil {
		t.Fatal(err)
	}
	w.deleting(poolGVK, "infra")
	want(t, "control plane while a pool is there", w.get(planeGVK, "c1").GetDeletionTimestamp().IsZero(), true)
	w.letGo(poolGVK, "infra")
	w.gone()
	w.deleting(planeGVK, "c1")
	w.letGo(planeGVK, "c1")
	w.eventually("the Cluster goes", func(ctx context.Context) error {
		c := &clusterv1.Cluster{}
		err := admin.Get(ctx, w.key("c1"), c)
		if err == nil {
			return fmt.Errorf("got %+v", c.Status.Conditions)
		}
		if !strings.Contains(err.Error(), "not found") {
			return errors.Join(errors.New("read the Cluster"), err)
		}
		return nil
	})
}
