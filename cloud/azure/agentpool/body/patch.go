package body

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/muster-project/muster/cloud"
)

const fieldPatches = "spec.asoManagedClustersAgentPoolPatches"

// patched applies JSON merge patches to the properties. A patch is written against the manifest of Azure Service Operator, so that it
// changes properties below "spec".
func (p Properties) patched(patches []string) (Properties, error) {
	for i, text := range patches {
		field := fmt.Sprintf("%s[%d]", fieldPatches, i)
		var patch map[string]any
		if err := json.Unmarshal([]byte(text), &patch); err != nil {
			return nil, cloud.Invalidf(field, "not a JSON merge patch: %v", err)
		}
		for key := range patch {
			if key != "spec" {
				return nil, cloud.Invalidf(field, "found %q, must change fields below spec alone: Muster keeps no other part of the manifest", key)
			}
		}
		spec, ok := patch["spec"].(map[string]any)
		if patch["spec"] != nil && !ok {
			return nil, cloud.Invalidf(field, "found %T for spec, must be an object", patch["spec"])
		}
		changed, err := ofManifestSpec(spec, field+": spec")
		if err != nil {
			return nil, err
		}
		p = MergePatch(p, changed).(map[string]any)
	}
	return p, nil
}

// MergePatch applies a JSON merge patch (RFC 7386) to a document and returns the result. Neither is changed.
func MergePatch(document any, patch any) any {
	changes, ok := object(patch)
	if !ok {
		return patch
	}
	target, _ := object(document)
	out := maps.Clone(target)
	if out == nil {
		out = map[string]any{}
	}
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		if changes[key] == nil {
			delete(out, key)
			continue
		}
		out[key] = MergePatch(out[key], changes[key])
	}
	return out
}

// object returns a JSON object, whichever of its types holds it.
func object(v any) (map[string]any, bool) {
	switch x := v.(type) {
	case Properties:
		return x, true
	case map[string]any:
		return x, true
	}
	return nil, false
}
