// Package passtest runs whole passes in tests: on a management cluster and a workload cluster in memory, and on a clock that only the test
// moves.
package passtest

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/pool"
)

// Keys of the Cluster, of the MachinePool and of the infrastructure object.
var (
	Cluster     = client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: "c"}
	MachinePool = client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: "mp"}
	Infra       = client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: "p"}
)

// Setup holds the parts of a World that depend on the infrastructure kind.
type Setup struct {
	// AddToScheme adds the kind to a scheme. Indexes are the field indexes of its controllers.
	AddToScheme func(*runtime.Scheme) error
	Indexes     []watch.Index
	// Mapper knows the kinds of the management cluster; nil stands for all kinds of the scheme.
	Mapper meta.RESTMapper
	// Pool is the infrastructure object. Objects are applied in addition to it and its MachinePool.
	Pool    client.Object
	Objects []client.Object
}

// World is two clusters and a clock.
type World struct {
	*testing.T
	Management, Workload client.WithWatch
	Now                  time.Time

	reconciler reconcile.Reconciler
	machines   func() []pool.Instance
	writes     int
	again      time.Duration
}

// New returns clusters that hold what is applied, and no nodes.
func New(t *testing.T, s Setup) *World {
	t.Helper()
	w := &World{T: t, Now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	types := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme, apiextensionsv1.AddToScheme,
		musterv1.AddToScheme, s.AddToScheme} {
		if err := add(types); err != nil {
			t.Fatal(err)
		}
	}
	w.Management, w.Workload = w.management(types, s), workload(types)
	return w
}

// management returns a management cluster that counts the controller's writes.
func (w *World) management(types *runtime.Scheme, s Setup) client.WithWatch {
	b := fake.NewClientBuilder().WithScheme(types).WithObjects(append(slices.Clone(s.Objects), s.Pool)...).WithStatusSubresource(s.Pool,
		&clusterv1.MachinePool{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				w.writes++
				return c.Patch(ctx, o, p, opts...)
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch,
				opts ...client.SubResourcePatchOption) error {
				w.writes++
				return c.SubResource(sub).Patch(ctx, o, p, opts...)
			},
		})
	if s.Mapper != nil {
		b = b.WithRESTMapper(s.Mapper)
	}
	for _, i := range slices.Concat(watch.Indexes(), s.Indexes) {
		b = b.WithIndex(i.Object, i.Field, i.Values).WithStatusSubresource(i.Object)
	}
	return b.WithObjectTracker(Tracker(types)).Build()
}

// Tracker keeps objects without managed fields, which no test of passes looks at: the fake client's own tracker maps every kind of the
// scheme anew at each write, and half of the tests' processor time would go into that.
func Tracker(s *runtime.Scheme) clienttesting.ObjectTracker {
	return clienttesting.NewObjectTracker(s, serializer.NewCodecFactory(s).UniversalDecoder())
}

func workload(types *runtime.Scheme) client.WithWatch {
	b := fake.NewClientBuilder().WithScheme(types).WithStatusSubresource(&corev1.Node{}).
		WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceDefault}}).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} })
	for _, i := range nodes.Indexes() {
		b = b.WithIndex(i.Object, i.Field, i.ExtractValue)
	}
	return b.WithObjectTracker(Tracker(types)).Build()
}

// Clock returns the time.
func (w *World) Clock() time.Time { return w.Now }

// Options returns those of a reconciler that runs in the world.
func (w *World) Options() infrapool.Options {
	return infrapool.Options{Client: w.Management, Recorder: events.NewFakeRecorder(1000), Now: w.Clock,
		ClusterCache: clustercache.NewFakeClusterCache(w.Workload, Cluster)}
}

// Run sets what passes run, and the machines that join after each.
func (w *World) Run(r reconcile.Reconciler, machines func() []pool.Instance) {
	w.reconciler, w.machines = r, machines
}

// Pass runs one pass, moves the clock on, and lets machines join.
func (w *World) Pass() {
	w.Helper()
	w.writes = 0
	result, err := w.reconciler.Reconcile(w.Context(), ctrl.Request{NamespacedName: Infra})
	if err != nil {
		w.Fatalf("pass: %v", err)
	}
	w.again = result.RequeueAfter
	w.Now = w.Now.Add(max(result.RequeueAfter, time.Second))
	for _, i := range w.machines() {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: i.ID, CreationTimestamp: metav1.NewTime(w.Now)},
			Spec: corev1.NodeSpec{ProviderID: i.ProviderID}}
		if w.Workload.Create(w.Context(), n) != nil {
			continue
		}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue,
			LastTransitionTime: metav1.NewTime(w.Now)}}
		if err := w.Workload.Status().Update(w.Context(), n); err != nil {
			w.Fatal(err)
		}
	}
}

// Rest runs passes until nothing is written any more.
func (w *World) Rest() {
	w.Helper()
	const passes, atRest = 60, 20 * time.Second
	for range passes {
		if w.Pass(); w.writes == 0 && w.again >= atRest {
			return
		}
	}
	w.Fatalf("still at work after %d passes", passes)
}

// Get reads an object of the management cluster.
func (w *World) Get(key client.ObjectKey, o client.Object) {
	w.Helper()
	if err := w.Management.Get(w.Context(), key, o); err != nil {
		w.Fatal(err)
	}
}

// MachinePool reads the MachinePool.
func (w *World) MachinePool() *clusterv1.MachinePool {
	w.Helper()
	mp := &clusterv1.MachinePool{}
	w.Get(MachinePool, mp)
	return mp
}

// Edit writes an object that a user has changed.
func (w *World) Edit(o client.Object) {
	w.Helper()
	o.SetGeneration(o.GetGeneration() + 1)
	if err := w.Management.Update(w.Context(), o); err != nil {
		w.Fatal(err)
	}
}
