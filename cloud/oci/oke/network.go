package oke

import (
	"fmt"
	"slices"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
)

// Sorted returns a copy of a list whose order means nothing.
func Sorted(list []string) []string {
	out := append([]string{}, list...)
	slices.Sort(out)
	return out
}

// Subnet returns the OCID of a subnet of the cluster's network by its name; of the first with role worker for an empty one. The error is
// about the field.
func (p Pool) Subnet(name, field string) (string, error) {
	part := p.Cluster.View.NodeSubnet()
	if name != "" {
		part = p.Cluster.View.Subnet(name)
	}
	return partID(part, "subnet", name, field)
}

// SecurityGroups returns the sorted OCIDs of network security groups of the cluster's network by their names. The error is about the field.
func (p Pool) SecurityGroups(names []string, field string) ([]string, error) {
	return idsOf(names, "network security group", field, p.Cluster.View.SecurityGroup)
}

// Subnets returns the sorted OCIDs of subnets of the cluster's network by their names. The error is about the field.
func (p Pool) Subnets(names []string, field string) ([]string, error) {
	return idsOf(names, "subnet", field, p.Cluster.View.Subnet)
}

// NodeSecurityGroups returns the sorted OCIDs of the network security groups with role worker. The error is about the field.
func (p Pool) NodeSecurityGroups(field string) ([]string, error) {
	var names []string
	for _, group := range p.Cluster.View.NodeSecurityGroups() {
		names = append(names, group.Name)
	}
	return p.SecurityGroups(names, field)
}

func idsOf(names []string, kind, field string, find func(string) *ociv1.NetworkPart) ([]string, error) {
	out := []string{}
	for _, name := range names {
		id, err := partID(find(name), kind, name, field)
		if err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	return Sorted(out), nil
}

// partID returns the OCID of a part of the cluster's network.
func partID(part *ociv1.NetworkPart, kind, name, field string) (string, error) {
	switch {
	case part == nil && name == "":
		return "", cloud.Invalidf(field, "the infrastructure cluster has no %s with role worker: name one", kind)
	case part == nil:
		return "", cloud.Invalidf(field, "the infrastructure cluster has no %s with the name %q", kind, name)
	case part.ID == "":
		return "", &cloud.Error{Kind: cloud.Conflict, Code: "NetworkPending",
			Message: fmt.Sprintf("the %s %s of the infrastructure cluster does not exist yet", kind, part.Name)}
	}
	return part.ID, nil
}
