package aws

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes/ec2"
)

// values are the second halves of a sequence of pairs.
func values[K, V any](pairs iter.Seq2[K, V]) iter.Seq[V] {
	return func(yield func(V) bool) {
		for _, v := range pairs {
			if !yield(v) {
				return
			}
		}
	}
}

// chosen are the rows of those IDs, or all, that match the filters. The words of a missing one are EC2's for the kind.
func chosen[T any](rows iter.Seq2[string, *T], ids []string, filters []ec2.Filter, code, message string, describe func(*T) (attributes, map[string]string)) ([]*T, error) {
	all := maps.Collect(rows)
	keys := slices.Sorted(maps.Keys(all))
	for _, id := range ids {
		if all[id] == nil {
			return nil, refuse(code, message, id)
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

func (r *realm) describeSubnets(in *ec2.DescribeSubnetsInput) (*ec2.DescribeSubnetsOutput, error) {
	found, err := chosen(r.subnets.All(), in.SubnetIds, in.Filters, "InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist",
		func(s *subnet) (attributes, map[string]string) {
			return attributes{
				"subnet-id": {s.ID}, "vpc-id": {s.VPC}, "availability-zone": {s.Zone}, "availabilityZone": {s.Zone}, "cidr-block": {s.CIDR},
				"state": {"available"}, "default-for-az": {"false"}, "availability-zone-id": {zoneID(r.region, s.Zone)},
				"map-public-ip-on-launch": {strconv.FormatBool(s.Public)}, "owner-id": {r.account},
			}, s.Tags
		})
	if err != nil {
		return nil, err
	}
	size, err := pageSize(in.MaxResults, 5, 1000, 0, nil)
	if err != nil {
		return nil, err
	}
	page, next, err := paged(found, func(s *subnet) string { return s.ID }, in.NextToken, r.page(size))
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeSubnetsOutput{NextToken: next}
	for _, s := range page {
		out.Subnets = append(out.Subnets, ec2.Subnet{
			SubnetId: ptr(s.ID), VpcId: ptr(s.VPC), AvailabilityZone: ptr(s.Zone), AvailabilityZoneId: ptr(zoneID(r.region, s.Zone)),
			CidrBlock: ptr(s.CIDR), State: "available", MapPublicIpOnLaunch: ptr(s.Public), DefaultForAz: ptr(false), OwnerId: ptr(r.account),
			AvailableIpAddressCount: ptr(int32(addressesIn(s.CIDR) - r.instancesIn(s.ID))), Tags: tagsOf(s.Tags),
			SubnetArn: ptr("arn:aws:ec2:" + r.region + ":" + r.account + ":subnet/" + s.ID),
		})
	}
	return out, nil
}

func (r *realm) instancesIn(subnet string) int {
	n := 0
	for _, i := range r.instances.All() {
		if i.Subnet == subnet && i.State != stateTerminated {
			n++
		}
	}
	return n
}

func (r *realm) describeVpcs(in *ec2.DescribeVpcsInput) (*ec2.DescribeVpcsOutput, error) {
	found, err := chosen(r.vpcs.All(), in.VpcIds, in.Filters, "InvalidVpcID.NotFound", "The vpc ID '%s' does not exist",
		func(v *vpc) (attributes, map[string]string) {
			return attributes{"vpc-id": {v.ID}, "cidr": {v.CIDR}, "cidr-block-association.cidr-block": {v.CIDR}, "state": {"available"}, "is-default": {"false"}, "owner-id": {r.account}}, v.Tags
		})
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeVpcsOutput{}
	for _, v := range found {
		out.Vpcs = append(out.Vpcs, ec2.Vpc{
			VpcId: ptr(v.ID), CidrBlock: ptr(v.CIDR), State: "available", IsDefault: ptr(false), InstanceTenancy: "default", OwnerId: ptr(r.account), Tags: tagsOf(v.Tags),
			CidrBlockAssociationSet: []ec2.VpcCidrBlockAssociation{{CidrBlock: ptr(v.CIDR), CidrBlockState: &ec2.VpcCidrBlockState{State: "associated"}}},
		})
	}
	return out, nil
}

func (r *realm) describeSecurityGroups(in *ec2.DescribeSecurityGroupsInput) (*ec2.DescribeSecurityGroupsOutput, error) {
	ids := slices.Clone(in.GroupIds)
	for _, name := range in.GroupNames {
		ids = append(ids, r.groupNamed(name))
	}
	found, err := chosen(r.securityGroups.All(), ids, in.Filters, "InvalidGroup.NotFound", "The security group '%s' does not exist",
		func(g *securityGroup) (attributes, map[string]string) {
			return attributes{"group-id": {g.ID}, "group-name": {g.Name}, "vpc-id": {g.VPC}, "description": {g.Description}, "owner-id": {r.account}}, g.Tags
		})
	if err != nil {
		return nil, err
	}
	size, err := pageSize(in.MaxResults, 5, 1000, 0, nil)
	if err != nil {
		return nil, err
	}
	page, next, err := paged(found, func(g *securityGroup) string { return g.ID }, in.NextToken, r.page(size))
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeSecurityGroupsOutput{NextToken: next}
	for _, g := range page {
		out.SecurityGroups = append(out.SecurityGroups, ec2.SecurityGroup{
			GroupId: ptr(g.ID), GroupName: ptr(g.Name), Description: ptr(g.Description), VpcId: ptr(g.VPC), OwnerId: ptr(r.account), Tags: tagsOf(g.Tags),
			SecurityGroupArn: ptr("arn:aws:ec2:" + r.region + ":" + r.account + ":security-group/" + g.ID),
		})
	}
	return out, nil
}

func (r *realm) describeKeyPairs(in *ec2.DescribeKeyPairsInput) (*ec2.DescribeKeyPairsOutput, error) {
	names := slices.Clone(in.KeyNames)
	for _, id := range in.KeyPairIds {
		names = append(names, r.keyNameOf(id))
	}
	found, err := chosen(r.keyPairs.All(), names, in.Filters, "InvalidKeyPair.NotFound", "The key pair '%s' does not exist",
		func(k *keyPair) (attributes, map[string]string) {
			return attributes{"key-name": {k.Name}, "key-pair-id": {k.ID}, "fingerprint": {k.Fingerprint}}, k.Tags
		})
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeKeyPairsOutput{}
	for _, k := range found {
		out.KeyPairs = append(out.KeyPairs, ec2.KeyPairInfo{
			KeyName: ptr(k.Name), KeyPairId: ptr(k.ID), KeyFingerprint: ptr(k.Fingerprint), KeyType: "rsa", CreateTime: stamp(k.Created), Tags: tagsOf(k.Tags),
		})
	}
	return out, nil
}

// keyNameOf is the name of the key pair of that ID, or the ID itself, which no key pair is called.
func (r *realm) keyNameOf(id string) string {
	for name, k := range r.keyPairs.All() {
		if k.ID == id {
			return name
		}
	}
	return id
}

func (r *realm) describeAvailabilityZones(in *ec2.DescribeAvailabilityZonesInput) (*ec2.DescribeAvailabilityZonesOutput, error) {
	out := &ec2.DescribeAvailabilityZonesOutput{}
	for _, name := range append(slices.Clone(in.ZoneNames), in.ZoneIds...) {
		if !slices.Contains(slices.Concat(zonesOf(r.region), r.places("availability-zone-id")), name) {
			return nil, refuse("InvalidParameterValue", "Invalid availability zone: [%s]", name)
		}
	}
	for _, z := range zonesOf(r.region) {
		id := zoneID(r.region, z)
		if len(in.ZoneNames) > 0 && !slices.Contains(in.ZoneNames, z) || len(in.ZoneIds) > 0 && !slices.Contains(in.ZoneIds, id) {
			continue
		}
		ok, err := matchFilters(in.Filters, attributes{
			"zone-name": {z}, "zone-id": {id}, "region-name": {r.region}, "state": {"available"}, "zone-type": {"availability-zone"},
			"opt-in-status": {"opt-in-not-required"}, "group-name": {r.region}, "parent-zone-id": nil, "parent-zone-name": nil,
		}, nil)
		if err != nil {
			return nil, err
		}
		if ok {
			out.AvailabilityZones = append(out.AvailabilityZones, ec2.AvailabilityZone{
				ZoneName: ptr(z), ZoneId: ptr(id), RegionName: ptr(r.region), State: "available", ZoneType: ptr("availability-zone"),
				OptInStatus: "opt-in-not-required", GroupName: ptr(r.region), NetworkBorderGroup: ptr(r.region),
			})
		}
	}
	return out, nil
}

func (r *realm) describeRegions(in *ec2.DescribeRegionsInput) (*ec2.DescribeRegionsOutput, error) {
	out := &ec2.DescribeRegionsOutput{}
	for _, name := range in.RegionNames {
		if _, ok := regions[name]; !ok {
			return nil, refuse("InvalidParameterValue", "Invalid region provided: [%s]", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(regions)) {
		endpoint := "ec2." + name + ".amazonaws.com"
		ok, err := matchFilters(in.Filters, attributes{"region-name": {name}, "endpoint": {endpoint}, "opt-in-status": {"opt-in-not-required"}}, nil)
		if err != nil {
			return nil, err
		}
		if ok && (len(in.RegionNames) == 0 || slices.Contains(in.RegionNames, name)) {
			out.Regions = append(out.Regions, ec2.Region{RegionName: ptr(name), Endpoint: ptr(endpoint), OptInStatus: ptr("opt-in-not-required")})
		}
	}
	return out, nil
}

// taggable is anything of EC2 that carries tags.
type taggable struct {
	kind  string
	tags  map[string]string
	touch func()
}

// find is the tagged thing of that ID.
func (r *realm) find(id string) (taggable, error) {
	kind, _, _ := strings.Cut(id, "-")
	switch kind {
	case "lt":
		if t := r.templates.Get(id); t != nil {
			return taggable{"launch-template", t.Tags, func() { r.templates.Touch(id) }}, nil
		}
		return taggable{}, templateGone(id)
	case "i":
		if i := r.instances.Get(id); i != nil {
			return taggable{"instance", i.Tags, func() { r.instances.Touch(id) }}, nil
		}
		return taggable{}, refuse("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", id)
	case "subnet":
		if s := r.subnets.Get(id); s != nil {
			return taggable{"subnet", s.Tags, func() { r.subnets.Touch(id) }}, nil
		}
		return taggable{}, refuse("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", id)
	case "vpc":
		if v := r.vpcs.Get(id); v != nil {
			return taggable{"vpc", v.Tags, func() { r.vpcs.Touch(id) }}, nil
		}
		return taggable{}, refuse("InvalidVpcID.NotFound", "The vpc ID '%s' does not exist", id)
	case "sg":
		if g := r.securityGroups.Get(id); g != nil {
			return taggable{"security-group", g.Tags, func() { r.securityGroups.Touch(id) }}, nil
		}
		return taggable{}, refuse("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
	}
	return taggable{}, refuse("InvalidID", "The ID '%s' is not valid", id)
}

func (r *realm) createTags(in *ec2.CreateTagsInput) (*ec2.CreateTagsOutput, error) {
	if err := checkTags(in.Tags); err != nil {
		return nil, err
	}
	things, err := r.findAll(in.Resources)
	if err != nil {
		return nil, err
	}
	for _, t := range things {
		merged := maps.Clone(t.tags)
		for _, tag := range in.Tags {
			merged[str(tag.Key)] = str(tag.Value)
		}
		if len(merged) > maxTags {
			return nil, refuse("TagLimitExceeded", "The maximum number of Tags for a resource has been reached.")
		}
		maps.Copy(t.tags, merged)
		t.touch()
	}
	return &ec2.CreateTagsOutput{}, nil
}

func (r *realm) findAll(ids []string) ([]taggable, error) {
	var out []taggable
	for _, id := range ids {
		t, err := r.find(id)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// deleteTags removes a tag by its key, and where a value is given only if it has that value.
func (r *realm) deleteTags(in *ec2.DeleteTagsInput) (*ec2.DeleteTagsOutput, error) {
	things, err := r.findAll(in.Resources)
	if err != nil {
		return nil, err
	}
	for _, t := range things {
		if len(in.Tags) == 0 {
			clear(t.tags)
		}
		for _, tag := range in.Tags {
			if tag.Value == nil || t.tags[str(tag.Key)] == *tag.Value {
				delete(t.tags, str(tag.Key))
			}
		}
		t.touch()
	}
	return &ec2.DeleteTagsOutput{}, nil
}

func (r *realm) describeTags(in *ec2.DescribeTagsInput) (*ec2.DescribeTagsOutput, error) {
	size, err := pageSize(in.MaxResults, 5, 1000, 1000, nil)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, keys := range []iter.Seq[string]{
		maps.Keys(maps.Collect(r.templates.All())), maps.Keys(maps.Collect(r.instances.All())), maps.Keys(maps.Collect(r.subnets.All())),
		maps.Keys(maps.Collect(r.vpcs.All())), maps.Keys(maps.Collect(r.securityGroups.All())),
	} {
		ids = slices.AppendSeq(ids, keys)
	}
	var found []ec2.TagDescription
	for _, id := range slices.Sorted(slices.Values(ids)) {
		t, err := r.find(id)
		if err != nil {
			return nil, err
		}
		for _, key := range slices.Sorted(maps.Keys(t.tags)) {
			ok, err := matchFilters(in.Filters, attributes{"resource-id": {id}, "resource-type": {t.kind}, "key": {key}, "value": {t.tags[key]}}, t.tags)
			if err != nil {
				return nil, err
			}
			if ok {
				found = append(found, ec2.TagDescription{ResourceId: ptr(id), ResourceType: t.kind, Key: ptr(key), Value: ptr(t.tags[key])})
			}
		}
	}
	page, next, err := paged(found, func(d ec2.TagDescription) string { return str(d.ResourceId) + "\x00" + str(d.Key) }, in.NextToken, r.page(size))
	return &ec2.DescribeTagsOutput{Tags: page, NextToken: next}, err
}
