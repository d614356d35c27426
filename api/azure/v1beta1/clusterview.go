package v1beta1

// ClusterView is what pools read of their infrastructure cluster (AzureCluster). The kind is not ours: nothing but the
// fields that are read is named, and nothing is ever written.
type ClusterView struct {
	// Name of the infrastructure cluster object, for messages; ClusterName that of the Cluster, which names tags.
	Name, ClusterName string
	// SubscriptionID and ResourceGroup are where the cluster's cloud objects are.
	SubscriptionID, ResourceGroup string
	// Location is the region of the cluster.
	Location string
	// Environment is the cloud: AzurePublicCloud unless said otherwise.
	Environment string
	// Vnet is the cluster's network.
	Vnet VnetView
	// IPv6 is true if the network has addresses of that version too.
	IPv6 bool
	// Subnets of the cluster's network.
	Subnets []SubnetView
	// NodeOutboundLB is the name of the load balancer that nodes reach the world through, and NodeOutboundBackendPool its
	// backend pool; empty where there is none.
	NodeOutboundLB, NodeOutboundBackendPool string
	// AdditionalTags that every cloud object of the cluster gets.
	AdditionalTags Tags
	// FailureDomains are the zones that the cluster's region offers, as its status has them.
	FailureDomains []string
	// ControlPlaneVersion is the Kubernetes version of the control plane, with the leading v; empty where that is not known.
	ControlPlaneVersion string
	// Ready is true if the network exists.
	Ready bool
	// Identity is who asks the cloud for the cluster; nil is the controller with its own credentials. ClusterViewOf leaves it
	// to all users that may read the objects that the cluster's identityRef leads to.
	Identity *IdentityView
}

// VnetView is what is read of the cluster's network.
type VnetView struct {
	// Name of the network, and the resource group that it is in.
	Name, ResourceGroup string
}

// The roles of subnets that code depends on.
const (
	// SubnetRoleNode is the role of subnets that nodes are in.
	SubnetRoleNode = "node"
	// SubnetRoleControlPlane is the role of the subnet that the control plane is in.
	SubnetRoleControlPlane = "control-plane"
	// SubnetRoleCluster is the role of a subnet that everything is in.
	SubnetRoleCluster = "cluster"
)

// SubnetView is what is read of one subnet of the cluster.
type SubnetView struct {
	// Name and Role of the subnet.
	Name, Role string
	// IPv6 is true if it has addresses of that version too.
	IPv6 bool
	// SecurityGroup and RouteTable are the names of what belongs to it, and NatGateway of what it reaches the world through;
	// empty where there is none.
	SecurityGroup, RouteTable, NatGateway string
}

// NodeSubnet is the subnet that nodes are in unless a pool names another: the first with that role, or else the first that
// everything is in. It is nil while there is none.
func (v *ClusterView) NodeSubnet() *SubnetView {
	for _, role := range []string{SubnetRoleNode, SubnetRoleCluster} {
		for i := range v.Subnets {
			if v.Subnets[i].Role == role {
				return &v.Subnets[i]
			}
		}
	}
	return nil
}
