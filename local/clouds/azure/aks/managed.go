package aks

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	azurestandin "github.com/muster-project/muster/local/clouds/azure/standin"
	"github.com/muster-project/muster/local/fields"
	"github.com/muster-project/muster/local/objects"
	"github.com/muster-project/muster/sim/azure"
)

// clusterTag is the provider's tag of what belongs to a Cluster, before its name.
const clusterTag = "sigs.k8s.io_cluster-api-provider-azure_cluster_"

// fillManaged sets what an AzureManagedControlPlane leaves open, under the names that the provider chooses.
func fillManaged(o *unstructured.Unstructured, cluster string) error {
	spec := func(value any, path ...string) fields.Field {
		return fields.Field{Value: value, Path: append([]string{"spec"}, path...)}
	}
	if err := fields.Fill(o, spec(azure.SubscriptionID, "subscriptionID"), spec(azure.Location, "location"),
		spec(cluster, "resourceGroupName"),
		spec("AzurePublicCloud", "azureEnvironment"), spec("azure", "networkPlugin"), spec("Standard", "loadBalancerSKU"),
		spec("Free", "sku", "tier"),
		spec(o.GetName(), "dnsPrefix"), spec(o.GetName(), "virtualNetwork", "name"), spec("10.0.0.0/8", "virtualNetwork", "cidrBlock"),
		spec(o.GetName(), "virtualNetwork", "subnet", "name"), spec("10.240.0.0/16", "virtualNetwork", "subnet", "cidrBlock")); err != nil {
		return err
	}
	group, _, err := unstructured.NestedString(o.Object, "spec", "resourceGroupName")
	if err != nil {
		return err
	}
	location, _, err := unstructured.NestedString(o.Object, "spec", "location")
	if err != nil {
		return err
	}
	return fields.Fill(o, spec(group, "virtualNetwork", "resourceGroup"),
		spec("MC_"+group+"_"+o.GetName()+"_"+location, "nodeResourceGroupName"))
}

// managedPlane holds the fields of an AzureManagedControlPlane that AKS gets, without those of its location.
type managedPlane struct {
	Version               string       `json:"version"`
	Location              string       `json:"location"`
	NodeResourceGroupName string       `json:"nodeResourceGroupName"`
	DNSPrefix             string       `json:"dnsPrefix"`
	AdditionalTags        azurev1.Tags `json:"additionalTags"`
	NetworkPlugin         string       `json:"networkPlugin"`
	NetworkPluginMode     *string      `json:"networkPluginMode"`
	NetworkPolicy         *string      `json:"networkPolicy"`
	DNSServiceIP          *string      `json:"dnsServiceIP"`
	OutboundType          *string      `json:"outboundType"`
	LoadBalancerSKU       string       `json:"loadBalancerSKU"`
	SKU                   struct {
		Tier string `json:"tier"`
	} `json:"sku"`
	OIDCIssuerProfile *struct {
		Enabled bool `json:"enabled"`
	} `json:"oidcIssuerProfile"`
	VirtualNetwork struct {
		Name          string `json:"name"`
		ResourceGroup string `json:"resourceGroup"`
		Subnet        struct {
			Name string `json:"name"`
		} `json:"subnet"`
	} `json:"virtualNetwork"`
}

// managedNetwork returns the virtual network of an AzureManagedControlPlane, with the one subnet that it describes.
func managedNetwork(o *unstructured.Unstructured, view aksv1.ManagedClusterView) azurestandin.Resources {
	name := func(path ...string) string {
		text, _, err := unstructured.NestedString(o.Object, append([]string{"spec", "virtualNetwork"}, path...)...)
		if err != nil {
			return "" // the request to AKS reports what is wrong with it
		}
		return text
	}
	return azurestandin.Resources{
		SubscriptionID: view.View.SubscriptionID, ResourceGroup: view.View.ResourceGroup, Location: view.View.Location,
		VnetGroup: name("resourceGroup"), Vnet: name("name"), Subnets: []string{name("subnet", "name")},
	}
}

// managedBody returns the request to AKS for the managed cluster of an AzureManagedControlPlane.
func managedBody(o *unstructured.Unstructured) (map[string]any, error) {
	var s managedPlane
	if err := objects.DecodeSpec(o, &s); err != nil {
		return nil, err
	}
	cluster := cmp.Or(o.GetLabels()[clusterv1.ClusterNameLabel], o.GetName())
	tags := map[string]any{clusterTag + cluster: "owned", "sigs.k8s.io_cluster-api-provider-azure_role": "common"}
	for key, value := range s.AdditionalTags {
		tags[key] = value
	}
	network := map[string]any{"networkPlugin": s.NetworkPlugin, "loadBalancerSku": strings.ToLower(s.LoadBalancerSKU)}
	for name, value := range map[string]*string{
		"networkPluginMode": s.NetworkPluginMode, "networkPolicy": s.NetworkPolicy, "dnsServiceIP": s.DNSServiceIP,
		"outboundType": s.OutboundType,
	} {
		if value != nil {
			network[name] = *value
		}
	}
	properties := map[string]any{
		"kubernetesVersion": kubernetesVersion(s.Version), "dnsPrefix": s.DNSPrefix, "nodeResourceGroup": s.NodeResourceGroupName,
		"enableRBAC":              true,
		"servicePrincipalProfile": map[string]any{"clientId": "msi"}, "networkProfile": network,
	}
	if s.OIDCIssuerProfile != nil {
		properties["oidcIssuerProfile"] = map[string]any{"enabled": s.OIDCIssuerProfile.Enabled}
	}
	return map[string]any{
		"location": s.Location, "tags": tags, "identity": map[string]any{"type": "SystemAssigned"},
		"sku": map[string]any{"name": "Base", "tier": s.SKU.Tier}, "properties": properties,
	}, nil
}
