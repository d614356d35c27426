package manager_test

import (
	"encoding/json"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azureadmission "github.com/muster-project/muster/providers/azure/admission"
)

func agentPoolScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{aksv1.AddToScheme, clusterv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// raw is an object as requests have it.
func raw(t *testing.T, o any) runtime.RawExtension {
	t.Helper()
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: data}
}

// agentPool is an AzureManagedMachinePool of cluster c.
func agentPool(name, mode string) *aksv1.AzureManagedMachinePool {
	p := &aksv1.AzureManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name,
		Labels: map[string]string{clusterv1.ClusterNameLabel: "c"}}}
	p.APIVersion, p.Kind = aksv1.GroupVersion.String(), aksv1.AzureManagedMachinePoolKind
	p.Spec.Mode, p.Spec.SKU = mode, "S"
	return p
}

// review returns the admission review of an API server; old is nil for a new object.
func review(t *testing.T, op admissionv1.Operation, kind string, old, o any) admission.Request {
	t.Helper()
	r := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{UID: "1", Operation: op,
		Kind: metav1.GroupVersionKind{Group: aksv1.GroupVersion.Group, Version: "v1beta1", Kind: kind}}}
	if o != nil {
		r.Object = raw(t, o)
	}
	if old != nil {
		r.OldObject = raw(t, old)
	}
	return r
}

func TestManagedDefaults(t *testing.T) {
	t.Parallel()
	scheme := agentPoolScheme(t)
	p := agentPool("pool0", aksv1.ModeSystem)
	answer := azureadmission.ManagedDefaulter(scheme).Handle(t.Context(),
		review(t, admissionv1.Create, aksv1.AzureManagedMachinePoolKind, nil, p))
	var got []string
	for _, patch := range answer.Patches {
		text, _ := json.Marshal(patch.Value)
		got = append(got, patch.Path+"="+string(text))
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{`agentpoolmode="System"`, `/spec/name="pool0"`} {
		if !strings.Contains(all, want) {
			t.Errorf("want %s among the defaults, got %s", want, all)
		}
	}
	p.Spec.Name, p.Labels[aksv1.ModeLabel] = new("other"), aksv1.ModeSystem
	if answer := azureadmission.ManagedDefaulter(scheme).Handle(t.Context(),
		review(t, admissionv1.Create, aksv1.AzureManagedMachinePoolKind, nil, p)); len(answer.Patches) != 0 {
		t.Errorf("want what is there left alone, got %v", answer.Patches)
	}
}

func TestManagedValidation(t *testing.T) {
	t.Parallel()
	scheme := agentPoolScheme(t)
	cluster := func(change ...func(*clusterv1.Cluster)) client.Object {
		c := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"}}
		for _, f := range change {
			f(c)
		}
		return c
	}
	goes := func(c *clusterv1.Cluster) { c.DeletionTimestamp, c.Finalizers = new(metav1.Unix(1, 0)), []string{"x"} }
	paused := func(c *clusterv1.Cluster) { c.Spec.Paused = new(true) }
	named := func(p *aksv1.AzureManagedMachinePool, name string) *aksv1.AzureManagedMachinePool {
		p.Spec.Name = &name
		return p
	}
	patched := func(p *aksv1.AzureManagedMachinePool, patch string) *aksv1.AzureManagedMachinePool {
		p.Spec.ASOManagedClustersAgentPoolPatches = []string{patch}
		return p
	}
	dying := agentPool("b", aksv1.ModeSystem)
	dying.DeletionTimestamp, dying.Finalizers = new(metav1.Unix(1, 0)), []string{"x"}
	elsewhere := agentPool("b", aksv1.ModeSystem)
	elsewhere.Labels[clusterv1.ClusterNameLabel] = "d"
	system, user := agentPool("a", aksv1.ModeSystem), agentPool("a", aksv1.ModeUser)
	for _, c := range []struct {
		why     string
		op      admissionv1.Operation
		old, p  *aksv1.AzureManagedMachinePool
		there   []client.Object
		refused string
	}{
		{"a new pool", admissionv1.Create, nil, system, []client.Object{cluster()}, ""},
		{"two objects of one agent pool", admissionv1.Create, nil, named(agentPool("x", "User"), "b"),
			[]client.Object{cluster(), agentPool("b", "User")}, "AzureManagedMachinePool b of the same cluster"},
		{"the same name in another cluster", admissionv1.Create, nil, named(agentPool("x", "User"), "b"), []client.Object{elsewhere}, ""},
		{"the last System pool becomes User", admissionv1.Update, system, user, []client.Object{cluster(), system},
			"you must have at least one System node pool"},
		{"another System pool is there", admissionv1.Update, system, user, []client.Object{cluster(), system, agentPool("b", "System")}, ""},
		{"another one that is being deleted does not stay", admissionv1.Update, system, user, []client.Object{cluster(), system, dying},
			"you must have at least one System node pool"},
		{"another cluster's does not count", admissionv1.Update, system, user, []client.Object{cluster(), system, elsewhere},
			"you must have at least one System node pool"},
		{"User becomes System", admissionv1.Update, user, system, []client.Object{cluster(), user}, ""},
		{"the last System pool is deleted", admissionv1.Delete, system, nil, []client.Object{cluster(), system},
			"AKS Cluster must have at least one system pool"},
		{"with its Cluster", admissionv1.Delete, system, nil, []client.Object{cluster(goes), system}, ""},
		{"of a Cluster that is gone", admissionv1.Delete, system, nil, []client.Object{system}, ""},
		{"by clusterctl move", admissionv1.Delete, system, nil, []client.Object{cluster(paused), system}, ""},
		{"one of two", admissionv1.Delete, system, nil, []client.Object{cluster(), system, agentPool("b", "System")}, ""},
		{"a patch of the owner's tag", admissionv1.Create, nil, patched(agentPool("x", "User"), `{"spec":{"tags":{"muster.dev_owner":"x"}}}`),
			nil, "spec.asoManagedClustersAgentPoolPatches[0]: spec.tags.muster.dev_owner"},
		{"a patch of the mode", admissionv1.Update, user, patched(agentPool("a", "User"), `{"spec":{"mode":"System"}}`), nil, "spec.mode is User"},
		{"a mode that leaves a patch behind", admissionv1.Update, patched(agentPool("a", "User"), `{"spec":{"mode":"User"}}`),
			patched(agentPool("a", "System"), `{"spec":{"mode":"User"}}`), nil, "spec.mode is System"},
		{"a patch from before stays changeable", admissionv1.Update, patched(agentPool("a", "User"), `{"spec":{"count":1}}`),
			patched(agentPool("a", "User"), `{"spec":{"count":1}}`), nil, ""},
		{"a patch of another field", admissionv1.Create, nil, patched(agentPool("x", "User"), `{"spec":{"enableCustomCATrust":true}}`), nil, ""},
		{"a User pool", admissionv1.Delete, user, nil, []client.Object{cluster(), user}, ""},
	} {
		reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(c.there...).Build()
		var o, old any
		if c.p != nil {
			o = c.p
		}
		if c.old != nil {
			old = c.old
		}
		answer := azureadmission.ManagedValidator(scheme, reader).Handle(t.Context(), review(t, c.op, aksv1.AzureManagedMachinePoolKind, old, o))
		if answer.Allowed != (c.refused == "") || !answer.Allowed && !strings.Contains(answer.Result.Message, c.refused) {
			t.Errorf("%s: want a refusal with %q, got %v", c.why, c.refused, answer.Result)
		}
	}
}

func TestASOValidation(t *testing.T) {
	t.Parallel()
	scheme := agentPoolScheme(t)
	pool := func(manifests ...string) *aksv1.AzureASOManagedMachinePool {
		p := &aksv1.AzureASOManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
		p.APIVersion, p.Kind = aksv1.GroupVersion.String(), aksv1.AzureASOManagedMachinePoolKind
		for _, m := range manifests {
			p.Spec.Resources = append(p.Spec.Resources, runtime.RawExtension{Raw: []byte(m)})
		}
		return p
	}
	manifest := func(spec string) string {
		return `{"apiVersion":"containerservice.azure.com/v1api20231001","kind":"ManagedClustersAgentPool","metadata":{"name":"c-pool0"},"spec":` + spec + `}`
	}
	good := pool(manifest(`{"azureName":"pool0","mode":"System","vmSize":"S","owner":{"name":"c"}}`))
	for _, c := range []struct {
		why     string
		old, p  *aksv1.AzureASOManagedMachinePool
		refused string
	}{
		{"the published flavor", nil, good, ""},
		{"no agent pool", nil, pool(), "no containerservice.azure.com ManagedClustersAgentPools defined"},
		{"what only the operator does", nil, pool(manifest(`{"operatorSpec":{"configMapExpressions":[]}}`)),
			"spec.resources[0].spec.operatorSpec"},
		{"a reference to another manifest", nil, pool(manifest(`{"vnetSubnetReference":{"name":"x"}}`)), "armId"},
		{"another namespace", nil, pool(strings.Replace(manifest(`{}`), `"name":"c-pool0"`, `"name":"c-pool0","namespace":"other"`, 1)),
			"spec.resources[0].metadata.namespace: found other, must be absent or default"},
		{"the same namespace", nil, pool(strings.Replace(manifest(`{}`), `"name":"c-pool0"`, `"name":"c-pool0","namespace":"default"`, 1)), ""},
		{"the owner's tag", nil, pool(manifest(`{"tags":{"Muster.dev_owner":"x"}}`)), "spec.resources[0].spec.tags.Muster.dev_owner"},
		{"a mode as Azure takes it", nil, pool(manifest(`{"MODE":"System"}`)), "write mode"},
		{"another agent pool", good, pool(manifest(`{"azureName":"pool1"}`)), "spec.resources[0].spec.azureName"},
		{"the same agent pool", good, pool(manifest(`{"azureName":"pool0","vmSize":"L"}`)), ""},
		{"an object from before stays changeable", pool(), pool(), ""},
	} {
		op := admissionv1.Create
		var old any
		if c.old != nil {
			op, old = admissionv1.Update, c.old
		}
		answer := azureadmission.ASOValidator(scheme).Handle(t.Context(), review(t, op, aksv1.AzureASOManagedMachinePoolKind, old, c.p))
		if answer.Allowed != (c.refused == "") || !answer.Allowed && !strings.Contains(answer.Result.Message, c.refused) {
			t.Errorf("%s: want a refusal with %q, got %v", c.why, c.refused, answer.Result)
		}
	}
}
