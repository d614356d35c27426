package gcpmanaged

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

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/pool"
)

type target = cloud.Target[*gcpv1.ManagedMachinePoolSource]

// gke is a GKE cluster in memory with at most one node pool, which is at once as it is asked for.
type gke struct {
	now       func() time.Time
	group     *pool.Group
	instances []pool.Instance
	// steps are what was begun, and asked who asked with them, and where.
	steps []string
	asked []string
}

var template = pool.Template{Ref: "gke:1.34.2", Content: "v1:a", UserManaged: true}

func (g *gke) Traits() pool.Traits {
	return pool.Traits{Group: "node pool", Template: "node configuration", RemoveBatch: 100, ProviderRollout: true, RolloutOnTemplateChange: true, KeepsFailedInstances: true}
}

func (g *gke) Observe(context.Context, target) (pool.Observed, error) {
	o := pool.Observed{Wanted: pool.Template{Content: template.Content, UserManaged: true}, Versions: []pool.Template{template}, Fresh: true, GroupFresh: true}
	if g.group != nil {
		group := *g.group
		o.Group, o.Instances = &group, slices.Clone(g.instances)
	}
	return o, nil
}

func (g *gke) Start(_ context.Context, t target, step pool.Step) error {
	switch step.Kind {
	case pool.CreateGroup, pool.Resize:
		g.resize(step.Size)
	case pool.DeleteGroup:
		g.group, g.instances = nil, nil
	default:
		return fmt.Errorf("no driver starts %s", step.Kind)
	}
	v := t.Spec.Cluster
	who := "controller"
	if v.View.Identity != nil {
		who = v.View.Identity.Name
	}
	g.steps = append(g.steps, string(step.Kind))
	g.asked = append(g.asked, fmt.Sprintf("%s at %s/%s/%s/%s", who, v.View.Project, v.Location, v.Name, t.Spec.Name))
	return nil
}

// resize gives the node pool as many machines.
func (g *gke) resize(size int) {
	if g.group == nil {
		g.group = &pool.Group{ID: "gke://p/us-central1/gke/p", State: "RUNNING", Template: template.Ref, Content: template.Content}
	}
	g.group.Size = size
	for len(g.instances) < size {
		id := fmt.Sprintf("gke-p-%d", len(g.instances))
		g.instances = append(g.instances, pool.Instance{ID: id, ProviderID: "gce://p/us-central1-a/" + id, UID: id, State: pool.Running, Template: template, Created: g.now()})
	}
	g.instances = g.instances[:size]
}

// world is a management cluster, a workload cluster and GKE, with a clock that only the test moves.
type world struct {
	*testing.T
	management, workload client.WithWatch
	gke                  *gke
	reconciler           *infrapool.Reconciler[*gcpv1.GCPManagedMachinePool, *gcpv1.ManagedMachinePoolSource]
	now                  time.Time
	writes               int
	again                time.Duration
}

var key = client.ObjectKey{Namespace: "default", Name: "p"}

// described is one of the objects that describe the cluster, in the API server's shape.
func described(t *testing.T, text string) *unstructured.Unstructured {
	u := untyped(t, text)
	u.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1beta1")
	u.SetNamespace("default")
	return u
}

// surroundings are what a node pool needs beside its own object.
func surroundings(t *testing.T) []client.Object {
	infra := described(t, strings.Replace(infraText, "spec: {", "spec: {credentialsRef: {name: keys, namespace: default}, ", 1))
	ref := func(kind, name string) clusterv1.ContractVersionedObjectReference {
		return clusterv1.ContractVersionedObjectReference{APIGroup: gcpv1.GroupVersion.Group, Kind: kind, Name: name}
	}
	list := []client.Object{
		infra, described(t, planeText),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "keys"}, Data: map[string][]byte{"credentials": []byte(`{"type": "authorized_user"}`)}},
		&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"},
			Spec:   clusterv1.ClusterSpec{ControlPlaneRef: ref(gcpv1.ManagedControlPlaneKind, "cp"), InfrastructureRef: ref(gcpv1.ManagedClusterKind, "c")},
			Status: clusterv1.ClusterStatus{Initialization: clusterv1.ClusterInitializationStatus{InfrastructureProvisioned: new(true), ControlPlaneInitialized: new(true)}}},
		&clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mp", UID: "mp"},
			Spec: clusterv1.MachinePoolSpec{ClusterName: "c", Replicas: new(int32(2)), Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{
				ClusterName: "c", Version: "v1.34.2", Bootstrap: clusterv1.Bootstrap{DataSecretName: new("")}, InfrastructureRef: ref(gcpv1.GCPManagedMachinePoolKind, "p")}}}},
		&gcpv1.GCPManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "11111111-2222-3333-4444-555555555555", Generation: 1,
			Labels:          map[string]string{clusterv1.ClusterNameLabel: "c"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool", Name: "mp", UID: "mp"}}}},
	}
	for _, plural := range []string{"gcpmanagedclusters", "gcpmanagedcontrolplanes"} {
		list = append(list, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
			Name: plural + ".infrastructure.cluster.x-k8s.io", Labels: map[string]string{"cluster.x-k8s.io/v1beta1": "v1beta1"}}})
	}
	return list
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	clock := func() time.Time { return w.now }
	w.gke = &gke{now: clock}
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme, gcpv1.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	b := fake.NewClientBuilder().WithScheme(s).WithObjects(surroundings(t)...).WithStatusSubresource(&gcpv1.GCPManagedMachinePool{}, &clusterv1.MachinePool{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				w.writes++
				return c.Patch(ctx, o, p, opts...)
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				w.writes++
				return c.SubResource(sub).Patch(ctx, o, p, opts...)
			},
		})
	for _, i := range slices.Concat(watch.Indexes(), Adapter{}.Kind().Indexes()) {
		b = b.WithIndex(i.Object, i.Field, i.Values)
	}
	w.management = b.Build()
	b = fake.NewClientBuilder().WithScheme(s).WithStatusSubresource(&corev1.Node{}).WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} })
	for _, i := range nodes.Indexes() {
		b = b.WithIndex(i.Object, i.Field, i.ExtractValue)
	}
	w.workload = b.Build()
	w.reconciler = infrapool.New(Adapter{}, w.gke, infrapool.Options{Client: w.management, Recorder: events.NewFakeRecorder(1000), Now: clock,
		ClusterCache: clustercache.NewFakeClusterCache(w.workload, client.ObjectKey{Namespace: "default", Name: "c"})})
	return w
}

// pass runs one pass, moves the clock on, and lets machines join.
func (w *world) pass() {
	w.Helper()
	w.writes = 0
	result, err := w.reconciler.Reconcile(w.Context(), ctrl.Request{NamespacedName: key})
	if err != nil {
		w.Fatalf("pass: %v", err)
	}
	w.again = result.RequeueAfter
	w.now = w.now.Add(max(result.RequeueAfter, time.Second))
	for _, i := range w.gke.instances {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: i.ID, CreationTimestamp: metav1.NewTime(w.now)}, Spec: corev1.NodeSpec{ProviderID: i.ProviderID}}
		if w.workload.Create(w.Context(), n) != nil {
			continue
		}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(w.now)}}
		if err := w.workload.Status().Update(w.Context(), n); err != nil {
			w.Fatal(err)
		}
	}
}

// rest runs passes until nothing is written any more.
func (w *world) rest() {
	w.Helper()
	for range 60 {
		if w.pass(); w.writes == 0 && w.again >= 20*time.Second {
			return
		}
	}
	w.Fatalf("still at work: %v", w.gke.steps)
}

func (w *world) get(key client.ObjectKey, o client.Object) {
	w.Helper()
	if err := w.management.Get(w.Context(), key, o); err != nil {
		w.Fatal(err)
	}
}

func (w *world) machinePool() *clusterv1.MachinePool {
	mp := &clusterv1.MachinePool{}
	w.get(client.ObjectKey{Namespace: "default", Name: "mp"}, mp)
	return mp
}

func (w *world) object() *gcpv1.GCPManagedMachinePool {
	o := &gcpv1.GCPManagedMachinePool{}
	w.get(key, o)
	return o
}

// edit changes the object.
func (w *world) edit(change func(*gcpv1.GCPManagedMachinePool)) {
	w.Helper()
	o := w.object()
	change(o)
	o.Generation++
	if err := w.management.Update(w.Context(), o); err != nil {
		w.Fatal(err)
	}
}

// replace changes one of the objects that describe the cluster; an empty text deletes it.
func (w *world) replace(text, by string) {
	w.Helper()
	u := described(w.T, text)
	if by == "" {
		if err := w.management.Delete(w.Context(), u); err != nil {
			w.Fatal(err)
		}
		return
	}
	w.get(client.ObjectKeyFromObject(u), u)
	u.Object["status"] = described(w.T, by).Object["status"]
	if err := w.management.Update(w.Context(), u); err != nil {
		w.Fatal(err)
	}
}

// TestCreatedWithTheClustersCredentials holds the way to a node pool: where GKE is asked, with whose credentials, and what the object says.
func TestCreatedWithTheClustersCredentials(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rest()
	o := w.object()
	if !slices.Equal(w.gke.asked, []string{"Secret/default/keys at p/us-central1/gke/p"}) || len(o.Spec.ProviderIDList) != 2 || !o.Status.Ready || o.Status.InfrastructureMachineKind != "" {
		t.Errorf("want a node pool of two, got %v, %+v", w.gke.asked, o.Status)
	}
	for name, want := range map[string]metav1.ConditionStatus{"Ready": "True", "GKEMachinePoolReady": "True", "GKEMachinePoolCreating": "False", "GKEMachinePoolUpdating": "False", "GKEMachinePoolDeleting": "False"} {
		if c := meta.FindStatusCondition(o.Status.Conditions, name); c == nil || c.Status != want {
			t.Errorf("%s: want %s, got %+v", name, want, c)
		}
	}
	if !slices.Contains(o.Finalizers, gcpv1.ManagedMachinePoolFinalizer) {
		t.Errorf("want the ecosystem's finalizer, got %v", o.Finalizers)
	}
}

// TestAutoscalerIsFollowed holds that a pool which the specification gives to GKE's autoscaler is annotated so, that spec.replicas follows its
// size, and that the size is Muster's again, as it is, once the specification has no autoscaler.
func TestAutoscalerIsFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rest()
	w.edit(func(o *gcpv1.GCPManagedMachinePool) {
		o.Spec.Scaling = &gcpv1.NodePoolAutoScaling{MaxCount: new(int32(5))}
	})
	w.rest()
	w.gke.resize(4)
	w.rest()
	mp := w.machinePool()
	if mp.Annotations[clusterv1.ReplicasManagedByAnnotation] != "gke" || *mp.Spec.Replicas != 4 || !slices.Equal(w.gke.steps, []string{"CreateGroup"}) {
		t.Errorf("want the autoscaler's size followed, got annotations %v, %d replicas, steps %v", mp.Annotations, *mp.Spec.Replicas, w.gke.steps)
	}
	w.edit(func(o *gcpv1.GCPManagedMachinePool) {
		o.Spec.Scaling.EnableAutoscaling, o.Spec.Scaling.MaxCount = new(false), nil
	})
	w.rest()
	mp = w.machinePool()
	if _, annotated := mp.Annotations[clusterv1.ReplicasManagedByAnnotation]; annotated || *mp.Spec.Replicas != 4 {
		t.Errorf("want the size as it is without the annotation, got annotations %v, %d replicas", mp.Annotations, *mp.Spec.Replicas)
	}
}

// TestExternalAutoscaler holds that the size of an autoscaler outside GKE stands.
func TestExternalAutoscaler(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rest()
	mp := w.machinePool()
	mp.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "cluster-autoscaler"}
	if err := w.management.Update(t.Context(), mp); err != nil {
		t.Fatal(err)
	}
	w.gke.resize(5)
	w.rest()
	if mp := w.machinePool(); *mp.Spec.Replicas != 5 || !slices.Equal(w.gke.steps, []string{"CreateGroup"}) {
		t.Errorf("want the size left alone, got %d replicas, steps %v", *mp.Spec.Replicas, w.gke.steps)
	}
}

// TestNoNodePoolBeforeItsControlPlane holds that GKE is asked for no node pool while the control plane takes none.
func TestNoNodePoolBeforeItsControlPlane(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.replace(planeText, strings.Replace(planeText, "ready: true", "ready: false", 1))
	w.pass()
	w.pass()
	o := w.object()
	ready := meta.FindStatusCondition(o.Status.Conditions, "GKEMachinePoolReady")
	if len(w.gke.steps) > 0 || ready == nil || ready.Reason != "WaitingForGKEControlPlane" || !strings.Contains(ready.Message, "GCPManagedControlPlane cp is not ready yet") {
		t.Errorf("want the control plane waited for, got steps %v, %+v", w.gke.steps, ready)
	}
}

// TestDeletedWithoutItsCluster holds that a pool is deleted while the control plane is not ready, or gone, and when the cluster object is gone
// too.
func TestDeletedWithoutItsCluster(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*world){
		"not ready":          func(w *world) { w.replace(planeText, strings.Replace(planeText, "ready: true", "ready: false", 1)) },
		"no control plane":   func(w *world) { w.replace(planeText, "") },
		"no cluster object":  func(w *world) { w.replace(infraText, "") },
		"neither of the two": func(w *world) { w.replace(planeText, ""); w.replace(infraText, "") },
		"no MachinePool either": func(w *world) {
			w.replace(planeText, "")
			w.replace(infraText, "")
			if err := w.management.Delete(w.Context(), w.machinePool()); err != nil {
				w.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.rest()
			lose(w)
			if err := w.management.Delete(t.Context(), w.object()); err != nil {
				t.Fatal(err)
			}
			for range 30 {
				if w.management.Get(t.Context(), key, &gcpv1.GCPManagedMachinePool{}) != nil {
					break
				}
				w.pass()
			}
			if err := w.management.Get(t.Context(), key, &gcpv1.GCPManagedMachinePool{}); err == nil || w.gke.group != nil {
				t.Fatalf("want node pool and object gone, got %v, steps %v", err, w.gke.steps)
			}
			if last := w.gke.asked[len(w.gke.asked)-1]; last != "Secret/default/keys at p/us-central1/gke/p" {
				t.Errorf("want GKE asked for the deletion as before, got %q", last)
			}
		})
	}
}
