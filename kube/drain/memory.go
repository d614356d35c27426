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

	"github.com/muster-project/muster/pool"
)

const (
	// lookLeast and lookMost bound how long the progress of a drain is taken as last seen, which is lookShare of the time that the drain
	// has taken so far. Rounds of evictions have the same pace.
	lookLeast, lookMost = 3 * time.Second, 15 * time.Second
	lookShare           = 10
	// drainedFor is how long a node is taken to be drained: it is cordoned, so that the scheduler puts no pod onto it.
	drainedFor = 5 * time.Minute
	// forgottenAfter is how long a node is remembered that no pass asked about.
	forgottenAfter = 2 * drainedFor
)

// Memory remembers how far drains have come between passes, so that the pods of a node are not listed in every pass. Losing it costs one
// list for each node that drains. It is safe for concurrent use.
type Memory struct {
	mu    sync.Mutex
	looks map[types.UID]look
	swept time.Time
}

// look is the progress of one node's drain as it was seen at a moment, under conditions that change what there is to see.
type look struct {
	at   time.Time
	when string
	node pool.Node
}

// NewMemory makes a memory that is empty.
func NewMemory() *Memory { return &Memory{looks: map[types.UID]look{}} }

// of returns what is remembered of a node if that is recent enough. A nil memory remembers nothing.
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
	limit := min(max(found.at.Sub(found.node.DrainStarted)/lookShare, lookLeast), lookMost)
	if found.node.Drained() {
		limit = drainedFor
	}
	return found.node, now.Sub(found.at) < limit
}

// keep remembers what was seen of a node, and forgets from time to time those that no pass asks about any more.
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

// forget drops what is remembered of a node on which a drain or its end is begun.
func (m *Memory) forget(id types.UID) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.looks, id)
}

// when returns the conditions under which a look at a node holds: the drain, which parts of it apply, and whether its time is up.
func (w *Workload) when(node *corev1.Node) string {
	since, _ := w.started(node)
	return fmt.Sprint(node.Annotations[StartedAnnotation], w.drainTimeUp(since), w.detachTimeUp(node),
		w.excluded(clusterv1.ExcludeNodeDrainingAnnotation), w.excluded(clusterv1.ExcludeWaitForNodeVolumeDetachAnnotation))
}

const (
	// listsMost is how many nodes have their pods listed one by one in a pass. Of more, the pods of the whole cluster are listed in pages,
	// unless they are fewer than one in wholeShare of its nodes.
	listsMost, wholeShare = 20, 8
)

// listPods lists the pods of the whole cluster once a pass, if so many nodes are about to be looked at that a list for each costs more.
func (w *Workload) listPods(ctx context.Context, looks int) error {
	if w.pods != nil || looks <= listsMost {
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

// listedPods answers lists of one node's pods from a list of all of them.
type listedPods struct {
	client.Client
	pods map[string][]corev1.Pod
}

// List answers from the list of all pods where one node's are asked for, and reads otherwise.
func (c listedPods) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	to, ok := list.(*corev1.PodList)
	asked := (&client.ListOptions{}).ApplyOptions(opts)
	if !ok || asked.FieldSelector == nil {
		return c.Client.List(ctx, list, opts...)
	}
	node, exact := asked.FieldSelector.RequiresExactMatch(podField)
	if !exact {
		return c.Client.List(ctx, list, opts...)
	}
	*to = corev1.PodList{Items: c.pods[node]}
	return nil
}
