package azuremanaged

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
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/pool"
)

type target = cloud.Target[*aksv1.AgentPoolSource]

// aks is a managed cluster in memory with at most one agent pool, which is at once as it is asked for.
type aks struct {
	now   func() time.Time
	group *pool.Group
	// owned is false while the agent pool lacks the owner tag.
	owned     bool
	instances []pool.Instance
	// steps are what was begun, looks how often it was read.
	steps []string
	looks int
}

var template = pool.Template{Ref: "aks:1.34.2/s", Content: "v1:a", UserManaged: true}

func (a *aks) Traits() pool.Traits {
	return pool.Traits{Group: "agent pool", Template: "node configuration", RemoveBatch: 100, ProviderRollout: true, RolloutOnTemplateChange: true, KeepsFailedInstances: true}
}

func (a *aks) Observe(context.Context, target) (pool.Observed, error) {
	a.looks++
	o := pool.Observed{Wanted: pool.Template{Content: template.Content, UserManaged: true}, Versions: []pool.Template{template}, Fresh: true, GroupFresh: true}
	if a.group == nil {
		return o, nil
	}
	if !a.owned {
		return pool.Observed{OwnershipConflict: &pool.Cause{Reason: "OwnershipConflict", Message: "it is not this pool's"},
			Unowned: &pool.Unowned{Name: "p", Group: "agent pool p", CreatedWithCluster: true}}, nil
	}
	g := *a.group
	o.Group, o.Instances = &g, slices.Clone(a.instances)
	return o, nil
}

func (a *aks) Start(_ context.Context, _ target, step pool.Step) error {
	switch step.Kind {
	case pool.Adopt:
		a.owned = true
	case pool.CreateGroup:
		a.owned = true
		a.resize(step.Size)
	case pool.Resize:
		a.resize(step.Size)
	case pool.DeleteGroup:
		a.group, a.instances = nil, nil
	default:
		return fmt.Errorf("no driver starts %s", step.Kind)
	}
	a.steps = append(a.steps, string(step.Kind))
	return nil
}

// resize gives the agent pool as many machines.
func (a *aks) resize(size int) {
	if a.group == nil {
		a.group = &pool.Group{ID: "azure:///agentPools/p", State: "Succeeded", Image: "AKSUbuntu-2204gen2containerd-202609.03.0", Template: template.Ref, Content: template.Content}
	}
	a.group.Size = size
	for len(a.instances) < size {
		id := fmt.Sprintf("aks-p-vmss00000%d", len(a.instances))
		a.instances = append(a.instances, pool.Instance{ID: id, ProviderID: "azure:///" + id, UID: id, State: pool.Running, Template: template, Created: a.now()})
	}
}

// world is a management cluster, a workload cluster and AKS, with a clock that only the test moves.
type world struct {
	*testing.T
	management, workload client.WithWatch
	aks                  *aks
	reconciler           *infrapool.Reconciler[*aksv1.AzureManagedMachinePool, *aksv1.AgentPoolSource]
	now                  time.Time
	writes               int
	again                time.Duration
}

var key = client.ObjectKey{Namespace: "default", Name: "p"}

// surroundings are what an agent pool needs beside its own object.
func surroundings(t *testing.T) []client.Object {
	control := plane(t, managedPlane)
	control.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1beta1")
	control.SetNamespace("default")
	ref := clusterv1.ContractVersionedObjectReference{APIGroup: aksv1.GroupVersion.Group, Kind: aksv1.ManagedControlPlaneKind, Name: "c"}
	return []client.Object{
		control,
		&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"}, Spec: clusterv1.ClusterSpec{ControlPlaneRef: ref, InfrastructureRef: ref},
			Status: clusterv1.ClusterStatus{Initialization: clusterv1.ClusterInitializationStatus{InfrastructureProvisioned: new(true), ControlPlaneInitialized: new(true)}}},
		&apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
			Name: "azuremanagedcontrolplanes.infrastructure.cluster.x-k8s.io", Labels: map[string]string{"cluster.x-k8s.io/v1beta1": "v1beta1"}}},
		&clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mp", UID: "mp"},
			Spec: clusterv1.MachinePoolSpec{ClusterName: "c", Replicas: new(int32(2)), Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{
				ClusterName: "c", Version: "v1.34.2", Bootstrap: clusterv1.Bootstrap{DataSecretName: new("")},
				InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: aksv1.GroupVersion.Group, Kind: aksv1.AzureManagedMachinePoolKind, Name: "p"}}}}},
		&aksv1.AzureManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "11111111-2222-3333-4444-555555555555", Generation: 1,
			Labels:          map[string]string{clusterv1.ClusterNameLabel: "c"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool", Name: "mp", UID: "mp"}}},
			Spec: aksv1.AzureManagedMachinePoolSpec{Mode: "User", SKU: "S"}},
	}
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	w := &world{T: t, now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	clock := func() time.Time { return w.now }
	w.aks = &aks{now: clock}
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme, aksv1.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	b := fake.NewClientBuilder().WithScheme(s).WithRESTMapper(mapper()).WithObjects(append(objects, surroundings(t)...)...).
		WithStatusSubresource(&aksv1.AzureManagedMachinePool{}, &clusterv1.MachinePool{}).
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
	for _, i := range slices.Concat(watch.Indexes(), Managed{}.Kind().Indexes()) {
		b = b.WithIndex(i.Object, i.Field, i.Values)
	}
	w.management = b.Build()
	b = fake.NewClientBuilder().WithScheme(s).WithStatusSubresource(&corev1.Node{}).WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} })
	for _, i := range nodes.Indexes() {
		b = b.WithIndex(i.Object, i.Field, i.ExtractValue)
	}
	w.workload = b.Build()
	w.reconciler = infrapool.New(Managed{}, w.aks, infrapool.Options{Client: w.management, Recorder: events.NewFakeRecorder(1000), Now: clock,
		ClusterCache: clustercache.NewFakeClusterCache(w.workload, client.ObjectKey{Namespace: "default", Name: "c"})})
	return w
}

// mapper knows the kinds of the tests, and the operator's.
func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{manifestKind.GroupVersion()})
	for _, gvk := range []schema.GroupVersionKind{manifestKind, aksv1.GroupVersion.WithKind(aksv1.AzureManagedMachinePoolKind), clusterv1.GroupVersion.WithKind("MachinePool"),
		clusterv1.GroupVersion.WithKind("Cluster"), aksv1.GroupVersion.WithKind(aksv1.ManagedControlPlaneKind)} {
		m.Add(gvk, meta.RESTScopeNamespace)
	}
	m.Add(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"), meta.RESTScopeRoot)
	return m
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
	for _, i := range w.aks.instances {
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
	w.Fatalf("still at work: %v", w.aks.steps)
}

func (w *world) machinePool() *clusterv1.MachinePool {
	w.Helper()
	mp := &clusterv1.MachinePool{}
	if err := w.management.Get(w.Context(), client.ObjectKey{Namespace: "default", Name: "mp"}, mp); err != nil {
		w.Fatal(err)
	}
	return mp
}

func (w *world) object() *aksv1.AzureManagedMachinePool {
	w.Helper()
	o := &aksv1.AzureManagedMachinePool{}
	if err := w.management.Get(w.Context(), key, o); err != nil {
		w.Fatal(err)
	}
	return o
}

// edit changes the specification.
func (w *world) edit(change func(*aksv1.AzureManagedMachinePoolSpec)) {
	w.Helper()
	o := w.object()
	change(&o.Spec)
	o.Generation++
	if err := w.management.Update(w.Context(), o); err != nil {
		w.Fatal(err)
	}
}

// TestCreatedWithClusterIsAdopted holds that the agent pool that AKS made with the managed cluster becomes the pool's, and that nothing else
// is begun on it.
func TestCreatedWithClusterIsAdopted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.aks.resize(2)
	w.rest()
	if o := w.object(); !slices.Equal(w.aks.steps, []string{"Adopt"}) || o.Spec.ProviderID == "" || len(o.Spec.ProviderIDList) != 2 || !o.Status.Ready ||
		o.Status.NodeImageVersion != "AKSUbuntu-2204gen2containerd-202609.03.0" {
		t.Errorf("want it adopted and nothing else, got %v, %+v", w.aks.steps, o.Status)
	}
}

// TestAutoscalerIsFollowed holds that a pool which the specification gives to AKS's autoscaler is annotated so, that spec.replicas follows its
// size, and that the size is Muster's again, as it is, once the specification has no autoscaler.
func TestAutoscalerIsFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rest()
	w.edit(func(s *aksv1.AzureManagedMachinePoolSpec) {
		s.Scaling = &aksv1.ManagedMachinePoolScaling{MinSize: new(1), MaxSize: new(5)}
	})
	w.rest()
	w.aks.resize(4)
	w.rest()
	mp := w.machinePool()
	if mp.Annotations[clusterv1.ReplicasManagedByAnnotation] != "true" || *mp.Spec.Replicas != 4 || !slices.Equal(w.aks.steps, []string{"CreateGroup"}) {
		t.Errorf("want the autoscaler's size followed, got annotations %v, %d replicas, steps %v", mp.Annotations, *mp.Spec.Replicas, w.aks.steps)
	}
	w.edit(func(s *aksv1.AzureManagedMachinePoolSpec) { s.Scaling = nil })
	w.rest()
	mp = w.machinePool()
	if _, annotated := mp.Annotations[clusterv1.ReplicasManagedByAnnotation]; annotated || *mp.Spec.Replicas != 4 || strings.Contains(w.object().Annotations["muster.dev/resolved"], "replicas-managed-by") {
		t.Errorf("want the size as it is without the annotation, got annotations %v, %d replicas", mp.Annotations, *mp.Spec.Replicas)
	}
}

// TestOperatedPoolIsLeft holds that Muster neither reads nor writes an agent pool that Azure Service Operator runs, says so, and releases its
// object when it is deleted.
func TestOperatedPoolIsLeft(t *testing.T) {
	t.Parallel()
	manifest := &unstructured.Unstructured{}
	manifest.SetGroupVersionKind(manifestKind)
	manifest.SetNamespace("default")
	manifest.SetName("p")
	w := newWorld(t, manifest, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "managedclustersagentpools.containerservice.azure.com"}})
	w.aks.resize(2)
	w.edit(func(s *aksv1.AzureManagedMachinePoolSpec) {
		s.Scaling = &aksv1.ManagedMachinePoolScaling{MinSize: new(1), MaxSize: new(5)}
	})
	w.rest()
	if mp := w.machinePool(); mp.Annotations[clusterv1.ReplicasManagedByAnnotation] != "" {
		t.Errorf("want the MachinePool left to the other controller too, got annotations %v", mp.Annotations)
	}
	o := w.object()
	if ready := meta.FindStatusCondition(o.Status.Conditions, "Ready"); ready == nil || ready.Reason != reasonOperator || w.aks.looks > 0 || len(w.aks.steps) > 0 {
		t.Errorf("want AKS left alone, and why, got %d reads, steps %v, %+v", w.aks.looks, w.aks.steps, o.Status.Conditions)
	}
	o.Finalizers = []string{aksv1.ManagedMachinePoolFinalizer}
	if err := w.management.Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if err := w.management.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	w.pass()
	if err := w.management.Get(t.Context(), key, o); err == nil || w.aks.looks > 0 || len(w.aks.steps) > 0 || w.aks.group == nil {
		t.Errorf("want the object released and the agent pool left, got %v, %d reads, steps %v", err, w.aks.looks, w.aks.steps)
	}
}
