package oke

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

const (
	// algorithm and contentLength are those of contents. A new algorithm is added to this one and never replaces it.
	algorithm     = "v1"
	contentLength = 16
	refPrefix     = "oke:"
	refLength     = 8

	// TemplateTag is the freeform tag of nodes with the content that they were created from.
	TemplateTag = "muster-dev_template"
	// tokenPeriod is the time for which a repeated creation has the same retry token. OKE knows a token for 24 hours, and refuses it when what
	// it created was deleted since. A reply that was lost is repeated within moments, and later the list shows what it created.
	tokenPeriod = 10 * time.Minute
	tokenLength = 40
)

// TemplateOf returns what replaces nodes as a template, which OKE makes of the fields of a pool. kind begins its name: the version of
// nodes, where pools have one.
func TemplateOf(kind string, values map[string]any) pool.Template {
	if len(values) == 0 {
		return pool.Template{}
	}
	text, err := json.Marshal(values)
	if err != nil {
		return pool.Template{} // texts and numbers can always be encoded
	}
	return Template(kind, algorithm+":"+cloud.Digest(text, contentLength))
}

// Template returns the template with a content.
func Template(kind, content string) pool.Template {
	ref := refPrefix + kind + "/" + content[len(content)-min(len(content), refLength):]
	return pool.Template{Ref: ref, Content: content, UserManaged: true, ByCloud: true}
}

// retryToken returns the token of a creation: a function of the owner, the request and the time.
func (p Pool) retryToken(body any, now time.Time) (string, error) {
	encoded, err := json.Marshal([]any{p.owner.ID, now.Unix() / int64(tokenPeriod/time.Second), body})
	if err != nil {
		return "", fmt.Errorf("encode the creation of %s %s: %w", p.Kind, p.Name, err)
	}
	return cloud.Digest(encoded, tokenLength), nil
}
