package oke

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/muster-project/muster/cloud/fields"
)

// Doc is a pool by the paths of OKE's document. One that is wanted lacks what the specification leaves to OKE.
type Doc map[string]any

// Member returns the row of a member of the document.
func Member[R any](f fields.Field[Doc, R]) fields.Field[Doc, R] {
	name := f.Name
	f.Value = func(d Doc) any { return d[name] }
	return f
}

// Texts returns a list of the document; nil for none.
func (d Doc) Texts(name string) []string {
	t, _ := d[name].([]string)
	return t
}

// Pairs returns a map of the document; nil for none.
func (d Doc) Pairs(name string) map[string]string {
	t, _ := d[name].(map[string]string)
	return t
}

// DefinedOf returns defined tags as documents have them, by their namespaces.
func DefinedOf(tags map[string]map[string]any) map[string]any {
	out := map[string]any{}
	for namespace, entries := range tags {
		out[namespace] = entries
	}
	return out
}

// WithDefined returns the defined tags of a document beside those that are there.
func (d Doc) WithDefined(name string, is map[string]map[string]any) map[string]map[string]any {
	out := map[string]map[string]any{}
	for namespace, tags := range is {
		out[namespace] = maps.Clone(tags)
	}
	wanted, _ := d[name].(map[string]any)
	for namespace, tags := range wanted {
		if out[namespace] == nil {
			out[namespace] = map[string]any{}
		}
		entries, _ := tags.(map[string]any)
		maps.Copy(out[namespace], entries)
	}
	return out
}

// Creation returns the request that creates a pool with the members of the one that would change it.
func Creation[C any](p Pool, change any) (*C, error) {
	out := new(C)
	encoded, err := json.Marshal(change)
	if err == nil {
		err = json.Unmarshal(encoded, out)
	}
	if err != nil {
		return nil, fmt.Errorf("encode the creation of %s %s: %w", p.Kind, p.Name, err)
	}
	return out, nil
}
