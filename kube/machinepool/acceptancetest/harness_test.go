package acceptancetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// world is one namespace with a cluster of its own.
type world struct {
	t  *testing.T
	ns string
}

// newWorld creates a namespace with a Cluster that becomes ready, unless the test creates it later.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := emptyWorld(t)
	w.cluster()
	return w
}

func emptyWorld(t *testing.T) *world {
	t.Helper()
	needsServer(t)
	t.Parallel()
	return ownWorld(t)
}

func needsServer(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("an API server: left out with -short")
	}
}

// ownWorld creates a namespace, and does not run the test beside others.
func ownWorld(t *testing.T) *world {
	t.Helper()
	needsServer(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "r-"}}
	w := &world{t: t}
	w.create(namespace)
	w.ns = namespace.Name
	return w
}

func (w *world) create(o client.Object) {
	w.t.Helper()
	if err := admin.Create(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: w.ns, Name: name}
}

// object returns an object of a provider.
func (w *world) object(gvk schema.GroupVersionKind, name string, spec, status map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec, "status": status}}
	o.SetGroupVersionKind(gvk)
	o.SetNamespace(w.ns)
	o.SetName(name)
	return o
}

// cluster creates a Cluster c1 with what its providers report when it is ready. Its control plane is externally managed: otherwise the
// Machine controller does not drain in a cluster without control plane Machines.
func (w *world) cluster() {
	w.t.Helper()
	w.clusterThat(true)
}

// clusterThat creates a Cluster that becomes ready, or one whose infrastructure and control plane never do.
func (w *world) clusterThat(up bool) {
	w.t.Helper()
	endpoint := map[string]any{"host": "127.0.0.1", "port": int64(server.Port)}
	w.create(w.object(clusterGVK, "c1", map[string]any{"controlPlaneEndpoint": endpoint},
		map[string]any{"initialization": map[string]any{"provisioned": up}}))
	w.create(w.object(planeGVK, "c1", map[string]any{"version": "v1.36.0"}, map[string]any{"externalManagedControlPlane": true,
		"initialization": map[string]any{"controlPlaneInitialized": up}, "version": "v1.36.0"}))
	w.kubeconfig()
	w.create(&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "c1"}, Spec: clusterv1.ClusterSpec{
		ControlPlaneEndpoint: clusterv1.APIEndpoint{Host: "127.0.0.1", Port: int32(server.Port)},
		InfrastructureRef:    refTo(clusterGVK, "c1"), ControlPlaneRef: refTo(planeGVK, "c1"),
	}})
}

// kubeconfig creates the secret with which the controllers connect to the workload cluster. It exists before the Cluster counts as
// provisioned, because a failed connection is retried only after a while.
func (w *world) kubeconfig() {
	w.t.Helper()
	w.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: secret.Name("c1", secret.Kubeconfig),
		Labels: map[string]string{clusterv1.ClusterNameLabel: "c1"}},
		Type: clusterv1.ClusterSecretType, Data: map[string][]byte{secret.KubeconfigDataName: server.Kubeconfig}})
}

func refTo(gvk schema.GroupVersionKind, name string) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{APIGroup: gvk.Group, Kind: gvk.Kind, Name: name}
}

// aPool returns a pool with a number of replicas, a configuration and an infrastructure object; it is not created yet.
func (w *world) aPool(replicas int32) *clusterv1.MachinePool {
	return &clusterv1.MachinePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "pool"},
		Spec: clusterv1.MachinePoolSpec{ClusterName: "c1", Replicas: &replicas,
			Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{
				ClusterName: "c1", Version: "v1.36.0", Bootstrap: clusterv1.Bootstrap{ConfigRef: refTo(configGVK, "boot")},
				InfrastructureRef: refTo(poolGVK, "infra")}}},
	}
}

func (w *world) aConfig(name string) *unstructured.Unstructured {
	return w.object(configGVK, name, nil, map[string]any{"initialization": map[string]any{"dataSecretCreated": true},
		"dataSecretName": name + "-data"})
}

// anInfra returns a provisioned infrastructure object with a number of instances.
func (w *world) anInfra(instances int) *unstructured.Unstructured {
	ids := []any{}
	for n := range instances {
		ids = append(ids, w.id(n+1))
	}
	return w.object(poolGVK, "infra", map[string]any{"providerIDList": ids},
		map[string]any{"initialization": map[string]any{"provisioned": true},
			"replicas": int64(instances), "upToDateReplicas": int64(instances)})
}

// running creates a pool whose Nodes have joined, and waits until it is Running.
func (w *world) running(replicas int32, change func(*clusterv1.MachinePool)) {
	w.t.Helper()
	pool := w.aPool(replicas)
	if change != nil {
		change(pool)
	}
	w.create(pool)
	w.create(w.aConfig("boot"))
	w.create(w.anInfra(int(replicas)))
	for n := range replicas {
		w.node(int(n) + 1)
	}
	w.runs(replicas)
}

func (w *world) id(n int) string { return fmt.Sprintf("test:///%s/i-%d", w.ns, n) }

func (w *world) nodeName(n int) string { return fmt.Sprintf("%s-n%d", w.ns, n) }

// node creates a Node that has been Ready for a minute, as the kubelet of instance n does. It is deleted after the test.
func (w *world) node(n int) {
	w.t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.nodeName(n)}, Spec: corev1.NodeSpec{ProviderID: w.id(n)}}
	w.create(node)
	w.t.Cleanup(func() { _ = client.IgnoreNotFound(admin.Delete(context.Background(), node)) })
	w.ready(n, corev1.ConditionTrue, time.Now().Add(-time.Minute))
}

// ready sets the Ready condition of a Node, as its kubelet does, and since when.
func (w *world) ready(n int, status corev1.ConditionStatus, since time.Time) {
	w.t.Helper()
	w.eventually("node is written", func(ctx context.Context) error {
		node := &corev1.Node{}
		if err := admin.Get(ctx, client.ObjectKey{Name: w.nodeName(n)}, node); err != nil {
			return err
		}
		if node.Status.NodeInfo.KubeletVersion == "" {
			node.Status.NodeInfo.KubeletVersion = "v1.36.0"
		}
		node.Status.Conditions = nil
		for t, s := range map[corev1.NodeConditionType]corev1.ConditionStatus{corev1.NodeReady: status,
			corev1.NodeMemoryPressure: corev1.ConditionFalse,
			corev1.NodeDiskPressure:   corev1.ConditionFalse, corev1.NodePIDPressure: corev1.ConditionFalse} {
			node.Status.Conditions = append(node.Status.Conditions,
				corev1.NodeCondition{Type: t, Status: s, Reason: "Kubelet", LastTransitionTime: metav1.NewTime(since)})
		}
		return admin.Status().Update(ctx, node)
	})
}

func (w *world) getNode(n int) *corev1.Node {
	w.t.Helper()
	node := &corev1.Node{}
	if err := admin.Get(w.t.Context(), client.ObjectKey{Name: w.nodeName(n)}, node); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		w.t.Fatal(err)
	}
	return node
}

// changeNode changes a Node without the controllers, and retries after conflicts.
func (w *world) changeNode(n int, how func(*corev1.Node)) {
	w.t.Helper()
	w.eventually("node is written", func(ctx context.Context) error {
		node := &corev1.Node{}
		if err := admin.Get(ctx, client.ObjectKey{Name: w.nodeName(n)}, node); err != nil {
			return err
		}
		how(node)
		return admin.Update(ctx, node)
	})
}

// change changes an object of a provider, and retries after conflicts.
func (w *world) change(gvk schema.GroupVersionKind, name string, how func(o map[string]any)) {
	w.t.Helper()
	w.eventually(name+" is written", func(ctx context.Context) error {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(gvk)
		if err := admin.Get(ctx, w.key(name), o); err != nil {
			return err
		}
		how(o.Object)
		return admin.Update(ctx, o)
	})
}

// instances makes the infrastructure object list a number of instances.
func (w *world) instances(count int) {
	w.t.Helper()
	w.change(poolGVK, "infra", func(o map[string]any) {
		after := w.anInfra(count).Object
		spec, status := o["spec"].(map[string]any), o["status"].(map[string]any)
		spec["providerIDList"] = after["spec"].(map[string]any)["providerIDList"]
		for _, field := range []string{"replicas", "upToDateReplicas"} {
			status[field] = int64(count)
		}
	})
}

func (w *world) get(gvk schema.GroupVersionKind, name string) *unstructured.Unstructured {
	w.t.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(gvk)
	if err := admin.Get(w.t.Context(), w.key(name), o); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		w.t.Fatal(err)
	}
	return o
}

// pool returns the stored pool, nil if it is gone.
func (w *world) pool() *clusterv1.MachinePool {
	w.t.Helper()
	pool := &clusterv1.MachinePool{}
	if err := admin.Get(w.t.Context(), w.key("pool"), pool); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		w.t.Fatal(err)
	}
	return pool
}

// changePool changes the pool as a user does, and retries after conflicts.
func (w *world) changePool(how func(*clusterv1.MachinePool)) {
	w.t.Helper()
	w.eventually("pool is written", func(ctx context.Context) error {
		pool := &clusterv1.MachinePool{}
		if err := admin.Get(ctx, w.key("pool"), pool); err != nil {
			return err
		}
		how(pool)
		return admin.Update(ctx, pool)
	})
}

func (w *world) deletePool() {
	w.t.Helper()
	if err := admin.Delete(w.t.Context(), &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "pool"}}); err != nil {
		w.t.Fatal(err)
	}
}

// gone waits until the pool is gone.
func (w *world) gone() {
	w.t.Helper()
	w.eventually("the pool goes", func(context.Context) error {
		if p := w.pool(); p != nil {
			return fmt.Errorf("want it gone, got %+v", meta.FindStatusCondition(p.Status.Conditions, clusterv1.DeletingCondition))
		}
		return nil
	})
}

// eventually reads until something holds, and fails with what does not at the time limit.
func (w *world) eventually(what string, holds func(ctx context.Context) error) {
	w.t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(w.t.Context(), pause, limit, true, func(ctx context.Context) (bool, error) {
		err := holds(ctx)
		if err == nil || ctx.Err() == nil {
			last = err
		}
		return err == nil, nil
	})
	if err != nil {
		w.t.Fatalf("%s: %v", what, errors.Join(err, last))
	}
}

// eventuallyIs waits until the value that of reads from the pool equals wanted.
func eventuallyIs[T comparable](w *world, what string, wanted T, of func(*clusterv1.MachinePool) T) {
	w.t.Helper()
	w.eventually(what, func(context.Context) error {
		pool := w.pool()
		if pool == nil {
			return errors.New("the pool is gone")
		}
		if got := of(pool); got != wanted {
			return fmt.Errorf("want %v, got %v; phase %s, conditions %+v", wanted, got, pool.Status.Phase, pool.Status.Conditions)
		}
		return nil
	})
}

// condition returns a condition of a pool as status, reason and message.
func condition(t string) func(*clusterv1.MachinePool) string {
	return func(pool *clusterv1.MachinePool) string {
		c := meta.FindStatusCondition(pool.Status.Conditions, t)
		switch {
		case c == nil:
			return "missing"
		case c.Message == "":
			return string(c.Status) + " " + c.Reason
		}
		return string(c.Status) + " " + c.Reason + ": " + c.Message
	}
}

func phase(pool *clusterv1.MachinePool) string { return pool.Status.Phase }

// counts returns replicas, ready, available and up to date, where - is unknown.
func counts(pool *clusterv1.MachinePool) string {
	var all []string
	for _, n := range []*int32{pool.Status.Replicas, pool.Status.ReadyReplicas, pool.Status.AvailableReplicas, pool.Status.UpToDateReplicas} {
		if n == nil {
			all = append(all, "-")
			continue
		}
		all = append(all, fmt.Sprint(*n))
	}
	return fmt.Sprint(all)
}

// runs waits until a number of machines are ready, available and up to date.
func (w *world) runs(replicas int32) {
	w.t.Helper()
	eventuallyIs(w, "the pool runs", fmt.Sprintf("[%[1]d %[1]d %[1]d %[1]d] Running", replicas),
		func(p *clusterv1.MachinePool) string { return counts(p) + " " + phase(p) })
}

// quiet waits until the pool has not been written for a while.
func (w *world) quiet() string {
	w.t.Helper()
	last, same := "", 0
	w.eventually("nothing is written any more", func(context.Context) error {
		if now := w.pool().ResourceVersion; now != last {
			last, same = now, 0
		}
		if same++; same < 15 {
			return fmt.Errorf("unchanged for %d looks", same)
		}
		return nil
	})
	return last
}

func want[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: want %v, got %v", what, want, got)
	}
}
