package launch

import (
	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/oci/core"
)

// Fields of the network interface.
const (
	fieldVNIC       = fieldConfiguration + "instanceVnicConfiguration."
	FieldSubnet     = fieldVNIC + "subnetId"
	fieldSubnetName = fieldVNIC + "subnetName"
	fieldGroups     = fieldVNIC + "nsgIds"
	fieldGroupNames = fieldVNIC + "nsgNames"
)

// vnic returns the network interface of the specification; an empty one if it has none.
func (s Source) vnic() ociv1.NetworkDetails {
	if is := s.Pool.InstanceConfiguration.InstanceVnicConfiguration; is != nil {
		return *is
	}
	return ociv1.NetworkDetails{}
}

// putNetwork sets the network interface.
func (s Source) putNetwork(d *core.InstanceConfigurationLaunchInstanceDetails) error {
	is := s.vnic()
	subnet, err := s.Subnet()
	if err != nil {
		return err
	}
	groups, err := s.securityGroups()
	if err != nil {
		return err
	}
	d.CreateVnicDetails = &core.InstanceConfigurationCreateVnicDetails{
		SubnetId: &subnet, NsgIds: groups, SkipSourceDestCheck: is.SkipSourceDestCheck, HostnameLabel: text(is.HostnameLabel),
		DisplayName: text(is.DisplayName), AssignPrivateDnsRecord: is.AssignPrivateDNSRecord, FreeformTags: d.FreeformTags,
		DefinedTags: d.DefinedTags,
	}
	if is.AssignIPv6IP {
		d.CreateVnicDetails.AssignIpv6Ip = new(true)
	}
	if s.Pool.InstanceConfiguration.InstanceVnicConfiguration != nil {
		d.CreateVnicDetails.AssignPublicIp = new(is.AssignPublicIP) // otherwise the subnet decides
	}
	return nil
}

// Subnet returns the OCID of the subnet of instances.
func (s Source) Subnet() (string, error) {
	is := s.vnic()
	if text(is.SubnetID) != nil {
		return *is.SubnetID, nil
	}
	part := s.Cluster.NodeSubnet()
	if is.SubnetName != "" {
		part = s.Cluster.Subnet(is.SubnetName)
	}
	switch {
	case part == nil && is.SubnetName != "":
		return "", cloud.Invalidf(fieldSubnetName, "infrastructure cluster %s has no subnet %q: found %s", s.Cluster.Name, is.SubnetName,
			namesOf(s.Cluster.Subnets))
	case part == nil:
		return "", cloud.Invalidf(FieldSubnet, "no subnet is set, and infrastructure cluster %s has none with role %s: set the field, or "+
			"subnetName", s.Cluster.Name, ociv1.RoleWorker)
	}
	return idOf(*part, "subnet", fieldSubnetName)
}

// securityGroups returns the OCIDs of the network security groups of instances; nil for none.
func (s Source) securityGroups() (ids []string, err error) {
	is := s.vnic()
	if one := text(is.NSGID); one != nil {
		ids = append(ids, *one)
	}
	if ids = append(ids, is.NSGIDs...); len(ids) > 0 {
		return ids, nil
	}
	parts := s.Cluster.NodeSecurityGroups()
	if len(is.NSGNames) > 0 {
		parts = nil
	}
	for _, name := range is.NSGNames {
		part := s.Cluster.SecurityGroup(name)
		if part == nil {
			return nil, cloud.Invalidf(fieldGroupNames, "infrastructure cluster %s has no network security group %q: found %s", s.Cluster.Name, name,
				namesOf(s.Cluster.SecurityGroups))
		}
		parts = append(parts, *part)
	}
	for _, part := range parts {
		id, err := idOf(part, "network security group", fieldGroupNames)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// idOf returns the OCID of a part of the network. kind is the kind of the part, for messages.
func idOf(part ociv1.NetworkPart, kind, field string) (string, error) {
	if part.ID == "" {
		return "", cloud.Invalidf(field, "%s %q of the infrastructure cluster has no OCID yet: it is not created", kind, part.Name)
	}
	return part.ID, nil
}

// namesOf returns the names of parts of the network, for messages.
func namesOf(parts []ociv1.NetworkPart) string {
	names := ""
	for _, part := range parts {
		if names != "" {
			names += ", "
		}
		names += part.Name
	}
	if names == "" {
		return "none"
	}
	return names
}
