package workload

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// PodsOn are the pods on a node.
func (l *Cluster) PodsOn(node string) []corev1.Pod {
	list := &corev1.PodList{}
	l.world.Must(l.User.List(l.world.Context(), list, client.MatchingFields{"spec.nodeName": node}), "list pods")
	return list.Items
}

// evict begins the end of a pod, unless its budget keeps it.
func (l *Cluster) evict(ctx context.Context, o, _ client.Object) error {
	if time.Now().Before(l.blocked) {
		return tooMany()
	}
	if !o.GetDeletionTimestamp().IsZero() {
		return nil
	}
	name := o.GetName()
	l.world.At(time.Now().Add(podEnds), func() { l.finish(name) })
	if err := l.User.Delete(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}); err != nil {
		return fmt.Errorf("delete pod %s: %w", name, err)
	}
	return nil
}

// finish ends a pod for good, and has it started again where there is room.
func (l *Cluster) finish(name string) {
	ctx, pod := l.world.Context(), &corev1.Pod{}
	if l.User.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, pod) != nil {
		return
	}
	l.world.Must(l.User.Delete(ctx, pod, client.GracePeriodSeconds(0)), "end pod %s", name)
	l.homeless++
	l.house()
}

// house starts the pods that wait on the nodes that take any, the emptiest first.
func (l *Cluster) house() {
	list := &corev1.NodeList{}
	l.world.Must(l.User.List(l.world.Context(), list), "list nodes")
	room := map[string]int{}
	for _, n := range list.Items {
		if !n.Spec.Unschedulable && n.Status.Conditions[0].Status == corev1.ConditionTrue {
			room[n.Name] = len(l.PodsOn(n.Name))
		}
	}
	names := slices.Sorted(maps.Keys(room))
	for ; l.homeless > 0 && len(names) > 0; l.homeless-- {
		best := slices.MinFunc(names, func(a, b string) int { return cmp.Compare(room[a], room[b]) })
		room[best]++
		l.world.Must(l.User.Create(l.world.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, GenerateName: budgetName + "-", Labels: map[string]string{"app": budgetName},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: budgetName, UID: "web",
					Controller: ptr.To(true)}},
			},
			Spec: corev1.PodSpec{NodeName: best},
			Status: corev1.PodStatus{Phase: corev1.PodRunning,
				Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
		}), "start a pod on %s", best)
	}
}
