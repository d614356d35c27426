// Package awsnetwork is the network of a simulated account, as the AWS provider writes it into the objects that stand for one:
// AWSCluster, and AWSManagedControlPlane, which has the same fields at the same paths.
package awsnetwork

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Network is what the account holds in a region.
type Network struct {
	// Region, and VPC in it.
	Region, VPC string
	Subnets     []Subnet
	// NodeSecurityGroup is the ID of the group that every node gets.
	NodeSecurityGroup string
}

// Subnet is one subnet of the network.
type Subnet struct {
	ID, Zone, CIDR string
	// Public says that it has a route to an internet gateway.
	Public bool
}

// Field is a value and where it belongs in an object.
type Field struct {
	Value any
	Path  []string
}

// FillSpec sets what the object leaves open. What a person has written stays.
func (n Network) FillSpec(o *unstructured.Unstructured, endpoint clusterv1.APIEndpoint) error {
	subnets := []any{}
	for _, s := range n.Subnets {
		subnets = append(subnets, map[string]any{
			"id": s.ID, "resourceID": s.ID, "availabilityZone": s.Zone, "cidrBlock": s.CIDR, "isPublic": s.Public, "zoneType": "availability-zone",
		})
	}
	fields := []Field{
		{n.Region, []string{"spec", "region"}},
		{n.VPC, []string{"spec", "network", "vpc", "id"}},
		{subnets, []string{"spec", "network", "subnets"}},
	}
	if endpoint.IsValid() {
		fields = append(fields,
			Field{endpoint.Host, []string{"spec", "controlPlaneEndpoint", "host"}},
			Field{int64(endpoint.Port), []string{"spec", "controlPlaneEndpoint", "port"}})
	}
	return Fill(o, fields...)
}

// FillStatus says that the network is ready.
func (n Network) FillStatus(o *unstructured.Unstructured) error {
	domains := map[string]any{}
	for _, s := range n.Subnets {
		domains[s.Zone] = map[string]any{"controlPlane": true}
	}
	groups := map[string]any{"node": map[string]any{"id": n.NodeSecurityGroup, "name": "node"}}
	return Set(o,
		Field{true, []string{"status", "ready"}},
		Field{domains, []string{"status", "failureDomains"}},
		Field{groups, []string{"status", "networkStatus", "securityGroups"}})
}

// Set writes fields whatever they were. A status of null counts as none.
func Set(o *unstructured.Unstructured, fields ...Field) error {
	if v, ok := o.Object["status"]; ok && v == nil {
		delete(o.Object, "status")
	}
	for _, f := range fields {
		if err := unstructured.SetNestedField(o.Object, f.Value, f.Path...); err != nil {
			return err
		}
	}
	return nil
}

// Fill writes fields that are not there or hold nothing.
func Fill(o *unstructured.Unstructured, fields ...Field) error {
	for _, f := range fields {
		found, ok, err := unstructured.NestedFieldNoCopy(o.Object, f.Path...)
		if err != nil {
			return err
		}
		if ok && !isEmpty(found) {
			continue
		}
		if err := unstructured.SetNestedField(o.Object, f.Value, f.Path...); err != nil {
			return err
		}
	}
	return nil
}

func isEmpty(v any) bool {
	switch x := v.(type) {
	case nil:
		return true
	case string:
		return x == ""
	case int64:
		return x == 0
	case []any:
		return len(x) == 0
	default:
		return false
	}
}
