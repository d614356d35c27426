package azurejson

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
)

const (
	// vmType makes the cloud provider look for nodes in scale sets.
	vmType = "vmss"
	// loadBalancerSKU is the only one that scale sets and zones work with.
	loadBalancerSKU = "Standard"
	// maximumLoadBalancerRules is the ecosystem's figure; Azure's own limit of a Standard load balancer is higher.
	maximumLoadBalancerRules = 250
	// identityPrefix precedes the ID of an identity in the ecosystem's objects.
	identityPrefix = "azure://"
)

// config is the cloud provider's configuration. Its fields, their order and the spaces are those which the ecosystem's Azure
// provider writes, so that a secret of that provider is the same as ours, and is not written anew.
type config struct {
	Cloud                        string `json:"cloud"`
	TenantID                     string `json:"tenantId"`
	SubscriptionID               string `json:"subscriptionId"`
	AADClientID                  string `json:"aadClientId,omitempty"`
	AADClientSecret              string `json:"aadClientSecret,omitempty"`
	ResourceGroup                string `json:"resourceGroup"`
	SecurityGroupName            string `json:"securityGroupName"`
	SecurityGroupResourceGroup   string `json:"securityGroupResourceGroup"`
	Location                     string `json:"location"`
	ExtendedLocationType         string `json:"extendedLocationType,omitempty"`
	ExtendedLocationName         string `json:"extendedLocationName,omitempty"`
	VMType                       string `json:"vmType"`
	VnetName                     string `json:"vnetName"`
	VnetResourceGroup            string `json:"vnetResourceGroup"`
	SubnetName                   string `json:"subnetName"`
	RouteTableName               string `json:"routeTableName"`
	LoadBalancerSKU              string `json:"loadBalancerSku"`
	LoadBalancerName             string `json:"loadBalancerName"`
	MaximumLoadBalancerRuleCount int    `json:"maximumLoadBalancerRuleCount"`
	UseManagedIdentityExtension  bool   `json:"useManagedIdentityExtension"`
	UseInstanceMetadata          bool   `json:"useInstanceMetadata"`
	// EnableVmssFlexNodes is about the cluster, which may have pools in both modes, and not about the pool.
	EnableVmssFlexNodes    bool   `json:"enableVmssFlexNodes,omitempty"`
	UserAssignedIdentityID string `json:"userAssignedIdentityID,omitempty"`
	limits
	backOff
}

// Defaults holds the controller's own settings, for fields that an AzureCluster and its identity leave empty.
type Defaults struct {
	// SubscriptionID of clusters that name none, and TenantID of clusters that name no identity.
	SubscriptionID, TenantID string
}

// configOf is the configuration of the pool's machines. The identity is in the view.
func configOf(pool *azurev1.AzureMachinePoolSpec, cluster *azurev1.ClusterView, place *unstructured.Unstructured,
	d Defaults) (*config, error) {
	c := &config{
		Cloud: cluster.Environment, TenantID: d.TenantID, SubscriptionID: cmp.Or(cluster.SubscriptionID, d.SubscriptionID),
		ResourceGroup: cluster.ResourceGroup, Location: cluster.Location,
		SecurityGroupResourceGroup: cluster.Vnet.ResourceGroup, VnetName: cluster.Vnet.Name, VnetResourceGroup: cluster.Vnet.ResourceGroup,
		VMType: vmType, EnableVmssFlexNodes: true, UseInstanceMetadata: true,
		LoadBalancerSKU: loadBalancerSKU, LoadBalancerName: cluster.NodeOutboundLB, MaximumLoadBalancerRuleCount: maximumLoadBalancerRules,
	}
	c.subnet(cluster)
	c.credentials(pool, cluster.Identity)
	if c.SubscriptionID == "" {
		return nil, fmt.Errorf("AzureCluster %s: spec.subscriptionID is empty, and the controller has none of its own: set it", cluster.Name)
	}
	return c, c.override(place)
}

// subnet fills in the names of the nodes' subnet and of what belongs to it: those that the ecosystem gives where none are said.
func (c *config) subnet(cluster *azurev1.ClusterView) {
	prefix := cluster.Name + "-node-"
	var subnet azurev1.SubnetView
	if s := cluster.NodeSubnet(); s != nil {
		subnet = *s
	}
	if subnet.Role == azurev1.SubnetRoleCluster {
		prefix = cluster.Name + "-"
	}
	c.SubnetName = cmp.Or(subnet.Name, prefix+"subnet")
	c.SecurityGroupName = cmp.Or(subnet.SecurityGroup, prefix+"nsg")
	c.RouteTableName = cmp.Or(subnet.RouteTable, prefix+"routetable")
}

// credentials are the identity of the machines, or the cluster's own where they have none. What is no password is not written:
// certificates and tokens lie where the machines can't read them.
func (c *config) credentials(pool *azurev1.AzureMachinePoolSpec, i *azurev1.IdentityView) {
	if i != nil {
		c.TenantID = i.TenantID
	}
	switch pool.Identity {
	case azurev1.VMIdentitySystemAssigned:
		c.UseManagedIdentityExtension = true
	case azurev1.VMIdentityUserAssigned:
		c.UseManagedIdentityExtension = true
		if len(pool.UserAssignedIdentities) > 0 {
			// The cloud provider takes the ID of the identity as well as that of its client, which Azure would have to be asked for.
			c.UserAssignedIdentityID = strings.TrimPrefix(pool.UserAssignedIdentities[0].ProviderID, identityPrefix)
		}
	default:
		if i == nil {
			return
		}
		c.AADClientID = i.ClientID
		if i.HasPassword() {
			c.AADClientSecret = i.Secret.Expose()
		}
	}
}

// text is the configuration as it is written.
func (c *config) text() ([]byte, error) {
	text, err := json.MarshalIndent(c, "", "    ")
	if err != nil {
		return nil, fmt.Errorf("encode the cloud provider's configuration: %w", err)
	}
	return text, nil
}
