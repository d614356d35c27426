package infrapool_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/definitions"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/passtest"
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/kube/policy"
	"github.com/muster-project/muster/kube/policy/limiter"
	"github.com/muster-project/muster/pool"
	awspool "github.com/muster-project/muster/providers/aws/awsmachinepool"
)

var (
	start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	key   = client.ObjectKey{Namespace: "default", Name: "p"}
)

const uid = "11111111-2222-3333-4444-555555555555"

// world is a management cluster, a workload cluster and a cloud, all in memory, with one reconciler and a clock that
// only the test moves.
type world struct {
	t          *testing.T
	management client.WithWatch
	workload   client.WithWatch
	account    *account
	reconciler *infrapool.Reconciler[*awsv1.AWSMachinePool, *awsv1.MachinePoolSource]
	cache      clustercache.ClusterCache
	recorder   *events.FakeRecorder
	now        time.Time
	// skipModel is the gate of the reconciler that restart makes.
	skipModel bool
	// definitions checks the definition of the reconciler's kind.
	definitions *definitions.Checker
	// writes lists the writes to both clusters. again is the requeue delay of the last pass.
	writes []string
	again  time.Duration
	// evictions that are refused, by pod.
	refuse map[string]error
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, clusterv1.AddToScheme, awsv1.AddToScheme, apiextensionsv1.AddToScheme, musterv1.AddToScheme,
	} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func machinePool(change ...func(*clusterv1.MachinePool)) *clusterv1.MachinePool {
	mp := &clusterv1.MachinePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mp", UID: "mp"},
		Spec: clusterv1.MachinePoolSpec{ClusterName: "c", Replicas: new(int32(2)),
			Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{
				ClusterName: "c", Version: "v1.36.3", Bootstrap: clusterv1.Bootstrap{DataSecretName: new("data")},
				InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: awsv1.GroupVersion.Group, Kind: "AWSMachinePool", Name: "p"},
			}}},
	}
	for _, f := range change {
		f(mp)
	}
	return mp
}

func awsMachinePool(change ...func(*awsv1.AWSMachinePool)) *awsv1.AWSMachinePool {
	o := &awsv1.AWSMachinePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: uid, Generation: 1,
			Labels:          map[string]string{clusterv1.ClusterNameLabel: "c"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool", Name: "mp", UID: "mp"}}},
		Spec: awsv1.AWSMachinePoolSpec{MinSize: 0, MaxSize: 10, AWSLaunchTemplate: awsv1.AWSLaunchTemplate{InstanceType: "m5.large"}},
	}
	for _, f := range change {
		f(o)
	}
	return o
}

func cluster(change ...func(*clusterv1.Cluster)) *clusterv1.Cluster {
	c := &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"},
		Spec: clusterv1.ClusterSpec{InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: awsv1.GroupVersion.Group,
			Kind: "AWSCluster", Name: "place"}},
		Status: clusterv1.ClusterStatus{Initialization: clusterv1.ClusterInitializationStatus{
			InfrastructureProvisioned: new(true), ControlPlaneInitialized: new(true)}},
	}
	for _, f := range change {
		f(c)
	}
	return c
}

func place() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2", "kind": "AWSCluster",
		"metadata": map[string]any{"name": "place", "namespace": "default"}, "spec": map[string]any{"region": "eu-west-1"},
	}}
}

func data() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data"},
		Data: map[string][]byte{"value": []byte("#cloud-config\ntoken: s3cret")}}
}

// definition returns the CustomResourceDefinition of AWSCluster, whose label names the version that is read.
func definition() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
		Name: "awsclusters.infrastructure.cluster.x-k8s.io", Labels: map[string]string{"cluster.x-k8s.io/v1beta2": "v1beta2"}}}
}

// everything is a pool that lacks nothing.
func everything() []client.Object {
	return []client.Object{machinePool(), awsMachinePool(), cluster(), place(), data(), definition()}
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	w := &world{t: t, account: newAccount(), now: start, recorder: events.NewFakeRecorder(1000), refuse: map[string]error{}}
	w.account.now = func() time.Time { return w.now }
	s := scheme(t)
	own := make([]client.Object, 0, len(objects)) // the tracker writes to them, and rows of a table share some
	for _, o := range objects {
		own = append(own, o.DeepCopyObject().(client.Object))
	}
	b := fake.NewClientBuilder().WithScheme(s).WithObjects(own...).WithStatusSubresource(&awsv1.AWSMachinePool{}, &awsv1.AWSMachine{},
		&clusterv1.Machine{}, &clusterv1.MachinePool{}, &clusterv1.Cluster{}).
		WithInterceptorFuncs(w.counting("management")).WithObjectTracker(passtest.Tracker(s))
	for _, i := range slices.Concat(watch.Indexes(), awspool.Adapter{}.Kind().Indexes()) {
		b = b.WithIndex(i.Object, i.Field, i.Values)
	}
	w.management = b.Build()
	b = fake.NewClientBuilder().WithScheme(s).WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}).
		WithStatusSubresource(&corev1.Node{}).WithInterceptorFuncs(w.counting("workload")).WithObjectTracker(passtest.Tracker(s)).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} })
	for _, i := range nodes.Indexes() {
		b = b.WithIndex(i.Object, i.Field, i.ExtractValue)
	}
	w.workload = b.Build()
	w.cache = clustercache.NewFakeClusterCache(w.workload, client.ObjectKey{Namespace: "default", Name: "c"})
	w.restart()
	return w
}

// restart makes the reconciler anew, as after the end of its process.
func (w *world) restart() {
	w.reconciler = infrapool.New(awspool.Adapter{}, w.account, infrapool.Options{
		Client: w.management, ClusterCache: w.cache, Recorder: w.recorder, Now: func() time.Time { return w.now },
		SkipModelReconciliation: w.skipModel, Definitions: w.definitions,
		Policies: &limiter.Limiter{Policies: &policy.Reader{Client: w.management},
			Ledger: &limiter.Ledger{}},
	})
}

// counting notes what the reconciler writes.
func (w *world) counting(where string) interceptor.Funcs {
	note := func(verb string, o client.Object) {
		w.writes = append(w.writes, fmt.Sprintf("%s %s %T %s", where, verb, o, o.GetName()))
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
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch,
			opts ...client.SubResourcePatchOption) error {
			note("patch "+sub+" of", o)
			return c.SubResource(sub).Patch(ctx, o, p, opts...)
		},
		SubResourceCreate: func(ctx context.Context, c client.Client, sub string, o, s client.Object,
			opts ...client.SubResourceCreateOption) error {
			if err := w.refuse[o.GetName()]; err != nil {
				return err
			}
			note("create "+sub+" of", o)
			return c.SubResource(sub).Create(ctx, o, s, opts...)
		},
	}
}

// pass runs one pass.
func (w *world) pass() {
	w.t.Helper()
	result, err := w.reconciler.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: key})
	if err != nil {
		w.t.Fatalf("pass: %v", err)
	}
	w.again = result.RequeueAfter
}

// settle runs passes, with the clock moved on as they ask, until one asks for no soon look.
func (w *world) settle() {
	w.t.Helper()
	for range 50 {
		w.pass()
		// A pool whose size an autoscaler sets is looked at every 20 s at rest.
		if w.again == 0 || w.again >= time.Minute || w.again == 20*time.Second {
			return
		}
		w.now = w.now.Add(w.again)
	}
	w.t.Fatalf("still at work after 50 passes: %v\n%s", w.account.calls, w.say())
}

// passes runs some passes, with the clock moved on.
func (w *world) passes(n int) {
	w.t.Helper()
	for range n {
		w.pass()
		w.now = w.now.Add(max(w.again, time.Second))
	}
}

// get reads the object.
func (w *world) get() *awsv1.AWSMachinePool {
	w.t.Helper()
	o := &awsv1.AWSMachinePool{}
	if err := w.management.Get(w.t.Context(), key, o); err != nil {
		w.t.Fatal(err)
	}
	return o
}

// gone reports whether the object is gone.
func (w *world) gone() bool {
	err := w.management.Get(w.t.Context(), key, &awsv1.AWSMachinePool{})
	return client.IgnoreNotFound(err) == nil && err != nil
}

// change reads, changes and writes an object of the management cluster.
func change[O client.Object](w *world, o O, f func(O)) {
	w.t.Helper()
	if err := w.management.Get(w.t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		w.t.Fatal(err)
	}
	f(o)
	if err := w.management.Update(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
	w.writes = nil
}

func (w *world) create(o client.Object) {
	w.t.Helper()
	if err := w.management.Create(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// remove deletes an object of the management cluster.
func (w *world) remove(o client.Object) {
	w.t.Helper()
	if err := w.management.Delete(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// join boots all machines and has each join the workload cluster, Ready for a while.
func (w *world) join() {
	w.t.Helper()
	for _, i := range w.account.boot() {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + i.ID, CreationTimestamp: metav1.NewTime(w.now)},
			Spec: corev1.NodeSpec{ProviderID: i.ProviderID}}
		if err := w.workload.Create(w.t.Context(), n); err != nil {
			continue
		}
		n.Status = corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KubeletVersion: "v1.36.3"},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(w.now)}}}
		if err := w.workload.Status().Update(w.t.Context(), n); err != nil {
			w.t.Fatal(err)
		}
	}
	w.now = w.now.Add(time.Minute)
	w.writes = nil
}

// runs puts a pod onto the node of an instance.
func (w *world) runs(pod, instance string) {
	w.t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: pod, Labels: map[string]string{"app": pod}},
		Spec: corev1.PodSpec{NodeName: "node-" + instance}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	if err := w.workload.Create(w.t.Context(), p); err != nil {
		w.t.Fatal(err)
	}
	w.writes = nil
}

// running makes a pool whose machines have joined, and forgets what happened till then.
func running(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	w := newWorld(t, objects...)
	w.settled()
	w.join()
	w.settle()
	w.account.take()
	w.writes = nil
	return w
}

// settled runs passes until the cloud was asked for all that is wanted.
func (w *world) settled() {
	w.t.Helper()
	w.passes(6)
}

// say is the object's conditions as text.
func (w *world) say() string {
	var b strings.Builder
	o := w.get()
	fmt.Fprintf(&b, "state %s\n", o.Status.State)
	for _, c := range o.Status.Conditions {
		fmt.Fprintf(&b, "%s=%s %s: %s\n", c.Type, c.Status, c.Reason, c.Message)
	}
	return b.String()
}

// condition is one of the object's conditions.
func (w *world) condition(name string) metav1.Condition {
	w.t.Helper()
	c := meta.FindStatusCondition(w.get().Status.Conditions, name)
	if c == nil {
		w.t.Fatalf("no condition %s:\n%s", name, w.say())
	}
	return *c
}

// wantCalls compares what the cloud was asked for since the last time.
func (w *world) wantCalls(reason string, want ...string) {
	w.t.Helper()
	if got := w.account.take(); !slices.Equal(got, want) {
		w.t.Errorf("%s: want steps %q, got %q\n%s", reason, want, got, w.say())
	}
}

// steps are the kinds of step that begin with any of the given ones, in order.
func only(calls []string, kinds ...pool.StepKind) []string {
	return slices.DeleteFunc(calls, func(call string) bool {
		return !slices.ContainsFunc(kinds, func(k pool.StepKind) bool { return strings.HasPrefix(call, string(k)) })
	})
}

func ctrlRequest(k client.ObjectKey) ctrl.Request { return ctrl.Request{NamespacedName: k} }
