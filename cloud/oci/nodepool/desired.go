package nodepool

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/oci/containerengine"
	"github.com/muster-project/muster/cloud/oci/oke"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/upgrade"
)

// desired is the node pool that the specification asks for, compared with the one that exists.
type desired struct {
	// doc is the node pool after the next step, is the one that exists.
	doc, is doc
	// next and launched are the configurations of new nodes after the next step and now.
	next, launched pool.Template
	// waits is true if the wanted version needs an upgrade of the control plane first, ahead if the node pool has a newer one than wanted.
	waits, ahead bool
	// requested is the wanted version.
	requested string
	// drift are the fields that differ and that replace no node.
	drift list
}

// desire translates the specification. What could be compared is filled in with an error too.
func (r *reader) desire(ctx context.Context, look *cache.Resolver) (desired, error) {
	is := r.memory.Read.Pool
	want := desired{doc: doc{}}
	if is != nil {
		want.is = docOf(is)
	}
	version, err := r.t.version(&want, is)
	if err == nil {
		want.doc, err = r.build(ctx, version, look)
	}
	if err != nil {
		named := maps.Clone(want.doc)
		named[memberVersion], named[memberImage] = want.is[memberVersion], want.is[memberImage] // an image that is not known may be right
		want.launched = templateOf(rows.Rolling(named, want.is))
		return want, err
	}
	want.next = templateOf(rows.Rolling(want.doc, want.doc))
	if is != nil {
		want.launched = templateOf(rows.Rolling(want.doc, want.is))
		want.drift = rows.Differing(want.doc, want.is, fields.InPlace)
		if len(rows.Differing(want.doc, want.is, fields.Rolls)) == 0 {
			want.next = want.launched // what is compared otherwise than it is written means the same
		}
	}
	return want, nil
}

// version returns the version of new nodes after the next step. OKE runs nodes of up to three minor versions below the control plane, and
// takes no node pool back.
func (t target) version(want *desired, is *containerengine.NodePool) (string, error) {
	field, text := fields.Version, t.KubernetesVersion
	if own := value(t.spec.Version); own != "" {
		if !ociv1.SameVersion(text, own) {
			return "", cloud.Invalidf("spec.version", "found %s, and %s is %s: both must be equal, or spec.version absent", own, fields.Version,
				text)
		}
		field, text = "spec.version", own
	}
	requested, valid := upgrade.Parse(text)
	if text != "" && (!valid || requested.Patch == upgrade.Any) {
		return "", cloud.Invalidf(field, "%q is no Kubernetes version of the form v1.34.1", text)
	}
	controlPlane, _ := upgrade.Parse(t.cluster.Version)
	want.requested = text
	text = spelled(cmp.Or(text, t.cluster.Version))
	if is == nil {
		return text, nil
	}
	runs := value(is.KubernetesVersion)
	current, _ := upgrade.Parse(runs)
	switch {
	case !requested.Known() || requested.Compare(current) == 0:
		return runs, nil
	case requested.Compare(current) < 0:
		want.ahead = true
		return runs, nil
	case controlPlane.Known() && requested.Compare(controlPlane) > 0:
		want.waits = true
		return runs, nil
	}
	return text, nil
}

// spelled returns a version as OKE spells it, with a leading v; empty for none.
func spelled(version string) string {
	if version == "" {
		return ""
	}
	return "v" + strings.TrimPrefix(version, "v")
}

const (
	// cycledTag is the freeform tag of a node pool with the content that its nodes were cycled to in place: such nodes may keep their tags.
	cycledTag = "muster-dev_cycled"
	// untaggedTag is the freeform tag of a node pool that had nodes before new ones got a tag: nodes without one are older.
	untaggedTag = "muster-dev_untagged"
)

// templateOf returns what replaces nodes as a template.
func templateOf(values map[string]any) pool.Template {
	return oke.TemplateOf(fmt.Sprint(values[memberVersion]), values)
}

// templateOf returns the configuration that a node was created from, by its tag. One without a tag is from before Muster changed the node
// pool, if there were such nodes, or lost its tag: then it is of another configuration if its version tells so, and else not known.
func (d desired) templateOf(read poolRead, n node) pool.Template {
	made, now := n.FreeformTags[oke.TemplateTag], nodeTagsOf(read.Pool)[oke.TemplateTag]
	version := text(n.KubernetesVersion)
	switch {
	case made == d.next.Content && made != "":
		return d.next
	case read.cycledInPlace() && version == text(read.Pool.KubernetesVersion):
		return d.launched
	case made == now && (made != "" || version == "" || version == text(read.Pool.KubernetesVersion)):
		return d.launched
	case made != "":
		return oke.Template(version, made)
	case read.Pool.FreeformTags[untaggedTag] != "", version != "" && version != text(read.Pool.KubernetesVersion):
		return templateOf(map[string]any{memberVersion: version})
	}
	return pool.Template{}
}

// cycledInPlace reports whether all nodes were brought to what the node pool is by replacing their boot volumes.
func (r poolRead) cycledInPlace() bool {
	now := nodeTagsOf(r.Pool)[oke.TemplateTag]
	return now != "" && r.Pool.FreeformTags[cycledTag] == now && text(r.Pool.LifecycleState) == oke.StateActive
}
