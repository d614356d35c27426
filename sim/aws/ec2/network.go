package ec2

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/ec2"
	"github.com/muster-project/muster/sim/aws/wire"
)

// chosen are the rows of those IDs, or all, that match the filters. The words of a missing one are EC2's for the kind.
func chosen[T any](rows iter.Seq2[string, *T], ids []string, filters []ec2.Filter, code, message string,
	describe func(*T) (attributes, map[string]string)) ([]*T, error) {
	all := maps.Collect(rows)
	keys := slices.Sorted(maps.Keys(all))
	for _, id := range ids {
		if all[id] == nil {
			return nil, wire.Refuse(code, message, id)
		}
	}
	if len(ids) > 0 {
		keys = slices.Compact(slices.Sorted(slices.Values(ids)))
	}
	var out []*T
	for _, k := range keys {
		have, tags := describe(all[k])
		ok, err := matchFilters(filters, have, tags)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, all[k])
		}
	}
	return out, nil
}

func (r *Network) describeSubnets(in *ec2.DescribeSubnetsInput) (*ec2.DescribeSubnetsOutput, error) {
	found, err := chosen(r.Subnets.All(), in.SubnetIds, in.Filters, "InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist",
		func(s *Subnet) (attributes, map[string]string) {
			return attributes{
				"subnet-id": {s.ID}, "vpc-id": {s.VPC}, "availability-zone": {s.Zone}, "availabilityZone": {s.Zone}, "cidr-block": {s.CIDR},
				"state": {"available"}, "default-for-az": {"false"}, "availability-zone-id": {account.ZoneID(r.Region, s.Zone)},
				"map-public-ip-on-launch": {strconv.FormatBool(s.Public)}, "owner-id": {r.Account},
			}, s.Tags
		})
	if err != nil {
		return nil, err
	}
	size, err := pageSize(in.MaxResults, 5, 1000, 0, nil)
	if err != nil {
		return nil, err
	}
	page, next, err := account.Paged(r.Core, found, func(s *Subnet) string { return s.ID }, in.NextToken, r.Page(size))
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeSubnetsOutput{NextToken: next}
	for _, s := range page {
		out.Subnets = append(out.Subnets, ec2.Subnet{
			SubnetId: new(s.ID), VpcId: new(s.VPC), AvailabilityZone: new(s.Zone), AvailabilityZoneId: new(account.ZoneID(r.Region, s.Zone)),
			CidrBlock: new(s.CIDR), State: "available", MapPublicIpOnLaunch: new(s.Public), DefaultForAz: new(false), OwnerId: new(r.Account),
			AvailableIpAddressCount: new(int32(addressesIn(s.CIDR) - r.InstancesIn(s.ID))), Tags: tagsOf(s.Tags),
			SubnetArn: new("arn:aws:ec2:" + r.Region + ":" + r.Account + ":subnet/" + s.ID),
		})
	}
	return out, nil
}

// InstancesIn returns how many instances a subnet holds.
func (r *Network) InstancesIn(subnet string) int {
	n := 0
	for _, i := range r.Instances.Rows.All() {
		if i.Subnet == subnet && i.State != StateTerminated {
			n++
		}
	}
	return n
}

func (r *Network) describeVpcs(in *ec2.DescribeVpcsInput) (*ec2.DescribeVpcsOutput, error) {
	found, err := chosen(r.VPCs.All(), in.VpcIds, in.Filters, "InvalidVpcID.NotFound", "The vpc ID '%s' does not exist",
		func(v *VPC) (attributes, map[string]string) {
			return attributes{"vpc-id": {v.ID}, "cidr": {v.CIDR}, "cidr-block-association.cidr-block": {v.CIDR}, "state": {"available"},
				"is-default": {"false"}, "owner-id": {r.Account}}, v.Tags
		})
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeVpcsOutput{}
	for _, v := range found {
		out.Vpcs = append(out.Vpcs, ec2.Vpc{
			VpcId: new(v.ID), CidrBlock: new(v.CIDR), State: "available", IsDefault: new(false), InstanceTenancy: "default", OwnerId: new(r.Account),
			Tags: tagsOf(v.Tags),
			CidrBlockAssociationSet: []ec2.VpcCidrBlockAssociation{{CidrBlock: new(v.CIDR),
				CidrBlockState: &ec2.VpcCidrBlockState{State: "associated"}}},
		})
	}
	return out, nil
}

func (r *Network) describeSecurityGroups(in *ec2.DescribeSecurityGroupsInput) (*ec2.DescribeSecurityGroupsOutput, error) {
	ids := slices.Clone(in.GroupIds)
	for _, name := range in.GroupNames {
		ids = append(ids, r.groupNamed(name))
	}
	found, err := chosen(r.SecurityGroups.All(), ids, in.Filters, "InvalidGroup.NotFound", "The security group '%s' does not exist",
		func(g *SecurityGroup) (attributes, map[string]string) {
			return attributes{"group-id": {g.ID}, "group-name": {g.Name}, "vpc-id": {g.VPC}, "description": {g.Description},
				"owner-id": {r.Account}}, g.Tags
		})
	if err != nil {
		return nil, err
	}
	size, err := pageSize(in.MaxResults, 5, 1000, 0, nil)
	if err != nil {
		return nil, err
	}
	page, next, err := account.Paged(r.Core, found, func(g *SecurityGroup) string { return g.ID }, in.NextToken, r.Page(size))
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeSecurityGroupsOutput{NextToken: next}
	for _, g := range page {
		out.SecurityGroups = append(out.SecurityGroups, ec2.SecurityGroup{
			GroupId: new(g.ID), GroupName: new(g.Name), Description: new(g.Description), VpcId: new(g.VPC), OwnerId: new(r.Account),
			Tags:             tagsOf(g.Tags),
			SecurityGroupArn: new("arn:aws:ec2:" + r.Region + ":" + r.Account + ":security-group/" + g.ID),
		})
	}
	return out, nil
}

func (r *Network) describeKeyPairs(in *ec2.DescribeKeyPairsInput) (*ec2.DescribeKeyPairsOutput, error) {
	names := slices.Clone(in.KeyNames)
	for _, id := range in.KeyPairIds {
		names = append(names, r.keyNameOf(id))
	}
	found, err := chosen(r.KeyPairs.All(), names, in.Filters, "InvalidKeyPair.NotFound", "The key pair '%s' does not exist",
		func(k *KeyPair) (attributes, map[string]string) {
			return attributes{"key-name": {k.Name}, "key-pair-id": {k.ID}, "fingerprint": {k.Fingerprint}}, k.Tags
		})
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeKeyPairsOutput{}
	for _, k := range found {
		out.KeyPairs = append(out.KeyPairs, ec2.KeyPairInfo{
			KeyName: new(k.Name), KeyPairId: new(k.ID), KeyFingerprint: new(k.Fingerprint), KeyType: "rsa", CreateTime: shapes.Stamp(k.Created),
			Tags: tagsOf(k.Tags),
		})
	}
	return out, nil
}

// keyNameOf is the name of the key pair of that ID, or the ID itself, which no key pair is called.
func (r *Network) keyNameOf(id string) string {
	for name, k := range r.KeyPairs.All() {
		if k.ID == id {
			return name
		}
	}
	return id
}

func (r *Network) describeAvailabilityZones(in *ec2.DescribeAvailabilityZonesInput) (*ec2.DescribeAvailabilityZonesOutput, error) {
	out := &ec2.DescribeAvailabilityZonesOutput{}
	for _, name := range append(slices.Clone(in.ZoneNames), in.ZoneIds...) {
		if !slices.Contains(slices.Concat(account.ZonesOf(r.Region), r.Images.places("availability-zone-id")), name) {
			return nil, wire.Refuse("InvalidParameterValue", "Invalid availability zone: [%s]", name)
		}
	}
	for _, z := range account.ZonesOf(r.Region) {
		id := account.ZoneID(r.Region, z)
		if len(in.ZoneNames) > 0 && !slices.Contains(in.ZoneNames, z) || len(in.ZoneIds) > 0 && !slices.Contains(in.ZoneIds, id) {
			continue
		}
		ok, err := matchFilters(in.Filters, attributes{
			"zone-name": {z}, "zone-id": {id}, "region-name": {r.Region}, "state": {"available"}, "zone-type": {"availability-zone"},
			"opt-in-status": {"opt-in-not-required"}, "group-name": {r.Region}, "parent-zone-id": nil, "parent-zone-name": nil,
		}, nil)
		if err != nil {
			return nil, err
		}
		if ok {
			out.AvailabilityZones = append(out.AvailabilityZones, ec2.AvailabilityZone{
				ZoneName: new(z), ZoneId: new(id), RegionName: new(r.Region), State: "available", ZoneType: new("availability-zone"),
				OptInStatus: "opt-in-not-required", GroupName: new(r.Region), NetworkBorderGroup: new(r.Region),
			})
		}
	}
	return out, nil
}

func (r *Network) describeRegions(in *ec2.DescribeRegionsInput) (*ec2.DescribeRegionsOutput, error) {
	out := &ec2.DescribeRegionsOutput{}
	for _, name := range in.RegionNames {
		if _, ok := account.Regions[name]; !ok {
			return nil, wire.Refuse("InvalidParameterValue", "Invalid region provided: [%s]", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(account.Regions)) {
		endpoint := "ec2." + name + ".amazonaws.com"
		ok, err := matchFilters(in.Filters, attributes{"region-name": {name}, "endpoint": {endpoint},
			"opt-in-status": {"opt-in-not-required"}}, nil)
		if err != nil {
			return nil, err
		}
		if ok && (len(in.RegionNames) == 0 || slices.Contains(in.RegionNames, name)) {
			out.Regions = append(out.Regions, ec2.Region{RegionName: new(name), Endpoint: new(endpoint), OptInStatus: new("opt-in-not-required")})
		}
	}
	return out, nil
}

// Fingerprint returns the fingerprint of a key pair of that name.
func Fingerprint(of string) string {
	h := sim.Seed(0).Hex(40, "fingerprint", of)
	var parts []string
	for i := 0; i < len(h); i += 2 {
		parts = append(parts, h[i:i+2])
	}
	return strings.Join(parts, ":")
}
