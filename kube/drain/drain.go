// Package drain empties Nodes before their machines go: it cordons them, evicts their pods under PodDisruptionBudgets,
// and tells how far that has come. It never waits: each pass of the engine is one round of evictions, and everything
// that the next round needs to know stands on the Node itself.
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
	// StartedAnnotation on a Node is the RFC 3339 time at which our drain of it began. It is set together with the
	// cordon, so that a Node that carries it was cordoned for us.
	StartedAnnotation = "muster.dev/drain-started"
	// CordonedBeforeAnnotation on a Node says that somebody else had cordoned it before our drain began: taking the drain
	// back then leaves it cordoned.
	CordonedBeforeAnnotation = "muster.dev/cordoned-before"
	// DetachStartedAnnotation on a Node is the RFC 3339 time at which nothing was left to evict and its volumes began to be
	// waited for.
	DetachStartedAnnotation = "muster.dev/detach-started"
)

// unreachableGraceSeconds is how long pods get, and are waited for, on a Node whose kubelet no longer answers: nobody is
// there to end them.
const unreachableGraceSeconds = 1

// Workload is one workload cluster as one pass over one pool needs it. It implements engine.Nodes, and is made anew for each
// pass, for it remembers what the pass has read.
//
// A round of drains costs, beside the evictions: for each node that drains one list of its pods (a page for each hundred), or one list
// of all pods where many drain, for each namespace in which pods are to be evicted one list of budgets, for each DaemonSet that has pods there one read, and if
// some node waits for its volumes one list of the cluster's volume attachments and one of its volumes. A node is written when
// its drain begins and when it begins to wait for volumes.
type Workload struct {
	// Remote is the client of the workload cluster. Nodes are read from its cache by nodes.ProviderKeyIndex; pods, daemon
	// sets and disruption budgets must be read live.
	Remote client.Client
	// Live reads the workload cluster without a cache.
	Live client.Reader
	// Management is where MachineDrainRules are read.
	Management client.Client
	// Cluster and Machine are what MachineDrainRules select by. The Machine stands for all machines of the pool.
	Cluster *clusterv1.Cluster
	Machine *clusterv1.Machine
	// Now is the time of the pass.
	Now time.Time
	// Memory has what earlier passes saw of drains; nil has nothing.
	Memory *Memory

	// What this pass has read, each thing once.
	seen    map[string]*running
	sets    map[client.ObjectKey]error
	budgets map[string][]policyv1.PodDisruptionBudget
	volumes *volumes
	// pods are those of the whole cluster, by node, where so many nodes drain that they are listed at once.
	pods map[string][]corev1.Pod
}

// Find gives the nodes of the given provider keys, with the progress of the drains that are ours.
func (w *Workload) Find(ctx context.Context, keys []string) (map[string]pool.Node, error) {
	found, err := nodes.ByProviderKeys(ctx, w.Remote, keys)
	if err != nil {
		return nil, fmt.Errorf("nodes of the pool in the workload cluster: %w", err)
	}
	return w.toNodes(ctx, found)
}

// FindUncached is Find with the nodes read from the API server.
func (w *Workload) FindUncached(ctx context.Context, keys []string) (map[string]pool.Node, error) {
	found, err := nodes.AskProviderKeys(ctx, w.Live, keys)
	if err != nil {
		return nil, fmt.Errorf("nodes of the pool in the workload cluster: %w", err)
	}
	return w.toNodes(ctx, found)
}

// Empty reports which of the nodes have no pod that a drain would evict. It takes no longer than a round of evictions: nodes that it
// has not come to by then are left out.
func (w *Workload) Empty(ctx context.Context, keys []string) (map[string]bool, error) {
	if w.excluded(clusterv1.ExcludeNodeDrainingAnnotation) {
		return nil, nil
	}
	found, err := nodes.ByProviderKeys(ctx, w.Remote, keys)
	if err != nil {
		return nil, fmt.Errorf("nodes of the pool in the workload cluster: %w", err)
	}
	spent, cancel := context.WithTimeout(ctx, roundLimit)
	defer cancel()
	if err := w.listPods(ctx, len(found)); err != nil {
		return nil, err
	}
	unused := make(map[string]bool, len(found))
	for _, key := range keys {
		node, ok := found[key]
		if !ok || spent.Err() != nil {
			continue
		}
		r, err := w.running(ctx, node)
		if err != nil {
			return nil, err
		}
		unused[key] = len(r.left) == 0
	}
	return unused, nil
}

// toNodes is what can be said about nodes. Those whose drain was looked at a moment ago, or has ended, are not looked at again.
func (w *Workload) toNodes(ctx context.Context, found map[string]*corev1.Node) (map[string]pool.Node, error) {
	out := make(map[string]pool.Node, len(found))
	var looks []string
	for key, node := range found {
		n := w.toNode(node)
		if n.DrainStarted.IsZero() {
			// No drain has begun, or a user has opened the node since: pods may come until it is closed again.
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

// toNode is what can be said about a node without looking at its pods.
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
	// A node that somebody opened again takes pods again: its drain has to begin anew, whatever the annotation says.
	if node.Spec.Unschedulable {
		n.DrainStarted, _ = w.started(node)
	}
	return n
}

// started is when our drain of the node began; false when it is not ours, or says no time from which its timeout could
// count.
func (w *Workload) started(node *corev1.Node) (time.Time, bool) { return w.at(node, StartedAnnotation) }

// at reads a time that we wrote onto a node: false when there is none, or one that is still to come.
func (w *Workload) at(node *corev1.Node, annotation string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, node.Annotations[annotation])
	if err != nil || at.IsZero() || at.After(w.Now) {
		return time.Time{}, false
	}
	return at, true
}

// excluded says that an annotation of cluster-api's takes the pool's machines out of a part of the drain.
func (w *Workload) excluded(annotation string) bool {
	_, is := w.Machine.Annotations[annotation]
	return is
}

// progress says what our drain of the node has still to evict, what it waits for then, and what is in its way.
func (w *Workload) progress(ctx context.Context, node *corev1.Node, n *pool.Node) error {
	r, err := w.running(ctx, node)
	if err != nil {
		return err
	}
	n.Remaining = len(r.left)
	if n.Blocked, err = w.blocked(ctx, r); err != nil {
		return err
	}
	if n.Remaining > 0 && !w.drainTimeUp(n.DrainStarted) {
		return nil
	}
	waits, err := w.attached(ctx, node, r)
	n.Detaching, n.Blocked = len(waits), append(n.Blocked, waits...)
	return err
}

// sameInstance says whether the node still is the one that a target means: a name may have passed to another machine.
func sameInstance(node *corev1.Node, t pool.InstanceRef) bool {
	key := cloud.ProviderKey(node.Spec.ProviderID)
	return key != "" && key == cloud.ProviderKey(t.ProviderID)
}
