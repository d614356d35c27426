package gkeconfig

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gkev1 "github.com/muster-project/muster/api/gcp/bootstrap/v1beta1"
	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
)

var key = client.ObjectKey{Namespace: "ns", Name: "boot"}

func config(change ...func(*gkev1.GKEConfig)) *gkev1.GKEConfig {
	o := &gkev1.GKEConfig{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "uid", Generation: 3,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool", Name: "mp"}}}}
	for _, f := range change {
		f(o)
	}
	return o
}

func machinePool(kind string) *clusterv1.MachinePool {
	mp := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "mp"}, Spec: clusterv1.MachinePoolSpec{ClusterName: "c"}}
	mp.Spec.Template.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: gcpv1.GroupVersion.Group, Kind: kind,
		Name: "p"}
	mp.Spec.Template.Spec.Bootstrap.ConfigRef = clusterv1.ContractVersionedObjectReference{APIGroup: gkev1.GroupVersion.Group,
		Kind: gkev1.GKEConfigKind, Name: key.Name}
	return mp
}

// world is a management cluster, and how often it is written to.
type world struct {
	*testing.T
	client.Client
	writes int
	fails  error
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	w := &world{T: t}
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme, gkev1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	w.Client = fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).WithStatusSubresource(&gkev1.GKEConfig{}).WithInterceptorFuncs(
		interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				if w.writes++; w.fails != nil {
					return w.fails
				}
				return c.Create(ctx, o, opts...)
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch,
				opts ...client.SubResourcePatchOption) error {
				w.writes++
				return c.SubResource(sub).Patch(ctx, o, p, opts...)
			},
		}).Build()
	return w
}

// pass reconciles the GKEConfig, and returns it.
func (w *world) pass(filter string) (*gkev1.GKEConfig, error) {
	w.Helper()
	r := &Reconciler{Client: w.Client, WatchFilter: filter}
	_, err := r.Reconcile(w.Context(), ctrl.Request{NamespacedName: key})
	o := &gkev1.GKEConfig{}
	if e := w.Get(w.Context(), key, o); client.IgnoreNotFound(e) != nil {
		w.Fatal(e)
	}
	return o, err
}

// TestReady holds that the GKEConfig of a node pool is ready in the words of both contracts, with a data secret that holds nothing, and
// that this is written once.
func TestReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config(), machinePool(gcpv1.GCPManagedMachinePoolKind),
		&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}})
	o, err := w.pass("")
	if s := o.Status; err != nil || !s.Ready || s.Initialization.DataSecretCreated == nil || !*s.Initialization.DataSecretCreated ||
		s.DataSecretName == nil || *s.DataSecretName != "boot" ||
		s.ObservedGeneration != 3 || !meta.IsStatusConditionTrue(s.Conditions, "Ready") {
		t.Errorf("want it ready, got %+v, %v", o.Status, err)
	}
	secret := &corev1.Secret{}
	if err := w.Get(t.Context(), key, secret); err != nil || !metav1.IsControlledBy(secret, o) ||
		secret.Labels[clusterv1.ClusterNameLabel] != "c" || len(secret.Data["value"]) > 0 {
		t.Errorf("want an empty secret of the GKEConfig's, got %+v, %v", secret, err)
	}
	before := w.writes
	if _, err := w.pass(""); err != nil || w.writes != before {
		t.Errorf("want nothing written again, got %d writes, %v", w.writes-before, err)
	}
}

// TestNotReady holds when a GKEConfig is left alone, and when it says why it is not ready.
func TestNotReady(t *testing.T) {
	t.Parallel()
	paused := true
	for _, c := range []struct {
		why     string
		objects []client.Object
		filter  string
		// says is the message of the condition; empty leaves the object alone.
		says string
	}{
		{why: "it is gone"},
		{why: "no MachinePool owns it yet", objects: []client.Object{config(func(o *gkev1.GKEConfig) { o.OwnerReferences = nil })}},
		{why: "the MachinePool is gone", objects: []client.Object{config()}},
		{why: "it is being deleted", objects: []client.Object{machinePool(gcpv1.GCPManagedMachinePoolKind), config(func(o *gkev1.GKEConfig) {
			o.DeletionTimestamp, o.Finalizers = new(metav1.Now()), []string{"example.com/keep"}
		})}},
		{why: "the manager is for other objects", filter: "a", objects: []client.Object{config(), machinePool(gcpv1.GCPManagedMachinePoolKind)}},
		{why: "it is paused", objects: []client.Object{machinePool(gcpv1.GCPManagedMachinePoolKind),
			&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}},
			config(func(o *gkev1.GKEConfig) { o.Annotations = map[string]string{clusterv1.PausedAnnotation: ""} })}},
		{why: "its Cluster is paused", objects: []client.Object{config(), machinePool(gcpv1.GCPManagedMachinePoolKind),
			&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}, Spec: clusterv1.ClusterSpec{Paused: &paused}}}},
		{why: "machines of another kind need data", objects: []client.Object{config(), machinePool(gcpv1.GCPMachinePoolKind)},
			says: "MachinePool mp has a GCPMachinePool: a GKEConfig is for a GCPManagedMachinePool, whose nodes GKE bootstraps; name another " +
				"bootstrap configuration"},
		{why: "a user's secret is left alone", objects: []client.Object{config(), machinePool(gcpv1.GCPManagedMachinePoolKind),
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "boot"}}},
			says: "secret ns/boot exists and belongs to another owner: rename the GKEConfig or delete the secret"},
	} {
		w := newWorld(t, c.objects...)
		o, err := w.pass(c.filter)
		ready, says := meta.FindStatusCondition(o.Status.Conditions, "Ready"), ""
		if ready != nil {
			says = ready.Message
		}
		if err != nil || o.Status.Ready || says != c.says || c.says == "" && w.writes > 0 {
			t.Errorf("%s: want %q, got %+v, %d writes, %v", c.why, c.says, o.Status, w.writes, err)
		}
	}
}

// TestFailures holds that a write that fails is tried again, and that a secret which has just been made by another client is not taken.
func TestFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config(), machinePool(gcpv1.GCPManagedMachinePoolKind))
	w.fails = errors.New("the API server is away")
	if o, err := w.pass(""); err == nil || !strings.Contains(err.Error(), "create secret ns/boot") || o.Status.Ready {
		t.Errorf("want the failure returned, got %v, %+v", err, o.Status)
	}
	w.fails = apierrors.NewAlreadyExists(corev1.Resource("secrets"), "boot")
	if o, err := w.pass(""); err != nil || o.Status.Ready || meta.FindStatusCondition(o.Status.Conditions, "Ready").Reason != reasonNameTaken {
		t.Errorf("want the name said to be taken, got %v, %+v", err, o.Status)
	}
}

// TestRequests holds which objects a MachinePool enqueues.
func TestRequests(t *testing.T) {
	t.Parallel()
	if got := requests(t.Context(), machinePool(gcpv1.GCPManagedMachinePoolKind)); len(got) != 1 || got[0].NamespacedName != key {
		t.Errorf("want its GKEConfig, got %v", got)
	}
	other := machinePool(gcpv1.GCPManagedMachinePoolKind)
	other.Spec.Template.Spec.Bootstrap.ConfigRef.Kind = "KubeadmConfig"
	if got := requests(t.Context(), other); len(got) > 0 || len(requests(t.Context(), &corev1.Secret{})) > 0 {
		t.Errorf("want nothing for other kinds, got %v", got)
	}
}
