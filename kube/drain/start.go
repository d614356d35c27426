package drain

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/cluster-api/controllers/noderefutil"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/pool"
)

// roundLimit bounds the time that one round of evictions blocks a worker, in addition to its last node, for which the library has the
// same limit.
const roundLimit = 10 * time.Second

// Start begins a Drain or an Undrain step on the nodes of its targets and returns. Nothing is done for a target whose node is gone, or
// whose node's name belongs to another instance. All targets are tried; their errors are joined. A round that has taken roundLimit leaves
// the remaining nodes for the next one.
func (w *Workload) Start(ctx context.Context, s pool.Step) error {
	var one func(context.Context, *corev1.Node, pool.InstanceRef) error
	switch s.Kind {
	case pool.Drain:
		one = w.drain
	case pool.Undrain:
		one = w.undrain
	default:
		return fmt.Errorf("step %s is not about nodes: only %s and %s are", s.Kind, pool.Drain, pool.Undrain)
	}
	if s.Kind == pool.Drain {
		if err := w.listPods(ctx, len(s.Targets)); err != nil {
			return err
		}
	}
	spent, cancel := context.WithTimeout(ctx, roundLimit)
	defer cancel()
	var failed []error
	targets := map[string]bool{}
	for _, t := range s.Targets {
		if t.Node == "" {
			continue
		}
		if spent.Err() != nil {
			break
		}
		if err := w.with(ctx, t, one); err != nil {
			failed = append(failed, fmt.Errorf("node %s: %w", t.Node, err))
			targets[t.ID] = true
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return &engine.PartialError{Failed: targets, Err: errors.Join(failed...)}
}

// writeTries bounds the attempts to write a Node after conflicts. Kubelets write their Nodes every few seconds.
const writeTries = 3

// with calls f for the target's node, if it still belongs to the target. After a conflict it reads the node from the API server.
func (w *Workload) with(ctx context.Context, t pool.InstanceRef, f func(context.Context, *corev1.Node, pool.InstanceRef) error) error {
	var err error
	from := client.Reader(w.Remote)
	for range writeTries {
		node := &corev1.Node{}
		if err := from.Get(ctx, client.ObjectKey{Name: t.Node}, node); err != nil {
			return client.IgnoreNotFound(err)
		}
		if !sameInstance(node, t) {
			return nil
		}
		w.Memory.forget(node.UID)
		if err = f(ctx, node, t); !apierrors.IsConflict(err) {
			return err
		}
		from = w.Live
	}
	return &engine.ConflictError{Err: fmt.Errorf("other clients keep changing it, the next pass tries again: %w", err)}
}

// drain cordons the node and evicts what can be evicted now. Pods that a budget protects are no error: the next pass retries, and reports
// what blocks the drain. Once nothing is left to evict it records since when volumes are waited for.
func (w *Workload) drain(ctx context.Context, node *corev1.Node, t pool.InstanceRef) error {
	if err := w.cordon(ctx, node, t.Quarantined); err != nil {
		return client.IgnoreNotFound(err)
	}
	r, err := w.running(ctx, node)
	if err != nil {
		return err
	}
	delete(w.seen, node.Name)
	since, _ := w.started(node)
	if len(r.left) == 0 || w.drainTimeUp(since) || t.Voluntary && w.forceTimeUp(since) {
		return w.waitForVolumes(ctx, node, r)
	}
	return unexpected(w.helper(node).EvictPods(quiet(ctx), r.list).PodsFailedEviction)
}

// waitForVolumes records since when the node waits for its volumes, if it does.
func (w *Workload) waitForVolumes(ctx context.Context, node *corev1.Node, r *running) error {
	if _, waits := w.at(node, DetachStartedAnnotation); waits {
		return nil
	}
	if attached, err := w.attached(ctx, node, r); err != nil || len(attached) == 0 {
		return err
	}
	before := node.DeepCopy()
	node.Annotations[DetachStartedAnnotation] = w.Now.UTC().Format(time.RFC3339)
	return client.IgnoreNotFound(w.patch(ctx, before, node))
}

// passing are the beginnings of messages of the API server and the library about evictions that are not possible now: budgets, namespaces
// that are being deleted, and the round's own time limit.
var passing = []string{"Cannot evict pod", "This pod has more than one PodDisruptionBudget", "eviction timeout"}

// unexpected returns an error with what the API server returned for evictions, except for what passes by itself or is reported by Find as
// blocking the drain.
func unexpected(failed map[string][]*corev1.Pod) error {
	var errs []error
	for _, message := range slices.Sorted(maps.Keys(failed)) {
		if slices.ContainsFunc(passing, func(p string) bool { return strings.HasPrefix(message, p) }) {
			continue
		}
		pod := failed[message][0]
		errs = append(errs, fmt.Errorf("evict pod %s/%s (and %d more like it): %s", pod.Namespace, pod.Name, len(failed[message])-1, message))
	}
	return errors.Join(errs...)
}

// cordon cordons the node and records when its drain began, in one write. A drain that has begun before keeps its time, so that its timeout
// cannot be extended; that of another machine, which took over the Node, does not count. The label says whether the node is quarantined.
func (w *Workload) cordon(ctx context.Context, node *corev1.Node, quarantined bool) error {
	before := node.DeepCopy()
	if node.Annotations == nil {
		node.Annotations = map[string]string{}
	}
	if started, ok := w.started(node); ok && !nodes.Draining(node) && readyAfter(node, started) {
		forget(node)
	}
	if _, ok := w.started(node); !ok {
		// Muster has cordoned a node with the annotation, whatever time it contains.
		if _, ours := node.Annotations[nodes.DrainStartedAnnotation]; !ours && node.Spec.Unschedulable {
			node.Annotations[CordonedBeforeAnnotation] = "true"
		}
		node.Annotations[nodes.DrainStartedAnnotation] = w.Now.UTC().Format(time.RFC3339)
		delete(node.Annotations, DrainAbandonedAnnotation)
	} else if !node.Spec.Unschedulable {
		// The other client has taken its cordon back: from now on the cordon is Muster's alone.
		delete(node.Annotations, CordonedBeforeAnnotation)
	}
	node.Spec.Unschedulable = true
	label(node, quarantined)
	return w.patch(ctx, before, node)
}

// readyAfter reports whether a node is Ready and turned so after a moment. One that was opened since its drain began and has turned Ready
// is that of another machine, which the cloud created under the name of the drained one.
func readyAfter(node *corev1.Node, moment time.Time) bool {
	ready := noderefutil.GetReadyCondition(&node.Status)
	return ready != nil && ready.Status == corev1.ConditionTrue && ready.LastTransitionTime.Truncate(time.Second).After(moment)
}

// label sets or removes the label of a quarantined node.
func label(node *corev1.Node, quarantined bool) {
	if !quarantined {
		delete(node.Labels, nodes.QuarantinedLabel)
		return
	}
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	node.Labels[nodes.QuarantinedLabel] = "true"
}

// forget removes what Muster has noted of a drain.
func forget(node *corev1.Node) {
	label(node, false)
	for _, noted := range []string{nodes.DrainStartedAnnotation, CordonedBeforeAnnotation, DetachStartedAnnotation} {
		delete(node.Annotations, noted)
	}
}

// undrain undoes what cordon did: a node that another client has cordoned stays cordoned. It records that a blocked drain was abandoned.
func (w *Workload) undrain(ctx context.Context, node *corev1.Node, t pool.InstanceRef) error {
	if _, ours := node.Annotations[nodes.DrainStartedAnnotation]; !ours {
		return nil
	}
	before := node.DeepCopy()
	if _, others := node.Annotations[CordonedBeforeAnnotation]; !others {
		node.Spec.Unschedulable = false
	}
	forget(node)
	if t.Cause.Reason == pool.DrainBlocked {
		node.Annotations[DrainAbandonedAnnotation] = w.Now.UTC().Format(time.RFC3339)
	}
	return client.IgnoreNotFound(w.patch(ctx, before, node))
}

// patch writes the difference, if there is one, against exactly the node that was read: otherwise a cordon that another client set in the
// meantime would count as Muster's own.
func (w *Workload) patch(ctx context.Context, before, node *corev1.Node) error {
	if node.Spec.Unschedulable == before.Spec.Unschedulable && maps.Equal(node.Annotations, before.Annotations) &&
		maps.Equal(node.Labels, before.Labels) {
		return nil
	}
	return w.Remote.Patch(ctx, node, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}
