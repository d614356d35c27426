package acceptancetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// finalizer is on the objects of pools whose instances the provider terminates.
const finalizer = "test/instances"

// provider acts as the controller of an infrastructure with machines, by the contract: an infrastructure machine that is being deleted
// terminates its instance, and a pool is deleted when none is left.
type provider struct {
	client client.Client
	mu     sync.Mutex
	// seen is the state of the Node of each terminated instance, order what was deleted, in order.
	seen  map[string]string
	order []string
}

var played *provider

func addProvider(mgr ctrl.Manager) error {
	played = &provider{client: mgr.GetClient(), seen: map[string]string{}}
	for _, gvk := range []schema.GroupVersionKind{poolGVK, machineGVK} {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(gvk)
		err := ctrl.NewControllerManagedBy(mgr).Named("provider-" + gvk.Kind).For(o).Complete(played.of(gvk))
		if err != nil {
			return err
		}
	}
	return nil
}

// of returns the reconciler of one kind. A pool is reconciled again after a while, because its machines do not wake it.
func (p *provider) of(gvk schema.GroupVersionKind) reconciler {
	return func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(gvk)
		if err := admin.Get(ctx, req.NamespacedName, o); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		if o.GetDeletionTimestamp().IsZero() || !controllerutil.ContainsFinalizer(o, finalizer) {
			return ctrl.Result{}, nil
		}
		if gvk.Kind == "TestMachinePool" {
			left := &unstructured.UnstructuredList{}
			left.SetGroupVersionKind(machineGVK)
			if err := admin.List(ctx, left, client.InNamespace(req.Namespace)); err != nil {
				return ctrl.Result{}, err
			}
			if len(left.Items) > 0 {
				return ctrl.Result{RequeueAfter: pause}, nil
			}
		} else if err := p.take(ctx, o); err != nil {
			return ctrl.Result{}, err
		}
		p.note(o)
		controllerutil.RemoveFinalizer(o, finalizer)
		return ctrl.Result{}, client.IgnoreNotFound(admin.Update(ctx, o))
	}
}

type reconciler func(ctx context.Context, req ctrl.Request) (ctrl.Result, error)

func (r reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return r(ctx, req)
}

// note records that an object is deleted: once, because a write is repeated after a conflict.
func (p *provider) note(o client.Object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if name := o.GetNamespace() + "/" + o.GetName(); !slices.Contains(p.order, name) {
		p.order = append(p.order, name)
	}
}

// take terminates the instance: it leaves the list of the pool, and the state of its Node is recorded.
func (p *provider) take(ctx context.Context, o *unstructured.Unstructured) error {
	id, _, _ := unstructured.NestedString(o.Object, "spec", "providerID")
	nodes := &corev1.NodeList{}
	if err := admin.List(ctx, nodes); err != nil {
		return err
	}
	state := "gone"
	for i := range nodes.Items {
		if nodes.Items[i].Spec.ProviderID == id {
			state = map[bool]string{true: "cordoned", false: "serving"}[nodes.Items[i].Spec.Unschedulable]
		}
	}
	p.mu.Lock()
	p.seen[id] = state
	p.mu.Unlock()
	pool := &unstructured.Unstructured{}
	pool.SetGroupVersionKind(poolGVK)
	if err := admin.Get(ctx, client.ObjectKey{Namespace: o.GetNamespace(), Name: "infra"}, pool); err != nil {
		return client.IgnoreNotFound(err)
	}
	ids, _, _ := unstructured.NestedStringSlice(pool.Object, "spec", "providerIDList")
	left := []string{}
	for _, other := range ids {
		if other != id {
			left = append(left, other)
		}
	}
	_ = unstructured.SetNestedStringSlice(pool.Object, left, "spec", "providerIDList")
	_ = unstructured.SetNestedField(pool.Object, int64(len(left)), "status", "replicas")
	_ = unstructured.SetNestedField(pool.Object, int64(len(left)), "status", "upToDateReplicas")
	return admin.Update(ctx, pool)
}

func (p *provider) state(id string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen[id]
}

// provided is a world with a pool that has Machines, whose instances the provider terminates.
type provided struct{ *world }

// newProvided creates the pool with its instances. It does not run the test beside others.
func newProvided(t *testing.T, replicas int32, change func(*clusterv1.MachinePool)) *provided {
	t.Helper()
	w := &provided{ownWorld(t)}
	w.cluster()
	empty := ""
	pool := &clusterv1.MachinePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "pool"},
		Spec: clusterv1.MachinePoolSpec{ClusterName: "c1", Replicas: &replicas,
			Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{
				ClusterName: "c1", Version: "v1.36.0", Bootstrap: clusterv1.Bootstrap{DataSecretName: &empty},
				InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: poolGVK.Group, Kind: poolGVK.Kind, Name: "infra"}}}},
	}
	if change != nil {
		change(pool)
	}
	infra := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"providerIDList": []any{}}, "status": map[string]any{
		"initialization": map[string]any{"provisioned": true}, "ready": true, "replicas": int64(0), "upToDateReplicas": int64(0),
		"infrastructureMachineKind": "TestMachine"}}}
	infra.SetGroupVersionKind(poolGVK)
	infra.SetNamespace(w.ns)
	infra.SetName("infra")
	infra.SetFinalizers([]string{finalizer})
	w.create(infra)
	w.create(pool)
	for n := range replicas {
		w.instance(int(n) + 1)
	}
	return w
}

// instance creates an instance with its Node and its infrastructure machine, and lists it.
func (w *provided) instance(n int) {
	w.t.Helper()
	w.node(n)
	w.infraMachine(n)
	w.change(poolGVK, "infra", func(o map[string]any) {
		ids, _, _ := unstructured.NestedStringSlice(o, "spec", "providerIDList")
		_ = unstructured.SetNestedStringSlice(o, append(ids, w.id(n)), "spec", "providerIDList")
		_ = unstructured.SetNestedField(o, int64(len(ids)+1), "status", "replicas")
		_ = unstructured.SetNestedField(o, int64(len(ids)+1), "status", "upToDateReplicas")
	})
}

// infraMachine creates the infrastructure machine of an instance.
func (w *provided) infraMachine(n int) {
	w.t.Helper()
	infra := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"providerID": w.id(n)},
		"status": map[string]any{"ready": true, "initialization": map[string]any{"provisioned": true}, "failureDomain": "zone-a"}}}
	infra.SetGroupVersionKind(machineGVK)
	infra.SetNamespace(w.ns)
	infra.SetName(fmt.Sprintf("m%d", n))
	infra.SetLabels(map[string]string{clusterv1.ClusterNameLabel: "c1", clusterv1.MachinePoolNameLabel: "pool"})
	infra.SetFinalizers([]string{finalizer})
	w.create(infra)
}

// machines returns the names of the Machines.
func (w *provided) machines(ctx context.Context) ([]string, error) {
	list := &clusterv1.MachineList{}
	if err := admin.List(ctx, list, client.InNamespace(w.ns)); err != nil {
		return nil, err
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names, nil
}

// stored returns the stored pool, or why there is none.
func (w *provided) stored(ctx context.Context) (*clusterv1.MachinePool, error) {
	pool := &clusterv1.MachinePool{}
	return pool, admin.Get(ctx, w.key("pool"), pool)
}

func show(n *int32) any {
	if n == nil {
		return "unknown"
	}
	return *n
}
