package v1beta2

import "slices"

// ClusterView holds the fields that pools read from their infrastructure cluster (OCICluster, OCIManagedCluster). Other controllers own
// these kinds, and Muster never writes them.
// +kubebuilder:object:generate=false
type ClusterView struct {
	// Name of the infrastructure cluster object, for messages; ClusterName that of the Cluster.
	Name, ClusterName string
	// Managed is true for an OCIManagedCluster: the provider IDs of its Nodes are OCIDs without a scheme.
	Managed bool
	// CompartmentID is the OCID of the compartment of the cluster. Region is its region, for example us-phoenix-1; empty means the region of
	// the identity.
	CompartmentID, Region string
	// ResourceIdentifier is the value of TagCluster on the cloud objects of the cluster.
	ResourceIdentifier string
	// FreeformTags and DefinedTags, by namespace, that every cloud object of the cluster gets.
	FreeformTags map[string]string
	DefinedTags  map[string]map[string]string
	// AvailabilityDomains of the region, by name.
	AvailabilityDomains []AvailabilityDomain
	// Subnets and SecurityGroups of the cluster's network.
	Subnets        []NetworkPart
	SecurityGroups []NetworkPart
	// Endpoints are the addresses of the cloud's services that differ from the public ones.
	Endpoints Endpoints
	// CertificateRef names the Secret whose key cert holds the certificate authorities of the services; nil means those of the system.
	CertificateRef *SecretReference
	// Certificates are those certificates in PEM. ClusterViewOf does not set them, because only a client that can read the Secret can.
	Certificates string
	// Ready is true if the network exists.
	Ready bool
	// Identity is the identity for API calls on behalf of the cluster; nil means the controller's own credentials. ClusterViewOf does not
	// set it, because only a client that can read the objects of the cluster's identityRef can.
	Identity *IdentityView
}

// AvailabilityDomain is an availability domain of the cluster's region.
// +kubebuilder:object:generate=false
type AvailabilityDomain struct {
	// Name of the domain, for example Uocm:PHX-AD-1, and those of its fault domains.
	Name         string
	FaultDomains []string
}

// The roles of subnets and network security groups that pools use.
const (
	// RoleWorker is the role of the parts that nodes use.
	RoleWorker = "worker"
	// RolePod is the role of the parts that pods use.
	RolePod = "pod"
)

// NetworkPart is a subnet or a network security group of the cluster.
// +kubebuilder:object:generate=false
type NetworkPart struct {
	// Name in the infrastructure cluster, and Role.
	Name, Role string
	// ID is the OCID; empty until the part exists.
	ID string
}

// Endpoints are the addresses of the cloud's services; empty is the public one.
// +kubebuilder:object:generate=false
type Endpoints struct {
	// Compute serves instances and images, ComputeManagement instance pools and instance configurations.
	Compute, ComputeManagement string
	// ContainerEngine serves OKE.
	ContainerEngine string
	// Identity serves availability domains and fault domains.
	Identity string
	// WorkRequests serves the errors of launches.
	WorkRequests string
}

// Subnet returns the subnet of a name; nil if the cluster has none.
func (v *ClusterView) Subnet(name string) *NetworkPart { return named(v.Subnets, name) }

// SecurityGroup returns the network security group of a name; nil if the cluster has none.
func (v *ClusterView) SecurityGroup(name string) *NetworkPart { return named(v.SecurityGroups, name) }

// NodeSubnet returns the default subnet of nodes: the first with role worker. It is nil if the cluster has none.
func (v *ClusterView) NodeSubnet() *NetworkPart {
	i := slices.IndexFunc(v.Subnets, func(s NetworkPart) bool { return s.Role == RoleWorker })
	if i < 0 {
		return nil
	}
	return &v.Subnets[i]
}

// NodeSecurityGroups returns the default network security groups of nodes: those with role worker.
func (v *ClusterView) NodeSecurityGroups() []NetworkPart {
	var found []NetworkPart
	for _, group := range v.SecurityGroups {
		if group.Role == RoleWorker {
			found = append(found, group)
		}
	}
	return found
}

func named(parts []NetworkPart, name string) *NetworkPart {
	i := slices.IndexFunc(parts, func(p NetworkPart) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &parts[i]
}

// providerIDScheme is the prefix of provider IDs in clusters that OKE does not manage.
const providerIDScheme = "oci://"

// ProviderID returns the provider ID of the Node of an instance.
func (v *ClusterView) ProviderID(ocid string) string {
	if v.Managed {
		return ocid
	}
	return providerIDScheme + ocid
}

// ManagedClusterView holds the fields that pools read from the objects of an OKE cluster (OCIManagedControlPlane, OCIManagedCluster).
// +kubebuilder:object:generate=false
type ManagedClusterView struct {
	// View holds the fields that are read from the OCIManagedCluster.
	View ClusterView
	// ControlPlane is the name of the OCIManagedControlPlane, for messages.
	ControlPlane string
	// ID is the OCID of the cluster in OKE; empty until the cluster exists.
	ID string
	// Version is the current or else the desired Kubernetes version of the control plane; empty if unknown.
	Version string
	// Enhanced is true if the object requests an enhanced cluster, which node cycling and virtual node pools require.
	Enhanced bool
	// CNITypes are the CNI plugins of the cluster; empty if the object names none.
	CNITypes []CNIType
	// Ready is true if the cluster takes node pools.
	Ready bool
	// Deleting is true if the Cluster is being deleted: its node pools go with it.
	Deleting bool
}
