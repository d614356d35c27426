package drain

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/noderefutil"
	capidrain "sigs.k8s.io/cluster-api/core/reconcilers/machine/drain"
)

// overdue is how long after its grace period a pod that terminates is said to keep its node.
const overdue = time.Minute

// running are the pods of a node that is drained, as cluster-api's drain sorts them.
type running struct {
	list *capidrain.PodDeleteList
	// left have to go before the node counts as drained.
	left []*corev1.Pod
	// evictable are those of them that are evicted in this round, ending those that terminate already, and completing those
	// that are waited for and never evicted.
	evictable, ending, completing []*corev1.Pod
	// kept are the others, which nobody evicts.
	kept []*corev1.Pod
}

// running lists and sorts the pods of a node, once a round: what Find has seen a moment ago, Start uses.
func (w *Workload) running(ctx context.Context, node *corev1.Node) (*running, error) {
	if seen := w.seen[node.Name]; seen != nil {
		return seen, nil
	}
	h := w.helper(node)
	list, err := h.GetPodsForEviction(ctx, w.Cluster, w.Machine, node.Name)
	if err != nil {
		return nil, fmt.Errorf("pods of node %s: %w", node.Name, err)
	}
	r := sorted(ctx, h, list)
	if w.excluded(clusterv1.ExcludeNodeDrainingAnnotation) {
		r = &running{list: &capidrain.PodDeleteList{}, kept: append(r.left, list.SkippedPods()...)}
	}
	if w.seen == nil {
		w.seen = map[string]*running{}
	}
	w.seen[node.Name] = r
	return r, nil
}

// sorted asks cluster-api's drain what it would do now: it tells the order of drain rules, and which pods are waited for, only
// while it evicts. The evictions that it asks for here reach nobody.
func sorted(ctx context.Context, h *capidrain.Helper, list *capidrain.PodDeleteList) *running {
	r := &running{list: list, left: list.Pods(), kept: list.SkippedPods()}
	if len(r.left) == 0 {
		return r
	}
	dry := *h
	dry.RemoteClient = evictsNobody{h.RemoteClient}
	would := dry.EvictPods(quiet(ctx), list)
	for _, pod := range would.PodsDeletionTimestampSet {
		if pod.DeletionTimestamp.IsZero() {
			r.evictable = append(r.evictable, pod)
		} else {
			r.ending = append(r.ending, pod)
		}
	}
	r.completing = append(would.PodsToWaitCompletedNow, would.PodsToWaitCompletedLater...)
	return r
}

// quiet keeps cluster-api's drain from saying in every round at its ordinary level what is left: the object's conditions say
// that already.
func quiet(ctx context.Context) context.Context {
	return ctrl.LoggerInto(ctx, ctrl.LoggerFrom(ctx).V(4))
}

// evictsNobody is a client whose evictions do nothing.
type evictsNobody struct{ client.Client }

// SubResource gives evictions that do nothing; there is no other use of it in a drain.
func (c evictsNobody) SubResource(name string) client.SubResourceClient {
	return evictedNobody{c.Client.SubResource(name)}
}

type evictedNobody struct{ client.SubResourceClient }

// Create does nothing.
func (evictedNobody) Create(context.Context, client.Object, client.Object, ...client.SubResourceCreateOption) error {
	return nil
}

// helper is cluster-api's own drain, set up for the node. It lists, filters and evicts, and waits for nothing.
func (w *Workload) helper(node *corev1.Node) *capidrain.Helper {
	if w.sets == nil {
		w.sets = map[client.ObjectKey]error{}
	}
	remote := w.Remote
	if w.pods != nil {
		remote = listedPods{Client: remote, pods: w.pods}
	}
	h := &capidrain.Helper{Client: w.Management, RemoteClient: setsOnce{Client: remote, sets: w.sets}, GracePeriodSeconds: -1}
	if noderefutil.IsNodeUnreachable(node) {
		h.GracePeriodSeconds = unreachableGraceSeconds
		h.SkipWaitForDeleteTimeoutSeconds = unreachableGraceSeconds
	}
	return h
}

// setsOnce reads each DaemonSet once a pass. The drain looks for the DaemonSet of every pod that has one, to know orphans: a
// dozen pods on each of a hundred nodes are a dozen sets.
type setsOnce struct {
	client.Client
	sets map[client.ObjectKey]error
}

// Get reads as its client does, but for DaemonSets, of which it only tells whether they are there.
func (c setsOnce) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if _, ok := o.(*appsv1.DaemonSet); !ok {
		return c.Client.Get(ctx, key, o, opts...)
	}
	if err, known := c.sets[key]; known {
		return err
	}
	err := c.Client.Get(ctx, key, o, opts...)
	if err == nil || apierrors.IsNotFound(err) {
		c.sets[key] = err
	}
	return err
}

// blocked names the pods that do not go by themselves, each with what keeps it, in a stable order.
func (w *Workload) blocked(ctx context.Context, r *running) ([]string, error) {
	out, err := w.keptByBudgets(ctx, r.evictable)
	if err != nil {
		return nil, err
	}
	for _, pod := range r.completing {
		out = append(out, fmt.Sprintf("%s/%s (runs until it has completed, as its drain label or a MachineDrainRule asks)", pod.Namespace, pod.Name))
	}
	for _, pod := range r.ending {
		if w.Now.Sub(pod.DeletionTimestamp.Time) < overdue {
			continue
		}
		why := "its kubelet has not ended it"
		if len(pod.Finalizers) > 0 {
			why = "finalizers " + strings.Join(pod.Finalizers, ", ")
		}
		out = append(out, fmt.Sprintf("%s/%s (terminating beyond its grace period: %s)", pod.Namespace, pod.Name, why))
	}
	slices.Sort(out)
	return out, nil
}
