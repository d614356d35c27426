package request

import (
	"maps"
	"slices"
	"strings"

	"google.golang.org/api/container/v1"
)

// exact compares a part that GKE reports just as it was written, but for what is GKE's own.
func exact(of func(*container.NodePool) map[string]string) func(want, is *container.NodePool) bool {
	return func(want, is *container.NodePool) bool { return !maps.Equal(of(want), of(is)) }
}

// ownResourceLabels are what the names of resource labels begin with that GKE writes, or the ecosystem's other controllers.
var ownResourceLabels = []string{"goog-", "capg-"}

// ownDomains are the domains of labels and taints that GKE writes to nodes of some machines: accelerators, arm64, sandboxes.
var ownDomains = []string{"nvidia.com", "kubernetes.io", "gke.io", "cloud.google.com"}

// ownsLabel reports whether GKE writes a label or a taint by itself.
func ownsLabel(key string) bool {
	domain, _, ok := strings.Cut(key, "/")
	return ok && slices.ContainsFunc(ownDomains, func(own string) bool { return domain == own || strings.HasSuffix(domain, "."+own) })
}

// OwnsResourceLabel reports whether a resource label is GKE's or another controller's of the ecosystem.
func OwnsResourceLabel(key string) bool {
	return slices.ContainsFunc(ownResourceLabels, func(own string) bool { return strings.HasPrefix(key, own) })
}

// without returns the entries of a map whose keys are not owned by others.
func without(m map[string]string, owned func(key string) bool) map[string]string {
	out := map[string]string{}
	for key, value := range m {
		if !owned(key) {
			out[key] = value
		}
	}
	return out
}

// kept returns the entries that others own and that are there, under what is wanted.
func kept(want, is map[string]string, owned func(key string) bool) map[string]string {
	out := map[string]string{}
	for key, value := range is {
		if owned(key) {
			out[key] = value
		}
	}
	maps.Copy(out, want)
	return out
}

func configOf(n *container.NodePool) *container.NodeConfig {
	if n.Config == nil {
		return &container.NodeConfig{}
	}
	return n.Config
}

func resourceLabels(n *container.NodePool) map[string]string {
	return without(configOf(n).ResourceLabels, OwnsResourceLabel)
}

func putResourceLabels(r *container.UpdateNodePoolRequest, want, is *container.NodePool) {
	r.ResourceLabels = &container.ResourceLabels{Labels: kept(want.Config.ResourceLabels, configOf(is).ResourceLabels, OwnsResourceLabel)}
}

func labels(n *container.NodePool) map[string]string { return without(configOf(n).Labels, ownsLabel) }

func putLabels(r *container.UpdateNodePoolRequest, want, is *container.NodePool) {
	r.Labels = &container.NodeLabels{Labels: kept(want.Config.Labels, configOf(is).Labels, ownsLabel)}
}

// taintKey is what identifies a taint.
func taintKey(t *container.NodeTaint) string { return t.Key + ":" + t.Effect }

func taintsByKey(n *container.NodePool) map[string]string {
	out := map[string]string{}
	for _, t := range configOf(n).Taints {
		if !ownsLabel(t.Key) {
			out[taintKey(t)] = t.Value
		}
	}
	return out
}

func putTaints(r *container.UpdateNodePoolRequest, want, is *container.NodePool) {
	r.Taints = &container.NodeTaints{Taints: slices.Clone(want.Config.Taints)}
	for _, t := range configOf(is).Taints {
		named := slices.ContainsFunc(want.Config.Taints, func(w *container.NodeTaint) bool { return taintKey(w) == taintKey(t) })
		if ownsLabel(t.Key) && !named {
			r.Taints.Taints = append(r.Taints.Taints, t)
		}
	}
}

func tags(n *container.NodePool) map[string]string {
	out := map[string]string{}
	for _, tag := range configOf(n).Tags {
		out[tag] = ""
	}
	return out
}

func putTags(r *container.UpdateNodePoolRequest, want, _ *container.NodePool) {
	r.Tags = &container.NetworkTags{Tags: want.Config.Tags}
}
