package body

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/muster-project/muster/api/common"
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
			for _, bad := range common.BadValues(field+": ", []byte(text), func(b []byte) error { return json.Unmarshal(b, &map[string]any{}) }) {
				return nil, cloud.Invalidf(strings.TrimSuffix(bad.Field, ": "), "not a JSON merge patch: %s", bad.Detail())
			}
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
		if err := checkPatch(spec, p[Mode], field+": spec"); err != nil {
			return nil, err
		}
		changed, err := ofManifestSpec(spec, field+": spec")
		if err != nil {
			return nil, err
		}
		p = MergePatch(p, changed).(map[string]any)
	}
	return p, nil
}

// setElsewhere are the properties of manifests that a patch may not change, and what sets them.
var setElsewhere = map[string]string{
	"azureName": "spec.name", "owner": "the control plane of the Cluster", Count: "spec.replicas of the MachinePool",
	OrchestratorVersion: "spec.template.spec.version of the MachinePool",
	EnableAutoScaling:   "spec.scaling", MinCount: "spec.scaling.minSize", MaxCount: "spec.scaling.maxSize",
}

// checkPatch refuses a patch of what other fields set, and of the mode unless it is that of the specification.
func checkPatch(spec map[string]any, mode any, at string) error {
	for _, key := range slices.Sorted(maps.Keys(spec)) {
		if by, ok := setElsewhere[key]; ok {
			return cloud.Invalidf(at+"."+key, "can't be changed by a patch: %s sets it", by)
		}
		if key == Mode && spec[key] != mode {
			return cloud.Invalidf(at+"."+key, "found %v, and spec.mode is %v: change spec.mode", spec[key], mode)
		}
	}
	return nil
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
