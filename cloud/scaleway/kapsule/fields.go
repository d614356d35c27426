package kapsule

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/scaleway/scaleway-sdk-go/api/k8s/v1"

	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/fields"
)

// doc is a pool by the members of the API's document. One that is wanted lacks what the specification leaves to Kapsule.
type doc map[string]any

type (
	row  = fields.Field[doc, doc]
	list = fields.Table[doc, doc]
)

// The members that code depends on.
const (
	memberVersion     = "version"
	memberAutoscaling = "autoscaling"
	memberMin         = "min_size"
	memberMax         = "max_size"
	memberPolicy      = "upgrade_policy"
	memberTags        = "tags"
	memberLabels      = "labels"
	memberTaints      = "taints"
	memberStartup     = "startup_taints"
	memberNodeType    = "node_type"
	memberVolumeType  = "root_volume_type"
	surge             = "max_surge"
	unavailable       = "max_unavailable"
)

const bytesPerGB = 1_000_000_000

// ours marks all entries of a list or map as Muster's. The operator's consent to an adoption is not.
var (
	ours    = fields.ServiceOwned{None: true}
	consent = fields.ServiceOwned{Prefixes: []string{tagDomain + "adopt-by" + between}}
)

// rows are the fields of a pool.
var rows = list{
	member(row{Name: memberVersion, Spec: fields.Version, Effect: fields.Rolls}),
	member(row{Name: memberNodeType, Spec: "spec.nodeType", Effect: fields.Fixed, Compare: fields.Caseless}),
	member(row{Name: "zone", Spec: "spec.zone", Effect: fields.Fixed}),
	member(row{Name: "placement_group_id", Spec: "spec.placementGroupID", Effect: fields.Fixed}),
	member(row{Name: memberVolumeType, Spec: "spec.rootVolumeType", Effect: fields.Fixed}),
	member(row{Name: "root_volume_size", Spec: "spec.rootVolumeSizeGB", Effect: fields.Fixed}),
	member(row{Name: "public_ip_disabled", Spec: "spec.publicIPDisabled", Effect: fields.Fixed}),
	member(row{Name: memberAutoscaling, Spec: "spec.scaling.autoscaling"}),
	member(row{Name: memberMin, Spec: "spec.scaling.minSize"}),
	member(row{Name: memberMax, Spec: "spec.scaling.maxSize"}),
	member(row{Name: "autohealing", Spec: "spec.autohealing"}),
	member(row{Name: memberTags, Spec: "spec.additionalTags", Compare: fields.Unordered, Owned: consent, Put: putTags,
		Doc: "changes the pool, and labels of its nodes below `k8s.scaleway.com/`, in place"}),
	member(row{Name: "kubelet_args", Spec: "spec.kubeletArgs", Compare: fields.Exact, Owned: ours,
		Doc: "changes new nodes; nodes that exist keep theirs"}),
	member(row{Name: memberPolicy, Spec: "spec.upgradePolicy"}),
	member(row{Name: "security_group_id", Spec: "spec.securityGroupID"}),
	member(row{Name: memberLabels, Spec: "spec.labels", Compare: fields.Exact, Owned: ours, Method: "SetPoolLabels"}),
	member(row{Name: memberTaints, Spec: "spec.taints", Compare: fields.Unordered, Owned: ours, Method: "SetPoolTaints"}),
	member(row{Name: memberStartup, Spec: "spec.startupTaints", Compare: fields.Unordered, Owned: ours, Method: "SetPoolStartupTaints",
		Doc: "changes new nodes; nodes that exist keep theirs"}),
	{Name: "size", Spec: fields.Replicas, Effect: fields.Fixed, Doc: "adds nodes, or deletes nodes that Muster has drained"},
}

// member returns the row of a member of the document.
func member(f row) row {
	name := f.Name
	f.Value = func(d doc) any { return d[name] }
	if f.Put == nil {
		f.Put = func(r, want, _ doc) { r[name] = sent(name, want[name]) }
	}
	return f
}

// below returns the path of the request that replaces a member of its own, below that of the pool.
func below(member string) string { return "/set-" + strings.ReplaceAll(member, "_", "-") }

// putTags puts the wanted tags into a request, and the consent that is there.
func putTags(r, want, is doc) {
	tags, _ := want[memberTags].([]string)
	has, _ := is[memberTags].([]string)
	out := slices.Clone(tags)
	for _, t := range has {
		if consent.Owns(t) {
			out = append(out, t)
		}
	}
	r[memberTags] = out
}

// sent returns a value as requests have it.
func sent(name string, value any) any {
	if name != memberTaints && name != memberStartup {
		return value
	}
	texts, _ := value.([]string)
	out := make([]taint, 0, len(texts))
	for _, text := range texts {
		at := strings.LastIndex(text, ":")
		key, val, _ := strings.Cut(text[:at], between)
		out = append(out, taint{Key: key, Value: val, Effect: text[at+1:]})
	}
	return out
}

// taint is a taint as requests have it.
type taint struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Effect string `json:"effect"`
}

// textOf returns a taint as a text, so that taints are compared as a set: Kapsule lists them in any order.
func textOf(key, value, effect string) string { return key + between + value + ":" + effect }

// desired returns the pool that the specification asks for, without a version and a size.
func (t target) desired() doc {
	s := t.spec
	d := doc{
		memberNodeType: normal(s.NodeType), "zone": fields.Text(string(s.Zone)), "placement_group_id": fields.Text(string(s.PlacementGroupID)),
		memberVolumeType: fields.Text(string(s.RootVolumeType)), "root_volume_size": fields.Number(s.RootVolumeSizeGB * bytesPerGB),
		"security_group_id": fields.Text(string(s.SecurityGroupID)), memberTags: t.tags(), "kubelet_args": entries(s.KubeletArgs),
		memberLabels: entries(s.Labels.Strings()), memberTaints: texts(s.Taints), memberStartup: texts(s.StartupTaints),
	}
	if s.PublicIPDisabled != nil {
		d["public_ip_disabled"] = *s.PublicIPDisabled
	}
	if s.External() {
		return d // Kapsule neither sizes nor replaces what runs elsewhere
	}
	add, miss := s.Upgrade()
	d["autohealing"], d[memberAutoscaling] = s.Autohealed(), s.Autoscaled()
	d[memberPolicy] = map[string]any{surge: int64(add), unavailable: int64(miss)}
	if s.Autoscaled() {
		if s.Scaling.MinSize != nil {
			d[memberMin] = int64(*s.Scaling.MinSize)
		}
		if s.Scaling.MaxSize != nil {
			d[memberMax] = int64(*s.Scaling.MaxSize)
		}
	}
	return d
}

// docOf returns a pool as it exists.
func docOf(p *k8s.Pool) doc {
	d := doc{
		memberVersion: fields.Text(p.Version), memberNodeType: normal(p.NodeType), "zone": string(p.Zone),
		memberVolumeType:     string(p.RootVolumeType),
		"public_ip_disabled": p.PublicIPDisabled, "security_group_id": p.SecurityGroupID, memberTags: p.Tags, "kubelet_args": p.KubeletArgs,
		memberLabels: p.Labels, memberTaints: textsOf(p.Taints), memberStartup: textsOf(p.StartupTaints), "autohealing": p.Autohealing,
		memberAutoscaling: p.Autoscaling, memberMin: int64(p.MinSize), memberMax: int64(p.MaxSize),
	}
	if p.PlacementGroupID != nil {
		d["placement_group_id"] = *p.PlacementGroupID
	}
	if p.RootVolumeSize != nil {
		d["root_volume_size"] = int64(*p.RootVolumeSize)
	}
	if is := p.UpgradePolicy; is != nil {
		d[memberPolicy] = map[string]any{surge: int64(is.MaxSurge), unavailable: int64(is.MaxUnavailable)}
	}
	return d
}

// normal returns a node type as Kapsule shows it: PRO2-XXS and PRO2_XXS become pro2_xxs.
func normal(nodeType string) string { return strings.ToLower(strings.ReplaceAll(nodeType, "-", "_")) }

// entries returns a copy of a map that is never nil.
func entries(m map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, m)
	return out
}

func texts(taints []scalewayv1.Taint) []string {
	out := []string{}
	for _, t := range taints {
		out = append(out, textOf(t.Key, t.Value, t.Effect))
	}
	return out
}

func textsOf(taints []*k8s.CoreV1Taint) []string {
	out := []string{}
	for _, t := range taints {
		out = append(out, textOf(t.Key, t.Value, string(t.Effect)))
	}
	return out
}

// withField gives a refusal that names an argument of the request the field of the specification.
func withField(_ *writer, err error) error {
	return driverkit.WithField(err, func(_ *cloud.Error, argument string) string {
		name, _, _ := strings.Cut(argument, ".")
		return cmp.Or(rows.SpecOf(argument), rows.SpecOf(name))
	})
}
