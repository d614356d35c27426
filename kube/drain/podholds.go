package drain

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/pool"
)

// PodHolds reports which of the nodes have a pod that asks to be left alone, by the annotation that Karpenter honors on pods. It takes no
// longer than a round of evictions: nodes that it has not read by then are left out.
func (w *Workload) PodHolds(ctx context.Context, keys []string) (map[string]pool.PodHold, error) {
	found, err := nodes.ByProviderKeys(ctx, w.Remote, keys)
	if err != nil {
		return nil, fmt.Errorf("nodes of the pool in the workload cluster: %w", err)
	}
	spent, cancel := context.WithTimeout(ctx, roundLimit)
	defer cancel()
	if err := w.listPods(ctx, len(found)); err != nil {
		return nil, err
	}
	out := make(map[string]pool.PodHold, len(found))
	for _, key := range keys {
		node, ok := found[key]
		if !ok || spent.Err() != nil {
			continue
		}
		r, err := w.running(ctx, node)
		if err != nil {
			return nil, err
		}
		out[key] = pool.PodHold{Known: true, By: holding(slices.Concat(r.left, r.kept), w.Now)}
	}
	return out, nil
}

// holding returns the first pod by name that asks to be left alone, and its annotation; empty if none does.
func holding(pods []*corev1.Pod, now time.Time) string {
	var names []string
	for _, p := range pods {
		ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed || !p.DeletionTimestamp.IsZero()
		if !ended && asksToStay(p, now) {
			names = append(names, p.Namespace+"/"+p.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "pod " + slices.Min(names) + " with the annotation " + nodes.DoNotDisruptAnnotation
}

// asksToStay reports whether a pod is not to be disrupted now: at all, or for a time since its start. Other values mean nothing, as they do
// for Karpenter.
func asksToStay(p *corev1.Pod, now time.Time) bool {
	value, ok := p.Annotations[nodes.DoNotDisruptAnnotation]
	if !ok || value == "true" {
		return ok
	}
	lasts, err := time.ParseDuration(value)
	since := p.CreationTimestamp.Time
	if p.Status.StartTime != nil {
		since = p.Status.StartTime.Time
	}
	return err == nil && now.Before(since.Add(lasts))
}
