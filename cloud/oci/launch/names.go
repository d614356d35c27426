package launch

import (
	"maps"
	"strings"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/pool"
)

// The keys of other tags of Muster: the content and the bootstrap data of an instance configuration, and the surge of an instance pool.
var (
	TagTemplate = session.Spelling.Key("template")
	TagSurge    = session.Spelling.Key("surge")
)

// tagPrefix begins the keys of all tags of Muster.
var tagPrefix = session.Spelling.Key("")

const (
	// nameLimit is the maximum length of a display name, templateDigits the length of the hash at the end of that of a configuration.
	nameLimit, templateDigits = 255, 12
	// between separates the content and the bootstrap data in TagTemplate.
	between = "/"
)

// Name returns the display name of an instance configuration of a pool. It follows from its owner, content and bootstrap data. Names are
// for people: configurations are found by their tags.
func Name(group string, o cloud.Owner, t pool.Template) string {
	return group[:min(len(group), nameLimit-templateDigits-1)] + "-" +
		cloud.Digest([]byte(o.ID+"\n"+t.Content+"\n"+t.Data), templateDigits)
}

// templateTag returns the value of TagTemplate.
func templateTag(t pool.Template) string { return t.Content + between + t.Data }

// TemplateOf returns content and bootstrap data of a configuration with these tags; empty if it is not Muster's.
func TemplateOf(tags map[string]string) (content, data string) {
	content, data, _ = strings.Cut(tags[TagTemplate], between)
	return content, data
}

// Tags returns the freeform tags of everything that belongs to a pool: those of the cluster, those by which the ecosystem's provider knows
// the objects of a cluster, and those of the owner.
func Tags(cluster *ociv1.ClusterView, o cloud.Owner) map[string]string {
	tags := map[string]string{}
	for key, value := range cluster.FreeformTags {
		if !strings.HasPrefix(key, tagPrefix) { // The cluster's kind is another controller's, which takes any key.
			tags[key] = value
		}
	}
	tags[ociv1.TagCreatedBy] = ociv1.TagCreatedByValue
	if cluster.ResourceIdentifier != "" {
		tags[ociv1.TagCluster] = cluster.ResourceIdentifier
	}
	maps.Copy(tags, session.Spelling.Tags(o))
	return tags
}

// DefinedTags returns the defined tags of the cluster as requests have them; nil if there are none.
func DefinedTags(cluster *ociv1.ClusterView) map[string]map[string]any {
	var out map[string]map[string]any
	for namespace, tags := range cluster.DefinedTags {
		for key, value := range tags {
			if out == nil {
				out = map[string]map[string]any{}
			}
			if out[namespace] == nil {
				out[namespace] = map[string]any{}
			}
			out[namespace][key] = value
		}
	}
	return out
}
