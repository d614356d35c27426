package nodepool

import (
	"context"
	"slices"
	"strconv"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/oci/containerengine"
)

// build returns the node pool that the specification asks for with a version of Kubernetes, and without a size.
func (r *reader) build(ctx context.Context, version string, look *cache.Resolver) (doc, error) {
	s := r.t.spec
	d := doc{
		memberVersion: fields.Text(version), memberShape: s.NodeShape, memberKey: fields.Text(s.SSHPublicKey), memberTags: r.t.at.Tags(),
		memberNodeTags: r.t.at.Ecosystem(),
	}
	if s.NodeMetadata != nil {
		d[memberMetadata] = s.NodeMetadata
	}
	if s.InitialNodeLabels != nil {
		d[memberLabels] = s.InitialNodeLabels.Strings()
	}
	if tags := r.t.at.Defined(); tags != nil {
		d[memberDefined] = tags
	}
	if e := s.NodeEvictionNodePoolSettings; e != nil {
		d[memberGrace] = minutesOf(text(e.EvictionGraceDuration))
		if e.IsForceDeleteAfterGraceDuration != nil {
			d[memberForce] = *e.IsForceDeleteAfterGraceDuration
		}
	}
	for _, add := range []func(doc) error{r.t.addSize, r.t.addPlacement, r.t.addNetwork} {
		if err := add(d); err != nil {
			return d, err
		}
	}
	return d, r.addSource(ctx, d, version, look)
}

// addSize adds the size of nodes of a flexible shape.
func (t target) addSize(d doc) error {
	c := t.spec.NodeShapeConfig
	if c == nil {
		return nil
	}
	for member, written := range map[string]*ociv1.Decimal{memberOCPUs: c.OCPUs, memberMemory: c.MemoryInGBs} {
		if written == nil || *written == "" {
			continue
		}
		n, err := strconv.ParseFloat(string(*written), 64)
		if err != nil {
			return cloud.Invalidf(rows.SpecOf(member), "%q is no number", *written)
		}
		d[member] = n
	}
	return nil
}

// addPlacement adds the availability domains of nodes with their subnets. The default is all of the cluster, with its first subnet with
// role worker.
func (t target) addPlacement(d doc) error {
	const field = "spec.nodePoolNodeConfig.placementConfigs"
	var places []ociv1.PlacementConfig
	if c := t.spec.NodePoolNodeConfig; c != nil {
		places = c.PlacementConfigs
	}
	if len(places) == 0 {
		for _, domain := range t.cluster.View.AvailabilityDomains {
			places = append(places, ociv1.PlacementConfig{AvailabilityDomain: domain.Name})
		}
	}
	if len(places) == 0 {
		return cloud.Invalidf(field, "the infrastructure cluster names no availability domain yet: name those of the nodes, or wait for it")
	}
	out := []string{}
	for _, p := range places {
		id, err := t.at.Subnet(text(p.SubnetName), field)
		if err != nil {
			return err
		}
		out = append(out, string(placementOf(containerengine.NodePoolPlacementConfigDetails{AvailabilityDomain: &p.AvailabilityDomain,
			SubnetId: &id, CapacityReservationId: p.CapacityReservationID, FaultDomains: p.FaultDomains})))
	}
	d[memberPlacement] = out
	return nil
}

// addNetwork adds the network of nodes and of pods.
func (t target) addNetwork(d doc) error {
	c := t.spec.NodePoolNodeConfig
	if c == nil {
		c = &ociv1.NodePoolNodeConfig{}
	}
	if c.KMSKeyID != nil {
		d[memberKMS] = fields.Text(*c.KMSKeyID)
	}
	if c.IsPvEncryptionInTransitEnabled != nil {
		d[memberInTransit] = *c.IsPvEncryptionInTransitEnabled
	}
	const field = "spec.nodePoolNodeConfig.nsgNames"
	groups, err := t.at.NodeSecurityGroups(field)
	if c.NSGNames != nil {
		groups, err = t.at.SecurityGroups(c.NSGNames, field)
	}
	if err != nil {
		return err
	}
	if len(groups) > 0 || c.NSGNames != nil {
		d[memberNSGs] = groups
	}
	return t.addPods(d)
}

// addPods adds the network of pods. With FLANNEL_OVERLAY it has no parts. A default that the cluster's network lacks is left to OKE.
func (t target) addPods(d doc) error {
	network := t.spec.PodNetwork(t.cluster.CNITypes)
	named := t.spec.NodePoolNodeConfig != nil && t.spec.NodePoolNodeConfig.NodePoolPodNetworkOptionDetails != nil
	if network.CNIType == "" {
		return nil
	}
	d[memberCNI] = string(network.CNIType)
	if network.CNIType != ociv1.CNINative {
		return nil
	}
	options := network.VCNIPNativePodNetworkOptions
	d[memberPods] = fields.Number(int64(value(options.MaxPodsPerNode)))
	for _, one := range []struct {
		member, field string
		names         []string
		has           func(string) *ociv1.NetworkPart
		find          func([]string, string) ([]string, error)
	}{
		{memberPodSubnets, "subnetNames", options.SubnetNames, t.cluster.View.Subnet, t.at.Subnets},
		{memberPodNSGs, "nsgNames", options.NSGNames, t.cluster.View.SecurityGroup, t.at.SecurityGroups},
	} {
		names := slices.DeleteFunc(slices.Clone(one.names), func(name string) bool { return !named && one.has(name) == nil })
		ids, err := one.find(names, podNetwork+"vcnIpNativePodNetworkOptions."+one.field)
		if err != nil {
			return err
		}
		if len(ids) > 0 {
			d[one.member] = ids
		}
	}
	return nil
}
