package containerengine

import (
	"cmp"
	"encoding/base64"
	"hash/fnv"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
	"github.com/muster-project/muster/sim/oci/catalogue"
	"github.com/muster-project/muster/sim/oci/rest"
)

// content are the members of a node pool that make a node out of date when they change, beside the version, the shape and the image.
var content = []string{"nodeShapeConfig", "nodeSourceDetails", "initialNodeLabels", "sshPublicKey", "nodeMetadata", "secondaryVnics",
	"primaryVnic", "networkLaunchType", "nodeConfigDetails.nsgIds", "nodeConfigDetails.kmsKeyId",
	"nodeConfigDetails.isPvEncryptionInTransitEnabled", "nodeConfigDetails.nodePoolPodNetworkOptionDetails",
	"nodeConfigDetails.freeformTags", "nodeConfigDetails.definedTags", "generation", "initialVirtualNodeLabels", "taints", "podConfiguration",
	"nsgIds", "virtualNodeTags"}

// deprecated are members that the simulator does not know, each with what takes its place.
var deprecated = map[string]string{"subnetIds": "nodeConfigDetails", "quantityPerSubnet": "nodeConfigDetails",
	"nodeImageName": "nodeSourceDetails"}

// merged returns the document of a node pool with what a request changes of it.
func merged(doc, body document.Object) document.Object {
	out := document.Copied(doc)
	for name, v := range body {
		before, isObject := out[name].(document.Object)
		if after, is := v.(document.Object); is && isObject && name == "nodeConfigDetails" {
			v = document.Overlaid(before, after)
		}
		out[name] = v
	}
	return out
}

// specOf returns the specification of a node pool that a document describes, or why there is none. The document becomes that of the pool.
func (s *Service) specOf(c *managed.Cluster, doc document.Object) (managed.Spec, error) {
	version := strings.TrimPrefix(cmp.Or(document.Text(doc, "kubernetesVersion"), c.Version), "v")
	delete(doc, "kubernetesVersion")
	size, _ := document.Number(doc, "nodeConfigDetails.size")
	drain, err := drainOf(doc)
	if err != nil {
		return managed.Spec{}, err
	}
	spec := managed.Spec{Version: version, Type: document.Text(doc, "nodeShape"), Count: size, Doc: doc, Drain: drain,
		Surge: "1", Missing: "0", InPlace: inPlace(doc)}
	for _, check := range []func(*managed.Cluster, *managed.Spec) error{s.checkKind, s.checkPlacement, checkCycling} {
		if err := check(c, &spec); err != nil {
			return spec, err
		}
	}
	for _, placement := range placements(doc) {
		spec.Zones = append(spec.Zones, document.Text(placement, "availabilityDomain"))
	}
	spec.Image = document.Text(doc, "nodeSourceDetails.imageId") + "#" + hashOf(doc)
	return spec, nil
}

// hashOf returns a hash of what a node is made of.
func hashOf(doc document.Object) string {
	h := fnv.New64a()
	for _, path := range content {
		_, _ = h.Write([]byte(document.Written(document.Dig(doc, path))))
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// imageOf returns the image of a pool.
func imageOf(p *managed.Pool) string { return document.Text(p.Doc, "nodeSourceDetails.imageId") }

// checkKind refuses a version, a shape or an image that nodes can't have.
func (s *Service) checkKind(c *managed.Cluster, spec *managed.Spec) error {
	is, known := catalogue.Shapes[spec.Type]
	for old, other := range deprecated {
		if spec.Doc[old] != nil {
			return rest.Invalid("Invalid %s: it is deprecated, use %s.", old, other)
		}
	}
	switch image := document.Text(spec.Doc, "nodeSourceDetails.imageId"); {
	case !slices.Contains(s.options.Versions, spec.Version):
		return rest.Invalid("Invalid kubernetesVersion: Kubernetes version v%s is not supported.", spec.Version)
	case !fits(c, spec.Version):
		return rest.Invalid("Invalid kubernetesVersion: v%s is not compatible with the cluster version v%s.", spec.Version, c.Version)
	case !known:
		return rest.Invalid("Invalid nodeShape: Node shape %s is unavailable.", spec.Type)
	case spec.Doc["nodeShapeConfig"] != nil && !is.Flexible:
		return rest.Invalid("Invalid nodeShapeConfig: %s is no flexible shape.", spec.Type)
	case image == "" && !s.Switches.On(ChoosesImage):
		return rest.Invalid("Invalid nodeSourceDetails: an image must be specified.")
	case image == "":
		document.Place(spec.Doc, "nodeSourceDetails", document.Object{"sourceType": "IMAGE", "imageId": newest(s, spec.Version, is.Arm)})
	case !strings.HasPrefix(image, "ocid1.image."):
		return rest.Invalid("Invalid nodeSourceDetails.imageId: %q is no image.", image)
	}
	return nil
}

// newest returns the image for a version and an architecture.
func newest(s *Service, version string, arm bool) string {
	all := images(s)
	at := slices.IndexFunc(all, func(i image) bool { return i.version == version && i.arm == arm })
	return all[at].id
}

// placements returns where the nodes of a pool can be.
func placements(doc document.Object) []document.Object {
	return slices.Concat(document.Objects(doc, "nodeConfigDetails.placementConfigs"), document.Objects(doc, "placementConfigurations"))
}

// checkPlacement refuses placements and sizes that are not possible.
func (s *Service) checkPlacement(c *managed.Cluster, spec *managed.Spec) error {
	all := placements(spec.Doc)
	if len(all) == 0 {
		return rest.Invalid("Invalid placementConfigs: at least one is needed.")
	}
	for _, one := range all {
		if domain := document.Text(one, "availabilityDomain"); !slices.Contains(s.options.Domains, domain) {
			return rest.Invalid("Invalid availabilityDomain: %s does not exist.", domain)
		}
		for _, domain := range slices.Concat(document.Texts(one, "faultDomains"), document.Texts(one, "faultDomain")) {
			if !slices.Contains(catalogue.FaultDomains(), domain) {
				return rest.Invalid("Invalid faultDomains: %s does not exist.", domain)
			}
		}
		for _, member := range []string{"capacityReservationId", "hostGroupId", "preemptibleNodeConfig"} {
			if one[member] != nil {
				return rest.Invalid("Invalid placementConfigs: %s is not supported.", member)
			}
		}
	}
	if spec.Count < 0 {
		return rest.Invalid("Invalid size: %d is below 0.", spec.Count)
	}
	return nil
}

// room refuses a size that makes a cluster larger than one can be.
func room(s *Service, c *managed.Cluster, p *managed.Pool, count int) error {
	const most = 1000
	all := count
	for _, other := range s.Managed.PoolsOf(c) {
		if p == nil || other.Name != p.Name {
			all += other.Count
		}
	}
	if all > most && (p == nil || count > p.Count) {
		return rest.Refuse(400, "LimitExceeded", "A cluster has %d nodes at most.", most)
	}
	return nil
}

// shareOf matches numbers of nodes and percentages.
var shareOf = regexp.MustCompile(`^(\d{1,4}|(\d|[1-9]\d|100)%)$`)

// cycling returns the settings for cycling of a pool.
func cycling(doc document.Object) document.Object {
	if how := document.Under(doc, "virtualNodePoolCyclingDetails"); how != nil {
		return how
	}
	return document.Under(doc, "nodePoolCyclingDetails")
}

// inPlace reports whether nodes are cycled by another boot volume.
func inPlace(doc document.Object) bool {
	modes := document.Texts(cycling(doc), "cycleModes")
	return len(modes) > 0 && modes[0] == "BOOT_VOLUME_REPLACE"
}

// checkCycling refuses settings for cycling that are not possible, and takes them over.
func checkCycling(c *managed.Cluster, spec *managed.Spec) error {
	how := cycling(spec.Doc)
	for member, into := range map[string]*string{"maximumSurge": &spec.Surge, "maximumUnavailable": &spec.Missing} {
		if text := document.Text(how, member); text != "" {
			if *into = text; !shareOf.MatchString(text) {
				return rest.Invalid("Invalid nodePoolCyclingDetails.%s: %q is neither a number nor a percentage.", member, text)
			}
		}
	}
	switch {
	case !cycles(spec.Doc):
		return nil
	case document.Text(c.Doc, "type") != "ENHANCED_CLUSTER":
		return rest.Invalid("Invalid nodePoolCyclingDetails: node cycling is supported for enhanced clusters only.")
	case spec.InPlace && managed.Share(spec.Missing, max(1, spec.Count)) == 0,
		managed.Share(spec.Surge, max(1, spec.Count))+managed.Share(spec.Missing, max(1, spec.Count)) == 0:
		return rest.Invalid("Invalid nodePoolCyclingDetails: maximumSurge and maximumUnavailable allow no node to be cycled.")
	}
	return nil
}

// cycles reports whether a pool is to replace the nodes that are out of date.
func cycles(doc document.Object) bool {
	return document.Truth(cycling(doc), "isNodeCyclingEnabled") || document.Truth(cycling(doc), "isVirtualNodeCyclingEnabled")
}

// durationOf matches the part of ISO 8601 in which durations are written.
var durationOf = regexp.MustCompile(`^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?$`)

// mostDrain is the longest time that pods have to leave, and the default.
const mostDrain = 60 * time.Minute

// parseDuration returns the time that pods have to leave.
func parseDuration(text string) (time.Duration, error) {
	parts := durationOf.FindStringSubmatch(text)
	if parts == nil {
		return 0, rest.Invalid("Invalid evictionGraceDuration: %q is no duration in ISO 8601.", text)
	}
	var all time.Duration
	for i, unit := range []time.Duration{time.Hour, time.Minute, time.Second} {
		n, _ := strconv.Atoi("0" + parts[i+1]) // digits
		all += time.Duration(n) * unit
	}
	if all > mostDrain {
		return 0, rest.Invalid("Invalid evictionGraceDuration: %q is more than PT60M.", text)
	}
	return all, nil
}

// drainOf returns how the nodes of a pool are drained, by its settings.
func drainOf(doc document.Object) (managed.Drain, error) {
	how := document.Under(doc, "nodeEvictionNodePoolSettings")
	limit, err := parseDuration(cmp.Or(document.Text(how, "evictionGraceDuration"), "PT60M"))
	return drain(limit, document.Truth(how, "isForceDeleteAfterGraceDuration")), err
}

// drain returns how nodes are drained within a time: without any they are not drained at all.
func drain(limit time.Duration, force bool) managed.Drain {
	out := managed.Drain{Limit: limit, Late: managed.LateFails, Skip: limit == 0}
	if force {
		out.Late = managed.LateGoes
	}
	return out
}

// override returns how nodes are drained that a request takes, with what it says over the settings of the pool.
func override(x *rest.Exchange, is managed.Drain, suffix string) (managed.Drain, error) {
	force, err := x.Truth("isForceDeletionAfterOverrideGraceDuration"+suffix, is.Late == managed.LateGoes)
	if err != nil {
		return is, err
	}
	limit := is.Limit
	if text := x.Query.Get("overrideEvictionGraceDuration" + suffix); text != "" {
		if limit, err = parseDuration(text); err != nil {
			return is, err
		}
	}
	return drain(limit, force), nil
}

// decoded returns what is in base64, or the text itself.
func decoded(text string) []byte {
	if b, err := base64.StdEncoding.DecodeString(text); err == nil {
		return b
	}
	return []byte(text)
}

// NameOf returns the name of a pool, which need not be unique.
func NameOf(p *managed.Pool) string {
	return cmp.Or(document.Text(p.Doc, "name"), document.Text(p.Doc, "displayName"))
}

// LabelsOf returns the labels that new nodes of a pool get.
func LabelsOf(p *managed.Pool) map[string]string {
	labels := map[string]string{}
	for _, label := range document.Objects(p.Doc, "initialNodeLabels") {
		labels[document.Text(label, "key")] = document.Text(label, "value")
	}
	return labels
}

// stale reports whether a pool has nodes that are made of something else than a specification.
func stale(s *Service, p *managed.Pool, next managed.Spec) bool {
	return slices.ContainsFunc(s.Managed.Instances.Of(p.Key()), func(i *managed.Instance) bool {
		return !i.Deleting && i.Model != next.Model()
	})
}
