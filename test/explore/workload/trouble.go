package workload

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// tooMany is what an API server says when a budget keeps a pod.
func tooMany() error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	err.ErrStatus.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{
		Type: policyv1.DisruptionBudgetCause, Message: "The disruption budget " + budgetName + " needs more healthy pods",
	}}}
	return err
}

// Noticed is how long a workload cluster is out of reach before its connection is given up.
const Noticed = 50 * time.Second

// AwayUntil is until when the API server does not answer.
func (l *Cluster) AwayUntil() time.Time { return l.away }

// Away reports whether the API server does not answer.
func (l *Cluster) Away() bool { return time.Now().Before(l.away) }

// Left is since when it does not answer, or did not when it last went away.
func (l *Cluster) Left() time.Time { return l.left }

// Blocked reports whether the budget keeps every pod.
func (l *Cluster) Blocked() bool { return time.Now().Before(l.blocked) }

// GoAway takes the workload cluster out of reach for a while. Clients that are connected are told when it is back.
func (l *Cluster) GoAway(d time.Duration) {
	now := time.Now()
	if !now.Before(l.away) {
		l.left = now
	}
	l.guarded(func() { l.away = later(l.away, now.Add(d)) })
	for _, at := range []time.Time{l.left.Add(Noticed + time.Second), l.away} {
		l.world.At(at, l.Reconnect)
	}
}

// Block lets the budget keep every pod for a while.
func (l *Cluster) Block(d time.Duration) {
	l.guarded(func() { l.blocked = later(l.blocked, time.Now().Add(d)) })
	l.allow(0)
	l.world.At(l.blocked, func() {
		if !time.Now().Before(l.blocked) {
			l.allow(plenty)
		}
	})
}

func (l *Cluster) allow(n int32) {
	budget := &policyv1.PodDisruptionBudget{}
	l.world.Must(l.User.Get(l.world.Context(), client.ObjectKey{Namespace: namespace, Name: budgetName}, budget), "read the budget")
	budget.Status.DisruptionsAllowed = n
	l.world.Must(l.User.Update(l.world.Context(), budget), "change the budget")
}

// Unready turns about every other node not Ready for a while.
func (l *Cluster) Unready(d time.Duration) {
	for _, m := range l.running() {
		if m.joined && l.seed.Chance("ready", m.ID) < 0.5 {
			l.ready(m, corev1.ConditionFalse)
			l.world.At(time.Now().Add(d), func() {
				if m.off.IsZero() {
					l.ready(m, corev1.ConditionTrue)
				}
			})
		}
	}
}

// MarkByUser asks for the n-th node to go first, as a user does by an annotation or as the cluster-autoscaler does by a taint.
func (l *Cluster) MarkByUser(n int) {
	var list []*corev1.Node
	for _, m := range l.running() {
		if node := l.node(m); node != nil && m.joined {
			list = append(list, node)
		}
	}
	if len(list) == 0 {
		return
	}
	node := list[n%len(list)]
	if l.seed.Chance("taint", node.Name) < 0.5 {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: "ToBeDeletedByClusterAutoscaler", Value: "1",
			Effect: corev1.TaintEffectNoSchedule})
	} else {
		annotateForDeletion(node)
	}
	l.marks(node)
}

// MarkNode asks for a node to go first, as a user does by an annotation.
func (l *Cluster) MarkNode(node *corev1.Node) {
	annotateForDeletion(node)
	l.marks(node)
}

func annotateForDeletion(node *corev1.Node) {
	metav1.SetMetaDataAnnotation(&node.ObjectMeta, clusterv1.DeleteMachineAnnotation, "yes")
}

// marks writes a node that was marked, and notes when that was.
func (l *Cluster) marks(node *corev1.Node) {
	l.world.Must(l.User.Update(l.world.Context(), node), "mark node %s", node.Name)
	l.by[l.MachineOf(node.Name)].marked = time.Now()
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
