package cloud

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/muster-project/muster/pool"
)

// ReasonOwnershipConflict is the reason of a pool whose group is not its own.
const ReasonOwnershipConflict = "OwnershipConflict"

// TagDomain is what the names of all tags begin with by which Muster knows what is its own.
const TagDomain = "muster.dev"

// The names of the tags that say whose a cloud object is. A cloud that forbids the slash in names has something else between the
// domain and the name.
const (
	TagOwner     = "owner"
	TagCluster   = "cluster"
	TagNamespace = "namespace"
	TagPool      = "pool"
)

// Tags say whose a cloud object is: the owner's ID decides, the rest is for people and for other tools. Between stands between the
// domain and the name: a slash wherever the cloud takes it.
func (o Owner) Tags(between string) map[string]string {
	return map[string]string{
		TagDomain + between + TagOwner:     o.ID,
		TagDomain + between + TagCluster:   o.Cluster,
		TagDomain + between + TagNamespace: o.Namespace,
		TagDomain + between + TagPool:      o.Name,
	}
}

// tagValueLimit is how long the value of a tag may be, in every cloud that has such.
const tagValueLimit = 256

// Check returns an error if the owner can't be written into tags: without an ID nothing can be called the pool's.
func (o Owner) Check() error {
	const field = "metadata.annotations[muster.dev/owner-id]"
	switch n := len(o.ID); {
	case n == 0:
		return Invalidf(field, "there is no owner ID: nothing can be called ours without one")
	case n > tagValueLimit:
		return Invalidf(field, "the owner ID has %d characters, and tags of the cloud hold %d at most: "+
			"restore the annotation, or remove it to have another ID written", n, tagValueLimit)
	}
	return nil
}

// Key names the owner's object as cluster/namespace/name.
func (o Owner) Key() string { return o.Cluster + "/" + o.Namespace + "/" + o.Name }

// TaggedFor returns the Key of the object that tags name; tag returns the value of one of the tags of Owner.Tags, by its name without
// the domain.
func TaggedFor(tag func(name string) string) string {
	return Owner{Cluster: tag(TagCluster), Namespace: tag(TagNamespace), Name: tag(TagPool)}.Key()
}

// NamedElsewhere is the cause of an object whose spec.providerID names a group that is not the pool's: group is the group as messages name
// it, fact is what was found.
func NamedElsewhere(group, fact string) *pool.Cause {
	return &pool.Cause{Reason: ReasonOwnershipConflict, Message: fmt.Sprintf(
		"spec.providerID names %s, which is not this pool's: %s. It is left alone, and no other is created. "+
			"Remove spec.providerID to have one created", group, fact)}
}

// Digest is the beginning of the data's SHA-256, of that many hex digits.
func Digest(data []byte, length int) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:length]
}
