package launch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/utils/ptr"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/cache"
)

// Places say where machines may be launched, as a specification has it.
type Places struct {
	// Subnets are the pool's own, under Field; IDField is the part after the index in the path of one's ID (".id", or nothing).
	Subnets        []awsv1.AWSResourceReference
	Field, IDField string
	// Zones are the pool's own zones, whose subnets are of that kind, and FailureDomains those of the core object.
	Zones          []string
	Kind           *awsv1.AZSubnetType
	FailureDomains []string
}

// fieldZones is the path of the pool's own zones, in every kind.
const fieldZones = "spec.availabilityZones"

// places resolves Places in a cluster.
type places struct {
	*session.Resolver
	Places
	cluster awsv1.ClusterView
}

// Subnets are where machines are launched: the pool's own subnets, else those of its zones, else those of the failure
// domains, else the cluster's private ones.
func Subnets(ctx context.Context, r *session.Resolver, cluster awsv1.ClusterView, at Places) ([]string, error) {
	p := places{Resolver: r, Places: at, cluster: cluster}
	switch {
	case len(p.Subnets) > 0:
		return p.own(ctx)
	case len(p.Zones) > 0:
		return p.inZones(fieldZones, p.Zones)
	case len(p.FailureDomains) > 0:
		return p.inZones("MachinePool spec.failureDomains", p.FailureDomains)
	}
	private := chosen(cluster.Subnets, func(s awsv1.SubnetView) bool { return !s.IsPublic && !edge(s) })
	if len(private) == 0 {
		return nil, cloud.Invalidf(p.Field,
			"the cluster has no private subnet and the pool names none: set %s or %s", p.Field, fieldZones)
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

// edge reports whether the subnet lies in a local or wavelength zone, which users mean only when they name it.
func edge(s awsv1.SubnetView) bool {
	return s.ZoneType == "local-zone" || s.ZoneType == "wavelength-zone"
}

// inZones are the subnets of each of the zones. Every zone that is asked for must have one.
func (r places) inZones(field string, zones []string) ([]string, error) {
	kind := ptr.Deref(r.Kind, "")
	var ids []string
	for i, zone := range zones {
		in := func(want func(awsv1.SubnetView) bool) []string {
			return chosen(r.cluster.Subnets, func(s awsv1.SubnetView) bool { return s.AvailabilityZone == zone && want(s) })
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
				strings.TrimSpace(string(kind)+" subnet"), zone, strings.Join(clusterZones(r.cluster), ", "))
		}
		ids = append(ids, found...)
	}
	return session.Unique(ids), nil
}

func clusterZones(c awsv1.ClusterView) []string {
	var zones []string
	for _, s := range c.Subnets {
		zones = append(zones, s.AvailabilityZone)
	}
	return session.Unique(zones)
}

// own are the subnets that the pool names. Those that the cluster does not know are looked up.
func (r places) own(ctx context.Context) ([]string, error) {
	known := map[string]bool{}
	for _, s := range r.cluster.Subnets {
		known[s.ID] = true
	}
	items := itemsOf{kind: "subnets", field: r.Field, idField: r.IDField, vpc: r.cluster.VPCID, known: known}
	return items.find(ctx, r.Resolver, r.Subnets, func(ctx context.Context, ids []string, by []ec2types.Filter) ([]string, error) {
		pages := ec2.NewDescribeSubnetsPaginator(r.Session.EC2, &ec2.DescribeSubnetsInput{SubnetIds: ids, Filters: by})
		found, err := session.Listed(ctx, pages, func(page *ec2.DescribeSubnetsOutput) []ec2types.Subnet { return page.Subnets }, 0, r.Now)
		if err != nil {
			return nil, err
		}
		pods := map[string]bool{}
		for _, s := range r.cluster.Subnets {
			pods[s.ID] = s.CNI
		}
		var list []string
		for _, s := range found {
			if id := ptr.Deref(s.SubnetId, ""); !pods[id] {
				list = append(list, id)
			}
		}
		return list, nil
	})
}

// securityGroups are those that the references mean.
func (r resolver) securityGroups(ctx context.Context, field string, list []awsv1.AWSResourceReference) ([]string, error) {
	known := map[string]bool{}
	for _, id := range r.s.Cluster.NodeSecurityGroups {
		known[id] = true
	}
	items := itemsOf{kind: "securityGroups", field: field, idField: ".id", vpc: r.s.Cluster.VPCID, known: known}
	return items.find(ctx, r.Resolver, list, func(ctx context.Context, ids []string, by []ec2types.Filter) ([]string, error) {
		pages := ec2.NewDescribeSecurityGroupsPaginator(r.Session.EC2, &ec2.DescribeSecurityGroupsInput{GroupIds: ids, Filters: by})
		found, err := session.Listed(ctx, pages,
			func(page *ec2.DescribeSecurityGroupsOutput) []ec2types.SecurityGroup { return page.SecurityGroups }, 0, r.Now)
		if err != nil {
			return nil, err
		}
		var list []string
		for _, g := range found {
			list = append(list, ptr.Deref(g.GroupId, ""))
		}
		return list, nil
	})
}

// finder finds resources by their IDs or by filters, never both.
type finder func(ctx context.Context, ids []string, by []ec2types.Filter) ([]string, error)

// itemsOf is a list of references: what kind of resource they are to, and where the list stands.
type itemsOf struct {
	kind, field, idField, vpc string
	// known need not be asked for.
	known map[string]bool
}

// find finds what a list of references means: every ID must exist, every set of filters must find something, and
// filters of different items have nothing to do with each other.
func (o itemsOf) find(ctx context.Context, r *session.Resolver, items []awsv1.AWSResourceReference, find finder) ([]string, error) {
	var ids []string
	for i, item := range items {
		at := fmt.Sprintf("%s[%d]", o.field, i)
		switch {
		case item.ID != nil && *item.ID != "":
			if !o.known[*item.ID] {
				if err := o.exists(ctx, r, at+o.idField, *item.ID, find); err != nil {
					return nil, err
				}
			}
			ids = append(ids, *item.ID)
		case len(item.Filters) > 0:
			found, err := o.filtered(ctx, r, at+".filters", item.Filters, find)
			if err != nil {
				return nil, err
			}
			ids = append(ids, found...)
		default:
			return nil, cloud.Invalidf(at, "names neither an ID nor filters")
		}
	}
	return session.Unique(ids), nil
}

func (o itemsOf) exists(ctx context.Context, r *session.Resolver, field, id string, find finder) error {
	_, err := r.Resolve(ctx, cache.Question{Kind: o.kind, Inputs: id, Good: cache.NotEmpty, Ask: func(ctx context.Context) (string, error) {
		found, err := find(ctx, []string{id}, nil)
		if err != nil {
			return "", cloud.InField(err, field)
		}
		if len(found) == 0 {
			return "", cloud.Invalidf(field, "%s can't be used for machines: it is kept for pods", id)
		}
		return id, nil
	}})
	return err
}

// filtered finds by filters, within the cluster's network unless they name one.
func (o itemsOf) filtered(ctx context.Context, r *session.Resolver, field string, items []awsv1.Filter, find finder) ([]string, error) {
	by := map[string][]string{}
	if o.vpc != "" {
		by["vpc-id"] = []string{o.vpc}
	}
	for _, item := range items {
		by[item.Name] = item.Values
	}
	text, err := r.Resolve(ctx, cache.Question{Kind: o.kind, Inputs: by, Good: cache.NotEmpty, Ask: func(ctx context.Context) (string, error) {
		found, err := find(ctx, nil, filters(by))
		if err != nil {
			return "", cloud.InField(err, field)
		}
		if len(found) == 0 {
			return "", cloud.Invalidf(field, "nothing in region %s matches these filters", r.Session.Region)
		}
		return strings.Join(session.Unique(found), ","), nil
	}})
	if err != nil {
		return nil, err
	}
	return strings.Split(text, ","), nil
}

// FitsIn refuses what EC2 would refuse at every launch into these subnets: Nitro enclaves in local and wavelength zones.
func (s Source) FitsIn(subnets []string) error {
	e := s.Spec.EnclaveOptions
	if e == nil || !ptr.Deref(e.Enabled, false) {
		return nil
	}
	for _, n := range s.Cluster.Subnets {
		if edge(n) && slices.Contains(subnets, n.ID) {
			return cloud.Invalidf(fieldEnclave, "zone %s of subnet %s is a %s, which has no Nitro enclaves", n.AvailabilityZone, n.ID, n.ZoneType)
		}
	}
	return nil
}
