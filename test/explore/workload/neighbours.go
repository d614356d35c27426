package workload

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// agentName is the name of the DaemonSet, which no drain evicts.
	agentName = "agent"
	// holdFinalizer keeps some of the pods for heldFor after their end has begun.
	holdFinalizer = "explored.example/hold"
	heldFor       = 25 * time.Second
)

// neighbours makes the DaemonSet of a cluster in which other controllers are at work.
func (l *Cluster) neighbours() {
	if l.Neighbours {
		l.env.Must(l.User.Create(l.env.Context(), &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: agentName}}),
			"make the DaemonSet")
	}
}

// startAgent starts the DaemonSet's pod on a node.
func (a *App) startAgent(node string) {
	l := a.cluster
	if !l.Neighbours {
		return
	}
	l.env.Must(client.IgnoreAlreadyExists(l.User.Create(l.env.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: agentName + "-" + node, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "DaemonSet", Name: agentName, UID: agentName, Controller: ptr.To(true)}}},
		Spec: corev1.PodSpec{NodeName: node},
	})), "start the agent of node %s", node)
}

// stopAgent ends the DaemonSet's pod on a node that is gone.
func (a *App) stopAgent(node string) {
	l := a.cluster
	if l.Neighbours {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: agentName + "-" + node}}
		l.env.Must(client.IgnoreNotFound(l.User.Delete(l.env.Context(), pod, client.GracePeriodSeconds(0))), "end the agent of node %s", node)
	}
}

// held returns the finalizers of the n-th pod: each third one has one.
func (a *App) held(n int) []string {
	if a.cluster.Neighbours && n%3 == 0 {
		return []string{holdFinalizer}
	}
	return nil
}

// free removes the finalizer of a pod as its controller does: after a while, or at once if the pod's node is gone. It reports whether the
// pod ends later.
func (a *App) free(pod *corev1.Pod, atOnce bool) (later bool) {
	c := a.cluster
	if !slices.Contains(pod.Finalizers, holdFinalizer) {
		return false
	}
	if !atOnce && time.Since(pod.DeletionTimestamp.Time) < heldFor {
		c.env.At(pod.DeletionTimestamp.Add(heldFor), func() { a.finish(pod.Name) })
		return true
	}
	pod.Finalizers = nil
	c.env.Must(c.User.Update(c.env.Context(), pod), "free pod %s", pod.Name)
	return false
}
