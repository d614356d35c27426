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

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/passtest"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/azure/azuremachinepool"
)

type azureTarget = cloud.Target[*azurev1.MachinePoolSource]

// subscription is a cloud in memory with at most one scale set, which does at once what it is asked for.
type subscription struct {
	now       func() time.Time
	group     *pool.Group
	model     pool.Template
	instances []pool.Instance
	next      int
	steps     []string
	last      azureTarget
}

func (s *subscription) Traits() pool.Traits {
	return pool.Traits{Group: "scale set", Template: "model", RemoveBatch: 100, InlineTemplate: true, CanDeleteBusyGroup: true,
		CanCancelRollout: true, KeepsFailedInstances: true}
}

func (s *subscription) wants(t azureTarget) pool.Template {
	if t.Bootstrap.Empty() {
		return pool.Template{}
	}
	content := "v1:" + t.Spec.Pool.Template.VMSize + t.KubernetesVersion
	return pool.Template{Content: content, Data: t.Bootstrap.Hash()}
}

func (s *subscription) Observe(_ context.Context, t azureTarget) (pool.Observed, error) {
	s.last = t
	o := pool.Observed{Wanted: s.wants(t), ResolvedLookups: map[string]string{
		"image-1": `{"computeGallery":{"gallery":"g","name":"n","version":"1.36.3"}}`}}
	if s.group == nil {
		return o, nil
	}
	g := *s.group
	o.Group, o.Instances, o.Versions = &g, slices.Clone(s.instances), []pool.Template{s.model}
	o.Operations = []pool.Operation{{Type: "PUT", Resource: g.ID, Token: "token"}}
	return o, nil
}

func (s *subscription) Start(_ context.Context, t azureTarget, step pool.Step) error {
	text := string(step.Kind)
	switch step.Kind {
	case pool.CreateGroup:
		s.put(t)
		s.group = &pool.Group{ID: "azure:///subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/p",
			State: "Succeeded", Template: s.model.Ref, Created: s.now()}
		s.fill(step.Size)
	case pool.PutTemplate:
		s.put(t)
		s.group.Template = s.model.Ref
	case pool.UpdateGroup:
	case pool.Resize:
		s.fill(step.Size)
	case pool.Remove:
		for _, gone := range step.Targets {
			text += " " + gone.ID
			s.instances = slices.DeleteFunc(s.instances, func(i pool.Instance) bool { return i.ID == gone.ID })
			s.group.Size--
		}
	case pool.DeleteGroup:
		s.group, s.instances = nil, nil
	default:
		return fmt.Errorf("no driver starts %s", step.Kind)
	}
	s.steps = append(s.steps, text)
	return nil
}

func (s *subscription) put(t azureTarget) {
	s.model = s.wants(t)
	s.model.Ref = "model-" + s.model.Content
}

func (s *subscription) fill(size int) {
	s.group.Size = size
	for len(s.instances) < size {
		id := fmt.Sprint(s.next)
		s.next++
		s.instances = append(s.instances, pool.Instance{ID: id, ProviderID: s.group.ID + "/virtualMachines/" + id, Zone: "1", State: pool.Running,
			Template: s.model,
			Created:  s.now().Add(time.Duration(s.next) * time.Millisecond)})
	}
}

// azureWorld is a management cluster, a workload cluster and the cloud, with a clock that only the test moves.
type azureWorld struct {
	t                    *testing.T
	management, workload client.WithWatch
	cloud                *subscription
	reconciler           *infrapool.Reconciler[*azurev1.AzureMachinePool, *azurev1.MachinePoolSource]
	now                  time.Time
	writes               []string
	again                time.Duration
}

var azureKey = client.ObjectKey{Namespace: "default", Name: "p"}

func azureCorePool(version string) *clusterv1.MachinePool {
	return &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mp", UID: "mp"},
		Spec: clusterv1.MachinePoolSpec{ClusterName: "capz", Replicas: new(int32(2)),
			Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{
				ClusterName: "capz", Version: version, Bootstrap: clusterv1.Bootstrap{DataSecretName: new("data")},
				InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: azurev1.GroupVersion.Group, Kind: azurev1.AzureMachinePoolKind,
					Name: "p"}}}}}
}

func azureMachinePool(mode azurev1.OrchestrationModeType) *azurev1.AzureMachinePool {
	return &azurev1.AzureMachinePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "11111111-2222-3333-4444-555555555555", Generation: 1,
			Labels:          map[string]string{clusterv1.ClusterNameLabel: "capz"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool", Name: "mp", UID: "mp"}}},
		Spec: azurev1.AzureMachinePoolSpec{Location: "westus2", OrchestrationMode: mode,
			Template: azurev1.AzureMachinePoolMachineTemplate{VMSize: "S", SSHPublicKey: "key", OSDisk: azurev1.OSDisk{OSType: azurev1.LinuxOS}}}}
}

// azureSurroundings returns the objects that a pool needs in addition to its MachinePool and infrastructure object.
func azureSurroundings() []client.Object {
	return []client.Object{
		&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "capz"},
			Spec: clusterv1.ClusterSpec{InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: azurev1.GroupVersion.Group,
				Kind: "AzureCluster", Name: "capz"}},
			Status: clusterv1.ClusterStatus{Initialization: clusterv1.ClusterInitializationStatus{
				InfrastructureProvisioned: new(true), ControlPlaneInitialized: new(true)}}},
		&unstructured.Unstructured{Object: map[string]any{"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "AzureCluster",
			"metadata": map[string]any{"name": "capz", "namespace": "default"},
			"spec":     map[string]any{"subscriptionID": "s", "resourceGroup": "RG", "location": "westus2"}}},
		&apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
			Name: "azureclusters.infrastructure.cluster.x-k8s.io", Labels: map[string]string{"cluster.x-k8s.io/v1beta1": "v1beta1"}}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data"},
			Data: map[string][]byte{"value": []byte("#cloud-config\ntoken: s3cret")}},
	}
}

func newAzureWorld(t *testing.T, objects ...client.Object) *azureWorld {
	t.Helper()
	w := &azureWorld{t: t, now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	w.cloud = &subscription{now: func() time.Time { return w.now }}
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme, azurev1.AddToScheme,
		apiextensionsv1.AddToScheme, musterv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	note := func(verb string, o client.Object) {
		w.writes = append(w.writes, fmt.Sprintf("%s %T %s", verb, o, o.GetName()))
	}
	b := fake.NewClientBuilder().WithScheme(s).WithObjects(append(objects, azureSurroundings()...)...).
		WithStatusSubresource(&azurev1.AzureMachinePool{}, &azurev1.AzureMachinePoolMachine{}, &clusterv1.MachinePool{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				note("create", o)
				return c.Create(ctx, o, opts...)
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
		})
	for _, i := range slices.Concat(watch.Indexes(), azuremachinepool.Adapter{}.Kind().Indexes()) {
		b = b.WithIndex(i.Object, i.Field, i.Values)
	}
	w.management = b.WithObjectTracker(passtest.Tracker(s)).Build()
	b = fake.NewClientBuilder().WithScheme(s).WithStatusSubresource(&corev1.Node{}).WithObjects(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}).
		WithIndex(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} })
	for _, i := range nodes.Indexes() {
		b = b.WithIndex(i.Object, i.Field, i.ExtractValue)
	}
	w.workload = b.WithObjectTracker(passtest.Tracker(s)).Build()
	w.reconciler = infrapool.New(azuremachinepool.Adapter{}, w.cloud, infrapool.Options{Client: w.management,
		Recorder:     events.NewFakeRecorder(1000),
		Now:          func() time.Time { return w.now },
		ClusterCache: clustercache.NewFakeClusterCache(w.workload, client.ObjectKey{Namespace: "default", Name: "capz"})})
	return w
}

// passes runs some passes, with the clock moved on and whatever runs joining between them.
func (w *azureWorld) passes(n int) {
	w.t.Helper()
	for range n {
		w.writes = nil
		result, err := w.reconciler.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: azureKey})
		if err != nil {
			w.t.Fatalf("pass: %v", err)
		}
		w.again = result.RequeueAfter
		w.now = w.now.Add(max(result.RequeueAfter, time.Second))
		w.join()
	}
}

func (w *azureWorld) join() {
	w.t.Helper()
	for _, i := range w.cloud.instances {
		if i.State != pool.Running {
			continue
		}
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + i.ID, CreationTimestamp: metav1.NewTime(w.now)},
			Spec: corev1.NodeSpec{ProviderID: i.ProviderID}}
		if err := w.workload.Create(w.t.Context(), n); err != nil {
			continue
		}
		n.Status = corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KubeletVersion: "v1.36.3"},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue,
				LastTransitionTime: metav1.NewTime(w.now.Add(-time.Minute))}}}
		if err := w.workload.Status().Update(w.t.Context(), n); err != nil {
			w.t.Fatal(err)
		}
	}
}

// rest runs passes until nothing is written any more.
func (w *azureWorld) rest() {
	w.t.Helper()
	for range 60 {
		w.passes(1)
		if len(w.writes) == 0 && w.again >= time.Minute {
			return
		}
	}
	w.t.Fatalf("still at work: %v, %v\n%s", w.cloud.steps, w.writes, w.say())
}

func (w *azureWorld) get() *azurev1.AzureMachinePool {
	w.t.Helper()
	o := &azurev1.AzureMachinePool{}
	if err := w.management.Get(w.t.Context(), azureKey, o); err != nil {
		w.t.Fatal(err)
	}
	return o
}

func (w *azureWorld) say() string {
	var b strings.Builder
	for _, c := range w.get().Status.Conditions {
		fmt.Fprintf(&b, "%s=%s %s: %s\n", c.Type, c.Status, c.Reason, c.Message)
	}
	return b.String()
}

func (w *azureWorld) machines() map[string]*azurev1.AzureMachinePoolMachine {
	w.t.Helper()
	list := &azurev1.AzureMachinePoolMachineList{}
	if err := w.management.List(w.t.Context(), list); err != nil {
		w.t.Fatal(err)
	}
	out := map[string]*azurev1.AzureMachinePoolMachine{}
	for i := range list.Items {
		out[list.Items[i].Name] = &list.Items[i]
	}
	return out
}

func names(machines map[string]*azurev1.AzureMachinePoolMachine) []string {
	var out []string
	for name := range machines {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// TestLife is a pool from its beginning to its end.
func TestLife(t *testing.T) {
	t.Parallel()
	w := newAzureWorld(t, azureCorePool("v1.22.0"), azureMachinePool(azurev1.UniformOrchestrationMode))
	w.rest()
	if want := []string{"CreateGroup"}; !slices.Equal(w.cloud.steps, want) {
		t.Fatalf("want the scale set made with its size and its model, got %v\n%s", w.cloud.steps, w.say())
	}
	o := w.get()
	if got, want := o.Spec.ProviderID, w.cloud.group.ID; got != want || len(o.Spec.ProviderIDList) != 2 {
		t.Errorf("want provider ID %s and two in the list, got %s and %v", want, got, o.Spec.ProviderIDList)
	}
	if s := o.Status; *s.ProvisioningState != azurev1.Succeeded || s.InfrastructureMachineKind != "AzureMachinePoolMachine" ||
		s.Image == nil || s.Image.ComputeGallery.Version != "1.36.3" ||
		s.Version != "v1.22.0" || *s.Replicas != 2 || !s.Ready || len(s.LongRunningOperationStates) != 1 ||
		s.LongRunningOperationStates[0].ResourceGroup != "rg" {
		t.Errorf("status: got %+v", s)
	}
	for _, name := range []string{"Ready", "ScaleSetRunning", "ScaleSetModelUpdated", "ScaleSetDesiredReplicas", "BootstrapSucceeded"} {
		if !meta.IsStatusConditionTrue(o.Status.Conditions, name) {
			t.Errorf("want %s to be True in\n%s", name, w.say())
		}
	}
	if got := w.cloud.last.Operations; len(got) != 1 || got[0].Token != "token" {
		t.Errorf("want the operation that the status names handed back, got %v", got)
	}
	w.passes(1)
	if len(w.writes) > 0 {
		t.Errorf("want no write at rest, got %v", w.writes)
	}
	if err := w.management.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	w.passes(12)
	if err := w.management.Get(t.Context(), azureKey, o); client.IgnoreNotFound(err) != nil || err == nil || w.cloud.group != nil {
		t.Errorf("want pool and scale set gone, got %v and %v after %v", err, w.cloud.group, w.cloud.steps)
	}
	if left := w.machines(); len(left) > 0 {
		t.Errorf("want no object left behind, got %v", names(left))
	}
}

// TestMachines holds that every virtual machine has an object whatever the gate says, and that who deletes one has exactly that
// machine drained and replaced.
func TestMachines(t *testing.T) {
	t.Parallel()
	w := newAzureWorld(t, azureCorePool("v1.36.3"), azureMachinePool(azurev1.UniformOrchestrationMode))
	w.rest()
	machines := w.machines()
	if want := []string{"p-p-0", "p-p-1"}; !slices.Equal(names(machines), want) {
		t.Fatalf("want objects %v, got %v", want, names(machines))
	}
	m := machines["p-p-1"]
	labels := map[string]string{clusterv1.ClusterNameLabel: "capz", azurev1.MachinePoolNameLabel: "p", clusterv1.MachinePoolNameLabel: "mp",
		"capz": "owned"}
	for k, want := range labels {
		if m.Labels[k] != want {
			t.Errorf("want label %s: %s, got %v", k, want, m.Labels)
		}
	}
	if owner := m.OwnerReferences; len(owner) != 1 || owner[0].Kind != "AzureMachinePool" || owner[0].BlockOwnerDeletion == nil ||
		!*owner[0].BlockOwnerDeletion {
		t.Errorf("want it owned by its pool, which can't go before it, got %+v", owner)
	}
	if s := m.Status; !s.Ready || !s.LatestModelApplied || s.NodeRef == nil || s.NodeRef.Name != "node-1" || s.Version != "v1.36.3" ||
		s.InstanceName != "p_1" {
		t.Errorf("status: got %+v", s)
	}
	if err := w.workload.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pod"},
		Spec: corev1.PodSpec{NodeName: "node-1"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}); err != nil {
		t.Fatal(err)
	}
	w.cloud.steps = nil
	if err := w.management.Delete(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	w.passes(2)
	node := &corev1.Node{}
	if err := w.workload.Get(t.Context(), client.ObjectKey{Name: "node-1"}, node); err != nil || !node.Spec.Unschedulable ||
		slices.Contains(w.cloud.steps, "Remove 1") {
		t.Errorf("want the node cordoned and nothing removed while its pod is there, got %v, %t, %v", err, node.Spec.Unschedulable, w.cloud.steps)
	}
	w.rest()
	if want := []string{"Resize", "Remove 1"}; !slices.Equal(w.cloud.steps, want) {
		t.Errorf("want %v, got %v\n%s", want, w.cloud.steps, w.say())
	}
	if want := []string{"p-p-0", "p-p-2"}; !slices.Equal(names(w.machines()), want) {
		t.Errorf("want objects %v, got %v", want, names(w.machines()))
	}
}

// TestMarkedMachine holds that the annotated machine is removed first.
func TestMarkedMachine(t *testing.T) {
	t.Parallel()
	w := newAzureWorld(t, azureCorePool("v1.36.3"), azureMachinePool(azurev1.UniformOrchestrationMode))
	w.rest()
	m := w.machines()["p-p-1"]
	m.Annotations = map[string]string{clusterv1.DeleteMachineAnnotation: ""}
	if err := w.management.Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	mp := &clusterv1.MachinePool{}
	if err := w.management.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "mp"}, mp); err != nil {
		t.Fatal(err)
	}
	mp.Spec.Replicas = new(int32(1))
	if err := w.management.Update(t.Context(), mp); err != nil {
		t.Fatal(err)
	}
	w.cloud.steps = nil
	w.rest()
	if want := []string{"Remove 1"}; !slices.Equal(w.cloud.steps, want) {
		t.Errorf("want the marked one to go instead of the oldest, got %v\n%s", w.cloud.steps, w.say())
	}
}

// TestFailedMachine holds that a failed machine is listed like every other until it is removed.
func TestFailedMachine(t *testing.T) {
	t.Parallel()
	w := newAzureWorld(t, azureCorePool("v1.36.3"), azureMachinePool(azurev1.UniformOrchestrationMode))
	w.rest()
	w.cloud.instances = append(w.cloud.instances, pool.Instance{ID: "9", ProviderID: w.cloud.group.ID + "/virtualMachines/9",
		State: pool.Failed, Template: w.cloud.model, Created: w.now})
	w.cloud.group.Size++
	w.passes(1)
	if m := w.machines()["p-p-9"]; m == nil || *m.Status.ProvisioningState != azurev1.Failed || m.Status.Ready {
		t.Errorf("want an object that reports the failure of its machine, got %+v", m)
	}
	w.rest()
	if want := []string{"p-p-0", "p-p-1"}; !slices.Equal(names(w.machines()), want) {
		t.Errorf("want it gone with its machine, got %v after %v", names(w.machines()), w.cloud.steps)
	}
}

// TestMachineOfAFailedMachine holds that the Machine of a machine which failed is asked first, and keeps it no longer than its own
// controller needs, for there is no node to drain.
func TestMachineOfAFailedMachine(t *testing.T) {
	t.Parallel()
	mp := azureCorePool("v1.36.3")
	mp.Spec.Replicas = new(int32(3))
	w := newAzureWorld(t, mp, azureMachinePool(azurev1.UniformOrchestrationMode))
	w.rest()
	w.cloud.instances = append(w.cloud.instances[:2], pool.Instance{ID: "9", ProviderID: w.cloud.group.ID + "/virtualMachines/9",
		State: pool.Pending, Template: w.cloud.model, Created: w.now})
	w.passes(1)
	machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p-p-9",
		Finalizers: []string{clusterv1.MachineFinalizer},
		Labels:     map[string]string{clusterv1.ClusterNameLabel: "capz", clusterv1.MachinePoolNameLabel: "mp"}},
		Spec: clusterv1.MachineSpec{ClusterName: "capz",
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: azurev1.GroupVersion.Group, Kind: "AzureMachinePoolMachine",
				Name: "p-p-9"}}}
	if err := w.management.Create(t.Context(), machine); err != nil {
		t.Fatal(err)
	}
	w.cloud.instances[2].State = pool.Failed
	removed := func() bool { return slices.Contains(w.cloud.steps, "Remove 9") }
	for range 20 {
		w.passes(1)
		err := w.management.Get(t.Context(), client.ObjectKeyFromObject(machine), machine)
		if err != nil || machine.DeletionTimestamp.IsZero() {
			continue
		}
		if m := w.machines()["p-p-9"]; m != nil && m.DeletionTimestamp.IsZero() {
			if removed() {
				t.Fatalf("want nothing removed before its Machine's controller is done, got %v", w.cloud.steps)
			}
			machine.Status.Conditions = []metav1.Condition{{Type: clusterv1.MachineDeletingCondition, Status: metav1.ConditionTrue,
				Reason: clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason, LastTransitionTime: metav1.NewTime(w.now)}}
			if err := w.management.Update(t.Context(), machine); err != nil {
				t.Fatal(err)
			}
			if err := w.management.Delete(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		} else if m == nil {
			machine.Finalizers = nil
			if err := w.management.Update(t.Context(), machine); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.management.Get(t.Context(), client.ObjectKeyFromObject(machine), machine); client.IgnoreNotFound(err) != nil || err == nil ||
		!removed() || len(w.machines()) != 3 {
		t.Errorf("want Machine, object and virtual machine gone, got %v, %v, %v\n%s", err, names(w.machines()), w.cloud.steps, w.say())
	}
}

// TestFlexibleNeedsItsVersion holds that what admission could not see, because the MachinePool came later or was changed, is said
// by a condition, and that nothing is made and nothing taken away for it.
func TestFlexibleNeedsItsVersion(t *testing.T) {
	t.Parallel()
	const text = "specified Kubernetes version 1.22.0 must be >= 1.26.0 for Flexible orchestration mode"
	w := newAzureWorld(t, azureCorePool("v1.22.0"), azureMachinePool(azurev1.FlexibleOrchestrationMode))
	w.passes(3)
	if !strings.Contains(w.say(), text) || w.cloud.group != nil {
		t.Errorf("want nothing made and %q in\n%s", text, w.say())
	}
	version := func(v string) {
		mp := &clusterv1.MachinePool{}
		if err := w.management.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "mp"}, mp); err != nil {
			t.Fatal(err)
		}
		mp.Spec.Template.Spec.Version = v
		if err := w.management.Update(t.Context(), mp); err != nil {
			t.Fatal(err)
		}
	}
	version("v1.26.0")
	w.rest()
	if w.cloud.group == nil || len(w.cloud.instances) != 2 {
		t.Fatalf("want two machines, got %v\n%s", w.cloud.instances, w.say())
	}
	version("v1.22.0")
	w.cloud.steps = nil
	w.passes(3)
	if len(w.cloud.steps) > 0 || len(w.cloud.instances) != 2 || !strings.Contains(w.say(), text) {
		t.Errorf("want everything left as it is, and %q, got %v and\n%s", text, w.cloud.steps, w.say())
	}
}

// TestClusterGone holds that a pool is deleted to the end when its cluster's infrastructure was deleted before it.
func TestClusterGone(t *testing.T) {
	t.Parallel()
	w := newAzureWorld(t, azureCorePool("v1.36.3"), azureMachinePool(azurev1.UniformOrchestrationMode))
	w.rest()
	for _, o := range azureSurroundings()[:2] {
		if err := w.management.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.management.Delete(t.Context(), w.get()); err != nil {
		t.Fatal(err)
	}
	w.passes(12)
	if w.cloud.group != nil {
		t.Errorf("want the scale set gone, got steps %v\n%s", w.cloud.steps, w.say())
	}
	if where := w.cloud.last.Spec.Cluster; where.SubscriptionID != "s" || where.ResourceGroup != "RG" || where.Location != "westus2" {
		t.Errorf("want the cloud asked where the pool was made, got %+v", where)
	}
}

// TestMachinesCannotBeSwitchedOff holds that the annotation by which other kinds go without machines means nothing here, and that
// this is said.
func TestMachinesCannotBeSwitchedOff(t *testing.T) {
	t.Parallel()
	o := azureMachinePool(azurev1.UniformOrchestrationMode)
	o.Annotations = map[string]string{settings.MachinesAnnotation: "false"}
	w := newAzureWorld(t, azureCorePool("v1.36.3"), o)
	w.rest()
	const text = `metadata.annotations[muster.dev/machines] of the AzureMachinePool is "false", allowed is true, because every instance of this kind has a Machine, or no such annotation`
	if len(w.machines()) != 2 || !strings.Contains(w.say(), text) {
		t.Errorf("want two objects and %q in\n%s", text, w.say())
	}
}
