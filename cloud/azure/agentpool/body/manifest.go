package body

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
)

// OfManifest returns the properties that a manifest asks for. What Muster sets itself, and what only Azure Service Operator could do, is
// refused with the field of the manifest. tags are the owner's.
func OfManifest(m *aksv1.AgentPoolManifest, tags azurev1.Tags) (Properties, error) {
	at := fmt.Sprintf("spec.resources[%d].spec", m.Index)
	p, err := ofManifestSpec(m.Spec, at)
	if err != nil {
		return nil, err
	}
	own, _ := object(p[Tags])
	merged := stringMap(tags)
	maps.Copy(merged, own)
	maps.Copy(merged, stringMap(tags))
	p[Tags] = merged
	return p.flatWanted(func(property string) string { return at + "." + property })
}

// references are the fields of manifests that hold a reference, and the properties that hold its resource ID.
var references = map[string]string{
	"vnetSubnetReference": "vnetSubnetID", "podSubnetReference": "podSubnetID", "nodePublicIPPrefixReference": "nodePublicIPPrefixID",
	"proximityPlacementGroupReference": "proximityPlacementGroupID", "capacityReservationGroupReference": "capacityReservationGroupID",
	"hostGroupReference": "hostGroupID", "sourceResourceReference": "sourceResourceId",
}

// notProperties are the fields of manifests that are no properties of the agent pool.
var notProperties = []string{"azureName", "owner"}

// ofManifestSpec translates a manifest's spec, or a patch of it; at is its place, for errors.
func ofManifestSpec(spec map[string]any, at string) (Properties, error) {
	if operator, _ := object(spec["operatorSpec"]); len(operator) > 0 {
		return nil, cloud.Invalidf(at+".operatorSpec", "found %s, must be absent: only Azure Service Operator writes Secrets and ConfigMaps",
			strings.Join(slices.Sorted(maps.Keys(operator)), ", "))
	}
	p := Properties{}
	for key, value := range spec {
		if key == "operatorSpec" || slices.Contains(notProperties, key) {
			continue
		}
		name, translated, err := property(key, value, at+"."+key)
		if err != nil {
			return nil, err
		}
		p[name] = translated
	}
	return p, nil
}

// property translates one field of a manifest, and all below it.
func property(key string, value any, at string) (string, any, error) {
	if name, ok := references[key]; ok {
		id, err := armID(value, at)
		return name, id, err
	}
	switch x := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, v := range x {
			name, translated, err := property(k, v, at+"."+k)
			if err != nil {
				return "", nil, err
			}
			out[name] = translated
		}
		return key, out, nil
	case []any:
		out := make([]any, 0, len(x))
		for i, one := range x {
			_, translated, err := property("", one, fmt.Sprintf("%s[%d]", at, i))
			if err != nil {
				return "", nil, err
			}
			out = append(out, translated)
		}
		return key, out, nil
	case int64:
		return key, float64(x), nil
	}
	return key, value, nil
}

// armID returns the resource ID of a reference. One that names another manifest needs Azure Service Operator.
func armID(value any, at string) (any, error) {
	if value == nil {
		return nil, nil
	}
	ref, _ := object(value)
	if id, ok := ref["armId"].(string); ok && id != "" {
		return id, nil
	}
	return nil, cloud.Invalidf(at, "found a reference to %v %v, must name a resource by armId: only Azure Service Operator knows the "+
		"resources of its manifests", ref["kind"], ref["name"])
}
