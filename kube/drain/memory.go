package drain

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/pool"
)

const (
	// minReuse and maxReuse bound the time for which the last read progress of a drain is used: 1/reuseShare of the time that the drain has
	// taken so far. Rounds of evictions have the same interval.
	minReuse, maxReuse = 3 * time.Second, 15 * time.Second
	reuseShare         = 10
	// drainedFor is the time for which a drained node is not read again. The node is cordoned, so that no pod is scheduled to it.
	drainedFor = 5 * time.Minute
	// forgottenAfter is the time after which the progress of a node that no pass has read is dropped.
	forgottenAfter = 2 * drainedFor
)

// Memory caches the progress of drains between passes, so that the pods of a node are not listed in every pass. Losing it costs one list
// for each draining node. It is safe for concurrent use.
type Memory struct {
	mu    sync.Mutex
	looks map[types.UID]look
	swept time.Time
}

// look is the progress of one node's drain as it was read, and the conditions under which it was.
type look struct {
	at   time.Time
	when string
	node pool.Node
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory { return &Memory{looks: map[types.UID]look{}} }

// of returns the cached progress of a node if that is recent enough. A nil Memory caches nothing.
func (m *Memory) of(id types.UID, when string, now time.Time) (pool.Node, bool) {
	if m == nil || id == "" {
		return pool.Node{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	found, ok := m.looks[id]
	if !ok || found.when != when || now.Before(found.at) {
		return pool.Node{}, false
	}
	limit := min(max(found.at.Sub(found.node.DrainStarted)/reuseShare, minReuse), maxReuse)
	if found.node.Drained() {
		limit = drainedFor
	}
	return found.node, now.Sub(found.at) < limit
}

// keep caches the progress of a node, and from time to time drops nodes that no pass reads any more.
func (m *Memory) keep(id types.UID, when string, now time.Time, n pool.Node) {
	if m == nil || id == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.looks[id] = look{at: now, when: when, node: n}
	if now.Sub(m.swept) < forgottenAfter {
		return
	}
	m.swept = now
	for known, l := range m.looks {
		if now.Sub(l.at) >= forgottenAfter {
			delete(m.looks, known)
		}
	}
}

// forget drops the progress of a node whose drain begins or is undone.
func (m *Memory) forget(id types.UID) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.looks, id)
}

// when returns the conditions under which a progress is valid: the drain, which parts of it apply, and whether its time is up.
func (w *Workload) when(node *corev1.Node) string {
	since, _ := w.started(node)
	return fmt.Sprint(node.Annotations[nodes.DrainStartedAnnotation], w.drainTimeUp(since), w.forceTimeUp(since), w.detachTimeUp(node),
		w.excluded(clusterv1.ExcludeNodeDrainingAnnotation), w.excluded(clusterv1.ExcludeWaitForNodeVolumeDetachAnnotation))
}

const (
	// maxPodLists is the number of nodes whose pods one pass lists node by node. For more nodes the pods of the whole cluster are listed in
	// pages, unless the nodes are fewer than one in wholeShare of the cluster.
	maxPodLists, wholeShare = 20, 8
)

// listPods lists the pods of the whole cluster once a pass, if a list for each node to read costs more.
func (w *Workload) listPods(ctx context.Context, looks int) error {
	if w.pods != nil || looks <= maxPodLists {
		return nil
	}
	all := &corev1.NodeList{}
	if err := w.Remote.List(ctx, all, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("nodes of the workload cluster: %w", err)
	}
	if looks*wholeShare < len(all.Items) {
		return nil
	}
	pods := map[string][]corev1.Pod{}
	for next := ""; ; {
		page := &corev1.PodList{}
		if err := w.Live.List(ctx, page, client.Limit(perPage), client.Continue(next)); err != nil {
			return fmt.Errorf("pods of the workload cluster: %w", err)
		}
		for _, p := range page.Items {
			pods[p.Spec.NodeName] = append(pods[p.Spec.NodeName], p)
		}
		if next = page.Continue; next == "" {
			w.pods = pods
			return nil
		}
	}
}

// podField is the field by which the pods of one node are selected.
const podField = "spec.nodeName"

// listedPods answers lists of one node's pods from a list of all pods.
type listedPods struct {
	client.Client
	pods map[string][]corev1.Pod
}

// List returns one node's pods from the list of all pods, and reads everything else.
func (c listedPods) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	to, ok := list.(*corev1.PodList)
	options := (&client.ListOptions{}).ApplyOptions(opts)
	if !ok || options.FieldSelector == nil {
		return c.Client.List(ctx, list, opts...)
	}
	node, exact := options.FieldSelector.RequiresExactMatch(podField)
	if !exact {
		return c.Client.List(ctx, list, opts...)
	}
	*to = corev1.PodList{Items: c.pods[node]}
	return nil
}
