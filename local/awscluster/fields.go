package awscluster

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// field is a value and where it belongs in the object.
type field struct {
	value any
	path  []string
}

// fillSpec sets what the object leaves open. What a person has written stays.
func (n Network) fillSpec(o *unstructured.Unstructured, cluster *clusterv1.Cluster) error {
	subnets := []any{}
	for _, s := range n.Subnets {
		subnets = append(subnets, map[string]any{
			"id": s.ID, "resourceID": s.ID, "availabilityZone": s.Zone, "cidrBlock": s.CIDR, "isPublic": s.Public, "zoneType": "availability-zone",
		})
	}
	fields := []field{
		{n.Region, []string{"spec", "region"}},
		{n.VPC, []string{"spec", "network", "vpc", "id"}},
		{subnets, []string{"spec", "network", "subnets"}},
	}
	if e := cluster.Spec.ControlPlaneEndpoint; e.IsValid() {
		fields = append(fields,
			field{e.Host, []string{"spec", "controlPlaneEndpoint", "host"}},
			field{int64(e.Port), []string{"spec", "controlPlaneEndpoint", "port"}})
	}
	for _, f := range fields {
		if err := setIfEmpty(o, f); err != nil {
			return err
		}
	}
	return nil
}

// fillStatus says that the network is ready, in the words of both contracts.
func (n Network) fillStatus(o *unstructured.Unstructured) error {
	// A status of null counts as none.
	if v, ok := o.Object["status"]; ok && v == nil {
		delete(o.Object, "status")
	}
	domains := map[string]any{}
	for _, s := range n.Subnets {
		domains[s.Zone] = map[string]any{"controlPlane": true}
	}
	groups := map[string]any{"node": map[string]any{"id": n.NodeSecurityGroup, "name": "node"}}
	for _, f := range []field{
		{true, []string{"status", "ready"}},
		{true, []string{"status", "initialization", "provisioned"}},
		{domains, []string{"status", "failureDomains"}},
		{groups, []string{"status", "networkStatus", "securityGroups"}},
	} {
		if err := unstructured.SetNestedField(o.Object, f.value, f.path...); err != nil {
			return err
		}
	}
	return nil
}

func setIfEmpty(o *unstructured.Unstructured, f field) error {
	found, ok, err := unstructured.NestedFieldNoCopy(o.Object, f.path...)
	if err != nil {
		return err
	}
	if ok && !isEmpty(found) {
		return nil
	}
	return unstructured.SetNestedField(o.Object, f.value, f.path...)
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
