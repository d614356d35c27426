package aws

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/muster-project/muster/cloud"
)

// The tags by which we know what is ours, and for whom it is.
const (
	tagOwner     = "muster.dev/owner"
	tagCluster   = "muster.dev/cluster"
	tagNamespace = "muster.dev/namespace"
	tagPool      = "muster.dev/pool"
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

// Bookkeeping on the group itself: which of its tags, hooks and suspended processes we put there, so that what others put
// there is never taken away. It is not passed on to instances.
const (
	tagOurTags   = "muster.dev/managed-tags"
	tagOurHooks  = "muster.dev/managed-hooks"
	tagSuspended = "muster.dev/suspended-processes"
)

// tagSetAside is on instances that we put into standby. One in standby without it somebody put there for a reason of his own.
const tagSetAside = "muster.dev/set-aside"

// tagKept is on instances that we protected from scale-in so that a refresh leaves them.
const tagKept = "muster.dev/kept"

// ownTags are what every cloud object of the pool carries: the cluster's and the pool's additional tags, and above them
// the fixed ones, which nobody can override but for Name.
func ownTags(o cloud.Owner, additional ...map[string]string) map[string]string {
	tags := map[string]string{tagName: o.ResourceName()}
	for _, a := range additional {
		maps.Copy(tags, a)
	}
	tags[tagOwner] = o.ID
	tags[tagCluster] = o.Cluster
	tags[tagNamespace] = o.Namespace
	tags[tagPool] = o.Name
	tags[tagClusterPrefix+o.Cluster] = valueOwned
	tags[tagKubernetesPrefix+o.Cluster] = valueOwned
	tags[tagRole] = valueNode
	return tags
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func ec2Tags(tags map[string]string) []ec2types.Tag {
	list := make([]ec2types.Tag, 0, len(tags))
	for _, key := range sortedKeys(tags) {
		list = append(list, ec2types.Tag{Key: &key, Value: value(tags[key])})
	}
	return list
}

// groupTags are a group's tags as they are sent; those not in bookkeeping are passed on to new instances.
func groupTags(group string, tags map[string]string) []asgtypes.Tag {
	list := make([]asgtypes.Tag, 0, len(tags))
	for _, key := range sortedKeys(tags) {
		list = append(list, asgtypes.Tag{
			Key: &key, Value: value(tags[key]), PropagateAtLaunch: value(!bookkeeping(key)),
			ResourceId: &group, ResourceType: value("auto-scaling-group"),
		})
	}
	return list
}

func bookkeeping(key string) bool {
	return key == tagOurTags || key == tagOurHooks || key == tagSuspended
}

// value is a pointer to a copy.
func value[T any](v T) *T { return &v }

const (
	// markLength and markRoom: each name is marked by a few characters of its hash, so that all marks of a group fit into
	// one tag's 256 characters. 36 bits tell a group's fifty tags apart with a margin of a hundred million.
	markLength = 6
	markRoom   = 252 / markLength
)

// marks is the value of a bookkeeping tag for the given names. Names beyond the tag's room are not marked: they are never
// taken away again.
func marks(names []string) string {
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

// marked says whether a bookkeeping tag's value holds the name.
func marked(text, name string) bool {
	want := mark(name)
	for ; len(text) >= markLength; text = text[markLength:] {
		if text[:markLength] == want {
			return true
		}
	}
	return false
}
