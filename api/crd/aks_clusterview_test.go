package crd_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
)

func TestViewOfAKSCluster(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, object string
		want        aksv1.ManagedClusterView
		refused     bool
	}{
		{"the published flavor", `
kind: AzureManagedControlPlane
metadata: {name: c}
spec: {location: westus2, resourceGroupName: rg, subscriptionID: s, version: v1.31.2, additionalTags: {team: a}}
status: {ready: true}`, aksv1.ManagedClusterView{
			Name: "c", SubnetPrefix: "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/c/subnets/",
			SubnetID: "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/c/subnets/c",
			View: azurev1.ClusterView{Name: "c", ClusterName: "c", SubscriptionID: "s", ResourceGroup: "rg", Location: "westus2",
				Environment:    "AzurePublicCloud",
				AdditionalTags: azurev1.Tags{"team": "a"}, ControlPlaneVersion: "v1.31.2", Ready: true},
		}, false},
		{"names of its own, and an automatic upgrade", `
kind: AzureManagedControlPlane
metadata: {name: cp}
spec: {location: westus2, nodeResourceGroupName: nodes, subscriptionID: s, version: v1.31.2, virtualNetwork: {name: v, resourceGroup: net,
  subnet: {name: snet}}}
status: {version: v1.31.9}`, aksv1.ManagedClusterView{
			Name: "cp", NodeResourceGroup: "nodes",
			SubnetPrefix: "/subscriptions/s/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/v/subnets/",
			SubnetID:     "/subscriptions/s/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/v/subnets/snet",
			View: azurev1.ClusterView{Name: "cp", ClusterName: "c", SubscriptionID: "s", ResourceGroup: "c", Location: "westus2",
				Environment:         "AzurePublicCloud",
				ControlPlaneVersion: "v1.31.9"},
		}, false},
		{"the published flavor of manifests", `
kind: AzureASOManagedControlPlane
metadata: {name: c}
spec:
  version: v1.31.2
  resources:
  - {apiVersion: containerservice.azure.com/v1api20231001, kind: ManagedCluster, metadata: {name: c}, spec: {location: westus2,
      owner: {name: rg}, dnsPrefix: c}}
status: {ready: true}`, aksv1.ManagedClusterView{
			Name: "c", ManifestName: "c", View: azurev1.ClusterView{Name: "c", ClusterName: "c", ResourceGroup: "rg", Location: "westus2",
				Environment: "AzurePublicCloud", ControlPlaneVersion: "v1.31.2", Ready: true},
		}, false},
		{"an owner by its resource ID", `
kind: AzureASOManagedControlPlane
metadata: {name: c}
spec:
  resources:
  - {kind: ResourceGroup, metadata: {name: x}, spec: {location: westus2}}
  - {kind: ManagedCluster, metadata: {name: c}, spec: {azureName: other, location: westus2, owner: {armId: /subscriptions/s/resourceGroups/rg}}}`, aksv1.ManagedClusterView{
			Name: "other", ManifestName: "c",
			View: azurev1.ClusterView{Name: "c", ClusterName: "c", SubscriptionID: "s", ResourceGroup: "rg", Location: "westus2",
				Environment: "AzurePublicCloud"},
		}, false},
		{"no managed cluster", "kind: AzureASOManagedControlPlane\nmetadata: {name: c}\nspec: {resources: []}", aksv1.ManagedClusterView{}, true},
		{"a field of another type", "kind: AzureManagedControlPlane\nmetadata: {name: c}\nspec: {location: [a]}",
			aksv1.ManagedClusterView{}, true},
	} {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(c.object), &u.Object); err != nil {
			t.Fatal(err)
		}
		got, err := aksv1.ManagedClusterViewOf(u, "c")
		if diff := cmp.Diff(c.want, got); diff != "" || (err != nil) != c.refused {
			t.Errorf("%s: %v (-want +got):\n%s", c.why, err, diff)
		}
	}
}
