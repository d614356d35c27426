package workload

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// App is the application in a cluster: pods under one disruption budget.
type App struct {
	cluster *Cluster
	// homeless counts the pods without a Node, pods all of them.
	homeless, pods int
	// started counts all pods that were ever started.
	started int
	// blocked is the time until which the budget rejects every eviction.
	blocked time.Time
}

// PodsOn returns the pods of the application on a node.
func (a *App) PodsOn(node string) []corev1.Pod {
	list := &corev1.PodList{}
	a.cluster.env.Must(a.cluster.User.List(a.cluster.env.Context(), list, client.MatchingFields{"spec.nodeName": node}), "list pods")
	return slices.DeleteFunc(list.Items, func(pod corev1.Pod) bool { return pod.Labels["app"] != budgetName })
}

// evict begins the end of a pod, unless its budget keeps it.
func (a *App) evict(ctx context.Context, o, _ client.Object) error {
	if time.Now().Before(a.blocked) {
		return tooMany()
	}
	if !o.GetDeletionTimestamp().IsZero() {
		return nil
	}
	name := o.GetName()
	a.cluster.env.At(time.Now().Add(podEnds), func() { a.finish(name) })
	if err := a.cluster.User.Delete(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}); err != nil {
		return fmt.Errorf("delete pod %s: %w", name, err)
	}
	return nil
}

// finish ends a pod for good, unless a finalizer holds it, and restarts it where there is room.
func (a *App) finish(name string) { a.end(name, false) }

// lose ends a pod whose node is gone.
func (a *App) lose(name string) { a.end(name, true) }

func (a *App) end(name string, lost bool) {
	c := a.cluster
	ctx, pod := c.env.Context(), &corev1.Pod{}
	if c.User.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, pod) != nil || a.free(pod, lost) {
		return
	}
	c.env.Must(client.IgnoreNotFound(c.User.Delete(ctx, pod, client.GracePeriodSeconds(0))), "end pod %s", name)
	a.homeless++
	a.house()
}

// house starts the pods that wait on the nodes that take any, the emptiest first.
func (a *App) house() {
	c := a.cluster
	list := &corev1.NodeList{}
	c.env.Must(c.User.List(c.env.Context(), list), "list nodes")
	room := map[string]int{}
	for _, n := range list.Items {
		if !n.Spec.Unschedulable && n.Status.Conditions[0].Status == corev1.ConditionTrue {
			room[n.Name] = len(a.PodsOn(n.Name))
		}
	}
	names := slices.Sorted(maps.Keys(room))
	for ; a.homeless > 0 && len(names) > 0; a.homeless-- {
		a.started++
		best := slices.MinFunc(names, func(a, b string) int { return cmp.Compare(room[a], room[b]) })
		room[best]++
		c.env.Must(c.User.Create(c.env.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, GenerateName: budgetName + "-", Labels: map[string]string{"app": budgetName}, Finalizers: a.held(a.started),
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: budgetName, UID: "web",
					Controller: ptr.To(true)}},
			},
			Spec: corev1.PodSpec{NodeName: best},
			Status: corev1.PodStatus{Phase: corev1.PodRunning,
				Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
		}), "start a pod on %s", best)
	}
}

// Expel begins the termination of a pod regardless of its budget.
func (a *App) Expel(pod *corev1.Pod) {
	c := a.cluster
	if !pod.DeletionTimestamp.IsZero() {
		return
	}
	c.env.At(time.Now().Add(podEnds), func() { a.finish(pod.Name) })
	c.env.Must(c.User.Delete(c.env.Context(), pod), "evict pod %s", pod.Name)
	c.env.Stir()
}

// Blocked reports whether the budget keeps every pod.
func (a *App) Blocked() bool { return time.Now().Before(a.blocked) }

// Block lets the budget keep every pod for a while.
func (a *App) Block(d time.Duration) {
	a.cluster.guarded(func() { a.blocked = later(a.blocked, time.Now().Add(d)) })
	a.allow(0)
	a.cluster.env.At(a.blocked, func() {
		if !time.Now().Before(a.blocked) {
			a.allow(plenty)
		}
	})
}

func (a *App) allow(n int32) {
	c := a.cluster
	budget := &policyv1.PodDisruptionBudget{}
	key := client.ObjectKey{Namespace: namespace, Name: budgetName}
	c.env.Must(c.User.Get(c.env.Context(), key, budget), "read the budget")
	budget.Status.DisruptionsAllowed = n
	c.env.Must(c.User.Update(c.env.Context(), budget), "change the budget")
}

// tooMany returns the error of an API server for an eviction that a budget rejects.
func tooMany() error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	err.ErrStatus.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{
		Type: policyv1.DisruptionBudgetCause, Message: "The disruption budget " + budgetName + " needs more healthy pods",
	}}}
	return err
}
