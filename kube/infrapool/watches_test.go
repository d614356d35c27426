package infrapool

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/pool"
)

// kindOf is an adapter that only says of which kind it is.
type kindOf struct{}

func (kindOf) Kind() Kind[*awsv1.AWSMachinePool, string] {
	return Kind[*awsv1.AWSMachinePool, string]{Group: awsv1.GroupVersion.Group, Name: "AWSMachinePool", Finalizer: awsv1.MachinePoolFinalizer,
		New: func() *awsv1.AWSMachinePool { return &awsv1.AWSMachinePool{} }, NewList: func() client.ObjectList { return &awsv1.AWSMachinePoolList{} }}
}
func (kindOf) InfraCluster(c *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference {
	return c.Spec.InfrastructureRef
}
func (kindOf) Translate(*awsv1.AWSMachinePool, Inputs) (Translation[string], error) {
	return Translation[string]{}, nil
}
func (kindOf) Report(*awsv1.AWSMachinePool, report.Report, engine.Outcome) {}

// idle is a driver of a cloud in which nothing is.
type idle struct{}

func (idle) Traits() pool.Traits { return pool.Traits{} }
func (idle) Observe(context.Context, cloud.Target[string]) (pool.Observed, error) {
	return pool.Observed{}, nil
}
func (idle) Start(context.Context, cloud.Target[string], pool.Step) error { return nil }

func poolNamed(name, cluster, kind, secret string) *clusterv1.MachinePool {
	mp := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: clusterv1.MachinePoolSpec{ClusterName: cluster}}
	mp.Spec.Template.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: awsv1.GroupVersion.Group, Kind: kind, Name: "infra-" + name}
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
	at := func(name, place string) *clusterv1.Cluster {
		return &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: clusterv1.ClusterSpec{
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "AWSCluster", Name: place}}}
	}
	b := fake.NewClientBuilder().WithScheme(scheme).WithObjects(at("c1", "one"), at("c2", "two"),
		poolNamed("a", "c1", "AWSMachinePool", "boot-a"), poolNamed("b", "c2", "AWSMachinePool", "boot-b"), poolNamed("x", "c1", "OtherPool", "boot-a"),
		func() client.Object {
			mp := poolNamed("a", "c1", "AWSMachinePool", "boot-a")
			mp.Namespace = "elsewhere"
			return mp
		}())
	for _, i := range Indexes() {
		b = b.WithIndex(i.Object, i.Field, i.Values)
	}
	r := New[*awsv1.AWSMachinePool, string](kindOf{}, idle{}, Options{Client: b.Build()})
	named := func(o client.Object) client.Object { o.SetNamespace("default"); return o }
	place := func(kind, name string) client.Object {
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
		"pool":            {"a MachinePool wakes the object that it refers to", r.requests.ofPool, poolNamed("a", "c1", "AWSMachinePool", ""), []string{"default/infra-a"}},
		"pool of another": {"pools of other kinds are others' matter", r.requests.ofPool, poolNamed("x", "c1", "OtherPool", ""), nil},
		"cluster":         {"a Cluster wakes its own pools of our kind", r.requests.ofCluster, at("c1", ""), []string{"default/infra-a"}},
		"secret":          {"a secret wakes the pools that boot with it", r.requests.ofSecret, named(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "boot-b"}}), []string{"default/infra-b"}},
		"other secret":    {"other secrets wake nobody", r.requests.ofSecret, named(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "kubeconfig"}}), nil},
		"place":           {"what a cluster is made of wakes that cluster's pools", r.requests.ofInfraCluster, place("AWSCluster", "two"), []string{"default/infra-b"}},
		"other place":     {"one name of two kinds is two objects", r.requests.ofInfraCluster, place("AzureCluster", "two"), nil},
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
		"status": {"what we wrote ourselves is no reason to look again", askedAnew(), object(func(*awsv1.AWSMachinePool) {}),
			object(func(o *awsv1.AWSMachinePool) { o.ResourceVersion, o.Status.State = "2", "Running" }), false},
		"finalizer": {"our finalizer is no reason", askedAnew(), object(func(*awsv1.AWSMachinePool) {}),
			object(func(o *awsv1.AWSMachinePool) { o.Finalizers = []string{"x"} }), false},
		"specification": {"a new specification is", askedAnew(), object(func(*awsv1.AWSMachinePool) {}), object(func(o *awsv1.AWSMachinePool) { o.Generation = 2 }), true},
		"annotation": {"pausing is an annotation", askedAnew(), object(func(*awsv1.AWSMachinePool) {}),
			object(func(o *awsv1.AWSMachinePool) { o.Annotations = map[string]string{"a": "b"} }), true},
		"label":    {"the watch filter is a label", askedAnew(), object(func(*awsv1.AWSMachinePool) {}), object(func(o *awsv1.AWSMachinePool) { o.Labels = map[string]string{"a": "b"} }), true},
		"owner":    {"the owner may come later", askedAnew(), object(func(*awsv1.AWSMachinePool) {}), object(func(o *awsv1.AWSMachinePool) { o.OwnerReferences = []metav1.OwnerReference{{Name: "mp"}} }), true},
		"deletion": {"deletion is asked for", askedAnew(), object(func(*awsv1.AWSMachinePool) {}), object(func(o *awsv1.AWSMachinePool) { o.DeletionTimestamp = &now }), true},
		"cluster status": {"conditions of a Cluster change often", clusterMoved(), cluster(func(*clusterv1.Cluster) {}),
			cluster(func(o *clusterv1.Cluster) { o.ResourceVersion = "2"; o.Status.Phase = "Provisioned" }), false},
		"cluster provisioned": {"pools wait for that", clusterMoved(), cluster(func(*clusterv1.Cluster) {}),
			cluster(func(o *clusterv1.Cluster) { o.Status.Initialization.InfrastructureProvisioned = new(true) }), true},
		"cluster paused": {"pausing is in the specification", clusterMoved(), cluster(func(*clusterv1.Cluster) {}), cluster(func(o *clusterv1.Cluster) { o.Generation = 2 }), true},
		"cluster going":  {"nodes of a cluster that goes need no drain", clusterMoved(), cluster(func(*clusterv1.Cluster) {}), cluster(func(o *clusterv1.Cluster) { o.DeletionTimestamp = &now }), true},
	} {
		if got := tc.predicate.Update(event.UpdateEvent{ObjectOld: tc.before, ObjectNew: tc.after}); got != tc.want {
			t.Errorf("%s: %s: want %v, got %v", name, tc.reason, tc.want, got)
		}
	}
	if !askedAnew().Create(event.CreateEvent{Object: object(func(*awsv1.AWSMachinePool) {})}) {
		t.Error("new objects are always looked at")
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	o := &awsv1.AWSMachinePool{}
	if err := resolve(o, map[string]string{"b": "2", "a": "1"}); err != nil {
		t.Fatal(err)
	}
	if got := o.Annotations[ResolvedAnnotation]; got != `{"a":"1","b":"2"}` {
		t.Errorf("want a stable text, got %s", got)
	}
	for i := range resolvedLimit + 10 {
		if err := resolve(o, map[string]string{"a": "1", fmt.Sprintf("image-%d", i): "ami"}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := resolved(o)
	if err != nil || len(got) > resolvedLimit || got["a"] != "1" || got[fmt.Sprintf("image-%d", resolvedLimit+9)] != "ami" {
		t.Errorf("want no more than %d look-ups, the latest among them; got %d, %v", resolvedLimit, len(got), err)
	}
	o.Annotations[ResolvedAnnotation] = "ami-1"
	if _, err := resolved(o); err == nil || !strings.Contains(err.Error(), "metadata.annotations[muster.dev/resolved]: want a JSON object of strings") {
		t.Errorf("want an error that says what to do, got %v", err)
	}
}

func TestOlder(t *testing.T) {
	t.Parallel()
	made := func(uid, id string, after time.Duration) client.Object {
		return &awsv1.AWSMachinePool{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), CreationTimestamp: metav1.NewTime(time.Unix(0, 0).Add(after)),
			Annotations: map[string]string{OwnerIDAnnotation: id}}}
	}
	for name, tc := range map[string]struct {
		reason string
		a, b   client.Object
		want   bool
	}{
		"first owner":       {"the object whose UID the ID is was there first, whatever the clock says", made("x", "x", time.Hour), made("y", "x", 0), true},
		"copy":              {"a copy was not", made("y", "x", 0), made("x", "x", time.Hour), false},
		"both moved":        {"of two that were moved the older counts", made("y", "x", 0), made("z", "x", time.Hour), true},
		"at the same time":  {"and otherwise any order will do, as long as it is one", made("y", "x", 0), made("z", "x", 0), true},
		"the other of both": {"", made("z", "x", 0), made("y", "x", 0), false},
	} {
		if got := older(tc.a, tc.b); got != tc.want {
			t.Errorf("%s: %s: want %v, got %v", name, tc.reason, tc.want, got)
		}
	}
}
