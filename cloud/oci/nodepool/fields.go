package nodepool

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/oci/containerengine"
	"github.com/muster-project/muster/cloud/oci/oke"
)

// doc is a node pool by the paths of OKE's document.
type doc = oke.Doc

// change is the request that changes a node pool, with the node pool as it is.
type change struct {
	containerengine.UpdateNodePoolDetails
	is containerengine.NodePool
}

type (
	row  = fields.Field[doc, *change]
	list = fields.Table[doc, *change]
)

// The members that code depends on.
const (
	memberVersion    = "kubernetesVersion"
	memberShape      = "nodeShape"
	memberOCPUs      = "nodeShapeConfig.ocpus"
	memberMemory     = "nodeShapeConfig.memoryInGBs"
	memberImage      = "nodeSourceDetails.imageId"
	memberVolume     = "nodeSourceDetails.bootVolumeSizeInGBs"
	memberKey        = "sshPublicKey"
	memberMetadata   = "nodeMetadata"
	memberLabels     = "initialNodeLabels"
	memberPlacement  = "nodeConfigDetails.placementConfigs"
	memberNSGs       = "nodeConfigDetails.nsgIds"
	memberKMS        = "nodeConfigDetails.kmsKeyId"
	memberInTransit  = "nodeConfigDetails.isPvEncryptionInTransitEnabled"
	memberPodNetwork = "nodeConfigDetails.nodePoolPodNetworkOptionDetails."
	memberCNI        = memberPodNetwork + "cniType"
	memberPodSubnets = memberPodNetwork + "podSubnetIds"
	memberPodNSGs    = memberPodNetwork + "podNsgIds"
	memberPods       = memberPodNetwork + "maxPodsPerNode"
	memberNodeTags   = "nodeConfigDetails.freeformTags"
	memberGrace      = "nodeEvictionNodePoolSettings.evictionGraceDuration"
	memberForce      = "nodeEvictionNodePoolSettings.isForceDeleteAfterGraceDuration"
	memberCycling    = "nodePoolCyclingDetails"
	memberTags       = "freeformTags"
	memberDefined    = "definedTags"
)

// ours marks all entries of a list or map as Muster's. Tags of others stay, and so does the operator's consent to an adoption.
var (
	ours    = fields.ServiceOwned{None: true}
	theirs  = fields.ServiceOwned{Recorded: "the tags of the infrastructure cluster"}
	newOnly = "changes new nodes; nodes that exist keep theirs"
)

// rows are the fields of a node pool.
var rows = list{
	oke.Member(row{Name: memberVersion, Spec: fields.Version, Alias: "spec.version", Effect: fields.Rolls,
		Put: func(r *change, want, _ doc) { r.KubernetesVersion = textAt(want, memberVersion) }}),
	oke.Member(row{Name: memberShape, Spec: "spec.nodeShape", Effect: fields.Rolls,
		Put: func(r *change, want, _ doc) { r.NodeShape = textAt(want, memberShape) }}),
	oke.Member(row{Name: memberOCPUs, Spec: "spec.nodeShapeConfig.ocpus", Effect: fields.Rolls,
		Put: func(r *change, want, _ doc) { r.size().Ocpus = amountAt(want, memberOCPUs) }}),
	oke.Member(row{Name: memberMemory, Spec: "spec.nodeShapeConfig.memoryInGBs", Effect: fields.Rolls,
		Put: func(r *change, want, _ doc) { r.size().MemoryInGBs = amountAt(want, memberMemory) }}),
	oke.Member(row{Name: memberImage, Spec: "spec.nodeSourceViaImage.imageId", Effect: fields.Rolls,
		Put: func(r *change, want, _ doc) { r.source().ImageId = textAt(want, memberImage) }}),
	oke.Member(row{Name: memberVolume, Spec: "spec.nodeSourceViaImage.bootVolumeSizeInGBs", Effect: fields.Rolls,
		Put: func(r *change, want, _ doc) { r.source().BootVolumeSizeInGBs = numberAt(want, memberVolume) }}),
	oke.Member(row{Name: memberKey, Spec: "spec.sshPublicKey", Effect: fields.Rolls,
		Put: func(r *change, want, _ doc) { r.SshPublicKey = textAt(want, memberKey) }}),
	oke.Member(row{Name: memberMetadata, Spec: "spec.nodeMetadata", Effect: fields.Rolls, Compare: fields.Exact, Owned: ours,
		Put: func(r *change, want, _ doc) { r.NodeMetadata, _ = want[memberMetadata].(map[string]string) }}),
	oke.Member(row{Name: memberKMS, Spec: "spec.nodePoolNodeConfig.kmsKeyId", Effect: fields.Rolls,
		Put: func(r *change, want, _ doc) { r.config().KmsKeyId = textAt(want, memberKMS) }}),
	oke.Member(row{Name: memberInTransit, Spec: "spec.nodePoolNodeConfig.isPvEncryptionInTransitEnabled", Effect: fields.Rolls,
		Put: func(r *change, want, _ doc) {
			r.config().IsPvEncryptionInTransitEnabled = truthAt(want, memberInTransit)
		}}),
	oke.Member(row{Name: memberNSGs, Spec: "spec.nodePoolNodeConfig.nsgNames", Effect: fields.Rolls, Compare: fields.Unordered, Owned: ours,
		Put: func(r *change, want, _ doc) { r.config().NsgIds = want.Texts(memberNSGs) }}),
	oke.Member(row{Name: memberCNI, Spec: podNetwork + "cniType", Effect: fields.Rolls,
		Put: func(r *change, want, _ doc) { r.pods().CniType = textAt(want, memberCNI) }}),
	oke.Member(row{Name: memberPodSubnets, Spec: podNetwork + "vcnIpNativePodNetworkOptions.subnetNames", Effect: fields.Rolls,
		Compare: fields.Unordered, Owned: ours, Put: func(r *change, want, _ doc) { r.pods().PodSubnetIds = want.Texts(memberPodSubnets) }}),
	oke.Member(row{Name: memberPodNSGs, Spec: podNetwork + "vcnIpNativePodNetworkOptions.nsgNames", Effect: fields.Rolls,
		Compare: fields.Unordered, Owned: ours, Put: func(r *change, want, _ doc) { r.pods().PodNsgIds = want.Texts(memberPodNSGs) }}),
	oke.Member(row{Name: memberPods, Spec: podNetwork + "vcnIpNativePodNetworkOptions.maxPodsPerNode", Effect: fields.Rolls,
		Put: func(r *change, want, _ doc) { r.pods().MaxPodsPerNode = numberAt(want, memberPods) }}),
	oke.Member(row{Name: memberLabels, Spec: "spec.initialNodeLabels", Compare: fields.Exact, Owned: ours, Doc: newOnly, Put: putLabels}),
	oke.Member(row{Name: memberPlacement, Spec: "spec.nodePoolNodeConfig.placementConfigs", Compare: fields.Unordered, Owned: ours,
		Doc: "changes the node pool: OKE drains and deletes nodes outside of it, and creates others", Put: putPlacement}),
	oke.Member(row{Name: memberGrace, Spec: "spec.nodeEvictionNodePoolSettings.evictionGraceDuration",
		Put: func(r *change, want, _ doc) { r.eviction().EvictionGraceDuration = durationAt(want, memberGrace) }}),
	oke.Member(row{Name: memberForce, Spec: "spec.nodeEvictionNodePoolSettings.isForceDeleteAfterGraceDuration",
		Put: func(r *change, want, _ doc) {
			r.eviction().IsForceDeleteAfterGraceDuration = truthAt(want, memberForce)
		}}),
	oke.Member(row{Name: memberTags, Owned: theirs, Put: func(r *change, want, _ doc) {
		r.FreeformTags = fields.With(oke.AllOthers, want.Pairs(memberTags), r.is.FreeformTags)
	}}),
	oke.Member(row{Name: memberDefined, Owned: theirs, Put: func(r *change, want, _ doc) {
		r.DefinedTags = want.WithDefined(memberDefined, r.is.DefinedTags)
	}}),
	oke.Member(row{Name: memberNodeTags, Owned: theirs, Doc: newOnly, Put: func(r *change, want, _ doc) {
		r.config().FreeformTags = fields.With(oke.AllOthers, want.Pairs(memberNodeTags), r.nodeTags())
	}}),
	{Name: memberCycling, Spec: "spec.nodePoolCyclingDetails", Owned: ours, Doc: "is sent when a cycling begins"},
	{Name: "nodeConfigDetails.size", Spec: fields.Replicas, Effect: fields.Fixed,
		Doc: "adds nodes, or deletes nodes that Muster has drained"},
}

// podNetwork is the path of the network of pods in the specification.
const podNetwork = "spec.nodePoolNodeConfig.nodePoolPodNetworkOptionDetails."

// source returns the source of nodes in the request. What the request does not change of it stays.
func (r *change) source() *containerengine.NodeSourceDetails {
	if r.NodeSourceDetails == nil {
		r.NodeSourceDetails = &containerengine.NodeSourceDetails{SourceType: new("IMAGE")}
		if is := r.is.NodeSourceDetails; is != nil {
			*r.NodeSourceDetails = *is
		}
	}
	return r.NodeSourceDetails
}

// config returns the configuration of nodes in the request.
func (r *change) config() *containerengine.UpdateNodePoolNodeConfigDetails {
	if r.NodeConfigDetails == nil {
		r.NodeConfigDetails = &containerengine.UpdateNodePoolNodeConfigDetails{}
	}
	return r.NodeConfigDetails
}

// pods returns the network of pods in the request. What the request does not change of it stays.
func (r *change) pods() *containerengine.NodePoolPodNetworkOptionDetails {
	c := r.config()
	if c.NodePoolPodNetworkOptionDetails == nil {
		c.NodePoolPodNetworkOptionDetails = &containerengine.NodePoolPodNetworkOptionDetails{}
		if is := r.is.NodeConfigDetails; is != nil && is.NodePoolPodNetworkOptionDetails != nil {
			*c.NodePoolPodNetworkOptionDetails = *is.NodePoolPodNetworkOptionDetails
		}
	}
	return c.NodePoolPodNetworkOptionDetails
}

// eviction returns the settings of evictions in the request. What the request does not change of them stays.
func (r *change) eviction() *containerengine.NodeEvictionNodePoolSettings {
	if r.NodeEvictionNodePoolSettings == nil {
		r.NodeEvictionNodePoolSettings = &containerengine.NodeEvictionNodePoolSettings{}
		if is := r.is.NodeEvictionNodePoolSettings; is != nil {
			*r.NodeEvictionNodePoolSettings = *is
		}
	}
	return r.NodeEvictionNodePoolSettings
}

// nodeTags returns the tags that new nodes get by the request, or else by the node pool as it is.
func (r *change) nodeTags() map[string]string {
	if c := r.NodeConfigDetails; c != nil && c.FreeformTags != nil {
		return c.FreeformTags
	}
	return nodeTagsOf(&r.is)
}

func nodeTagsOf(is *containerengine.NodePool) map[string]string {
	if is.NodeConfigDetails == nil {
		return nil
	}
	return is.NodeConfigDetails.FreeformTags
}

// size returns the size of nodes in the request. What the request does not change of it stays.
func (r *change) size() *containerengine.UpdateNodeShapeConfigDetails {
	if r.NodeShapeConfig == nil {
		r.NodeShapeConfig = &containerengine.UpdateNodeShapeConfigDetails{}
		if is := r.is.NodeShapeConfig; is != nil {
			*r.NodeShapeConfig = containerengine.UpdateNodeShapeConfigDetails(*is)
		}
	}
	return r.NodeShapeConfig
}

func putLabels(r *change, want, _ doc) {
	labels := want.Pairs(memberLabels)
	r.InitialNodeLabels = []containerengine.KeyValue{}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		r.InitialNodeLabels = append(r.InitialNodeLabels, containerengine.KeyValue{Key: &key, Value: new(labels[key])})
	}
}

// putPlacement puts the placement into the request. What Muster does not know of an availability domain stays: preemptible nodes, hosts.
func putPlacement(r *change, want, _ doc) {
	var out []containerengine.NodePoolPlacementConfigDetails
	for _, written := range want.Texts(memberPlacement) {
		one := placement(written).details()
		if c := r.is.NodeConfigDetails; c != nil {
			for _, is := range c.PlacementConfigs {
				if text(is.AvailabilityDomain) == text(one.AvailabilityDomain) {
					one.PreemptibleNodeConfig, one.HostGroupId = is.PreemptibleNodeConfig, is.HostGroupId
				}
			}
		}
		out = append(out, one)
	}
	r.config().PlacementConfigs = out
}

// placement is the placement in an availability domain as a text, so that placements are compared as a set: the domain, the subnet, the
// capacity reservation and the fault domains.
type placement string

const (
	between    = "|"
	placeParts = 4
)

func placementOf(p containerengine.NodePoolPlacementConfigDetails) placement {
	return placement(strings.Join([]string{text(p.AvailabilityDomain), text(p.SubnetId), text(p.CapacityReservationId),
		strings.Join(slices.Sorted(slices.Values(p.FaultDomains)), ",")}, between))
}

// details returns the placement as requests have it.
func (p placement) details() containerengine.NodePoolPlacementConfigDetails {
	parts := append(strings.SplitN(string(p), between, placeParts), make([]string, placeParts)...)
	out := containerengine.NodePoolPlacementConfigDetails{AvailabilityDomain: &parts[0], SubnetId: &parts[1]}
	if parts[2] != "" {
		out.CapacityReservationId = &parts[2]
	}
	if parts[3] != "" {
		out.FaultDomains = strings.Split(parts[3], ",")
	}
	return out
}

// durationAt returns a duration of a document in ISO 8601.
func durationAt(d doc, name string) *string {
	minutes, _ := d[name].(int64)
	return new("PT" + strconv.FormatInt(minutes, 10) + "M")
}

// minutesOf returns a duration in ISO 8601 in minutes, rounded up; nil for a text that is none.
func minutesOf(written string) any {
	d, err := time.ParseDuration(strings.ToLower(strings.TrimPrefix(written, "PT")))
	if written == "" || err != nil {
		return nil
	}
	return int64((d + time.Minute - 1) / time.Minute)
}

func textAt(d doc, name string) *string {
	t, _ := d[name].(string)
	return &t
}

func numberAt(d doc, name string) *int {
	n, _ := d[name].(int64)
	return new(int(n))
}

func amountAt(d doc, name string) *float64 {
	n, _ := d[name].(float64)
	return &n
}

func truthAt(d doc, name string) *bool {
	b, _ := d[name].(bool)
	return &b
}

// withField gives a refusal that names a member of the request the field of the specification.
func withField(_ *writer, err error) error {
	return driverkit.WithField(err, func(_ *cloud.Error, part string) string { return specOf(part) })
}

// specOf returns the field of the specification that a member of a request is made from, or of which it is a part; empty for none.
func specOf(part string) string {
	for name := part; name != ""; name = name[:max(0, strings.LastIndexByte(name, '.'))] {
		for _, f := range rows {
			if f.Name == name || strings.HasSuffix(f.Name, "."+name) || strings.HasPrefix(f.Name, name+".") {
				return f.Spec
			}
		}
	}
	return ""
}
