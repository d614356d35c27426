package v1beta1

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
)

const (
	// ManagedControlPlaneKind is the kind of control planes whose pools are AzureManagedMachinePools.
	ManagedControlPlaneKind = "AzureManagedControlPlane"
	// ASOManagedControlPlaneKind is the kind of control planes whose pools are AzureASOManagedMachinePools.
	ASOManagedControlPlaneKind = "AzureASOManagedControlPlane"

	// CredentialAnnotation names the Secret with which Azure Service Operator applies a manifest.
	CredentialAnnotation = "serviceoperator.azure.com/credential-from"

	managedClusterManifestKind = "ManagedCluster"
)

// controlPlaneFields are the fields of an AzureManagedControlPlane that are read.
type controlPlaneFields struct {
	Spec struct {
		SubscriptionID        string       `json:"subscriptionID,omitempty"`
		ResourceGroupName     string       `json:"resourceGroupName,omitempty"`
		NodeResourceGroupName string       `json:"nodeResourceGroupName,omitempty"`
		Location              string       `json:"location,omitempty"`
		AzureEnvironment      string       `json:"azureEnvironment,omitempty"`
		AdditionalTags        azurev1.Tags `json:"additionalTags,omitempty"`
		Version               string       `json:"version,omitempty"`
		VirtualNetwork        struct {
			Name          string `json:"name,omitempty"`
			ResourceGroup string `json:"resourceGroup,omitempty"`
			Subnet        struct {
				Name string `json:"name,omitempty"`
			} `json:"subnet,omitempty"`
		} `json:"virtualNetwork,omitempty"`
	} `json:"spec,omitempty"`
	Status struct {
		Ready   bool   `json:"ready,omitempty"`
		Version string `json:"version,omitempty"`
	} `json:"status,omitempty"`
}

// asoControlPlaneFields are the fields of an AzureASOManagedControlPlane that are read.
type asoControlPlaneFields struct {
	Spec struct {
		Version   string            `json:"version,omitempty"`
		Resources []json.RawMessage `json:"resources,omitempty"`
	} `json:"spec,omitempty"`
	Status struct {
		Ready   bool   `json:"ready,omitempty"`
		Version string `json:"version,omitempty"`
	} `json:"status,omitempty"`
}

// managedClusterManifest are the fields that are read of the manifest of a managed cluster.
type managedClusterManifest struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name        string            `json:"name"`
		Annotations map[string]string `json:"annotations,omitempty"`
	} `json:"metadata"`
	Spec struct {
		AzureName         string       `json:"azureName,omitempty"`
		Location          string       `json:"location,omitempty"`
		NodeResourceGroup string       `json:"nodeResourceGroup,omitempty"`
		Tags              azurev1.Tags `json:"tags,omitempty"`
		Owner             struct {
			Name  string `json:"name,omitempty"`
			ArmID string `json:"armId,omitempty"`
		} `json:"owner,omitempty"`
	} `json:"spec"`
}

// ManagedClusterViewOf reads the control plane object of a managed cluster, of either kind. cluster is the name of the Cluster. Names that
// it does not say are those that the ecosystem's Azure provider gives. It is an error when the object describes no managed cluster.
func ManagedClusterViewOf(u *unstructured.Unstructured, cluster string) (ManagedClusterView, error) {
	if u.GetKind() == ASOManagedControlPlaneKind {
		return asoViewOf(u, cluster)
	}
	var fields controlPlaneFields
	if err := decode(u, &fields); err != nil {
		return ManagedClusterView{}, err
	}
	spec := &fields.Spec
	group := cmp.Or(spec.ResourceGroupName, cluster, u.GetName())
	out := ManagedClusterView{Name: u.GetName(), NodeResourceGroup: spec.NodeResourceGroupName}
	out.View = azurev1.ClusterView{
		Name: u.GetName(), ClusterName: cluster, SubscriptionID: spec.SubscriptionID, ResourceGroup: group, Location: spec.Location,
		Environment: cmp.Or(spec.AzureEnvironment, azurev1.PublicCloud), AdditionalTags: spec.AdditionalTags,
		ControlPlaneVersion: cmp.Or(fields.Status.Version, spec.Version), Ready: fields.Status.Ready,
	}
	network := spec.VirtualNetwork
	out.SubnetPrefix = fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Network/virtualNetworks/%s/subnets/",
		spec.SubscriptionID, cmp.Or(network.ResourceGroup, group), cmp.Or(network.Name, u.GetName()))
	out.SubnetID = out.SubnetPrefix + cmp.Or(network.Subnet.Name, u.GetName())
	return out, nil
}

// asoViewOf reads an AzureASOManagedControlPlane. Its manifest of the managed cluster has the location. The subscription is in the Secret
// of its credentials, unless a resource ID names the owner.
func asoViewOf(u *unstructured.Unstructured, cluster string) (ManagedClusterView, error) {
	var fields asoControlPlaneFields
	if err := decode(u, &fields); err != nil {
		return ManagedClusterView{}, err
	}
	for _, raw := range fields.Spec.Resources {
		var m managedClusterManifest
		if err := json.Unmarshal(raw, &m); err != nil || m.Kind != managedClusterManifestKind {
			continue
		}
		out := ManagedClusterView{Name: cmp.Or(m.Spec.AzureName, m.Metadata.Name), ManifestName: m.Metadata.Name,
			NodeResourceGroup: m.Spec.NodeResourceGroup, CredentialSecret: m.Metadata.Annotations[CredentialAnnotation]}
		out.View = azurev1.ClusterView{
			Name: u.GetName(), ClusterName: cluster, Location: m.Spec.Location, Environment: azurev1.PublicCloud, AdditionalTags: m.Spec.Tags,
			ResourceGroup:       cmp.Or(m.Spec.Owner.Name, azurev1.SegmentOf(m.Spec.Owner.ArmID, "resourceGroups")),
			SubscriptionID:      azurev1.SegmentOf(m.Spec.Owner.ArmID, "subscriptions"),
			ControlPlaneVersion: cmp.Or(fields.Status.Version, fields.Spec.Version), Ready: fields.Status.Ready,
		}
		return out, nil
	}
	return ManagedClusterView{}, fmt.Errorf("%s %s: no %s ManagedCluster defined in spec.resources", u.GetKind(), u.GetName(), ServiceGroup)
}

// decode reads the fields of an object that are named.
func decode(u *unstructured.Unstructured, into any) error {
	data, err := json.Marshal(u.Object)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return fmt.Errorf("read %s %s: %s", u.GetKind(), u.GetName(), strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}
