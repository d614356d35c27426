package members

import (
	"maps"
	"slices"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// GateKey returns the key of a readiness gate.
func GateKey(g clusterv1.MachineReadinessGate) string { return g.ConditionType }

// TaintKey returns the key of a taint: key and effect.
func TaintKey(t clusterv1.MachineTaint) string { return t.Key + ":" + string(t.Effect) }

// Keys returns the sorted keys of items.
func Keys[T any](items []T, key func(T) string) []string {
	keys := make([]string, 0, len(items))
	for _, item := range items {
		keys = append(keys, key(item))
	}
	slices.Sort(keys)
	return keys
}

// MergeMap returns a map with all wanted entries, without those that were wanted last and no longer are. It is never nil.
func MergeMap(have, want map[string]string, last []string) map[string]string {
	all := maps.Clone(have)
	if all == nil {
		all = map[string]string{}
	}
	for _, k := range last {
		delete(all, k)
	}
	maps.Copy(all, want)
	return all
}

// MergeList returns a list with all wanted items, without those that were wanted last and no longer are. Items of other clients stay.
func MergeList[T any](have, want []T, last []string, key func(T) string) []T {
	wanted := make(map[string]T, len(want))
	for _, item := range want {
		wanted[key(item)] = item
	}
	var all []T
	for _, item := range have {
		k := key(item)
		if w, ok := wanted[k]; ok {
			all = append(all, w)
			delete(wanted, k)
		} else if !slices.Contains(last, k) {
			all = append(all, item)
		}
	}
	for _, item := range want {
		if _, ok := wanted[key(item)]; ok {
			all = append(all, item)
			delete(wanted, key(item))
		}
	}
	return all
}
