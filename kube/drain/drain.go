// Package drain empties Nodes before their machines are removed: it cordons them, evicts their pods under PodDisruptionBudgets, and reports
// progress. It never waits: each pass of the engine is one round of evictions, and all state that the next round needs is stored on the
// Node.
package drain

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/noderefutil"
	"sigs.k8s.io/cluster-api/util/annotations"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/pool"
)

const (
	// CordonedBeforeAnnotation on a Node is set if another client had cordoned it before the drain began. Undoing the drain then leaves it
	// cordoned.
	CordonedBeforeAnnotation = "muster.dev/cordoned-before"
	// DetachStartedAnnotation on a Node is the RFC 3339 time at which no pod was left to evict and the wait for its volumes began.
	DetachStartedAnnotation = "muster.dev/detach-started"
	// DrainAbandonedAnnotation on a Node is the RFC 3339 time at which its drain was cancelled because it was blocked and another machine
	// could go. The next drain removes it.
	DrainAbandonedAnnotation = "muster.dev/drain-abandoned"
)

// unreachableGraceSeconds is the grace period of pods on a Node whose kubelet no longer responds, and how long they are waited for: no
// kubelet can terminate them.
const unreachableGraceSeconds = 1

// Workload is one workload cluster during one pass over one pool. It implements engine.Nodes, and is created for each pass, because it
// caches what the pass has read.
//
// In addition to the evictions a round of drains costs: one list of pods for each draining node (a page for each hundred), or one list of
// all pods if many nodes drain; one list of budgets for each namespace with pods to evict; one read for each DaemonSet with pods on these
// nodes; and if a node waits for its volumes, one list of the volume attachments and one of the volumes of the cluster. A node is written
// when its drain begins and when the wait for its volumes begins.
type Workload struct {
	// Remote is the client of the workload cluster. Nodes are read from its cache by nodes.ProviderKeyIndex; pods, DaemonSets and
	// disruption budgets must be read from the API server.
	Remote client.Client
	// Live reads the workload cluster without a cache.
	Live client.Reader
	// Management is the cluster from which MachineDrainRules are read.
	Management client.Client
	// Cluster and Machine are matched against the selectors of MachineDrainRules. The Machine represents all machines of the pool.
	Cluster *clusterv1.Cluster
	Machine *clusterv1.Machine
	// ForceAfter is the time after which the drain of a machine that a rollout replaces ends, whatever is left; zero is none.
	ForceAfter time.Duration
	// ForeignHolds are the marks of other tools that keep the machines of Nodes from being replaced.
	ForeignHolds []nodes.Mark
	// Now is the time of the pass.
	Now time.Time
	// Memory has the progress that earlier passes have read; nil has none.
	Memory *Memory

	// What this pass has read, each object once.
	seen    map[string]*running
	sets    map[client.ObjectKey]error
	budgets map[string][]policyv1.PodDisruptionBudget
	volumes *volumes
	// pods are the pods of the whole cluster by node, if so many nodes drain that they are listed at once.
	pods map[string][]corev1.Pod
}

// Find returns the nodes with the given provider keys, with the progress of Muster's drains.
func (w *Workload) Find(ctx context.Context, keys []string) (map[string]pool.Node, error) {
	found, err := nodes.ByProviderKeys(ctx, w.Remote, keys)
	if err != nil {
		return nil, fmt.Errorf("nodes of the pool in the workload cluster: %w", err)
	}
	return w.toNodes(ctx, found)
}

// FindUncached does the same as Find, with the nodes read from the API server.
func (w *Workload) FindUncached(ctx context.Context, keys []string) (map[string]pool.Node, error) {
	found, err := nodes.LiveByProviderKeys(ctx, w.Live, keys)
	if err != nil {
		return nil, fmt.Errorf("nodes of the pool in the workload cluster: %w", err)
	}
	return w.toNodes(ctx, found)
}

// Evictable reports what a drain would find on the nodes. It takes no longer than a round of evictions: nodes that it has not read by then
// are left out.
func (w *Workload) Evictable(ctx context.Context, keys []string) (map[string]pool.Evictable, error) {
	if w.excluded(clusterv1.ExcludeNodeDrainingAnnotation) {
		return nil, nil
	}
	return ofNodes(ctx, w, keys, w.evictable)
}

// nodeReader reads what the pods of one node say.
type nodeReader[T any] func(context.Context, *corev1.Node) (T, error)

// ofNodes returns what is read of the pods of each node, by provider key. It takes no longer than a round of evictions: nodes that it has
// not read by then are left out, and so are those that do not exist.
func ofNodes[T any](ctx context.Context, w *Workload, keys []string, read nodeReader[T]) (map[string]T, error) {
	found, err := nodes.ByProviderKeys(ctx, w.Remote, keys)
	if err != nil {
		return nil, fmt.Errorf("nodes of the pool in the workload cluster: %w", err)
	}
	spent, cancel := context.WithTimeout(ctx, roundLimit)
	defer cancel()
	if err := w.listPods(ctx, len(found)); err != nil {
		return nil, err
	}
	out := make(map[string]T, len(found))
	for _, key := range keys {
		node, ok := found[key]
		if !ok || spent.Err() != nil {
			continue
		}
		if out[key], err = read(ctx, node); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// evictable returns what a drain would find on a node.
func (w *Workload) evictable(ctx context.Context, node *corev1.Node) (pool.Evictable, error) {
	r, err := w.running(ctx, node)
	if err != nil || len(r.left) == 0 {
		return pool.EvictNothing, err
	}
	blocked, err := w.blocked(ctx, r)
	if len(blocked) > 0 {
		return pool.EvictSome, err
	}
	return pool.EvictAll, err
}

// toNodes converts Nodes. The pods of a node are not listed again if its progress was read recently or its drain has completed.
func (w *Workload) toNodes(ctx context.Context, found map[string]*corev1.Node) (map[string]pool.Node, error) {
	out := make(map[string]pool.Node, len(found))
	var looks []string
	for key, node := range found {
		n := w.toNode(node)
		if n.DrainStarted.IsZero() {
			// No drain has begun, or a user has uncordoned the node since: pods may be scheduled until it is cordoned again.
			w.Memory.forget(node.UID)
		} else if known, ok := w.Memory.of(node.UID, w.when(node), w.Now); ok {
			n.Remaining, n.Detaching, n.Blocked = known.Remaining, known.Detaching, slices.Clone(known.Blocked)
		} else {
			looks = append(looks, key)
		}
		out[key] = n
	}
	if err := w.listPods(ctx, len(looks)); err != nil {
		return nil, err
	}
	for _, key := range looks {
		n := out[key]
		if err := w.progress(ctx, found[key], &n); err != nil {
			return nil, err
		}
		w.Memory.keep(found[key].UID, w.when(found[key]), w.Now, n)
		out[key] = n
	}
	return out, nil
}

// toNode converts a Node without its pods.
func (w *Workload) toNode(node *corev1.Node) pool.Node {
	n := pool.Node{
		Name:            node.Name,
		Joined:          node.CreationTimestamp.Time,
		Cordoned:        node.Spec.Unschedulable,
		SkipRemediation: annotations.HasSkipRemediation(node),
		KubeletVersion:  node.Status.NodeInfo.KubeletVersion,
	}
	if ready := noderefutil.GetReadyCondition(&node.Status); ready != nil {
		n.Ready = ready.Status == corev1.ConditionTrue
		n.ReadySince = ready.LastTransitionTime.Time
	}
	n.Held, n.HeldUntil = nodes.Held(node)
	n.Preserved, n.PreservedUntil = nodes.Preserved(node)
	if by := nodes.ForeignHold(node, w.ForeignHolds); by != "" && (!n.Held || !n.HeldUntil.IsZero()) {
		n.Held, n.HeldUntil, n.HeldBy = true, time.Time{}, by
	}
	if nodes.Draining(node) {
		n.DrainStarted, _ = w.started(node)
		n.Quarantined = nodes.Quarantined(node)
	} else {
		n.DrainAbandoned, _ = w.at(node, DrainAbandonedAnnotation)
	}
	return n
}

// started returns when Muster began to drain the node; false if it did not, or if the annotation contains no time from which the timeout
// could count.
func (w *Workload) started(node *corev1.Node) (time.Time, bool) {
	return w.at(node, nodes.DrainStartedAnnotation)
}

// at returns a time that Muster has written to a node; false if there is none, or if it is in the future.
func (w *Workload) at(node *corev1.Node, annotation string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, node.Annotations[annotation])
	if err != nil || at.IsZero() || at.After(w.Now) {
		return time.Time{}, false
	}
	return at, true
}

// excluded reports whether an annotation of Cluster API excludes the pool's machines from a part of the drain.
func (w *Workload) excluded(annotation string) bool {
	_, is := w.Machine.Annotations[annotation]
	return is
}

// progress sets what is left to evict on a draining node, what it waits for after that, and what blocks it.
func (w *Workload) progress(ctx context.Context, node *corev1.Node, n *pool.Node) error {
	r, err := w.running(ctx, node)
	if err != nil {
		return err
	}
	n.Remaining = len(r.left)
	if n.Blocked, err = w.blocked(ctx, r); err != nil {
		return err
	}
	if n.Remaining > 0 && !w.drainTimeUp(n.DrainStarted) && !w.forceTimeUp(n.DrainStarted) {
		return nil
	}
	waits, err := w.attached(ctx, node, r)
	n.Detaching, n.Blocked = len(waits), append(n.Blocked, waits...)
	return err
}

// sameInstance reports whether the node still belongs to the instance of a target: another machine may have taken its name.
func sameInstance(node *corev1.Node, t pool.InstanceRef) bool {
	key := cloud.ProviderKey(node.Spec.ProviderID)
	return key != "" && key == cloud.ProviderKey(t.ProviderID)
}
