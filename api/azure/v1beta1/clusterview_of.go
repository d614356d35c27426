package v1beta1

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/muster-project/muster/api/common"
)

// PublicCloud is the environment of clusters that name none.
const PublicCloud = "AzurePublicCloud"

// clusterNameLabel is the label of everything that belongs to a Cluster.
const clusterNameLabel = "cluster.x-k8s.io/cluster-name"

// clusterFields are the fields of AzureCluster that are read.
type clusterFields struct {
	Spec struct {
		SubscriptionID   string        `json:"subscriptionID,omitempty"`
		ResourceGroup    string        `json:"resourceGroup,omitempty"`
		Location         string        `json:"location,omitempty"`
		AzureEnvironment string        `json:"azureEnvironment,omitempty"`
		AdditionalTags   Tags          `json:"additionalTags,omitempty"`
		Network          networkFields `json:"networkSpec,omitempty"`
	} `json:"spec,omitempty"`
	Status struct {
		Ready          bool                `json:"ready,omitempty"`
		FailureDomains map[string]struct{} `json:"failureDomains,omitempty"`
	} `json:"status,omitempty"`
}

type networkFields struct {
	Vnet struct {
		Name          string   `json:"name,omitempty"`
		ResourceGroup string   `json:"resourceGroup,omitempty"`
		CIDRBlocks    []string `json:"cidrBlocks,omitempty"`
	} `json:"vnet,omitempty"`
	Subnets        []subnetFields `json:"subnets,omitempty"`
	NodeOutboundLB *struct {
		Name        string      `json:"name,omitempty"`
		BackendPool namedFields `json:"backendPool,omitempty"`
	} `json:"nodeOutboundLB,omitempty"`
}

type subnetFields struct {
	Name          string      `json:"name,omitempty"`
	Role          string      `json:"role,omitempty"`
	CIDRBlocks    []string    `json:"cidrBlocks,omitempty"`
	SecurityGroup namedFields `json:"securityGroup,omitempty"`
	RouteTable    namedFields `json:"routeTable,omitempty"`
	NatGateway    namedFields `json:"natGateway,omitempty"`
}

type namedFields struct {
	Name string `json:"name,omitempty"`
}

// ClusterViewOf reads an AzureCluster. Names that it does not say are those that the ecosystem's Azure provider gives;
// everything else that is not there yet stays empty. It is an error only when a field that is read has another type than it
// should.
func ClusterViewOf(u *unstructured.Unstructured) (ClusterView, error) {
	var fields clusterFields
	if err := common.FieldsOf(u, &fields); err != nil {
		return ClusterView{}, err
	}
	spec := &fields.Spec
	name := cmp.Or(u.GetLabels()[clusterNameLabel], u.GetName())
	view := ClusterView{
		Name:           u.GetName(),
		ClusterName:    name,
		SubscriptionID: spec.SubscriptionID,
		ResourceGroup:  cmp.Or(spec.ResourceGroup, u.GetName()),
		Location:       spec.Location,
		Environment:    cmp.Or(spec.AzureEnvironment, PublicCloud),
		AdditionalTags: spec.AdditionalTags,
		FailureDomains: slices.Sorted(maps.Keys(fields.Status.FailureDomains)),
		Ready:          fields.Status.Ready,
	}
	view.Vnet.Name = cmp.Or(spec.Network.Vnet.Name, u.GetName()+"-vnet")
	view.IPv6 = hasIPv6(spec.Network.Vnet.CIDRBlocks)
	view.Vnet.ResourceGroup = cmp.Or(spec.Network.Vnet.ResourceGroup, view.ResourceGroup)
	if lb := spec.Network.NodeOutboundLB; lb != nil {
		view.NodeOutboundLB = cmp.Or(lb.Name, u.GetName())
		view.NodeOutboundBackendPool = cmp.Or(lb.BackendPool.Name, view.NodeOutboundLB+"-outboundBackendPool")
	}
	for _, subnet := range spec.Network.Subnets {
		view.Subnets = append(view.Subnets, subnet.view(u.GetName()))
	}
	return view, nil
}

// view returns the view of a subnet. The default name is the one that the ecosystem's provider gives the only subnet of its role.
func (s subnetFields) view(cluster string) SubnetView {
	name := s.Name
	if name == "" && s.Role == SubnetRoleNode {
		name = cluster + "-node-subnet"
	}
	return SubnetView{
		Name: name, Role: s.Role, SecurityGroup: s.SecurityGroup.Name, RouteTable: s.RouteTable.Name, NatGateway: s.NatGateway.Name,
		IPv6: hasIPv6(s.CIDRBlocks),
	}
}

// hasIPv6 reports whether one of some ranges is of that version.
func hasIPv6(blocks []string) bool {
	return slices.ContainsFunc(blocks, func(block string) bool { return strings.Contains(block, ":") })
}
