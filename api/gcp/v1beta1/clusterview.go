package v1beta1

import "slices"

// ClusterView holds the fields that pools read from their infrastructure cluster (GCPCluster, GCPManagedCluster). Other controllers own
// these kinds, and Muster never writes them.
// +kubebuilder:object:generate=false
type ClusterView struct {
	// Name of the infrastructure cluster object, for messages; ClusterName that of the Cluster, which names labels and network tags.
	Name, ClusterName string
	// Project is the ID of the project of the cluster, and Region the region.
	Project, Region string
	// Network is the name of the cluster's network, and NetworkProject the project that it is in, which is another with a shared VPC.
	Network, NetworkProject string
	// Subnets of the cluster's network, as the specification has them.
	Subnets []SubnetView
	// AdditionalLabels that every cloud object of the cluster gets.
	AdditionalLabels map[string]string
	// ResourceManagerTags that every cloud object of the cluster gets.
	ResourceManagerTags []ResourceManagerTag
	// FailureDomains are the zones that the cluster spans, as its status has them, or else its specification.
	FailureDomains []string
	// Endpoints are the addresses of the cloud's services where they are not the public ones.
	Endpoints Endpoints
	// Ready is true if the network exists.
	Ready bool
	// Identity is the identity for API calls on behalf of the cluster; nil means the controller's own credentials. ClusterViewOf does not set
	// it, because only a client that can read the Secret in the cluster's credentialsRef can.
	Identity *IdentityView
}

// SubnetView holds the fields that are read from one subnet of the cluster.
// +kubebuilder:object:generate=false
type SubnetView struct {
	// Name and Region of the subnet.
	Name, Region string
}

// Endpoints are the addresses of the cloud's services; empty is the public one.
// +kubebuilder:object:generate=false
type Endpoints struct {
	// Compute and Container are the addresses of Compute Engine and of GKE, and IAM that of access management.
	Compute, Container, IAM string
}

// NodeSubnet returns the name of the subnet that nodes are in unless a pool names another: the first of the cluster's region. It is empty
// if the cluster names none.
func (v *ClusterView) NodeSubnet() string {
	i := slices.IndexFunc(v.Subnets, func(s SubnetView) bool { return s.Region == "" || s.Region == v.Region })
	if i < 0 {
		return ""
	}
	return v.Subnets[i].Name
}

// ManagedClusterView holds the fields that pools read from the objects of a GKE cluster (GCPManagedControlPlane, GCPManagedCluster).
// +kubebuilder:object:generate=false
type ManagedClusterView struct {
	// View has the project, the addresses, the labels and who asks the cloud. Its Name is that of the control plane object, its Region that of
	// Location, and it is ready if the GKE cluster takes node pools.
	View ClusterView
	// Name of the cluster in GKE, and Location the region or zone that its control plane is in.
	Name, Location string
	// Version is the Kubernetes version that the control plane runs, or should run, as the object has it; empty where that is not known.
	Version string
	// Autopilot is true if GKE keeps all nodes of the cluster itself.
	Autopilot bool
	// Deleting is true if the Cluster is being deleted: its node pools go with it.
	Deleting bool
}

// Regional reports whether the control plane is in a region: nodes are then in several zones unless the pool names its own.
func (v *ManagedClusterView) Regional() bool { return v.Location == v.View.Region }
