package machinepool

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/muster-project/muster/kube/machinepool/nodesync"
	"github.com/muster-project/muster/kube/nodes"
)

var (
	poolKey    = client.ObjectKey{Namespace: "default", Name: "pool"}
	clusterKey = client.ObjectKey{Namespace: "default", Name: "c1"}
	infraGVK   = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta1", Kind: "TestMachinePool"}
	configGVK  = schema.GroupVersionKind{Group: "bootstrap.cluster.x-k8s.io", Version: "v1beta1", Kind: "TestConfig"}
	machineGVK = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta1", Kind: "TestMachine"}
	kubeadmGVK = schema.GroupVersionKind{Group: "bootstrap.cluster.x-k8s.io", Version: "v1beta2", Kind: "KubeadmConfig"}
)

// world is a management cluster and a workload cluster in memory, with a clock that the test moves.
type world struct {
	t         *testing.T
	scheme    *runtime.Scheme
	mgmt, wl  client.WithWatch
	r         *Reconciler
	clock     time.Time
	recorder  *events.FakeRecorder
	writes    []string
	failNodes error
}

type option func(w *world)

// lost is a ClusterCache without a connection.
type lost struct {
	clustercache.ClusterCache
	state clustercache.HealthCheckingState
}

func (l lost) GetHealthCheckingState(context.Context, client.ObjectKey) clustercache.HealthCheckingState {
	return l.state
}

// disconnected removes the connection to the workload cluster for longer than the grace period.
func disconnected(w *world) {
	w.lose(clustercache.HealthCheckingState{ConsecutiveFailures: nodesync.ConnectionTries})
}

func (w *world) lose(state clustercache.HealthCheckingState) {
	w.r.ClusterCache = lost{clustercache.NewFakeEmptyClusterCache(), state}
}

func (w *world) connect() {
	w.r.ClusterCache = clustercache.NewFakeClusterCache(w.wl, clusterKey, nodesync.WatchName)
}

// tracker stores objects without managed fields, which no test here reads: the default tracker of the fake client maps every kind of the
// scheme at each write.
func (w *world) tracker() clienttesting.ObjectTracker {
	return clienttesting.NewObjectTracker(w.scheme, serializer.NewCodecFactory(w.scheme).UniversalDecoder())
}

func newWorld(t *testing.T, objects []client.Object, options ...option) *world {
	t.Helper()
	w := &world{t: t, scheme: runtime.NewScheme(), clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), recorder: events.NewFakeRecorder(100)}
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme, bootstrapv1.AddToScheme,
		apiextensionsv1.AddToScheme} {
		if err := add(w.scheme); err != nil {
			t.Fatal(err)
		}
	}
	all := append([]client.Object{crd(infraGVK), crd(configGVK), crd(kubeadmGVK), crd(machineGVK)}, objects...)
	w.mgmt = fake.NewClientBuilder().WithScheme(w.scheme).WithObjects(all...).WithStatusSubresource(&clusterv1.MachinePool{},
		&clusterv1.Machine{}).
		WithIndex(&clusterv1.MachinePool{}, nodes.PoolField, nodes.PoolKeys).
		WithIndex(&clusterv1.MachinePool{}, referenceField, references).
		WithInterceptorFuncs(w.counting("management")).WithObjectTracker(w.tracker()).Build()
	b := fake.NewClientBuilder().WithScheme(w.scheme).WithObjectTracker(w.tracker())
	for _, i := range nodes.Indexes() {
		b = b.WithIndex(i.Object, i.Field, i.ExtractValue)
	}
	w.wl = b.WithInterceptorFuncs(w.counting("workload")).Build()
	w.r = &Reconciler{Client: w.mgmt, Recorder: w.recorder, Now: func() time.Time { return w.clock }}
	w.connect()
	for _, o := range options {
		o(w)
	}
	return w
}

func (w *world) counting(where string) interceptor.Funcs {
	note := func(verb string, o client.Object) {
		w.writes = append(w.writes, fmt.Sprintf("%s: %s %T %s", where, verb, o, o.GetName()))
	}
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			note("create", o)
			return c.Create(ctx, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			note("update", o)
			return c.Update(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			note("patch", o)
			return c.Patch(ctx, o, p, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			note("delete", o)
			if _, ok := o.(*corev1.Node); ok && w.failNodes != nil {
				return w.failNodes
			}
			return c.Delete(ctx, o, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch,
			opts ...client.SubResourcePatchOption) error {
			note("patch "+sub, o)
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	}
}

func crd(gvk schema.GroupVersionKind) *apiextensionsv1.CustomResourceDefinition {
	name := map[string]string{"TestMachinePool": "testmachinepools", "TestConfig": "testconfigs", "KubeadmConfig": "kubeadmconfigs",
		"TestMachine": "testmachines"}[gvk.Kind]
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
		Name: name + "." + gvk.Group, Labels: map[string]string{"cluster.x-k8s.io/v1beta2": gvk.Version}}}
}

func aCluster() *clusterv1.Cluster {
	provisioned := true
	return &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: clusterKey.Namespace, Name: clusterKey.Name, UID: "cluster-uid"},
		Status: clusterv1.ClusterStatus{Initialization: clusterv1.ClusterInitializationStatus{InfrastructureProvisioned: &provisioned},
			Conditions: []metav1.Condition{{Type: clusterv1.ClusterControlPlaneInitializedCondition,
				Status: metav1.ConditionTrue, Reason: "Initialized", LastTransitionTime: metav1.NewTime(time.Unix(1, 0))}}},
	}
}

func aPool(replicas int32) *clusterv1.MachinePool {
	return &clusterv1.MachinePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: poolKey.Namespace, Name: poolKey.Name, UID: "pool-uid", Generation: 1},
		Spec: clusterv1.MachinePoolSpec{ClusterName: clusterKey.Name, Replicas: &replicas, Template: clusterv1.MachineTemplateSpec{
			Spec: clusterv1.MachineSpec{ClusterName: clusterKey.Name, Version: "v1.36.0",
				Bootstrap: clusterv1.Bootstrap{ConfigRef: clusterv1.ContractVersionedObjectReference{APIGroup: configGVK.Group,
					Kind: configGVK.Kind, Name: "boot"}},
				InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infraGVK.Group, Kind: infraGVK.Kind, Name: "infra"}}}},
	}
}

func object(gvk schema.GroupVersionKind, name string, spec, status map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec, "status": status}}
	o.SetGroupVersionKind(gvk)
	o.SetNamespace(poolKey.Namespace)
	o.SetName(name)
	o.SetUID(types.UID(name + "-uid"))
	return o
}

func aConfig() *unstructured.Unstructured {
	return object(configGVK, "boot", nil, map[string]any{"initialization": map[string]any{"dataSecretCreated": true},
		"dataSecretName": "boot-data"})
}

// anInfra returns a provisioned infrastructure object with the given instances.
func anInfra(ids ...string) *unstructured.Unstructured {
	list := make([]any, len(ids))
	for i, id := range ids {
		list[i] = id
	}
	return object(infraGVK, "infra", map[string]any{"providerIDList": list}, map[string]any{
		"initialization": map[string]any{"provisioned": true}, "ready": true,
		"replicas": int64(len(ids)), "upToDateReplicas": int64(len(ids)),
	})
}

func (w *world) node(name, providerID string, ready bool) *corev1.Node {
	w.t.Helper()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name + "-uid")}, Spec: corev1.NodeSpec{ProviderID: providerID}}
	setReady(n, ready, w.clock)
	n.Status.NodeInfo.KubeletVersion = "v1.36.0"
	if err := w.wl.Create(w.t.Context(), n); err != nil {
		w.t.Fatal(err)
	}
	w.writes = nil
	return n
}

func setReady(n *corev1.Node, ready bool, since time.Time) {
	c := corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
		LastTransitionTime: metav1.NewTime(since)}
	if !ready {
		c.Status, c.Reason = corev1.ConditionFalse, "KubeletNotReady"
	}
	n.Status.Conditions = []corev1.NodeCondition{c}
}

// drains begins Muster's drain of a Node.
func (w *world) drains(name string) {
	w.t.Helper()
	w.changeNode(name, func(n *corev1.Node) {
		n.Spec.Unschedulable = true
		if n.Annotations == nil {
			n.Annotations = map[string]string{}
		}
		n.Annotations[nodes.DrainStartedAnnotation] = w.clock.Format(time.RFC3339)
	})
}

// change changes an object of either cluster without the controller.
func change[O client.Object](w *world, c client.Client, key client.ObjectKey, o O, how func(O)) {
	w.t.Helper()
	if err := c.Get(w.t.Context(), key, o); err != nil {
		w.t.Fatal(err)
	}
	how(o)
	if err := c.Update(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
	w.writes = nil
}

func (w *world) changeNode(name string, how func(*corev1.Node)) {
	w.t.Helper()
	change(w, w.wl, client.ObjectKey{Name: name}, &corev1.Node{}, how)
	n := &corev1.Node{}
	if err := w.wl.Get(w.t.Context(), client.ObjectKey{Name: name}, n); err != nil {
		w.t.Fatal(err)
	}
	how(n)
	if err := w.wl.Status().Update(w.t.Context(), n); err != nil {
		w.t.Fatal(err)
	}
	w.writes = nil
}

func (w *world) changeInfra(how func(o map[string]any)) {
	w.t.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(infraGVK)
	change(w, w.mgmt, client.ObjectKey{Namespace: "default", Name: "infra"}, o, func(o *unstructured.Unstructured) { how(o.Object) })
}

func (w *world) changePool(how func(*clusterv1.MachinePool)) {
	w.t.Helper()
	change(w, w.mgmt, poolKey, &clusterv1.MachinePool{}, how)
}

// pass runs one reconciliation that must succeed.
func (w *world) pass() ctrl.Result {
	w.t.Helper()
	w.writes = nil
	res, err := w.r.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: poolKey})
	if err != nil {
		w.t.Fatalf("reconcile: %v", err)
	}
	return res
}

// settled runs passes until one writes nothing, and returns the last result.
func (w *world) settled() ctrl.Result {
	w.t.Helper()
	for range 10 {
		if res := w.pass(); len(w.writes) == 0 {
			return res
		}
	}
	w.t.Fatalf("still writing after 10 passes: %v", w.writes)
	return ctrl.Result{}
}

// pool returns the stored pool; nil if it is gone.
func (w *world) pool() *clusterv1.MachinePool {
	w.t.Helper()
	pool := &clusterv1.MachinePool{}
	if err := w.mgmt.Get(w.t.Context(), poolKey, pool); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil
		}
		w.t.Fatal(err)
	}
	return pool
}

func (w *world) get(gvk schema.GroupVersionKind, name string) *unstructured.Unstructured {
	w.t.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(gvk)
	if err := w.mgmt.Get(w.t.Context(), client.ObjectKey{Namespace: "default", Name: name}, o); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil
		}
		w.t.Fatal(err)
	}
	return o
}

func (w *world) nodeNames() []string {
	w.t.Helper()
	list := &corev1.NodeList{}
	if err := w.wl.List(w.t.Context(), list); err != nil {
		w.t.Fatal(err)
	}
	names := []string{}
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

// counts returns ready, available and up-to-date replicas; -1 is unknown.
func (w *world) counts() [3]int32 {
	s := w.pool().Status
	one := func(p *int32) int32 {
		if p == nil {
			return -1
		}
		return *p
	}
	return [3]int32{one(s.ReadyReplicas), one(s.AvailableReplicas), one(s.UpToDateReplicas)}
}

func (w *world) refs() []string {
	names := []string{}
	for _, r := range w.pool().Status.NodeRefs {
		names = append(names, r.Name)
	}
	return names
}

// condition returns a condition of the pool as status and reason, such as "False NotReady".
func (w *world) condition(t string) string {
	w.t.Helper()
	c := meta.FindStatusCondition(w.pool().Status.Conditions, t)
	if c == nil {
		return "missing"
	}
	return string(c.Status) + " " + c.Reason
}

func (w *world) message(t string) string {
	w.t.Helper()
	c := meta.FindStatusCondition(w.pool().Status.Conditions, t)
	if c == nil {
		return "missing"
	}
	return c.Message
}

func (w *world) older(t clusterv1.ConditionType) string {
	w.t.Helper()
	for _, c := range w.pool().GetV1Beta1Conditions() {
		if c.Type == t {
			return string(c.Status)
		}
	}
	return "missing"
}

func (w *world) events() []string {
	all := []string{}
	for {
		select {
		case e := <-w.recorder.Events:
			all = append(all, e)
		default:
			return all
		}
	}
}

func want[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: want %v, got %v", what, want, got)
	}
}

func wantAll(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: want %v, got %v", what, want, got)
	}
}

// finish removes the finalizers of a deleting object, as its provider does at the end.
func (w *world) finish(gvk schema.GroupVersionKind, name string) {
	w.t.Helper()
	o := w.get(gvk, name)
	if o == nil {
		w.t.Fatalf("%s %s: want it to wait for its provider, got it gone", gvk.Kind, name)
	}
	if o.GetDeletionTimestamp().IsZero() {
		w.t.Fatalf("%s %s: want it to be deleted, got it untouched", gvk.Kind, name)
	}
	o.SetFinalizers(nil)
	if err := w.mgmt.Update(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
	w.writes = nil
}

// delete deletes the pool. What it refers to gets finalizers, as providers' objects have.
func (w *world) delete() {
	w.t.Helper()
	for _, o := range []*unstructured.Unstructured{w.get(infraGVK, "infra"), w.get(configGVK, "boot")} {
		o.SetFinalizers([]string{"test/provider"})
		if err := w.mgmt.Update(w.t.Context(), o); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := w.mgmt.Delete(w.t.Context(), w.pool()); err != nil {
		w.t.Fatal(err)
	}
	w.writes = nil
}

// answering is a ClusterCache whose cluster responded last at a given time.
type answering struct {
	clustercache.ClusterCache
	last time.Time
}

func (a answering) GetHealthCheckingState(context.Context, client.ObjectKey) clustercache.HealthCheckingState {
	return clustercache.HealthCheckingState{LastProbeTime: a.last, LastProbeSuccessTime: a.last}
}
