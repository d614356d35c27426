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

// overdue is the time past its grace period after which a terminating pod is reported as blocking its node.
const overdue = time.Minute

// running classifies the pods of a draining node as Cluster API's drain does.
type running struct {
	list *capidrain.PodDeleteList
	// left have to terminate before the node counts as drained.
	left []*corev1.Pod
	// evictable are those of left that are evicted in this round, ending those that are terminating, and completing those that are waited
	// for and never evicted.
	evictable, ending, completing []*corev1.Pod
	// kept are the others, which are never evicted.
	kept []*corev1.Pod
}

// running lists and classifies the pods of a node once a round: Start uses what Find has read.
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

// sorted calls Cluster API's drain to learn what it would do now: only while it evicts does it return the order of drain rules and the pods
// that are waited for. The evictions that it requests here are discarded.
func sorted(ctx context.Context, h *capidrain.Helper, list *capidrain.PodDeleteList) *running {
	r := &running{list: list, left: list.Pods(), kept: list.SkippedPods()}
	if len(r.left) == 0 {
		return r
	}
	dry := *h
	dry.RemoteClient = discardEvictions{h.RemoteClient}
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

// quiet prevents Cluster API's drain from logging in every round what is left: the conditions of the object report that.
func quiet(ctx context.Context) context.Context {
	return ctrl.LoggerInto(ctx, ctrl.LoggerFrom(ctx).V(4))
}

// discardEvictions is a client that discards evictions.
type discardEvictions struct{ client.Client }

// SubResource returns a client that discards evictions; a drain uses no other subresource.
func (c discardEvictions) SubResource(name string) client.SubResourceClient {
	return evictedNobody{c.Client.SubResource(name)}
}

type evictedNobody struct{ client.SubResourceClient }

// Create does nothing.
func (evictedNobody) Create(context.Context, client.Object, client.Object, ...client.SubResourceCreateOption) error {
	return nil
}

// helper returns Cluster API's drain for the node. It lists, filters and evicts, and does not wait.
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

// setsOnce reads each DaemonSet once a pass. The drain reads the DaemonSet of every pod that has one, to find orphans: a dozen pods on each
// of a hundred nodes belong to a dozen DaemonSets.
type setsOnce struct {
	client.Client
	sets map[client.ObjectKey]error
}

// Get reads as its client does, except for DaemonSets, of which it only returns whether they exist.
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

// blocked names the pods that do not terminate by themselves, each with what blocks it, in a stable order.
func (w *Workload) blocked(ctx context.Context, r *running) ([]string, error) {
	out, err := w.keptByBudgets(ctx, r.evictable)
	if err != nil {
		return nil, err
	}
	for _, pod := range r.completing {
		out = append(out, fmt.Sprintf("%s/%s (runs until it completes, because of its drain label or a MachineDrainRule)", pod.Namespace,
			pod.Name))
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
