package session

import (
	"encoding/json"
	"maps"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/fields"
)

// Body is the body of a request, by its members.
type Body map[string]any

// TagDomain begins the keys of the tags by which Muster recognises its own objects.
const TagDomain = cloud.TagDomain + "/"

// Spelling writes owner tags. Keys and values of tags take every character.
var Spelling = cloud.Spelling{Key: func(name string) string { return TagDomain + name }}

// Ours tells that all entries of a list or map are Muster's. The Consent of the operator to an adoption is not.
var (
	Ours    = fields.ServiceOwned{None: true}
	Consent = fields.ServiceOwned{Prefixes: []string{TagDomain + "adopt-by"}}
)

// Entries returns a copy of a map that is never nil.
func Entries(m map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, m)
	return out
}

const (
	// algorithm and contentLength are those of contents. A new algorithm is added beside this one, never in its place.
	algorithm     = "v1"
	contentLength = 16
)

// ContentOf returns the content hash of the values of fields that replace machines.
func ContentOf(values map[string]any) string {
	text, err := json.Marshal(values)
	if err != nil {
		return "" // texts can always be encoded
	}
	return algorithm + ":" + cloud.Digest(text, contentLength)
}
