package integrationtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/core/reconcilers/machine"
	"sigs.k8s.io/cluster-api/core/reconcilers/machinehealthcheck"
	"sigs.k8s.io/cluster-api/util/secret"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/muster-project/muster/local/apiserver"
	"github.com/muster-project/muster/local/install"
	"github.com/muster-project/muster/local/upstream"
	"github.com/muster-project/muster/manager"
	"github.com/muster-project/muster/test/alone"
)

var (
	poolGVK    = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta2", Kind: "TestMachinePool"}
	machineGVK = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta2", Kind: "TestMachine"}
	planeGVK   = schema.GroupVersionKind{Group: "controlplane.cluster.x-k8s.io", Version: "v1beta2", Kind: "TestControlPlane"}
)

// server is the API server of all tests, which is the workload cluster too; each test has a namespace of its own.
var server *apiserver.Server

// admin writes as users and providers do.
var admin client.Client

func TestMain(m *testing.M) {
	os.Exit(alone.Run(m, "together", func(ctx context.Context, s *apiserver.Server, _ string) (func() error, error) {
		server = s
		return control(ctx)
	}))
}

// control runs the controller of MachinePools with Cluster API's controllers of Machines and health checks in one manager, as in an
// installation with both.
func control(ctx context.Context) (stop func() error, err error) {
	if err := install.Definitions(ctx, server.Config, nil); err != nil {
		return nil, err
	}
	if err := upstream.Hurry(); err != nil {
		return nil, err
	}
	mgr, err := manager.New(ctx, server.Config, manager.Options{Controllers: []string{manager.MachinePool}})
	if err != nil {
		return nil, err
	}
	if admin, err = client.New(server.Config, client.Options{Scheme: mgr.GetScheme()}); err != nil {
		return nil, err
	}
	for _, gvk := range []schema.GroupVersionKind{poolGVK, machineGVK, planeGVK} {
		if err := define(ctx, gvk); err != nil {
			return nil, err
		}
	}
	c, o := mgr.GetClient(), controller.Options{MaxConcurrentReconciles: 4}
	if err := (&machine.Reconciler{Client: c, APIReader: mgr.GetAPIReader(), ClusterCache: mgr.ClusterCache, RemoteConditionsGracePeriod: 5 * time.Minute}).SetupWithManager(ctx, mgr, o); err != nil {
		return nil, err
	}
	if err := (&machinehealthcheck.Reconciler{Client: c, ClusterCache: mgr.ClusterCache}).SetupWithManager(ctx, mgr, o); err != nil {
		return nil, err
	}
	if err := addProvider(mgr); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	return func() error {
		cancel()
		// A controller of Cluster API may wait for a response longer than a manager waits for its controllers, and no test is about the
		// shutdown.
		if err := <-ended; err != nil && !strings.Contains(err.Error(), "failed waiting for all runnables to end within grace period") {
			return err
		}
		return nil
	}, nil
}

// define installs a kind of a provider that follows the contract.
func define(ctx context.Context, gvk schema.GroupVersionKind) error {
	yes := true
	plural := map[string]string{"TestMachinePool": "testmachinepools", "TestMachine": "testmachines", "TestControlPlane": "testcontrolplanes"}[gvk.Kind]
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + gvk.Group, Labels: map[string]string{"cluster.x-k8s.io/v1beta2": gvk.Version}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{Group: gvk.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: gvk.Kind, ListKind: gvk.Kind + "List", Plural: plural},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: gvk.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &yes}}}}},
	}
	if err := admin.Create(ctx, crd); err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, pause, limit, true, func(ctx context.Context) (bool, error) {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk)
		return admin.List(ctx, list) == nil, nil
	})
}

// pause is the interval and limit the time limit of reads until controllers have acted.
const pause, limit = 50 * time.Millisecond, 2 * time.Minute

const finalizer = "test/provider"

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
		if o.GetDeletionTimestamp().IsZero() || len(o.GetFinalizers()) == 0 {
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
		o.SetFinalizers(nil)
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

// world is one namespace with a cluster whose workload cluster is the API server itself, and a pool with Machines.
type world struct {
	t  *testing.T
	ns string
}

func newWorld(t *testing.T, replicas int32, change func(*clusterv1.MachinePool)) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("an API server: left out with -short")
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "t-"}}
	w := &world{t: t}
	w.create(namespace)
	w.ns = namespace.Name
	w.cluster()
	empty := ""
	pool := &clusterv1.MachinePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "pool"},
		Spec: clusterv1.MachinePoolSpec{ClusterName: "c1", Replicas: &replicas, Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{
			ClusterName: "c1", Version: "v1.36.0", Bootstrap: clusterv1.Bootstrap{DataSecretName: &empty},
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: poolGVK.Group, Kind: poolGVK.Kind, Name: "infra"}}}},
	}
	if change != nil {
		change(pool)
	}
	infra := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"providerIDList": []any{}}, "status": map[string]any{
		"initialization": map[string]any{"provisioned": true}, "ready": true, "replicas": int64(0), "upToDateReplicas": int64(0), "infrastructureMachineKind": "TestMachine"}}}
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

func (w *world) create(o client.Object) {
	w.t.Helper()
	if err := admin.Create(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: w.ns, Name: name}
}

// cluster creates a Cluster that is provisioned, as its controllers would report it. Its control plane is externally managed: otherwise the
// Machine controller does not drain in a cluster without control plane Machines.
func (w *world) cluster() {
	w.t.Helper()
	plane := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"externalManagedControlPlane": true}}}
	plane.SetGroupVersionKind(planeGVK)
	plane.SetNamespace(w.ns)
	plane.SetName("c1")
	w.create(plane)
	c := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "c1"}, Spec: clusterv1.ClusterSpec{
		ControlPlaneEndpoint: clusterv1.APIEndpoint{Host: "127.0.0.1", Port: int32(server.Port)},
		InfrastructureRef:    clusterv1.ContractVersionedObjectReference{APIGroup: poolGVK.Group, Kind: "TestCluster", Name: "c1"},
		ControlPlaneRef:      clusterv1.ContractVersionedObjectReference{APIGroup: planeGVK.Group, Kind: planeGVK.Kind, Name: "c1"},
	}}
	w.create(c)
	// The secret exists before the cluster counts as provisioned, because a failed connection is retried only after a while.
	w.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: secret.Name("c1", secret.Kubeconfig), Labels: map[string]string{clusterv1.ClusterNameLabel: "c1"}},
		Type: clusterv1.ClusterSecretType, Data: map[string][]byte{secret.KubeconfigDataName: server.Kubeconfig}})
	yes, now := true, metav1.Now()
	c.Status.Initialization = clusterv1.ClusterInitializationStatus{InfrastructureProvisioned: &yes, ControlPlaneInitialized: &yes}
	for _, t := range []string{clusterv1.ClusterControlPlaneInitializedCondition, clusterv1.ClusterInfrastructureReadyCondition} {
		c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: t, Status: metav1.ConditionTrue, Reason: "Test", LastTransitionTime: now})
	}
	if err := admin.Status().Update(w.t.Context(), c); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) id(n int) string { return fmt.Sprintf("test:///%s/i-%d", w.ns, n) }

func (w *world) nodeName(n int) string { return fmt.Sprintf("%s-n%d", w.ns, n) }

// instance creates an instance with its Node and its infrastructure machine, and lists it.
func (w *world) instance(n int) {
	w.t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.nodeName(n)}, Spec: corev1.NodeSpec{ProviderID: w.id(n)}}
	w.create(node)
	w.t.Cleanup(func() { _ = client.IgnoreNotFound(admin.Delete(context.Background(), node)) })
	w.ready(n, corev1.ConditionTrue)
	w.infraMachine(n)
	w.change("infra", poolGVK, func(o map[string]any) {
		ids, _, _ := unstructured.NestedStringSlice(o, "spec", "providerIDList")
		_ = unstructured.SetNestedStringSlice(o, append(ids, w.id(n)), "spec", "providerIDList")
		_ = unstructured.SetNestedField(o, int64(len(ids)+1), "status", "replicas")
		_ = unstructured.SetNestedField(o, int64(len(ids)+1), "status", "upToDateReplicas")
	})
}

// infraMachine creates the infrastructure machine of an instance.
func (w *world) infraMachine(n int) {
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

// ready sets the Ready condition of a Node, as its kubelet does, since a minute ago.
func (w *world) ready(n int, status corev1.ConditionStatus) {
	w.t.Helper()
	w.eventually("node is written", func(ctx context.Context) error {
		node := &corev1.Node{}
		if err := admin.Get(ctx, client.ObjectKey{Name: w.nodeName(n)}, node); err != nil {
			return err
		}
		since := metav1.NewTime(time.Now().Add(-time.Minute))
		node.Status.NodeInfo.KubeletVersion = "v1.36.0"
		node.Status.Conditions = nil
		for t, s := range map[corev1.NodeConditionType]corev1.ConditionStatus{corev1.NodeReady: status, corev1.NodeMemoryPressure: corev1.ConditionFalse,
			corev1.NodeDiskPressure: corev1.ConditionFalse, corev1.NodePIDPressure: corev1.ConditionFalse} {
			node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: t, Status: s, Reason: "Kubelet", LastTransitionTime: since})
		}
		return admin.Status().Update(ctx, node)
	})
}

// change changes an object of the provider, and retries after conflicts.
func (w *world) change(name string, gvk schema.GroupVersionKind, how func(o map[string]any)) {
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

// eventually reads until something holds, and fails with what does not at the time limit.
func (w *world) eventually(what string, holds func(ctx context.Context) error) {
	w.t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(w.t.Context(), pause, limit, true, func(ctx context.Context) (bool, error) {
		last = holds(ctx)
		return last == nil, nil
	})
	if err != nil {
		w.t.Fatalf("%s: %v", what, errors.Join(err, last))
	}
}

func (w *world) pool(ctx context.Context) (*clusterv1.MachinePool, error) {
	pool := &clusterv1.MachinePool{}
	return pool, admin.Get(ctx, w.key("pool"), pool)
}

// machines returns the names of the Machines.
func (w *world) machines(ctx context.Context) ([]string, error) {
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

// runs waits until a number of machines are ready, available and up to date.
func (w *world) runs(replicas int32) {
	w.t.Helper()
	w.eventually("the pool runs", func(ctx context.Context) error {
		pool, err := w.pool(ctx)
		if err != nil {
			return err
		}
		s := pool.Status
		for name, n := range map[string]*int32{"replicas": s.Replicas, "ready": s.ReadyReplicas, "available": s.AvailableReplicas, "up to date": s.UpToDateReplicas} {
			if n == nil || *n != replicas {
				return fmt.Errorf("%s: want %d, got %v; conditions %+v", name, replicas, show(n), s.Conditions)
			}
		}
		if s.Phase != "Running" {
			return fmt.Errorf("phase: want Running, got %s", s.Phase)
		}
		return nil
	})
}

func show(n *int32) any {
	if n == nil {
		return "unknown"
	}
	return *n
}
