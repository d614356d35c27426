package infrapool_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/providers/azure/azuremanaged"
)

func azureManagedDecode(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

func plane(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	azureManagedDecode(t, text, &u.Object)
	return u
}

const (
	managedPlane = `{kind: AzureManagedControlPlane, metadata: {name: c}, spec: {location: westus2, subscriptionID: s, resourceGroupName: g}, status: {ready: true}}`
	asoPlane     = `{kind: AzureASOManagedControlPlane, metadata: {name: c}, status: {ready: true}, spec: {resources: [{kind: ManagedCluster,
		metadata: {name: aks, annotations: {serviceoperator.azure.com/credential-from: keys}}, spec: {location: westus2, owner: {name: g}}}]}}`
	asoPool = `{resources: [{apiVersion: containerservice.azure.com/v1api20231001, kind: ManagedClustersAgentPool, metadata: {name: c-p}, spec: SPEC}]}`
)

// azureManagedSized holds the size fields of a translation.
type azureManagedSized struct {
	Min, Max           int
	MinField, MaxField string
	Autoscaler         string
}

func sizeOf(t infrapool.Translation[*aksv1.AgentPoolSource]) azureManagedSized {
	return azureManagedSized{t.Min, t.Max, t.MinField, t.MaxField, t.Autoscaler}
}

// TestAzureManagedSizes holds the bounds of pools by their mode, and who sizes them by their specification, in both kinds.
func TestAzureManagedSizes(t *testing.T) {
	t.Parallel()
	const limit = "the limit of AKS"
	for _, c := range []struct {
		why, spec, manifest string
		want, aso           azureManagedSized
	}{
		{"a User pool may be empty", `{mode: User}`, `{mode: User}`, azureManagedSized{0, 1000, "spec.mode", limit, ""},
			azureManagedSized{0, 1000, "spec.resources[0].spec.mode", limit, ""}},
		{"a System pool keeps a node", `{mode: System}`, `{mode: System}`, azureManagedSized{1, 1000, "spec.mode", limit, ""},
			azureManagedSized{1, 1000, "spec.resources[0].spec.mode", limit, ""}},
		{"AKS's autoscaler", `{mode: User, scaling: {minSize: 2, maxSize: 5}}`, `{mode: User, enableAutoScaling: true, minCount: 2, maxCount: 5}`,
			azureManagedSized{2, 5, "spec.scaling.minSize", "spec.scaling.maxSize", "true"},
			azureManagedSized{2, 5, "spec.resources[0].spec.minCount", "spec.resources[0].spec.maxCount", "aks"}},
		{"an autoscaler without bounds", `{mode: System, scaling: {}}`, `{mode: System, enableAutoScaling: true}`,
			azureManagedSized{1, 1000, "spec.scaling.minSize", "spec.scaling.maxSize", "true"},
			azureManagedSized{1, 1000, "spec.resources[0].spec.minCount", "spec.resources[0].spec.maxCount", "aks"}},
	} {
		o := &aksv1.AzureManagedMachinePool{}
		azureManagedDecode(t, c.spec, &o.Spec)
		got, err := azuremanaged.Managed{}.Translate(o, infrapool.Inputs{InfraCluster: plane(t, managedPlane)})
		if diff := cmp.Diff(c.want, sizeOf(got)); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", c.why, err, diff)
		}
		a := &aksv1.AzureASOManagedMachinePool{}
		azureManagedDecode(t, strings.Replace(asoPool, "SPEC", c.manifest, 1), &a.Spec)
		got, err = azuremanaged.ASO{}.Translate(a, infrapool.Inputs{InfraCluster: plane(t, asoPlane)})
		if diff := cmp.Diff(c.aso, sizeOf(got)); err != nil || diff != "" {
			t.Errorf("%s, as a manifest: %v (-want +got):\n%s", c.why, err, diff)
		}
	}
}

// TestAzureManagedWhere holds where agent pools are looked for, and what keeps one from being created.
func TestAzureManagedWhere(t *testing.T) {
	t.Parallel()
	kept := map[string]string{"subscription": "s", "resource-group": "g", "location": "westus2", "environment": "AzurePublicCloud",
		"managed-cluster": "c"}
	for _, c := range []struct {
		why  string
		in   infrapool.Inputs
		want string
		held string
		err  string
	}{
		{why: "as the control plane says", in: infrapool.Inputs{InfraCluster: plane(t, managedPlane)}, want: "s/g/c"},
		{why: "one that is not ready takes no pools",
			in: infrapool.Inputs{InfraCluster: plane(t, strings.Replace(managedPlane, "true", "false", 1))}, want: "s/g/c",
			held: "AzureManagedControlPlane c is not ready yet"},
		{why: "as the object remembers it", in: infrapool.Inputs{Resolved: kept, ClusterDeleting: true}, want: "s/g/c deleting"},
		{why: "nothing is known", in: infrapool.Inputs{Resolved: map[string]string{"resource-group": "g"}},
			err: `does not say where the agent pool is: set it to {"subscription": "<subscription ID>", "resource-group": "<resource group>", "location": "<region>", "environment": "AzurePublicCloud", "managed-cluster": "<name of the managed cluster>"}`},
	} {
		got, err := azuremanaged.Managed{}.Translate(&aksv1.AzureManagedMachinePool{}, c.in)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: want %q, got %v", c.why, c.err, err)
			}
			continue
		}
		is := got.Spec.Cluster
		where := is.View.SubscriptionID + "/" + is.View.ResourceGroup + "/" + is.Name
		if is.Deleting {
			where += " deleting"
		}
		held := ""
		if got.CreateBlocked != nil {
			held = got.CreateBlocked.Message
		}
		if err != nil || where != c.want || held != c.held {
			t.Errorf("%s: want %s, held by %q; got %s, %q, %v", c.why, c.want, c.held, where, held, err)
		}
		if diff := cmp.Diff(kept, got.Keep); diff != "" {
			t.Errorf("%s: remembered (-want +got):\n%s", c.why, diff)
		}
	}
}

// TestAzureManagedSource holds what reaches the driver: the name in AKS, when the object was created, and no field that the controller
// writes.
func TestAzureManagedSource(t *testing.T) {
	t.Parallel()
	created := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	o := &aksv1.AzureManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "c-pool", CreationTimestamp: metav1.NewTime(created)}}
	azureManagedDecode(t, `{mode: User, name: p, sku: S, providerID: x, providerIDList: [y], upgradeSettings: {maxSurge: 33%}}`, &o.Spec)
	got, err := azuremanaged.Managed{}.Translate(o, infrapool.Inputs{InfraCluster: plane(t, managedPlane)})
	if err != nil || got.Spec.Name != "p" || !got.Spec.Created.Equal(created) || got.Spec.Managed.ProviderID != "" ||
		got.Spec.Managed.ProviderIDList != nil || o.Spec.ProviderID != "x" {
		t.Errorf("want the specification without the IDs, got %+v, %v", got.Spec, err)
	}
	if got.Strategy.MaxSurge != (pool.IntOrPercent{Value: 33, Percent: true}) || got.Strategy.MaxUnavailable.Value != 0 ||
		got.Max > math.MaxInt32 {
		t.Errorf("want as many replaced at once as AKS replaces, got %+v", got.Strategy)
	}
	a := &aksv1.AzureASOManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "c-pool", CreationTimestamp: metav1.NewTime(created)}}
	azureManagedDecode(t, strings.Replace(asoPool, "SPEC", "{azureName: p, mode: User, upgradeSettings: {maxSurge: '0', maxUnavailable: '2'}}",
		1), &a.Spec)
	got, err = azuremanaged.ASO{}.Translate(a, infrapool.Inputs{InfraCluster: plane(t, asoPlane), Cluster: "c"})
	if err != nil || got.Spec.Name != "p" || !got.Spec.Created.Equal(created) || got.Spec.Cluster.Name != "aks" {
		t.Errorf("want the manifest's agent pool, got %+v, %v", got.Spec, err)
	}
	if got.Strategy.MaxSurge.Value != 0 || got.Strategy.MaxUnavailable.Value != 2 {
		t.Errorf("want the manifest's settings, got %+v", got.Strategy)
	}
	name, field := azuremanaged.CredentialSecret(got.Spec)
	if name != "keys" || field != "AzureASOManagedControlPlane c: ManagedCluster: "+
		"metadata.annotations[serviceoperator.azure.com/credential-from]" {
		t.Errorf("want the managed cluster's Secret, got %q of %s", name, field)
	}
	a.Spec.Resources = []runtime.RawExtension{{Raw: []byte(`{"kind": "Secret"}`)}}
	if _, err := (azuremanaged.ASO{}).Translate(a, infrapool.Inputs{InfraCluster: plane(t, asoPlane)}); err == nil ||
		!strings.Contains(err.Error(), "spec.resources[0]") {
		t.Errorf("want another manifest refused by its place, got %v", err)
	}
}

// TestInfraCluster holds that a Cluster of another control plane has no agent pools.
func TestInfraCluster(t *testing.T) {
	t.Parallel()
	cluster := &clusterv1.Cluster{Spec: clusterv1.ClusterSpec{
		ControlPlaneRef: clusterv1.ContractVersionedObjectReference{Kind: aksv1.ManagedControlPlaneKind, Name: "c"}}}
	if got := (azuremanaged.Managed{}).InfraCluster(cluster); got.Name != "c" {
		t.Errorf("want the control plane, got %+v", got)
	}
	if got := (azuremanaged.ASO{}).InfraCluster(cluster); got.IsDefined() {
		t.Errorf("want none for the other kind, got %+v", got)
	}
}

// TestResources holds the readiness of manifests.
func TestResources(t *testing.T) {
	t.Parallel()
	a := &aksv1.AzureASOManagedMachinePool{}
	azureManagedDecode(t, strings.Replace(asoPool, "SPEC", "{mode: User}", 1), &a.Spec)
	for _, ready := range []bool{true, false} {
		status := report.False
		if ready {
			status = report.True
		}
		azuremanaged.ASO{}.Report(a, report.Report{Conditions: []report.Condition{{Type: report.GroupReady, Status: status}}}, engine.Outcome{})
		want := []aksv1.ResourceStatus{{Ready: ready,
			Resource: aksv1.StatusResource{Group: "containerservice.azure.com", Version: "v1api20231001", Kind: "ManagedClustersAgentPool",
				Name: "c-p"}}}
		if diff := cmp.Diff(want, a.Status.Resources); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestManifestsOfOthers refuses a manifest whose owner or namespace is another's.
func TestManifestsOfOthers(t *testing.T) {
	t.Parallel()
	const group = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/"
	for _, c := range []struct{ why, metadata, owner, refused string }{
		{"neither is named", ``, `{}`, ""},
		{"the cluster's own manifest", `, "namespace": "ns"`, `{"name": "aks"}`, ""},
		{"the cluster's own resource", ``, `{"armId": "` + strings.ToUpper(group) + `aks"}`, ""},
		{"another manifest", ``, `{"name": "other"}`, "spec.resources[0].spec.owner.name: found other, must be aks"},
		{"another resource", ``, `{"armId": "` + group + `other"}`, "spec.resources[0].spec.owner.armId: found " + group + "other"},
		{"another namespace", `, "namespace": "other"`, `{}`, "spec.resources[0].metadata.namespace: found other"},
		{"no object", ``, `"c"`, "spec.resources[0].spec.owner: found string"},
	} {
		a := &aksv1.AzureASOManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c-pool"}}
		a.Spec.Resources = []runtime.RawExtension{{Raw: []byte(`{"apiVersion": "containerservice.azure.com/v1api20231001",
			"kind": "ManagedClustersAgentPool", "metadata": {"name": "m"` + c.metadata + `}, "spec": {"owner": ` + c.owner + `}}`)}}
		_, err := azuremanaged.ASO{}.Translate(a, infrapool.Inputs{InfraCluster: plane(t, asoPlane), Cluster: "c"})
		if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: want a refusal with %q, got %v", c.why, c.refused, err)
		}
	}
}
