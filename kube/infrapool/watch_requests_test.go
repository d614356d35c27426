package infrapool_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/kube/infrapool/watch"
)

func poolNamed(name, cluster, kind, secret string) *clusterv1.MachinePool {
	mp := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: clusterv1.MachinePoolSpec{ClusterName: cluster}}
	mp.Spec.Template.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: awsv1.GroupVersion.Group, Kind: kind,
		Name: "infra-" + name}
	if secret != "" {
		mp.Spec.Template.Spec.Bootstrap.DataSecretName = &secret
	}
	return mp
}

func TestRequests(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme, awsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name, infra string) *clusterv1.Cluster {
		return &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: clusterv1.ClusterSpec{
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "AWSCluster",
				Name: infra},
			ControlPlaneRef: clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "AWSManagedControlPlane",
				Name: infra}}}
	}
	b := fake.NewClientBuilder().WithScheme(scheme).WithObjects(at("c1", "one"), at("c2", "two"),
		poolNamed("a", "c1", "AWSMachinePool", "boot-a"), poolNamed("b", "c2", "AWSMachinePool", "boot-b"),
		poolNamed("x", "c1", "OtherPool", "boot-a"),
		func() client.Object {
			mp := poolNamed("a", "c1", "AWSMachinePool", "boot-a")
			mp.Namespace = "elsewhere"
			return mp
		}())
	for _, i := range watch.Indexes() {
		b = b.WithIndex(i.Object, i.Field, i.Values)
	}
	q := watch.Requests{Group: awsv1.GroupVersion.Group, Kind: "AWSMachinePool", Reader: b.Build(), Identities: identity.NewSources(nil, ""),
		InfraCluster: func(c *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference { return c.Spec.InfrastructureRef }}
	planes := q
	planes.ControlPlane = func(c *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference { return c.Spec.ControlPlaneRef }
	named := func(o client.Object) client.Object { o.SetNamespace("default"); return o }
	infra := func(kind, name string) client.Object {
		u := &unstructured.Unstructured{}
		u.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1beta1")
		u.SetKind(kind)
		u.SetName(name)
		return named(u)
	}
	for name, tc := range map[string]struct {
		reason string
		wake   func(context.Context, client.Object) []ctrl.Request
		object client.Object
		want   []string
	}{
		"pool": {"a MachinePool enqueues the object that it references", q.OfPool, poolNamed("a", "c1", "AWSMachinePool", ""),
			[]string{"default/infra-a"}},
		"pool of another": {"pools of other kinds are for other controllers", q.OfPool, poolNamed("x", "c1", "OtherPool", ""), nil},
		"cluster":         {"a Cluster enqueues its own pools of the kind", q.OfCluster, at("c1", ""), []string{"default/infra-a"}},
		"secret": {"a secret enqueues the pools that boot with it", q.OfSecret,
			named(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "boot-b"}}), []string{"default/infra-b"}},
		"other secret": {"other secrets enqueue nothing", q.OfSecret,
			named(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "kubeconfig"}}), nil},
		"infrastructure": {"an infrastructure cluster enqueues its cluster's pools", q.OfInfraCluster, infra("AWSCluster", "two"),
			[]string{"default/infra-b"}},
		"second object": {"the infrastructure cluster is still one of the two", planes.OfInfraCluster, infra("AWSCluster", "two"),
			[]string{"default/infra-b"}},
		"control plane": {"a control plane enqueues its cluster's pools", planes.OfInfraCluster, infra("AWSManagedControlPlane", "two"),
			[]string{"default/infra-b"}},
		"no second":  {"a kind that reads no control plane is left alone", q.OfInfraCluster, infra("AWSManagedControlPlane", "two"), nil},
		"other kind": {"one name of two kinds is two objects", q.OfInfraCluster, infra("AzureCluster", "two"), nil},
	} {
		var got []string
		for _, request := range tc.wake(t.Context(), tc.object) {
			got = append(got, request.String())
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s: want -, got +\n%s", name, tc.reason, diff)
		}
	}
}

func TestPredicates(t *testing.T) {
	t.Parallel()
	now := metav1.Now()
	object := func(change func(*awsv1.AWSMachinePool)) client.Object {
		o := &awsv1.AWSMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "p", Generation: 1, ResourceVersion: "1"}}
		change(o)
		return o
	}
	cluster := func(change func(*clusterv1.Cluster)) client.Object {
		o := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Generation: 1, ResourceVersion: "1"}}
		change(o)
		return o
	}
	for name, tc := range map[string]struct {
		reason        string
		predicate     predicate.Predicate
		before, after client.Object
		want          bool
	}{
		"status": {"a written status is no reason for a pass", watch.RequestChanged(), object(func(*awsv1.AWSMachinePool) {}),
			object(func(o *awsv1.AWSMachinePool) { o.ResourceVersion, o.Status.State = "2", "Running" }), false},
		"finalizer": {"the finalizer is no reason", watch.RequestChanged(), object(func(*awsv1.AWSMachinePool) {}),
			object(func(o *awsv1.AWSMachinePool) { o.Finalizers = []string{"x"} }), false},
		"specification": {"a new specification is", watch.RequestChanged(), object(func(*awsv1.AWSMachinePool) {}),
			object(func(o *awsv1.AWSMachinePool) { o.Generation = 2 }), true},
		"annotation": {"pausing is an annotation", watch.RequestChanged(), object(func(*awsv1.AWSMachinePool) {}),
			object(func(o *awsv1.AWSMachinePool) { o.Annotations = map[string]string{"a": "b"} }), true},
		"label": {"the watch filter is a label", watch.RequestChanged(), object(func(*awsv1.AWSMachinePool) {}),
			object(func(o *awsv1.AWSMachinePool) { o.Labels = map[string]string{"a": "b"} }), true},
		"owner": {"the owner may come later", watch.RequestChanged(), object(func(*awsv1.AWSMachinePool) {}),
			object(func(o *awsv1.AWSMachinePool) { o.OwnerReferences = []metav1.OwnerReference{{Name: "mp"}} }), true},
		"deletion": {"deletion is asked for", watch.RequestChanged(), object(func(*awsv1.AWSMachinePool) {}),
			object(func(o *awsv1.AWSMachinePool) { o.DeletionTimestamp = &now }), true},
		"cluster status": {"conditions of a Cluster change often", watch.ClusterChanged(), cluster(func(*clusterv1.Cluster) {}),
			cluster(func(o *clusterv1.Cluster) { o.ResourceVersion = "2"; o.Status.Phase = "Provisioned" }), false},
		"cluster provisioned": {"pools wait for that", watch.ClusterChanged(), cluster(func(*clusterv1.Cluster) {}),
			cluster(func(o *clusterv1.Cluster) { o.Status.Initialization.InfrastructureProvisioned = new(true) }), true},
		"cluster paused": {"pausing is in the specification", watch.ClusterChanged(), cluster(func(*clusterv1.Cluster) {}),
			cluster(func(o *clusterv1.Cluster) { o.Generation = 2 }), true},
		"cluster going": {"nodes of a cluster that goes need no drain", watch.ClusterChanged(), cluster(func(*clusterv1.Cluster) {}),
			cluster(func(o *clusterv1.Cluster) { o.DeletionTimestamp = &now }), true},
	} {
		if got := tc.predicate.Update(event.UpdateEvent{ObjectOld: tc.before, ObjectNew: tc.after}); got != tc.want {
			t.Errorf("%s: %s: want %v, got %v", name, tc.reason, tc.want, got)
		}
	}
	if !watch.RequestChanged().Create(event.CreateEvent{Object: object(func(*awsv1.AWSMachinePool) {})}) {
		t.Error("want new objects reconciled")
	}
}
