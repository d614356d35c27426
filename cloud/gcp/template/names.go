package template

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

const (
	// groupMost is the maximum length of the name of a group: Compute Engine makes the names of instances of it, with a random ending, and
	// takes 58 characters for that.
	groupMost = 58
	// nameMost is the maximum length of any other name.
	nameMost = 63
	// ownerSuffix is the length of the hash at the end of a group's name, with its dash, templateDigits that of a template's.
	ownerSuffix, templateDigits = 11, 12
	// labelMost is the maximum length of the key and the value of a label, shortHash the length of the hash of shortened values.
	labelMost, shortHash = 63, 10
)

var (
	foreign  = regexp.MustCompile(`[^a-z0-9-]+`)
	valid    = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`)
	fitting  = regexp.MustCompile(`^[a-z0-9_-]{0,63}$`)
	unfitted = regexp.MustCompile(`[^a-z0-9_-]+`)
)

// GroupName returns the name of an owner's group: its resource name as far as Compute Engine takes it.
func GroupName(o cloud.Owner) (string, error) {
	if o.GroupName != "" {
		if !valid.MatchString(o.GroupName) {
			return "", cloud.Invalidf("metadata.annotations[muster.dev/group-name]",
				"%q is no name of a group: want 1 to %d lower-case letters, digits and dashes, of which the first is a letter", o.GroupName, nameMost)
		}
		return o.GroupName, nil
	}
	full := o.ResourceName()
	suffix := full[len(full)-ownerSuffix:]
	return cut(full[:len(full)-ownerSuffix], groupMost-ownerSuffix) + suffix, nil
}

// BaseName returns what the names of a group's instances begin with.
func BaseName(group string) string { return cut(group, groupMost) }

// cut returns a name of at most so many characters that Compute Engine takes.
func cut(name string, most int) string {
	name = strings.Trim(foreign.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if name == "" || name[0] < 'a' {
		name = "m" + name
	}
	return strings.TrimRight(name[:min(len(name), most)], "-")
}

// LabelValue returns a text as the value of a label: as it is if it fits, else shortened, with a hash that tells it apart.
func LabelValue(text string) string {
	if fitting.MatchString(text) {
		return text
	}
	short := unfitted.ReplaceAllString(strings.ToLower(text), "-")
	return short[:min(len(short), labelMost-shortHash-1)] + "-" + cloud.Digest([]byte(text), shortHash)
}

// labelDomain begins the keys of all labels of Muster's own.
const labelDomain = "muster-dev_"

// The keys of the labels by which Muster knows what is its own.
const (
	LabelOwner     = labelDomain + "owner-id"
	LabelCluster   = labelDomain + "cluster"
	LabelNamespace = labelDomain + "namespace"
	LabelName      = labelDomain + "name"
	// LabelContent and LabelData are the hashes of a template's content and of its bootstrap data.
	LabelContent = labelDomain + "content"
	LabelData    = labelDomain + "data"
	// LabelSurge is the surge of a group (see package instancegroup).
	LabelSurge = labelDomain + "surge"
)

// labelOwned begins the label by which the ecosystem's provider marks what belongs to a cluster, and owned is its value.
const labelOwned, owned = "capg-cluster-", "owned"

// OwnedByCluster reports whether labels of the ecosystem's provider name a cluster, by one of its names.
func OwnedByCluster(labels map[string]string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return labels[LabelValue(labelOwned+name)] == owned })
}

// OtherCluster returns the cluster that labels say something belongs to, where that is none of the pool's: owner labels before those of the
// ecosystem's provider. It is empty if they name no other.
func OtherCluster(labels map[string]string, o cloud.Owner, names ...string) string {
	if cluster := labels[LabelCluster]; cluster != "" && cluster != LabelValue(o.Cluster) {
		return cluster
	}
	if OwnedByCluster(labels, append(names, o.Cluster)...) {
		return ""
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if name, ok := strings.CutPrefix(key, labelOwned); ok && labels[key] == owned {
			return name
		}
	}
	return ""
}

// Spelling writes owner tags as labels.
var Spelling = cloud.Spelling{Key: labelKey, Value: LabelValue}

// labelKey returns the key of a label from the name of a tag.
func labelKey(name string) string { return cmp.Or(labelKeys[name], labelDomain+name) }

// labelKeys are the keys of labels by the names of tags, where they differ.
var labelKeys = map[string]string{
	cloud.TagOwner: LabelOwner, cloud.TagPool: LabelName,
}

// In returns what reads labels by their keys.
func In(labels map[string]string) func(key string) string {
	return func(key string) string { return labels[key] }
}

// OwnerLabels are the labels that name an owner.
func OwnerLabels(o cloud.Owner) map[string]string { return Spelling.Tags(o) }

// Prefix returns the prefix of the names of a group's templates.
func Prefix(group string) string { return cut(group, nameMost-templateDigits-1) + "-" }

// Name returns the name of a template of a group: it follows from its owner, its content and its bootstrap data.
func Name(group string, o cloud.Owner, t pool.Template) string {
	return Prefix(group) + cloud.Digest([]byte(o.ID+"\n"+t.Content+"\n"+t.Data), templateDigits)
}
