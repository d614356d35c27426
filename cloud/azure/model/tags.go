package model

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
)

// Tags that say whose a scale set or a machine is, and what it was made of. Azure lets no tag's name have a slash.
const (
	TagOwner   = ownPrefix + cloud.TagOwner
	TagContent = ownPrefix + "content"
	TagInPlace = ownPrefix + "inplace"
	TagData    = ownPrefix + "data"
	// TagSurge is kept by the driver: how many machines a rollout has added where an external autoscaler owns the scale set's size.
	TagSurge = ownPrefix + "surge"
	// TagHistory of a Uniform scale set holds the contents that its model had before, each with the time until which it did, for as long as
	// machines of them exist.
	TagHistory = ownPrefix + "history"
	// TagNames says which tags are ours because a user named them: a few digits for each, so that one that is named no more can be
	// told from one that another client has put there.
	TagNames = ownPrefix + "tags"

	between   = "_"
	ownPrefix = cloud.TagDomain + between
	// The ecosystem's tags, by which other tools know a cluster's machines.
	tagName          = "Name"
	tagRole          = "sigs.k8s.io_cluster-api-provider-azure_role"
	tagClusterPrefix = "sigs.k8s.io_cluster-api-provider-azure_cluster_"
)

const (
	// mostTags is Azure's limit for one resource.
	mostTags = 50
	// valueMost and nameMost are Azure's limits in letters.
	valueMost, nameMost = 256, 512
	// nameDigits are enough to tell a user's names apart, and so few that those of all tags fit into one value.
	nameDigits = 6
	// forbidden can't stand in a tag's name.
	forbidden = `<>%&\?/`
)

// ours are the tags that every model has beside a user's, those for surge and history counted in.
const ours = 13

// userTags are those that cluster and pool name; the pool's win. Names that differ in case alone are one.
func (in Input) userTags() (map[string]string, error) {
	out := map[string]string{}
	for _, list := range []map[string]string{in.Source.Cluster.AdditionalTags, in.Source.Pool.AdditionalTags} {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			if other, ok := nameLike(out, name); ok {
				delete(out, other)
			}
			out[name] = list[name]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(out)) {
		field := FieldTags
		if _, own := in.Source.Pool.AdditionalTags[name]; !own {
			field = "AzureCluster spec.additionalTags"
		}
		if err := checkTag(field, name, out[name]); err != nil {
			return nil, err
		}
	}
	if most := min(mostTags-ours, valueMost/nameDigits); len(out) > most {
		return nil, cloud.Invalidf(FieldTags, "Azure takes %d tags, of which %d are left beside those that are always there; pool and "+
			"cluster name %d", mostTags, most, len(out))
	}
	return out, nil
}

func checkTag(field, name, value string) error {
	switch {
	case name == "" || len(name) > nameMost:
		return cloud.Invalidf(field, "a tag's name has 1 to %d letters; %q has %d", nameMost, name, len(name))
	case len(value) > valueMost:
		return cloud.Invalidf(field, "a tag's value has at most %d letters; that of %q has %d", valueMost, name, len(value))
	case strings.ContainsAny(name, forbidden):
		return cloud.Invalidf(field, "%q is no name for a tag: Azure takes none of %s in it", name, forbidden)
	case strings.HasPrefix(strings.ToLower(name), ownPrefix):
		return cloud.Invalidf(field, "%q is no name for a tag: those that begin with %s say whose a cloud object is", name, ownPrefix)
	}
	return nil
}

// tags are those that the scale set has, and takes to its machines: all but those of others.
func (m *Model) tags(owner cloud.Owner, user map[string]string) map[string]*string {
	out := map[string]*string{}
	set := func(name, value string) {
		if other, ok := nameLike(out, name); ok {
			delete(out, other)
		}
		out[name] = &value
	}
	set(tagName, m.Name)
	set(tagRole, "node")
	set(tagClusterPrefix+owner.Cluster, "owned")
	for name, value := range user {
		set(name, value)
	}
	for name, value := range Spelling.Tags(owner) {
		set(name, value)
	}
	set(TagContent, m.Content)
	set(TagInPlace, m.InPlace)
	set(TagNames, namesOf(user))
	if m.Data != "" {
		set(TagData, m.Data)
	}
	return out
}

// NamesOf returns the value of TagNames for the tags that a user names: for as many of them as fit into one value.
func NamesOf(tags map[string]string) string {
	text := namesOf(tags)
	return text[:min(len(text), valueMost/nameDigits*nameDigits)]
}

// Retired returns the names among those of a resource's tags that a user named once, by the value of TagNames, and names no more.
func Retired[V, W any](is map[string]V, names string, wanted map[string]W) []string {
	once := namedOnce(names)
	var out []string
	for name := range is {
		if _, still := nameLike(wanted, name); !still && once[nameDigest(name)] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// namesOf are a few digits for each name, in order.
func namesOf(tags map[string]string) string {
	var list []string
	for name := range tags {
		list = append(list, nameDigest(name))
	}
	slices.Sort(list)
	return strings.Join(list, "")
}

// namedOnce are the digits of names that a user gave once.
func namedOnce(text string) map[string]bool {
	out := map[string]bool{}
	for ; len(text) >= nameDigits; text = text[nameDigits:] {
		out[text[:nameDigits]] = true
	}
	return out
}

func nameDigest(name string) string { return cloud.Digest([]byte(strings.ToLower(name)), nameDigits) }

// nameLike is the name of a tag as it is spelled there: Azure does not tell names apart by case.
func nameLike[V any](tags map[string]V, name string) (string, bool) {
	if _, ok := tags[name]; ok {
		return name, true
	}
	for other := range tags {
		if strings.EqualFold(other, name) {
			return other, true
		}
	}
	return "", false
}

// Tag is a tag's value, empty where there is none.
func Tag(tags map[string]*string, name string) string {
	if name, ok := nameLike(tags, name); ok {
		return ptr.Deref(tags[name], "")
	}
	return ""
}

// tagsOver are what a scale set's tags are to be: those of others as they are, and ours. Neither surge nor, without bootstrap
// data, the hash of it changes.
func (m *Model) tagsOver(is map[string]*string) map[string]*string {
	out := map[string]*string{}
	once := namedOnce(Tag(is, TagNames))
	for name, value := range is {
		if _, wanted := nameLike(m.Set.Tags, name); !wanted && !once[nameDigest(name)] {
			out[name] = value
		}
	}
	maps.Copy(out, m.Set.Tags)
	return out
}

// MachineTags returns what the tags of a machine of a Flexible scale set are to be. Those that tell what it was made of stay as they are.
func (m *Model) MachineTags(is map[string]*string) map[string]*string {
	out := m.tagsOver(is)
	for _, name := range []string{TagContent, TagData} {
		delete(out, name)
		if there, ok := nameLike(is, name); ok {
			out[there] = is[there]
		}
	}
	return out
}

// extending is what stands for the extensions of a machine that is about to be given others.
const extending = "0"

// ExtendingTags returns the tags of a machine of a Flexible scale set that is about to be given other extensions: they no longer hold
// the hash of those that it had. Its tags hold the new hash once it has them (MachineTags). If the specification goes back in between,
// the machine would otherwise look as if nothing had been changed on it.
func (*Model) ExtendingTags(is map[string]*string) map[string]*string {
	out := cloned(is)
	if there, ok := nameLike(out, TagInPlace); ok {
		delete(out, there)
	}
	_, tags := cutInPlace(Tag(is, TagInPlace))
	out[TagInPlace] = new(extending + "-" + tags)
	return out
}

// Extending is true if the tags of a machine are those of ExtendingTags.
func Extending(is map[string]*string) bool {
	of, _ := cutInPlace(Tag(is, TagInPlace))
	return of == extending
}

// tagsDrift reports whether the tags of a scale set, those aside that tell what its machines are made of, are not as they should be.
func tagsDrift(want, is *Current) bool {
	_, was := cutInPlace(is.InPlace)
	_, wanted := cutInPlace(want.InPlace)
	return was != wanted || tagsDiffer(want.Set.Tags, is.Set.Tags)
}

// tagsDiffer compares the tags themselves, of a scale set or of a machine. Those of others count for nothing, and one that a user named
// once must be gone.
func tagsDiffer(want, is map[string]*string) bool {
	for name, value := range want {
		if name == TagContent || name == TagData || name == TagInPlace {
			continue
		}
		if there, ok := nameLike(is, name); !ok || ptr.Deref(is[there], "") != *value {
			return true
		}
	}
	once := namedOnce(Tag(is, TagNames))
	for name := range is {
		if _, wanted := nameLike(want, name); !wanted && once[nameDigest(name)] {
			return true
		}
	}
	return false
}

// Adopt returns the tags of a scale set of another tool with the owner's beside them: Azure replaces all tags with those of a request.
func Adopt(is map[string]*string, owner cloud.Owner) map[string]*string {
	tags := maps.Clone(is)
	if tags == nil {
		tags = map[string]*string{}
	}
	for name, value := range Spelling.Tags(owner) {
		if other, ok := nameLike(tags, name); ok {
			delete(tags, other)
		}
		tags[name] = &value
	}
	return tags
}

// OtherCluster returns the name of the cluster that the ecosystem's tags say a scale set belongs to, where that is another; empty if they
// name the cluster, or none.
func OtherCluster(tags map[string]*string, cluster string) string {
	other := ""
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		owner, ok := strings.CutPrefix(strings.ToLower(name), tagClusterPrefix)
		switch {
		case !ok || ptr.Deref(tags[name], "") != "owned":
		case strings.EqualFold(owner, cluster):
			return ""
		case other == "":
			other = name[len(tagClusterPrefix):]
		}
	}
	return other
}

// OfCluster reports whether the ecosystem's tags say that a resource belongs to the cluster.
func OfCluster(tags map[string]*string, cluster string) bool {
	return cluster != "" && Tag(tags, tagClusterPrefix+cluster) == "owned"
}

// Spelling is how Azure's tags say whose a resource is.
var Spelling = cloud.Spelling{Key: OwnTag}

// OwnTag returns the name of a tag that says whose a scale set is, from its name without the domain.
func OwnTag(name string) string { return ownPrefix + name }
