package v1beta2

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/muster-project/muster/api/common"
)

const (
	// ClusterKind is the kind of infrastructure clusters of instances.
	ClusterKind = "OCICluster"
	// ManagedClusterKind is the kind of infrastructure clusters of OKE.
	ManagedClusterKind = "OCIManagedCluster"
	// ManagedControlPlaneKind is the kind of control planes of OKE.
	ManagedControlPlaneKind = "OCIManagedControlPlane"

	// enhancedCluster is the type of enhanced clusters.
	enhancedCluster = "ENHANCED_CLUSTER"

	// clusterNameLabel is the label of everything that belongs to a Cluster.
	clusterNameLabel = "cluster.x-k8s.io/cluster-name"
)

// clusterFields are the fields that are read from OCICluster and OCIManagedCluster of both versions.
type clusterFields struct {
	Spec struct {
		ResourceIdentifier  string                       `json:"ociResourceIdentifier,omitempty"`
		CompartmentID       string                       `json:"compartmentId,omitempty"`
		Region              string                       `json:"region,omitempty"`
		FreeformTags        map[string]string            `json:"freeformTags,omitempty"`
		DefinedTags         map[string]map[string]string `json:"definedTags,omitempty"`
		AvailabilityDomains map[string]domainFields      `json:"availabilityDomains,omitempty"`
		Network             struct {
			VCN vcnFields `json:"vcn,omitempty"`
		} `json:"networkSpec,omitempty"`
		ClientOverrides *overrideFields `json:"clientOverrides,omitempty"`
		// HostURL is the name of ClientOverrides in OCIManagedCluster.
		HostURL *overrideFields `json:"hostUrl,omitempty"`
	} `json:"spec,omitempty"`
	Status struct {
		Ready          bool `json:"ready,omitempty"`
		Initialization struct {
			Provisioned bool `json:"provisioned,omitempty"`
		} `json:"initialization,omitempty"`
		// AvailabilityDomains is the field of v1beta1.
		AvailabilityDomains map[string]domainFields `json:"availabilityDomains,omitempty"`
	} `json:"status,omitempty"`
}

type domainFields struct {
	Name         string   `json:"name,omitempty"`
	FaultDomains []string `json:"faultDomains,omitempty"`
}

type vcnFields struct {
	Subnets              []partFields `json:"subnets,omitempty"`
	NetworkSecurityGroup struct {
		List []partFields `json:"list,omitempty"`
	} `json:"networkSecurityGroup,omitempty"`
	// NetworkSecurityGroups is the field of v1beta1.
	NetworkSecurityGroups []partFields `json:"networkSecurityGroups,omitempty"`
}

type partFields struct {
	Name string `json:"name,omitempty"`
	Role string `json:"role,omitempty"`
	ID   string `json:"id,omitempty"`
}

type overrideFields struct {
	CertOverride      *SecretReference `json:"certOverride,omitempty"`
	Compute           string           `json:"computeClientUrl,omitempty"`
	ComputeManagement string           `json:"computeManagementClientUrl,omitempty"`
	Identity          string           `json:"identityClientUrl,omitempty"`
	ContainerEngine   string           `json:"containerEngineClientUrl,omitempty"`
	WorkRequests      string           `json:"workrequestClientUrl,omitempty"`
}

// ClusterViewOf reads an OCICluster or an OCIManagedCluster. Missing fields stay empty. It returns an error if a field has an unexpected
// type.
func ClusterViewOf(u *unstructured.Unstructured) (ClusterView, error) {
	var fields clusterFields
	if err := common.FieldsOf(u, &fields); err != nil {
		return ClusterView{}, err
	}
	spec, status, vcn := &fields.Spec, &fields.Status, &fields.Spec.Network.VCN
	view := ClusterView{
		Name:               u.GetName(),
		ClusterName:        cmp.Or(u.GetLabels()[clusterNameLabel], u.GetName()),
		Managed:            u.GetKind() == ManagedClusterKind,
		CompartmentID:      spec.CompartmentID,
		Region:             spec.Region,
		ResourceIdentifier: spec.ResourceIdentifier,
		FreeformTags:       spec.FreeformTags,
		DefinedTags:        spec.DefinedTags,
		Subnets:            partsOf(vcn.Subnets),
		SecurityGroups:     partsOf(append(slices.Clip(vcn.NetworkSecurityGroup.List), vcn.NetworkSecurityGroups...)),
		Ready:              status.Ready || status.Initialization.Provisioned,
	}
	view.AvailabilityDomains = domainsOf(spec.AvailabilityDomains)
	if len(view.AvailabilityDomains) == 0 {
		view.AvailabilityDomains = domainsOf(status.AvailabilityDomains)
	}
	if overrides := cmp.Or(spec.ClientOverrides, spec.HostURL); overrides != nil {
		view.Endpoints = Endpoints{Compute: overrides.Compute, ComputeManagement: overrides.ComputeManagement,
			ContainerEngine: overrides.ContainerEngine, Identity: overrides.Identity, WorkRequests: overrides.WorkRequests}
		view.CertificateRef = overrides.CertOverride.in(u.GetNamespace())
	}
	return view, nil
}

func partsOf(fields []partFields) []NetworkPart {
	var parts []NetworkPart
	for _, f := range fields {
		parts = append(parts, NetworkPart(f))
	}
	return parts
}

// domainsOf returns availability domains in the order of their keys. The default of a name is the key.
func domainsOf(fields map[string]domainFields) []AvailabilityDomain {
	var domains []AvailabilityDomain
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		domains = append(domains, AvailabilityDomain{Name: cmp.Or(fields[key].Name, key), FaultDomains: fields[key].FaultDomains})
	}
	return domains
}

// controlPlaneFields are the fields that are read from OCIManagedControlPlane.
type controlPlaneFields struct {
	Spec struct {
		ID                       string `json:"id,omitempty"`
		Version                  string `json:"version,omitempty"`
		ClusterType              string `json:"clusterType,omitempty"`
		ClusterPodNetworkOptions []struct {
			CNIType CNIType `json:"cniType,omitempty"`
		} `json:"clusterPodNetworkOptions,omitempty"`
	} `json:"spec,omitempty"`
	Status struct {
		Ready          bool   `json:"ready,omitempty"`
		Version        string `json:"version,omitempty"`
		Initialization struct {
			ControlPlaneInitialized bool `json:"controlPlaneInitialized,omitempty"`
		} `json:"initialization,omitempty"`
	} `json:"status,omitempty"`
}

// ManagedClusterViewOf reads an OCIManagedControlPlane. ManagedClusterView.Complete adds the fields of the OCIManagedCluster. It returns
// an error if a field has an unexpected type.
func ManagedClusterViewOf(u *unstructured.Unstructured, cluster string) (ManagedClusterView, error) {
	var fields controlPlaneFields
	if err := common.FieldsOf(u, &fields); err != nil {
		return ManagedClusterView{}, err
	}
	spec, status := &fields.Spec, &fields.Status
	view := ManagedClusterView{
		View: ClusterView{Managed: true, ClusterName: cmp.Or(cluster, u.GetLabels()[clusterNameLabel], u.GetName())},
		ID:   spec.ID, ControlPlane: u.GetName(), Version: cmp.Or(status.Version, spec.Version),
		Enhanced: spec.ClusterType == enhancedCluster, Ready: status.Ready || status.Initialization.ControlPlaneInitialized,
	}
	for _, option := range spec.ClusterPodNetworkOptions {
		if option.CNIType != "" {
			view.CNITypes = append(view.CNITypes, option.CNIType)
		}
	}
	return view, nil
}

// Complete adds the fields of the OCIManagedCluster. The name of the Cluster is kept.
func (v *ManagedClusterView) Complete(from ClusterView) {
	name := v.View.ClusterName
	v.View = from
	v.View.ClusterName, v.View.Managed = cmp.Or(name, from.ClusterName), true
}
