package body

import (
	"maps"
	"slices"

	"github.com/muster-project/muster/cloud/fields"
)

// Differing returns the names of the properties that differ from what is wanted, in order. Properties that are not wanted count as they
// are: AKS has defaults, and other clients set more.
func Differing(wanted, is Properties) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if !Fields.Same(name, wanted[name], is[name]) {
			names = append(names, name)
		}
	}
	return names
}

// Merge returns the properties of the request that makes is as wanted: what AKS reports with the wanted properties in their places. What
// other clients set stays, but for the keys of objects that are wanted exactly and that AKS does not own.
func Merge(wanted, is Properties) Properties {
	out := Properties(maps.Clone(map[string]any(is)))
	if out == nil {
		out = Properties{}
	}
	for name, value := range wanted {
		row := Fields.Of(name)
		if _, isObject := object(value); isObject && row.Compare == fields.Subset {
			out[name] = MergePatch(out[name], value)
			continue
		}
		out[name] = withOwned(row.Owned, value, is[name])
	}
	for _, name := range readOnly {
		delete(out, name)
	}
	if on, _ := out[EnableAutoScaling].(bool); !on {
		delete(out, MinCount)
		delete(out, MaxCount)
	}
	return out
}

// withOwned returns a wanted list of texts or object with the entries that are there and that AKS owns, each once.
func withOwned(own fields.ServiceOwned, wanted, is any) any {
	if want, isObject := object(wanted); isObject {
		has, _ := object(is)
		return fields.With(own, want, has)
	}
	list, isList := wanted.([]any)
	if !isList {
		return wanted
	}
	out := slices.Clone(list)
	there, _ := is.([]any)
	for _, item := range there {
		if text, ok := item.(string); ok && own.Owns(text) && !slices.Contains(list, item) {
			out = append(out, item)
		}
	}
	return out
}

// readOnly are the properties that AKS sets.
var readOnly = []string{"provisioningState", "currentOrchestratorVersion", NodeImage, "eTag", "status", vmsStatus}
