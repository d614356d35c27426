package virtualnodepool

import (
	"maps"
	"slices"
	"strings"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/oci/containerengine"
	"github.com/muster-project/muster/cloud/oci/oke"
)

// doc is a virtual node pool by the paths of OKE's document.
type doc = oke.Doc

// change is the request that changes a virtual node pool, with the pool as it is.
type change struct {
	containerengine.UpdateVirtualNodePoolDetails
	is containerengine.VirtualNodePool
}

type (
	row  = fields.Field[doc, *change]
	list = fields.Table[doc, *change]
)

const (
	memberShape     = "podConfiguration.shape"
	memberSubnet    = "podConfiguration.subnetId"
	memberPodNSGs   = "podConfiguration.nsgIds"
	memberNSGs      = "nsgIds"
	memberLabels    = "initialVirtualNodeLabels"
	memberTaints    = "taints"
	memberPlacement = "placementConfigurations"
	memberTags      = "freeformTags"
	memberDefined   = "definedTags"
	memberNodeTags  = "virtualNodeTags.freeformTags"

	// between separates the parts of a taint and of a placement that are written as texts, to be compared as sets.
	between = "|"
)

// ours marks all entries of a list or map as Muster's. Tags of others stay.
var (
	ours   = fields.ServiceOwned{None: true}
	theirs = fields.ServiceOwned{Recorded: "the tags of the infrastructure cluster"}
)

// rows are the fields of a virtual node pool.
var rows = list{
	oke.Member(row{Name: memberShape, Spec: "spec.podConfiguration.shape", Effect: fields.Rolls, Put: putPods}),
	oke.Member(row{Name: memberSubnet, Spec: "spec.podConfiguration.subnetName", Effect: fields.Rolls, Put: putPods}),
	oke.Member(row{Name: memberPodNSGs, Spec: "spec.podConfiguration.nsgNames", Effect: fields.Rolls, Compare: fields.Unordered, Owned: ours,
		Put: putPods}),
	oke.Member(row{Name: memberNSGs, Spec: "spec.nsgNames", Effect: fields.Rolls, Compare: fields.Unordered, Owned: ours,
		Put: func(r *change, want, _ doc) { r.NsgIds = want.Texts(memberNSGs) }}),
	oke.Member(row{Name: memberLabels, Spec: "spec.initialVirtualNodeLabels", Effect: fields.Rolls, Compare: fields.Exact, Owned: ours,
		Put: putLabels}),
	oke.Member(row{Name: memberTaints, Spec: "spec.taints", Effect: fields.Rolls, Compare: fields.Unordered, Owned: ours, Put: putTaints}),
	oke.Member(row{Name: memberPlacement, Spec: "spec.placementConfigs", Compare: fields.Unordered, Owned: ours, Put: putPlacement,
		Doc: "changes the virtual node pool: OKE drains and deletes virtual nodes outside of it, and creates others"}),
	oke.Member(row{Name: memberTags, Owned: theirs, Put: func(r *change, want, _ doc) {
		r.FreeformTags = fields.With(oke.AllOthers, want.Pairs(memberTags), r.is.FreeformTags)
	}}),
	oke.Member(row{Name: memberDefined, Owned: theirs, Put: func(r *change, want, _ doc) {
		r.DefinedTags = want.WithDefined(memberDefined, r.is.DefinedTags)
	}}),
	oke.Member(row{Name: memberNodeTags, Owned: theirs, Put: func(r *change, want, _ doc) {
		r.tagNodes(fields.With(oke.AllOthers, want.Pairs(memberNodeTags), nodeTagsOf(&r.is)))
	}}),
	{Name: "size", Spec: fields.Replicas, Effect: fields.Fixed, Doc: "adds virtual nodes, or lets OKE drain and delete some of its choice"},
}

// putPods puts the whole configuration of pods into the request: OKE takes it as a whole.
func putPods(r *change, want, _ doc) {
	shape, _ := want[memberShape].(string)
	subnet, _ := want[memberSubnet].(string)
	out := &containerengine.PodConfiguration{Shape: &shape, SubnetId: &subnet}
	if is := r.is.PodConfiguration; is != nil {
		out.NsgIds = is.NsgIds
	}
	if want[memberPodNSGs] != nil {
		out.NsgIds = want.Texts(memberPodNSGs)
	}
	r.PodConfiguration = out
}

func putLabels(r *change, want, _ doc) {
	labels := want.Pairs(memberLabels)
	r.InitialVirtualNodeLabels = []containerengine.InitialVirtualNodeLabel{}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		r.InitialVirtualNodeLabels = append(r.InitialVirtualNodeLabels, containerengine.InitialVirtualNodeLabel{Key: &key,
			Value: new(labels[key])})
	}
}

func putTaints(r *change, want, _ doc) {
	const parts = 3
	r.Taints = []containerengine.Taint{}
	for _, written := range want.Texts(memberTaints) {
		of := append(strings.SplitN(written, between, parts), make([]string, parts)...)
		r.Taints = append(r.Taints, containerengine.Taint{Key: &of[0], Value: &of[1], Effect: &of[2]})
	}
}

func putPlacement(r *change, want, _ doc) {
	const parts = 3
	r.PlacementConfigurations = nil
	for _, written := range want.Texts(memberPlacement) {
		of := append(strings.SplitN(written, between, parts), make([]string, parts)...)
		one := containerengine.PlacementConfiguration{AvailabilityDomain: &of[0], SubnetId: &of[1]}
		if of[2] != "" {
			one.FaultDomain = strings.Split(of[2], ",")
		}
		r.PlacementConfigurations = append(r.PlacementConfigurations, one)
	}
}

// tagNodes sets the tags of new virtual nodes.
func (r *change) tagNodes(tags map[string]string) {
	r.VirtualNodeTags = &containerengine.VirtualNodeTags{FreeformTags: tags}
	if is := r.is.VirtualNodeTags; is != nil {
		r.VirtualNodeTags.DefinedTags = is.DefinedTags
	}
}

// mark gives new virtual nodes the tag with what they are created from.
func (r *change) mark(content string) {
	tags := nodeTagsOf(&r.is)
	if r.VirtualNodeTags != nil {
		tags = r.VirtualNodeTags.FreeformTags
	}
	tags = fields.With(oke.AllOthers, map[string]string{oke.TemplateTag: content}, tags)
	r.tagNodes(tags)
}

func nodeTagsOf(is *containerengine.VirtualNodePool) map[string]string {
	if is.VirtualNodeTags == nil {
		return nil
	}
	return is.VirtualNodeTags.FreeformTags
}

func taintOf(key, value, effect string) string {
	return strings.Join([]string{key, value, effect}, between)
}

func placementOf(domain, subnet string, faultDomains []string) string {
	return strings.Join([]string{domain, subnet, strings.Join(oke.Sorted(faultDomains), ",")}, between)
}

// docOf returns a virtual node pool as it exists.
func docOf(p *containerengine.VirtualNodePool) doc {
	d := doc{memberNSGs: oke.Sorted(p.NsgIds), memberTags: p.FreeformTags, memberNodeTags: nodeTagsOf(p)}
	if c := p.PodConfiguration; c != nil {
		d[memberShape], d[memberSubnet], d[memberPodNSGs] = text(c.Shape), text(c.SubnetId), oke.Sorted(c.NsgIds)
	}
	labels := map[string]string{}
	for _, l := range p.InitialVirtualNodeLabels {
		labels[text(l.Key)] = text(l.Value)
	}
	taints, places := []string{}, []string{}
	for _, t := range p.Taints {
		taints = append(taints, taintOf(text(t.Key), text(t.Value), text(t.Effect)))
	}
	for _, one := range p.PlacementConfigurations {
		places = append(places, placementOf(text(one.AvailabilityDomain), text(one.SubnetId), one.FaultDomain))
	}
	d[memberLabels], d[memberTaints], d[memberPlacement], d[memberDefined] = labels, oke.Sorted(taints), places, oke.DefinedOf(p.DefinedTags)
	return d
}

// build returns the virtual node pool that the specification asks for, without a size.
func (t target) build() (doc, error) {
	s := t.spec
	d := doc{memberTags: t.at.Tags(), memberNodeTags: t.at.Ecosystem()}
	if tags := t.at.Defined(); tags != nil {
		d[memberDefined] = tags
	}
	if s.InitialVirtualNodeLabels != nil {
		d[memberLabels] = s.InitialVirtualNodeLabels.Strings()
	}
	if s.Taints != nil {
		taints := []string{}
		for _, one := range s.Taints {
			taints = append(taints, taintOf(one.Key, one.Value, one.Effect))
		}
		d[memberTaints] = oke.Sorted(taints)
	}
	if err := t.addPlacement(d); err != nil {
		return d, err
	}
	return d, t.addNetwork(d)
}

// addPlacement adds the availability domains of virtual nodes with their subnets. The default is all of the cluster, with its first subnet
// with role worker.
func (t target) addPlacement(d doc) error {
	const field = "spec.placementConfigs"
	places := t.spec.PlacementConfigs
	if len(places) == 0 {
		for _, domain := range t.at.Cluster.View.AvailabilityDomains {
			places = append(places, ociv1.VirtualNodepoolPlacementConfig{AvailabilityDomain: domain.Name})
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
		out = append(out, placementOf(p.AvailabilityDomain, id, p.FaultDomains))
	}
	d[memberPlacement] = out
	return nil
}

// addNetwork adds the network of virtual nodes and of pods. A default network security group that the cluster's network lacks is left out.
func (t target) addNetwork(d doc) error {
	pods, err := t.spec.Pods(), error(nil)
	var nodes, groups []string
	var subnet string
	if nodes, err = t.at.NodeSecurityGroups("spec.nsgNames"); t.spec.NSGNames != nil {
		nodes, err = t.at.SecurityGroups(t.spec.NSGNames, "spec.nsgNames")
	}
	if err == nil {
		subnet, err = t.at.Subnet(text(pods.SubnetName), rows.SpecOf(memberSubnet))
	}
	names := pods.NSGNames
	if t.spec.PodConfiguration.NSGNames == nil {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return t.at.Cluster.View.SecurityGroup(name) == nil })
	}
	if err == nil {
		groups, err = t.at.SecurityGroups(names, rows.SpecOf(memberPodNSGs))
	}
	if err != nil {
		return err
	}
	if len(nodes) > 0 || t.spec.NSGNames != nil {
		d[memberNSGs] = nodes
	}
	d[memberShape], d[memberSubnet] = text(pods.Shape), subnet
	if len(groups) > 0 || t.spec.PodConfiguration.NSGNames != nil {
		d[memberPodNSGs] = groups
	}
	return nil
}

// withField gives a refusal that names a member of the request the field of the specification.
func withField(_ *writer, err error) error {
	return driverkit.WithField(err, func(_ *cloud.Error, part string) string {
		for _, f := range rows {
			if f.Name == part || strings.HasSuffix(f.Name, "."+part) || part == "placementConfigs" && f.Name == memberPlacement {
				return f.Spec
			}
		}
		return ""
	})
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
