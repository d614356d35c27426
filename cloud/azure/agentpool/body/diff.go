package body

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Effect is what AKS does with a property that differs from what the specification asks for.
type Effect int

// The effects.
const (
	// InPlace: AKS changes the property on the agent pool and its nodes, and replaces none.
	InPlace Effect = iota
	// Rolls: AKS replaces the nodes, each drained first.
	Rolls
	// Refused: AKS can't change the property of an agent pool that exists.
	Refused
)

// effects are the properties that AKS changes (reference: Agent Pools - Create Or Update, and "Manage node pools"). All others are refused.
var effects = map[string]Effect{
	Count: InPlace, EnableAutoScaling: InPlace, MinCount: InPlace, MaxCount: InPlace, NodeLabels: InPlace, NodeTaints: InPlace, Tags: InPlace,
	Mode: InPlace, ScaleDownMode: InPlace, "upgradeSettings": InPlace, "upgradeSettingsBlueGreen": InPlace, "powerState": InPlace,
	"spotMaxPrice": InPlace, "scaleSetEvictionPolicy": InPlace, "enableCustomCATrust": InPlace, "networkProfile": InPlace,
	"nodeInitializationTaints": InPlace, "gpuProfile": InPlace,
	OrchestratorVersion: Rolls, VMSize: Rolls, "osSKU": Rolls, "securityProfile": Rolls,
}

// EffectOf returns what AKS does with a changed property.
func EffectOf(property string) Effect {
	if e, ok := effects[property]; ok {
		return e
	}
	return Refused
}

// Differing returns the names of the properties that differ from what is wanted, in order. Properties that are not wanted count as they
// are: AKS has defaults, and other clients set more.
func Differing(wanted, is Properties) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if differs(name, wanted[name], is[name]) {
			names = append(names, name)
		}
	}
	return names
}

// exact are objects of which AKS reports just what was written: what is there and not wanted differs too.
var exact = []string{NodeLabels}

// differs reports whether the value at a path, such as upgradeSettings.maxSurge, differs from what is wanted. An object is compared by what
// is in it.
func differs(path string, wanted, is any) bool {
	want, isObject := object(wanted)
	if !isObject {
		return !same(path, wanted, is)
	}
	has, _ := object(is)
	keys := slices.Collect(maps.Keys(want))
	if slices.Contains(exact, path) {
		keys = slices.AppendSeq(keys, maps.Keys(has))
	}
	return slices.ContainsFunc(keys, func(key string) bool { return differs(path+"."+key, want[key], has[key]) })
}

// unordered are the lists whose order means nothing.
var unordered = []string{NodeTaints, "availabilityZones", "kubeletConfig.allowedUnsafeSysctls", "nodeInitializationTaints"}

// caseless are the properties whose letter case means nothing: names of resources and sizes.
var caseless = []string{
	VMSize, "vnetSubnetID", "podSubnetID", "nodePublicIPPrefixID", "proximityPlacementGroupID", "capacityReservationGroupID", "hostGroupID",
}

// same reports whether two values mean the same. An absent value is the same as false, and as an empty list or text.
func same(path string, wanted, is any) bool {
	if empty(wanted) && empty(is) {
		return true
	}
	if slices.Contains(unordered, path) {
		return slices.Equal(sortedTexts(wanted), sortedTexts(is))
	}
	a, textA := wanted.(string)
	b, textB := is.(string)
	if textA && textB && slices.Contains(caseless, path) {
		return strings.EqualFold(a, b)
	}
	return reflect.DeepEqual(wanted, is)
}

// empty reports whether a value is the same as an absent one.
func empty(v any) bool {
	switch x := v.(type) {
	case nil:
		return true
	case bool:
		return !x
	case string:
		return x == ""
	case []any:
		return len(x) == 0
	}
	return false
}

func sortedTexts(v any) []string {
	list, _ := v.([]any)
	out := make([]string, 0, len(list))
	for _, one := range list {
		out = append(out, fmt.Sprint(one))
	}
	slices.Sort(out)
	return out
}

// Merge returns the properties of the request that makes is as wanted: what AKS reports with the wanted properties in their places. What
// other clients set stays, but for the keys of objects that are wanted exactly.
func Merge(wanted, is Properties) Properties {
	out := Properties(maps.Clone(map[string]any(is)))
	if out == nil {
		out = Properties{}
	}
	for name, value := range wanted {
		if _, isObject := object(value); isObject && !slices.Contains(exact, name) {
			out[name] = MergePatch(out[name], value)
			continue
		}
		out[name] = value
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

// readOnly are the properties that AKS sets.
var readOnly = []string{"provisioningState", "currentOrchestratorVersion", NodeImage, "eTag", "status", vmsStatus}
