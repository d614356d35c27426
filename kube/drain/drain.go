// Package drain empties Nodes before their machines go: it cordons them, evicts their pods under PodDisruptionBudgets,
// and tells how far that has come. It never waits: each pass of the engine is one round of evictions, and everything
// that the next round needs to know stands on the Node itself.
package drain

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/noderefutil"
	capidrain "sigs.k8s.io/cluster-api/core/reconcilers/machine/drain"

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
)

// unreachableGraceSeconds is how long pods get, and are waited for, on a Node whose kubelet no longer answers: nobody is
// there to end them.
const unreachableGraceSeconds = 1

// Workload is one workload cluster as one pass over one pool needs it. It implements engine.Nodes.
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
}

// Find gives the nodes of the given provider keys, with the progress of the drains that are ours.
func (w *Workload) Find(ctx context.Context, keys []string) (map[string]pool.Node, error) {
	found, err := nodes.ByProviderKeys(ctx, w.Remote, keys)
	if err != nil {
		return nil, fmt.Errorf("nodes of the pool in the workload cluster: %w", err)
	}
	out := make(map[string]pool.Node, len(found))
	for key, node := range found {
		if err := w.put(ctx, out, key, node); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// nodesPerPage bounds one page of a list of all nodes.
const nodesPerPage = 500

// Ask is Find with the nodes read from the API server: all of them, for a provider ID is no field to select by.
func (w *Workload) Ask(ctx context.Context, keys []string) (map[string]pool.Node, error) {
	wanted := make(map[string]bool, len(keys))
	for _, key := range keys {
		wanted[key] = true
	}
	out := map[string]pool.Node{}
	for page := (&corev1.NodeList{}); ; {
		if err := w.Live.List(ctx, page, client.Limit(nodesPerPage), client.Continue(page.Continue)); err != nil {
			return nil, fmt.Errorf("all nodes of the workload cluster: %w", err)
		}
		for i := range page.Items {
			if key := cloud.ProviderKey(page.Items[i].Spec.ProviderID); wanted[key] {
				if err := w.put(ctx, out, key, &page.Items[i]); err != nil {
					return nil, err
				}
			}
		}
		if page.Continue == "" {
			return out, nil
		}
	}
}

// put adds what can be said about a node. Of two with one key the younger counts.
func (w *Workload) put(ctx context.Context, out map[string]pool.Node, key string, node *corev1.Node) error {
	if older, ok := out[key]; ok && older.Joined.After(node.CreationTimestamp.Time) {
		return nil
	}
	n := w.toNode(node)
	if !n.DrainStarted.IsZero() {
		if err := w.progress(ctx, node, &n); err != nil {
			return err
		}
	}
	out[key] = n
	return nil
}

// toNode is what can be said about a node without looking at its pods.
func (w *Workload) toNode(node *corev1.Node) pool.Node {
	n := pool.Node{
		Name:           node.Name,
		Joined:         node.CreationTimestamp.Time,
		Cordoned:       node.Spec.Unschedulable,
		KubeletVersion: node.Status.NodeInfo.KubeletVersion,
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
// count: none at all, or one that is still to come.
func (w *Workload) started(node *corev1.Node) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, node.Annotations[StartedAnnotation])
	if err != nil || at.IsZero() || at.After(w.Now) {
		return time.Time{}, false
	}
	return at, true
}

// progress says what our drain of the node has still to evict, and what is in its way.
func (w *Workload) progress(ctx context.Context, node *corev1.Node, n *pool.Node) error {
	left, err := w.helper(node).GetPodsForEviction(ctx, w.Cluster, w.Machine, node.Name)
	if err != nil {
		return fmt.Errorf("pods of node %s: %w", node.Name, err)
	}
	pods := left.Pods()
	n.Remaining = len(pods)
	n.Blocked, err = blocked(ctx, w.Remote, pods)
	return err
}

// helper is cluster-api's own drain, set up for the node. It lists, filters and evicts, and waits for nothing.
func (w *Workload) helper(node *corev1.Node) *capidrain.Helper {
	h := &capidrain.Helper{Client: w.Management, RemoteClient: w.Remote, GracePeriodSeconds: -1}
	if noderefutil.IsNodeUnreachable(node) {
		h.GracePeriodSeconds = unreachableGraceSeconds
		h.SkipWaitForDeleteTimeoutSeconds = unreachableGraceSeconds
	}
	return h
}

// sameInstance says whether the node still is the one that a target means: a name may have passed to another machine.
func sameInstance(node *corev1.Node, t pool.Target) bool {
	key := cloud.ProviderKey(node.Spec.ProviderID)
	return key != "" && key == cloud.ProviderKey(t.ProviderID)
}
