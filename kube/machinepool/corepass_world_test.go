package machinepool_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	upstream "sigs.k8s.io/cluster-api/core/reconcilers/machinepool"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/muster-project/muster/kube/machinepool"
	kubenodes "github.com/muster-project/muster/kube/nodes"
)

var (
	clusterKey = client.ObjectKey{Namespace: "default", Name: "c"}
	infraGVK   = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta1", Kind: "TestMachinePool"}
	configGVK  = schema.GroupVersionKind{Group: "bootstrap.cluster.x-k8s.io", Version: "v1beta1", Kind: "TestConfig"}
)

// poolSizes are the pools in every cluster, by their numbers of machines.
var poolSizes = []int{10, 100}

func poolName(machines int) string { return fmt.Sprintf("pool-%d", machines) }

// core is a management cluster with pools, a workload cluster with many nodes, and both reconcilers of MachinePools over the
// same clients: informers' caches read, as in a manager, and a store in memory takes what is written.
type core struct {
	mgmt       client.Client
	store      client.WithWatch
	reconciler map[string]reconciler
	writes     atomic.Int64
}

type reconciler interface {
	Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error)
}

// cached reads from caches.
type cached struct {
	client.Client
	reader client.Reader
}

func (c cached) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return c.reader.Get(ctx, key, o, opts...)
}

func (c cached) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return c.reader.List(ctx, list, opts...)
}

// silent is a manager whose events go nowhere.
type silent struct{ ctrl.Manager }

func (silent) GetEventRecorderFor(string) record.EventRecorder { return &record.FakeRecorder{} }

func (silent) GetEventRecorder(string) events.EventRecorder { return &events.FakeRecorder{} }

func newCore(tb testing.TB, number int) *core {
	tb.Helper()
	c := &core{}
	ctrl.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			tb.Fatal(err)
		}
	}
	c.store = fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper()).WithObjects(management()...).WithStatusSubresource(
		&clusterv1.MachinePool{}).
		WithInterceptorFuncs(c.counting()).Build()
	mgmt, remote := newCache(tb, scheme, stored(c.store)), newCache(tb, scheme, listed(manyNodes(number)))
	for _, i := range kubenodes.Indexes() {
		if err := remote.IndexField(tb.Context(), i.Object, i.Field, i.ExtractValue); err != nil {
			tb.Fatal(err)
		}
	}
	c.mgmt = cached{c.store, mgmt}
	workload := cached{fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper()).WithInterceptorFuncs(c.counting()).Build(), remote}
	c.addReconcilers(tb, scheme, mgmt, clustercache.NewFakeClusterCache(workload, clusterKey, "machinepool-nodes", "machinepool-watchNodes"))
	start(tb, mgmt)
	start(tb, remote)
	return c
}

// addReconcilers sets both up in one manager, which never starts: passes are run by hand.
func (c *core) addReconcilers(tb testing.TB, scheme *runtime.Scheme, mgmt cache.Cache, clusters clustercache.ClusterCache) {
	tb.Helper()
	m, err := ctrl.NewManager(&rest.Config{}, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: ptr.To(true)},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper(), nil },
		NewCache:       func(*rest.Config, cache.Options) (cache.Cache, error) { return mgmt, nil },
		NewClient:      func(*rest.Config, client.Options) (client.Client, error) { return c.mgmt, nil },
	})
	if err != nil {
		tb.Fatal(err)
	}
	if err := kubenodes.AddIndexes(tb.Context(), m.GetFieldIndexer()); err != nil {
		tb.Fatal(err)
	}
	ours := &machinepool.Reconciler{Client: c.mgmt, Live: c.store, ClusterCache: clusters}
	theirs := &upstream.Reconciler{Client: c.mgmt, APIReader: c.store, ClusterCache: clusters}
	if err := errors.Join(ours.SetupWithManager(tb.Context(), silent{m}, controller.Options{}),
		theirs.SetupWithManager(tb.Context(), silent{m}, controller.Options{})); err != nil {
		tb.Fatal(err)
	}
	c.reconciler = map[string]reconciler{"muster": ours, "upstream": theirs}
}

// pass runs one pass, and reports whether it wrote anything.
func (c *core) pass(tb testing.TB, who string, machines int) (wrote bool) {
	before := c.writes.Load()
	req := ctrl.Request{NamespacedName: client.ObjectKey{Namespace: clusterKey.Namespace, Name: poolName(machines)}}
	if _, err := c.reconciler[who].Reconcile(tb.Context(), req); err != nil {
		tb.Fatalf("%s, pool of %d machines: %v", who, machines, err)
	}
	return c.writes.Load() != before
}

// settle runs passes until one writes nothing: what differs between the two is written before anything is measured.
func (c *core) settle(tb testing.TB, who string, machines int) {
	tb.Helper()
	for range 20 {
		if !c.pass(tb, who, machines) {
			return
		}
		c.catchUp(tb, machines)
	}
	tb.Fatalf("%s writes in every pass", who)
}

// catchUp waits until the cache shows what was written.
func (c *core) catchUp(tb testing.TB, machines int) {
	tb.Helper()
	for _, o := range []client.Object{&clusterv1.MachinePool{}, untyped(infraGVK), untyped(configGVK)} {
		key := client.ObjectKey{Namespace: clusterKey.Namespace, Name: poolName(machines)}
		is := o.DeepCopyObject().(client.Object)
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			if err := errors.Join(c.store.Get(tb.Context(), key, o), c.mgmt.Get(tb.Context(), key, is)); err != nil {
				tb.Fatal(err)
			}
			if o.GetResourceVersion() == is.GetResourceVersion() {
				break
			}
			if time.Now().After(end) {
				tb.Fatalf("the cache stays behind: want %T %s in version %s, got %s", o, key.Name, o.GetResourceVersion(), is.GetResourceVersion())
			}
		}
	}
}

func (c *core) counting() interceptor.Funcs {
	return interceptor.Funcs{
		Update: func(ctx context.Context, w client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			c.writes.Add(1)
			return w.Update(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, w client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			c.writes.Add(1)
			return w.Patch(ctx, o, p, opts...)
		},
		SubResourcePatch: func(ctx context.Context, w client.Client, sub string, o client.Object, p client.Patch,
			opts ...client.SubResourcePatchOption) error {
			c.writes.Add(1)
			return w.SubResource(sub).Patch(ctx, o, p, opts...)
		},
	}
}

func untyped(gvk schema.GroupVersionKind) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(gvk)
	return o
}

func start(tb testing.TB, c cache.Cache) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Start(ctx) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			tb.Error(err)
		}
	})
	if !c.WaitForCacheSync(ctx) {
		tb.Fatal("a cache did not come up")
	}
}

// mapper knows the kinds that are read.
func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{clusterv1.GroupVersion})
	for _, gvk := range []schema.GroupVersionKind{
		clusterv1.GroupVersion.WithKind("MachinePool"), clusterv1.GroupVersion.WithKind("MachinePoolList"),
		clusterv1.GroupVersion.WithKind("Cluster"), clusterv1.GroupVersion.WithKind("Machine"),
		infraGVK, configGVK, corev1.SchemeGroupVersion.WithKind("Secret"),
	} {
		m.Add(gvk, meta.RESTScopeNamespace)
	}
	m.Add(corev1.SchemeGroupVersion.WithKind("Node"), meta.RESTScopeRoot)
	m.Add(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"), meta.RESTScopeRoot)
	return m
}
