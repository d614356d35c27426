package cloud

import (
	"crypto/sha256"
	"encoding/hex"
)

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

// Digest is the beginning of the data's SHA-256, of that many hex digits.
func Digest(data []byte, length int) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:length]
}
