package session

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/arn"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
)

// The tags that identify the owner of a cloud object.
const (
	TagOwner     = cloud.TagDomain + between + cloud.TagOwner
	TagCluster   = cloud.TagDomain + between + cloud.TagCluster
	TagNamespace = cloud.TagDomain + between + cloud.TagNamespace
	TagPool      = cloud.TagDomain + between + cloud.TagPool

	between = "/"
)

// The ecosystem's tags, which its other tools look for.
const (
	tagClusterPrefix    = "sigs.k8s.io/cluster-api-provider-aws/cluster/"
	tagRole             = "sigs.k8s.io/cluster-api-provider-aws/role"
	tagKubernetesPrefix = "kubernetes.io/cluster/"
	tagName             = "Name"
	valueOwned          = "owned"
	valueNode           = "node"
)

// OwnTags returns the tags of every cloud object of the pool: the cluster's and the pool's additional tags, and above them
// the fixed ones, which users can't override but for Name.
func OwnTags(o cloud.Owner, additional ...map[string]string) map[string]string {
	tags := map[string]string{tagName: o.ResourceName()}
	for _, a := range additional {
		maps.Copy(tags, a)
	}
	maps.Copy(tags, Spelling.Tags(o))
	tags[tagClusterPrefix+o.Cluster] = valueOwned
	tags[tagKubernetesPrefix+o.Cluster] = valueOwned
	tags[tagRole] = valueNode
	return tags
}

// Spelling writes owner tags as AWS allows them.
var Spelling = cloud.Spelling{Key: OwnTag}

// maxTags is the maximum number of user tags of a resource.
const maxTags = 50

// TagWords match the services' messages about too many tags.
var TagWords = regexp.MustCompile(`(?i)tag limit|number of tags|(?:at most|more than) \d+ tags|too many tags`)

// CheckTags returns an error if a resource would have more tags than it takes. added is the number of tags that the service adds by itself.
func CheckTags(tags map[string]string, added int, field string) error {
	if n := len(tags) + added; n > maxTags {
		return cloud.Invalidf(field, "%d tags, with those of the infrastructure cluster, of Muster and of the service, and a resource takes %d: "+
			"take %d out", n, maxTags, n-maxTags)
	}
	return nil
}

// OwnerTags are the tags that say whose a cloud object is.
func OwnerTags(o cloud.Owner) map[string]string { return Spelling.Tags(o) }

// In returns what reads tags by their keys.
func In(tags map[string]string) func(key string) string {
	return func(key string) string { return tags[key] }
}

// SortedKeys are the keys of a map, in order.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// EC2Tags are the tags as EC2 is sent them, in order.
func EC2Tags(tags map[string]string) []ec2types.Tag {
	list := make([]ec2types.Tag, 0, len(tags))
	for _, key := range SortedKeys(tags) {
		list = append(list, ec2types.Tag{Key: &key, Value: new(tags[key])})
	}
	return list
}

const (
	// markLength and markRoom: each name is marked by a few characters of its hash, so that all marks of a group fit into
	// one tag's 256 characters. 36 bits tell a group's fifty tags apart with a margin of a hundred million.
	markLength = 6
	markRoom   = 252 / markLength
)

// Marks is the value of a bookkeeping tag for the given names. Names beyond the tag's room are not marked: they are never
// taken away again.
func Marks(names []string) string {
	names = slices.Sorted(slices.Values(names))
	text := make([]byte, 0, markLength*len(names))
	for _, name := range names[:min(len(names), markRoom)] {
		text = append(text, mark(name)...)
	}
	return string(text)
}

func mark(name string) string {
	sum := sha256.Sum256([]byte(name))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:markLength]
}

// Marked reports whether a bookkeeping tag's value holds the name.
func Marked(text, name string) bool {
	want := mark(name)
	for ; len(text) >= markLength; text = text[markLength:] {
		if text[:markLength] == want {
			return true
		}
	}
	return false
}

// TagMap returns EC2's tags by key.
func TagMap(tags []ec2types.Tag) map[string]string {
	all := make(map[string]string, len(tags))
	for _, t := range tags {
		all[ptr.Deref(t.Key, "")] = ptr.Deref(t.Value, "")
	}
	return all
}

// TaggedFor reports whether the tags name the owner under the key.
func TaggedFor(tags []ec2types.Tag, key string, o cloud.Owner) bool {
	return slices.ContainsFunc(tags, func(t ec2types.Tag) bool { return ptr.Deref(t.Key, "") == key && ptr.Deref(t.Value, "") == o.ID })
}

// Unique sorts a list and drops what is there twice.
func Unique(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// GroupTags are an Auto Scaling group's tags as they are sent; they are passed on to new instances, but for those that are kept
// apart.
func GroupTags(group string, tags map[string]string, apart func(key string) bool) []asgtypes.Tag {
	list := make([]asgtypes.Tag, 0, len(tags))
	for _, key := range SortedKeys(tags) {
		list = append(list, asgtypes.Tag{
			Key: &key, Value: new(tags[key]), PropagateAtLaunch: new(!apart(key)),
			ResourceId: &group, ResourceType: new("auto-scaling-group"),
		})
	}
	return list
}

// OwnTag returns the name of an owner tag from its name without the domain.
func OwnTag(name string) string { return cloud.TagDomain + between + name }

// OtherCluster returns the name of the cluster that tags of the ecosystem say something belongs to, where that is none of the pool's names
// of its own; empty if the tags name one of those, or no cluster. The provider's own tag decides where there is one: others share a network
// or a machine among clusters.
func OtherCluster(tags map[string]string, own ...string) string {
	for _, prefix := range []string{tagClusterPrefix, tagKubernetesPrefix} {
		var clusters []string
		for _, key := range SortedKeys(tags) {
			if name, ok := strings.CutPrefix(key, prefix); ok && tags[key] == valueOwned {
				clusters = append(clusters, name)
			}
		}
		if len(clusters) == 0 {
			continue
		}
		if slices.ContainsFunc(clusters, func(name string) bool { return slices.Contains(own, name) }) {
			return ""
		}
		return clusters[0]
	}
	return ""
}

// OfCluster reports whether tags of the ecosystem say that something belongs to the cluster, by one of its names.
func OfCluster(tags map[string]string, own ...string) bool {
	for _, prefix := range []string{tagClusterPrefix, tagKubernetesPrefix} {
		if slices.ContainsFunc(own, func(name string) bool { return name != "" && tags[prefix+name] == valueOwned }) {
			return true
		}
	}
	return false
}

// AccountOf returns the account in an ARN; empty if it has none.
func AccountOf(name string) string {
	parsed, err := arn.Parse(name)
	if err != nil {
		return ""
	}
	return parsed.AccountID
}

// KeepAdopted keeps the name of the launch template of an adopted group among what is remembered.
func KeepAdopted(before, after map[string]string) {
	if name, ok := before[cloud.AdoptedTemplate]; ok {
		after[cloud.AdoptedTemplate] = name
	}
}

// ByProvider reports whether tags are those that the ecosystem's provider for AWS puts on the machines of a cluster, and not Muster's.
func ByProvider(tags map[string]string) bool {
	for key := range tags {
		if strings.HasPrefix(key, tagClusterPrefix) {
			return tags[TagOwner] == ""
		}
	}
	return false
}

// Names returns the names of tags, in order and each once.
func Names(lists ...map[string]string) []string {
	names := map[string]bool{}
	for _, tags := range lists {
		for name := range tags {
			names[name] = true
		}
	}
	return SortedKeys(names)
}
