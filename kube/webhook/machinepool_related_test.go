package webhook

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/kube/skew"
)

// surroundings is a management cluster with Cluster c1, whose control plane asks for a version, and with pools.
func surroundings(t *testing.T, plane string, pools ...*clusterv1.MachinePool) client.WithWatch {
	t.Helper()
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1"}}
	cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: "controlplane.cluster.x-k8s.io",
		Kind: "SomeControlPlane", Name: "c1"}
	cluster.Status.FailureDomains = []clusterv1.FailureDomain{{Name: "a"}, {Name: "b"}}
	objects := []client.Object{cluster,
		&apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "somecontrolplanes.controlplane.cluster.x-k8s.io",
			Labels: map[string]string{"cluster.x-k8s.io/v1beta2": "v1"}}},
		&unstructured.Unstructured{Object: map[string]any{"apiVersion": "controlplane.cluster.x-k8s.io/v1", "kind": "SomeControlPlane",
			"metadata": map[string]any{"namespace": "default", "name": "c1"}, "spec": map[string]any{"version": plane}}}}
	for _, p := range pools {
		objects = append(objects, p)
	}
	return fake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(objects...).WithIndex(&clusterv1.MachinePool{}, nodes.PoolField,
		nodes.PoolKeys).Build()
}

// admit asks about a change, or about a new pool where there was none.
func admit(ctx context.Context, v poolValidator, old, pool *clusterv1.MachinePool) ([]string, error) {
	if old == nil {
		return v.ValidateCreate(ctx, pool)
	}
	return v.ValidateUpdate(ctx, old, pool)
}

func versioned(version string) *clusterv1.MachinePool {
	p := validPool()
	p.Spec.Template.Spec.Version = version
	return p
}

// TestVersionSkew holds a pool's version to that of its control plane, which asks for v1.36.3.
func TestVersionSkew(t *testing.T) {
	t.Parallel()
	const path = "spec.template.spec.version: "
	for name, tc := range map[string]struct {
		reason, was, is string
		skip            bool
		change          change
		refused, warned []string
	}{
		"the same":      {reason: "as nearly always", is: "v1.36.3"},
		"three older":   {reason: "as much as Kubernetes supports", is: "v1.33.0"},
		"a newer patch": {reason: "patches are no skew", is: "v1.36.9"},
		"four older": {reason: "its API server will not serve it", is: "v1.32.0",
			refused: []string{path + `Invalid value: "v1.32.0": v1.32.0 is more than 3 minor versions older than v1.36.3, which SomeControlPlane c1 asks for`}},
		"newer": {reason: "the order of an upgrade is control plane first", is: "v1.37.0",
			refused: []string{path + `Invalid value: "v1.37.0": v1.37.0 is newer than v1.36.3, which SomeControlPlane c1 asks for`,
				"change the control plane first, or set the annotation muster.dev/skip-version-skew: true"}},
		"raised past it":    {reason: "the same of an update", was: "v1.36.3", is: "v1.37.0", refused: []string{path}},
		"without a version": {reason: "a pool may name none", is: ""},
		"annotated": {reason: "who insists is told and let be", is: "v1.37.0", skip: true,
			warned: []string{path + "v1.37.0 is newer than v1.36.3, which SomeControlPlane c1 asks for: nodes must not be newer than their API " +
				"server; taken for the annotation muster.dev/skip-version-skew: true"}},
		"another edit": {reason: "a pool that is ahead can still be scaled", was: "v1.37.0", is: "v1.37.0",
			change: func(p *clusterv1.MachinePool) { *p.Spec.Replicas = 7 }},
		"one step back": {reason: "nearer is better, though not well", was: "v1.38.0", is: "v1.37.0",
			warned: []string{path + "v1.37.0 is older than v1.38.0",
				path + "v1.37.0 is newer than v1.36.3, which SomeControlPlane c1 asks for: nodes must not be newer than their API server; taken " +
					"because v1.38.0 was no nearer"}},
		"one step on": {reason: "who fell behind comes up one minor version at a time", was: "v1.30.0", is: "v1.31.0",
			warned: []string{path + "v1.31.0 is more than 3"}},
		"further behind": {reason: "and not down", was: "v1.32.0", is: "v1.31.0", refused: []string{path}},
		"another cluster's": {reason: "a cluster that is not there yet says nothing", is: "v1.99.0",
			change: func(p *clusterv1.MachinePool) { p.Spec.ClusterName, p.Spec.Template.Spec.ClusterName = "c2", "c2" }},
		"none that is parsed": {reason: "one refusal is enough", is: "v1.x", refused: []string{"must be a semantic version"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := surroundings(t, "v1.36.3")
			pool := versioned(tc.is)
			if tc.skip {
				pool.Annotations = map[string]string{skew.Annotation: skew.Skip}
			}
			if tc.change != nil {
				tc.change(pool)
			}
			var old *clusterv1.MachinePool
			if tc.was != "" {
				old = versioned(tc.was)
			}
			warned, err := admit(t.Context(), poolValidator{reader: c, live: c}, old, pool)
			wantRefusal(t, tc.reason, err, tc.refused)
			if tc.refused == nil {
				wantWarnings(t, tc.reason, warned, tc.warned)
			}
		})
	}
}

// TestKindsAround holds references to the schemas that are installed, and bootstrap data to the Clusters that there are.
func TestKindsAround(t *testing.T) {
	t.Parallel()
	kind := func(name, group, label string, spec ...string) *apiextensionsv1.CustomResourceDefinition {
		schema := apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"spec": {Properties: map[string]apiextensionsv1.JSONSchemaProps{}}}}
		for _, f := range spec {
			schema.Properties["spec"].Properties[f] = apiextensionsv1.JSONSchemaProps{}
		}
		crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name + "." + group},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1",
					Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &schema}}}}}
		if label != "" {
			crd.Labels = map[string]string{label: "v1"}
		}
		return crd
	}
	const contractLabel, group = "cluster.x-k8s.io/v1beta2", "infrastructure.cluster.x-k8s.io"
	c := surroundings(t, "v1.36.3")
	for _, crd := range []client.Object{kind("testhosts", group, contractLabel, "providerID"),
		kind("testnodes", group, contractLabel, "providerIDList"),
		kind("widgets", "example.com", "")} {
		if err := c.Create(t.Context(), crd); err != nil {
			t.Fatal(err)
		}
	}
	other := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c2"}}
	if err := c.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		reason  string
		was, is change
		refused []string
	}{
		"a pool's kind":     {reason: "its schema has what the contract asks for", is: infra(group, "TestNodes")},
		"not installed yet": {reason: "manifests are applied in any order", is: infra(group, "TestLater")},
		"no pool's kind": {reason: "the pool would take it and delete it", is: infra(group, "TestHost"), refused: []string{
			"spec.template.spec.infrastructureRef: Invalid value: \"TestHost\"", "its schema has no spec.providerIDList"}},
		"no label": {reason: "a kind that has nothing to do with Cluster API", is: infra("example.com", "Widget"),
			refused: []string{"no contract version label"}},
		"as it was": {reason: "a client that only scales can't fix it", was: infra(group, "TestHost"), is: infra(group, "TestHost")},
		"put right": {reason: "no machines are behind a reference that is not followed", was: infra("cluster.x-k8s.io", "Cluster"),
			is: infra(group, "TestNodes")},
		"another Cluster's": {reason: "they are an administrator's as well", is: secretNamed("c2-kubeconfig"),
			refused: []string{"holds an administrator's kubeconfig of Cluster c2"}},
		"no Cluster's": {reason: "a name is a name", is: secretNamed("c3-kubeconfig")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := validPool()
			tc.is(pool)
			var old *clusterv1.MachinePool
			if tc.was != nil {
				old = validPool()
				tc.was(old)
			}
			_, err := admit(t.Context(), poolValidator{reader: c, live: c}, old, pool)
			wantRefusal(t, tc.reason, err, tc.refused)
		})
	}
}

// TestFailureDomains holds that domains which the cluster does not have are reported when they are named.
func TestFailureDomains(t *testing.T) {
	t.Parallel()
	c := surroundings(t, "v1.36.3")
	v := poolValidator{reader: c, live: c}
	pool := validPool()
	pool.Spec.FailureDomains = []string{"a", "c"}
	got, err := v.ValidateCreate(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	wantWarnings(t, "one of two", got, []string{"spec.failureDomains[1]: c is none of the failure domains of Cluster c1: a, b"})
	scaled := pool.DeepCopy()
	*scaled.Spec.Replicas = 9
	got, err = v.ValidateUpdate(t.Context(), pool, scaled)
	if err != nil {
		t.Fatal(err)
	}
	wantWarnings(t, "a client that only scales can't fix it", got, nil)
}

// TestUnreadable holds that what can't be read refuses nothing and is reported, and that a write which has nothing to do with it
// does not even ask.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	reads := 0
	broken := interceptor.NewClient(surroundings(t, "v1.36.3"), interceptor.Funcs{
		Get: func(ctx context.Context, inner client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			reads++
			if _, ok := o.(*unstructured.Unstructured); ok {
				return errors.New("no answer")
			}
			return inner.Get(ctx, key, o, opts...)
		},
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			reads++
			return errors.New("no index")
		},
	})
	v := poolValidator{reader: broken, live: broken}
	pool := versioned("v1.99.0")
	pool.Spec.ProviderIDList = []string{"aws:///a/i-1"}
	got, err := v.ValidateCreate(t.Context(), pool)
	if err != nil {
		t.Fatalf("want it taken, got %v", err)
	}
	wantWarnings(t, "both are told", got, []string{"spec.providerIDList: not compared with those of other pools: look up the pools of " +
		"aws:///a/i-1: no index",
		"spec.template.spec.version: not compared with the control plane's: read SomeControlPlane c1: no answer"})
	reads = 0
	scaled := pool.DeepCopy()
	*scaled.Spec.Replicas = 9
	if got, err := v.ValidateUpdate(t.Context(), pool, scaled); err != nil || len(got) > 0 || reads > 0 {
		t.Errorf("a pool is scaled: want no question, got %d, %q, %v", reads, got, err)
	}
	scaled.DeletionTimestamp = &metav1.Time{Time: metav1.Now().Time}
	scaled.Spec.ProviderIDList = []string{"aws:///a/i-1", "aws:///a/i-1"}
	if got, err := v.ValidateUpdate(t.Context(), pool, scaled); err != nil || len(got) > 0 || reads > 0 {
		t.Errorf("a pool goes: want no question and no refusal, got %d, %q, %v", reads, got, err)
	}
}

// TestUnreadableReferences holds that a changed reference is refused that can't be compared with what it must not lead to, also where other
// reads take all of the time, and that one which stays is not.
func TestUnreadableReferences(t *testing.T) {
	t.Parallel()
	slow := interceptor.NewClient(surroundings(t, "v1.36.3"), interceptor.Funcs{
		Get: func(ctx context.Context, inner client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, ok := o.(*unstructured.Unstructured); ok {
				return inner.Get(ctx, key, o, opts...)
			}
			return context.DeadlineExceeded
		},
	})
	v := poolValidator{reader: slow, live: slow}
	kind, secret := validPool(), validPool()
	kind.Spec.Template.Spec.Bootstrap.ConfigRef.Kind = "OtherConfig"
	secret.Spec.Template.Spec.Bootstrap = clusterv1.Bootstrap{DataSecretName: new("other-kubeconfig")}
	for path, pool := range map[string]*clusterv1.MachinePool{
		"spec.template.spec.bootstrap.configRef: ": kind, "spec.template.spec.bootstrap.dataSecretName: ": secret,
	} {
		if _, err := v.ValidateUpdate(t.Context(), validPool(), pool); err == nil || !strings.Contains(err.Error(), path) ||
			!strings.Contains(err.Error(), "apply it again") {
			t.Errorf("want %s refused, got %v", path, err)
		}
		scaled := pool.DeepCopy()
		scaled.Spec.Replicas = new(int32(7))
		if _, err := v.ValidateUpdate(t.Context(), pool, scaled); err != nil {
			t.Errorf("want the size of a pool changed that has the reference, got %v", err)
		}
	}
}

// TestMovedPools holds that a pool which is moved here, or restored, comes as it was: its machines run.
func TestMovedPools(t *testing.T) {
	t.Parallel()
	c := surroundings(t, "v1.36.3", listing("other", "c1", "aws:///a/i-1"))
	v := poolValidator{reader: c, live: c}
	pool := listing("pool", "c1", "aws:///a/i-1", "aws:////i-1")
	pool.Spec.Template.Spec.Version = "v1.37.0"
	_, err := v.ValidateCreate(t.Context(), pool)
	wantRefusal(t, "a new pool has no business with any of that", err,
		[]string{"spec.providerIDList[0]", "spec.providerIDList[1]", "spec.template.spec.version"})
	pool.Finalizers = []string{clusterv1.MachinePoolFinalizer}
	got, err := v.ValidateCreate(t.Context(), pool)
	if err != nil {
		t.Errorf("moved: want it taken, got %v", err)
	}
	wantWarnings(t, "moved", got, nil)
	*pool.Spec.Replicas = -1
	_, err = v.ValidateCreate(t.Context(), pool)
	wantRefusal(t, "nothing that could be anywhere else", err, []string{"spec.replicas"})
}

func listing(name, cluster string, ids ...string) *clusterv1.MachinePool {
	p := validPool()
	p.Name, p.Spec.ClusterName, p.Spec.Template.Spec.ClusterName, p.Spec.ProviderIDList = name, cluster, cluster, ids
	return p
}

// TestProviderIDs holds that an instance is listed once, by one pool of its cluster, however it is spelled, and that lists
// which broke that before do not block other writes.
func TestProviderIDs(t *testing.T) {
	t.Parallel()
	going := listing("going", "c1", "aws:///a/i-8")
	going.DeletionTimestamp, going.Finalizers = &metav1.Time{Time: metav1.Now().Time}, []string{"x/y"}
	c := surroundings(t, "v1.36.3", listing("other", "c1", "aws:///eu-west-1a/i-1",
		"azure:///subscriptions/S/resourceGroups/RG/providers/x/virtualMachines/A"),
		listing("far", "c9", "aws:///a/i-9"), going)
	for name, tc := range map[string]struct {
		reason  string
		was, is []string
		refused []string
	}{
		"its own": {reason: "no other pool has it", is: []string{"aws:///a/i-2", "aws:///a/i-3"}},
		"twice": {reason: "it would count twice", is: []string{"aws:///a/i-2", "aws:///a/i-3", "aws:///a/i-2"},
			refused: []string{`spec.providerIDList[2]: Invalid value: "aws:///a/i-2": names the same instance as spec.providerIDList[0]`}},
		"twice, spelled": {reason: "the zone is no part of an instance's name", is: []string{"aws:///a/i-2", "aws:////i-2"},
			refused: []string{"spec.providerIDList[1]"}},
		"twice, without key": {reason: "an ID of no known form is one as it is", is: []string{"x", "y", "x"},
			refused: []string{"spec.providerIDList[2]"}},
		"twice, from before": {reason: "an older controller's list must not stop others' writes", was: []string{"aws:///a/i-2", "aws:///a/i-2"},
			is: []string{"aws:///a/i-4", "aws:///a/i-2", "aws:///a/i-2"}},
		"a third time": {reason: "an old fault is no licence", was: []string{"aws:///a/i-2", "aws:///a/i-2"},
			is: []string{"aws:///a/i-2", "aws:///a/i-2", "aws:///a/i-2"}, refused: []string{"spec.providerIDList[2]"}},
		"another's": {reason: "its node would be in two pools", is: []string{"aws:///a/i-2", "aws:///b/i-1"},
			refused: []string{`spec.providerIDList[1]: Invalid value: "aws:///b/i-1": is an instance of MachinePool other: an instance belongs to one pool of its cluster`}},
		"another's, by case": {reason: "letter case means nothing in Azure",
			is:      []string{"azure:///subscriptions/s/resourcegroups/rg/providers/x/virtualmachines/a"},
			refused: []string{"spec.providerIDList[0]", "MachinePool other"}},
		"another's before": {reason: "who lists it is not stuck with it", was: []string{"aws:///b/i-1"},
			is: []string{"aws:///b/i-1", "aws:///b/i-2"}},
		"another cluster's": {reason: "clusters in different accounts may well have equal IDs", is: []string{"aws:///a/i-9"}},
		"one that is left":  {reason: "a pool that is being deleted keeps nothing from its successor", is: []string{"aws:///a/i-8"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var old *clusterv1.MachinePool
			if tc.was != nil {
				old = listing("pool", "c1", tc.was...)
			}
			_, err := admit(t.Context(), poolValidator{reader: c}, old, listing("pool", "c1", tc.is...))
			wantRefusal(t, tc.reason, err, tc.refused)
		})
	}
}

// TestManyProviderIDs holds that a refusal of thousands of entries is short.
func TestManyProviderIDs(t *testing.T) {
	t.Parallel()
	ids := make([]string, 0, 5000)
	for i := range 5000 {
		ids = append(ids, fmt.Sprintf("aws:///a/i-%d", i))
	}
	c := surroundings(t, "v1.36.3", listing("other", "c1", ids...))
	_, err := poolValidator{reader: c}.ValidateCreate(t.Context(), listing("pool", "c1", append(ids, ids...)...))
	if err == nil || strings.Count(err.Error(), "Invalid value") != 2*maxNamedInstances {
		t.Errorf("want %d entries named for each reason, got %v", maxNamedInstances, err)
	}
}
