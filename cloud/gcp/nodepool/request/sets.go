package request

import (
	"slices"

	"google.golang.org/api/container/v1"

	"github.com/muster-project/muster/cloud/fields"
)

// ownResourceLabels are the resource labels that GKE writes, or the ecosystem's other controllers.
var ownResourceLabels = fields.ServiceOwned{Prefixes: []string{"goog-", "capg-"}}

// ownLabels are the labels and taints that GKE writes to nodes of some machines: accelerators, arm64, sandboxes.
var ownLabels = fields.ServiceOwned{Domains: []string{"nvidia.com", "kubernetes.io", "gke.io", "cloud.google.com"}}

// OwnsResourceLabel reports whether a resource label is GKE's or another controller's of the ecosystem.
func OwnsResourceLabel(key string) bool { return ownResourceLabels.Owns(key) }

func configOf(n *container.NodePool) *container.NodeConfig {
	if n.Config == nil {
		return &container.NodeConfig{}
	}
	return n.Config
}

func putResourceLabels(r *container.UpdateNodePoolRequest, want, is *container.NodePool) {
	r.ResourceLabels = &container.ResourceLabels{
		Labels: fields.With(ownResourceLabels, want.Config.ResourceLabels, configOf(is).ResourceLabels),
	}
}

func putLabels(r *container.UpdateNodePoolRequest, want, is *container.NodePool) {
	r.Labels = &container.NodeLabels{Labels: fields.With(ownLabels, want.Config.Labels, configOf(is).Labels)}
}

// taintKey identifies a taint.
func taintKey(t *container.NodeTaint) string { return t.Key + ":" + t.Effect }

// taintValues returns the values of taints by what identifies them.
func taintValues(n *container.NodePool) any {
	out := map[string]string{}
	for _, t := range configOf(n).Taints {
		out[taintKey(t)] = t.Value
	}
	return out
}

func putTaints(r *container.UpdateNodePoolRequest, want, is *container.NodePool) {
	r.Taints = &container.NodeTaints{Taints: slices.Clone(want.Config.Taints)}
	for _, t := range configOf(is).Taints {
		named := slices.ContainsFunc(want.Config.Taints, func(w *container.NodeTaint) bool { return taintKey(w) == taintKey(t) })
		if ownLabels.Owns(t.Key) && !named {
			r.Taints.Taints = append(r.Taints.Taints, t)
		}
	}
}

func putTags(r *container.UpdateNodePoolRequest, want, _ *container.NodePool) {
	r.Tags = &container.NetworkTags{Tags: want.Config.Tags}
}
