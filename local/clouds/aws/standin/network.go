package standin

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/local/fields"
)

// Network holds the account's network in a region.
type Network struct {
	// VPC is the ID of the network in Region.
	Region, VPC string
	Subnets     []Subnet
	// NodeSecurityGroup is the ID of the security group of every node.
	NodeSecurityGroup string
}

// Subnet is one subnet of the network.
type Subnet struct {
	ID, Zone, CIDR string
	// Public is true if it has a route to an internet gateway.
	Public bool
}

// FillSpec sets what the object leaves open. What a person has written stays.
func (n Network) FillSpec(o *unstructured.Unstructured, endpoint clusterv1.APIEndpoint) error {
	subnets := []any{}
	for _, s := range n.Subnets {
		subnets = append(subnets, map[string]any{
			"id": s.ID, "resourceID": s.ID, "availabilityZone": s.Zone, "cidrBlock": s.CIDR, "isPublic": s.Public, "zoneType": "availability-zone",
		})
	}
	known := []fields.Field{
		{Value: n.Region, Path: []string{"spec", "region"}},
		{Value: n.VPC, Path: []string{"spec", "network", "vpc", "id"}},
		{Value: subnets, Path: []string{"spec", "network", "subnets"}},
	}
	if endpoint.IsValid() {
		known = append(known,
			fields.Field{Value: endpoint.Host, Path: []string{"spec", "controlPlaneEndpoint", "host"}},
			fields.Field{Value: int64(endpoint.Port), Path: []string{"spec", "controlPlaneEndpoint", "port"}})
	}
	return fields.Fill(o, known...)
}

// Make makes nothing: the account holds its network from the start.
func (n Network) Make(context.Context, *unstructured.Unstructured) error { return nil }

// FillStatus marks the network as ready.
func (n Network) FillStatus(o *unstructured.Unstructured) error {
	domains := map[string]any{}
	for _, s := range n.Subnets {
		domains[s.Zone] = map[string]any{"controlPlane": true}
	}
	groups := map[string]any{"node": map[string]any{"id": n.NodeSecurityGroup, "name": "node"}}
	return fields.Set(o,
		fields.Field{Value: true, Path: []string{"status", "ready"}},
		fields.Field{Value: domains, Path: []string{"status", "failureDomains"}},
		fields.Field{Value: groups, Path: []string{"status", "networkStatus", "securityGroups"}})
}
