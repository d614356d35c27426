package drain

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/pool"
)

// PodHolds reports which of the nodes have a pod that asks to be left alone, by the annotation that Karpenter honors on pods. It takes no
// longer than a round of evictions: nodes that it has not read by then are left out.
func (w *Workload) PodHolds(ctx context.Context, keys []string) (map[string]pool.PodHold, error) {
	return ofNodes(ctx, w, keys, func(ctx context.Context, node *corev1.Node) (pool.PodHold, error) {
		r, err := w.running(ctx, node)
		if err != nil {
			return pool.PodHold{}, err
		}
		return pool.PodHold{Known: true, By: holding(slices.Concat(r.left, r.kept), w.Now)}, nil
	})
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
