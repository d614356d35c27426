package v1beta1

// ClusterView holds the fields that pools read from their infrastructure cluster (AzureCluster). Another controller owns the kind, and
// Muster never writes it.
type ClusterView struct {
	// Name of the infrastructure cluster object, for messages; ClusterName that of the Cluster, which names tags.
	Name, ClusterName string
	// SubscriptionID and ResourceGroup are where the cluster's cloud objects are.
	SubscriptionID, ResourceGroup string
	// Location is the region of the cluster.
	Location string
	// Environment is the cloud; the default is AzurePublicCloud.
	Environment string
	// Vnet is the cluster's network.
	Vnet VnetView
	// IPv6 is true if the network has addresses of that version too.
	IPv6 bool
	// Subnets of the cluster's network.
	Subnets []SubnetView
	// NodeOutboundLB is the load balancer for outbound traffic of nodes, and NodeOutboundBackendPool its backend pool; empty for none.
	NodeOutboundLB, NodeOutboundBackendPool string
	// AdditionalTags that every cloud object of the cluster gets.
	AdditionalTags Tags
	// FailureDomains are the zones that the cluster's region offers, as its status has them.
	FailureDomains []string
	// ControlPlaneVersion is the Kubernetes version of the control plane, with the leading v; empty where that is not known.
	ControlPlaneVersion string
	// Ready is true if the network exists.
	Ready bool
	// Identity is the identity for API calls on behalf of the cluster; nil means the controller's own credentials. ClusterViewOf does not set
	// it, because only a client that can read the objects behind the cluster's identityRef can.
	Identity *IdentityView
}

// VnetView holds the fields that are read from the cluster's network.
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

// SubnetView holds the fields that are read from one subnet of the cluster.
type SubnetView struct {
	// Name and Role of the subnet.
	Name, Role string
	// IPv6 is true if it has addresses of that version too.
	IPv6 bool
	// SecurityGroup, RouteTable and NatGateway are the names of the subnet's resources; empty for none.
	SecurityGroup, RouteTable, NatGateway string
}

// NodeSubnet returns the subnet that nodes are in unless a pool names another: the first with that role, or else the first that
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
