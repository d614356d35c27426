package body

import (
	"fmt"
	"maps"
	"math"
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
	p[Tags] = withOwnTags(MergePatch(MergePatch(stringMap(tags), own), stringMap(tags)), tags)
	return p.flatSpec(func(property string) string { return at + "." + property })
}

// references are the fields of manifests that hold a reference, and the properties that hold its resource ID.
var references = map[string]string{
	"vnetSubnetReference": "vnetSubnetID", "podSubnetReference": "podSubnetID", "nodePublicIPPrefixReference": "nodePublicIPPrefixID",
	"proximityPlacementGroupReference": "proximityPlacementGroupID", "capacityReservationGroupReference": "capacityReservationGroupID",
	"hostGroupReference": "hostGroupID", "sourceResourceReference": "sourceResourceId",
}

const (
	operatorSpec = "operatorSpec"
	// ownTags is the prefix of the names of the tags that identify an agent pool's owner.
	ownTags = cloud.TagDomain + "_"
)

// checkSpelling refuses the names of fields that decide about ownership and size where they differ in case: Azure takes them for the same.
func checkSpelling(spec map[string]any, at string) error {
	names := append(slices.Collect(maps.Keys(setElsewhere)), Mode, Tags, operatorSpec)
	for _, key := range slices.Sorted(maps.Keys(spec)) {
		for _, name := range names {
			if key != name && strings.EqualFold(key, name) {
				return cloud.Invalidf(at+"."+key, "no field of a manifest has this name: write %s", name)
			}
		}
	}
	return nil
}

// checkTags refuses tags that say whose an agent pool is. Azure does not tell the names of tags apart by case.
func checkTags(tags any, at string) error {
	list, ok := object(tags)
	if tags != nil && !ok {
		return cloud.Invalidf(at, "found %T, must be an object of names and values", tags)
	}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if strings.HasPrefix(strings.ToLower(name), ownTags) {
			return cloud.Invalidf(at+"."+name, "no name may begin with %s: these tags say who owns a cloud object", ownTags)
		}
	}
	return nil
}

// withOwnTags returns the tags with their owner tags replaced by those of owner.
func withOwnTags(tags any, owner azurev1.Tags) map[string]any {
	out := map[string]any{}
	list, _ := object(tags)
	for name, value := range list {
		if !strings.HasPrefix(strings.ToLower(name), ownTags) {
			out[name] = value
		}
	}
	for name, value := range owner {
		if strings.HasPrefix(name, ownTags) {
			out[name] = value
		}
	}
	return out
}

// notProperties are the fields of manifests that are no properties of the agent pool.
var notProperties = []string{"azureName", "owner"}

// ofManifestSpec translates a manifest's spec, or a patch of it; at is its place, for errors.
func ofManifestSpec(spec map[string]any, at string) (Properties, error) {
	if operator, _ := object(spec[operatorSpec]); len(operator) > 0 {
		return nil, cloud.Invalidf(at+"."+operatorSpec, "found %s, must be absent: only Azure Service Operator writes Secrets and ConfigMaps",
			strings.Join(slices.Sorted(maps.Keys(operator)), ", "))
	}
	if err := checkSpelling(spec, at); err != nil {
		return nil, err
	}
	if err := checkTags(spec[Tags], at+"."+Tags); err != nil {
		return nil, err
	}
	p := Properties{}
	for key, value := range spec {
		if key == operatorSpec || slices.Contains(notProperties, key) {
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
		return key, float64(x), checkExact(float64(x), x, at)
	case float64:
		return key, x, checkExact(x, x, at)
	}
	return key, value, nil
}

// maxExact is the largest whole number up to which JSON tells each from the next as services read it.
const maxExact = 1 << 53

// checkExact refuses a number that would reach AKS as another one.
func checkExact(x float64, written any, at string) error {
	if math.Abs(x) > maxExact {
		return cloud.Invalidf(at, "found %v, must be from %d to %d: JSON holds larger numbers inexactly", written, -maxExact, maxExact)
	}
	return nil
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
