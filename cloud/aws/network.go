package aws

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
)

// subnets are where the group launches: the pool's own subnets, else those of its zones, else those of the failure
// domains, else the cluster's private ones.
func (r *resolver) subnets(ctx context.Context) ([]string, error) {
	switch {
	case len(r.t.pool.Subnets) > 0:
		return r.ownSubnets(ctx)
	case len(r.t.pool.AvailabilityZones) > 0:
		return r.zoneSubnets(fieldZones, r.t.pool.AvailabilityZones)
	case len(r.t.FailureDomains) > 0:
		return r.zoneSubnets("MachinePool spec.failureDomains", r.t.FailureDomains)
	}
	private := chosen(r.t.cluster.Subnets, func(s awsv1.SubnetView) bool { return !s.IsPublic && !edge(s) })
	if len(private) == 0 {
		return nil, cloud.Invalidf(fieldSubnets,
			"the cluster has no private subnet and the pool names none: set spec.subnets or spec.availabilityZones")
	}
	return private, nil
}

// chosen are the IDs of the subnets for machines that a condition holds for.
func chosen(subnets []awsv1.SubnetView, want func(awsv1.SubnetView) bool) []string {
	var ids []string
	for _, s := range subnets {
		if s.ID != "" && !s.CNI && want(s) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// edge says whether the subnet lies in a local or wavelength zone, which nobody means unless he names it.
func edge(s awsv1.SubnetView) bool {
	return s.ZoneType == "local-zone" || s.ZoneType == "wavelength-zone"
}

// zoneSubnets are the subnets of each of the zones. Every zone that is asked for must have one.
func (r *resolver) zoneSubnets(field string, zones []string) ([]string, error) {
	kind := deref(r.t.pool.AvailabilityZoneSubnetType)
	var ids []string
	for i, zone := range zones {
		in := func(want func(awsv1.SubnetView) bool) []string {
			return chosen(r.t.cluster.Subnets, func(s awsv1.SubnetView) bool { return s.AvailabilityZone == zone && want(s) })
		}
		private := func(s awsv1.SubnetView) bool { return !s.IsPublic }
		all := func(awsv1.SubnetView) bool { return true }
		var found []string
		switch kind {
		case awsv1.AZSubnetTypePublic:
			found = in(func(s awsv1.SubnetView) bool { return s.IsPublic })
		case awsv1.AZSubnetTypePrivate:
			found = in(private)
		case awsv1.AZSubnetTypeAll:
			found = in(all)
		default:
			if found = in(private); len(found) == 0 {
				found = in(all)
			}
		}
		if len(found) == 0 {
			return nil, cloud.Invalidf(fmt.Sprintf("%s[%d]", field, i), "the cluster has no %s in zone %s; its zones are %s",
				strings.TrimSpace(string(kind)+" subnet"), zone, strings.Join(clusterZones(r.t.cluster), ", "))
		}
		ids = append(ids, found...)
	}
	return unique(ids), nil
}

func clusterZones(c awsv1.ClusterView) []string {
	var zones []string
	for _, s := range c.Subnets {
		zones = append(zones, s.AvailabilityZone)
	}
	return unique(zones)
}

// unique sorts and drops what is there twice.
func unique(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// ownSubnets are the subnets that the pool names. Those that the cluster does not know are looked up.
func (r *resolver) ownSubnets(ctx context.Context) ([]string, error) {
	known := map[string]bool{}
	for _, s := range r.t.cluster.Subnets {
		known[s.ID] = true
	}
	return r.references(ctx, "subnets", fieldSubnets, r.t.pool.Subnets, known, func(ctx context.Context, ids []string, by []ec2types.Filter) ([]string, error) {
		pages := ec2.NewDescribeSubnetsPaginator(r.c.ec2, &ec2.DescribeSubnetsInput{SubnetIds: ids, Filters: by})
		found, err := listed(ctx, pages, func(page *ec2.DescribeSubnetsOutput) []ec2types.Subnet { return page.Subnets }, 0, r.now)
		if err != nil {
			return nil, err
		}
		pods := map[string]bool{}
		for _, s := range r.t.cluster.Subnets {
			pods[s.ID] = s.CNI
		}
		var list []string
		for _, s := range found {
			if id := deref(s.SubnetId); !pods[id] {
				list = append(list, id)
			}
		}
		return list, nil
	})
}

// additionalGroups are the security groups that the pool adds to the cluster's.
func (r *resolver) additionalGroups(ctx context.Context) ([]string, error) {
	known := map[string]bool{}
	for _, id := range r.t.cluster.NodeSecurityGroups {
		known[id] = true
	}
	items := r.t.pool.AWSLaunchTemplate.AdditionalSecurityGroups
	return r.references(ctx, "securityGroups", fieldGroups, items, known, func(ctx context.Context, ids []string, by []ec2types.Filter) ([]string, error) {
		pages := ec2.NewDescribeSecurityGroupsPaginator(r.c.ec2, &ec2.DescribeSecurityGroupsInput{GroupIds: ids, Filters: by})
		found, err := listed(ctx, pages, func(page *ec2.DescribeSecurityGroupsOutput) []ec2types.SecurityGroup { return page.SecurityGroups }, 0, r.now)
		if err != nil {
			return nil, err
		}
		var list []string
		for _, g := range found {
			list = append(list, deref(g.GroupId))
		}
		return list, nil
	})
}

// finder finds resources by their IDs or by filters, never both.
type finder func(ctx context.Context, ids []string, by []ec2types.Filter) ([]string, error)

// references finds what a list of references means: every ID must exist, every set of filters must find something, and
// filters of different items have nothing to do with each other.
func (r *resolver) references(ctx context.Context, kind, field string, items []awsv1.AWSResourceReference, known map[string]bool, find finder) ([]string, error) {
	var ids []string
	for i, item := range items {
		at := fmt.Sprintf("%s[%d]", field, i)
		switch {
		case item.ID != nil && *item.ID != "":
			if !known[*item.ID] {
				if err := r.exists(ctx, kind, at+".id", *item.ID, find); err != nil {
					return nil, err
				}
			}
			ids = append(ids, *item.ID)
		case len(item.Filters) > 0:
			found, err := r.filtered(ctx, kind, at+".filters", item.Filters, find)
			if err != nil {
				return nil, err
			}
			ids = append(ids, found...)
		default:
			return nil, cloud.Invalidf(at, "names neither an ID nor filters")
		}
	}
	return unique(ids), nil
}

func (r *resolver) exists(ctx context.Context, kind, field, id string, find finder) error {
	_, err := r.once(ctx, question{kind: kind, inputs: id, good: something, ask: func(ctx context.Context) (string, error) {
		found, err := find(ctx, []string{id}, nil)
		if err != nil {
			return "", inField(err, field)
		}
		if len(found) == 0 {
			return "", cloud.Invalidf(field, "%s can't be used for machines: it is kept for pods", id)
		}
		return id, nil
	}})
	return err
}

// filtered finds by filters, within the cluster's network unless they name one.
func (r *resolver) filtered(ctx context.Context, kind, field string, items []awsv1.Filter, find finder) ([]string, error) {
	by := map[string][]string{}
	if r.t.cluster.VPCID != "" {
		by["vpc-id"] = []string{r.t.cluster.VPCID}
	}
	for _, item := range items {
		by[item.Name] = item.Values
	}
	text, err := r.once(ctx, question{kind: kind, inputs: by, good: something, ask: func(ctx context.Context) (string, error) {
		found, err := find(ctx, nil, filters(by))
		if err != nil {
			return "", inField(err, field)
		}
		if len(found) == 0 {
			return "", cloud.Invalidf(field, "nothing in region %s matches these filters", r.c.region)
		}
		return strings.Join(unique(found), ","), nil
	}})
	if err != nil {
		return nil, err
	}
	return strings.Split(text, ","), nil
}

// noEnclavesAtTheEdge refuses what EC2 would refuse at every launch: Nitro enclaves in local and wavelength zones.
func noEnclavesAtTheEdge(t target, subnets []string) error {
	e := t.pool.AWSLaunchTemplate.EnclaveOptions
	if e == nil || !deref(e.Enabled) {
		return nil
	}
	for _, s := range t.cluster.Subnets {
		if edge(s) && slices.Contains(subnets, s.ID) {
			return cloud.Invalidf(fieldEnclave, "zone %s of subnet %s is a %s, which has no Nitro enclaves", s.AvailabilityZone, s.ID, s.ZoneType)
		}
	}
	return nil
}
