package workload

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/test/explore/memapi"
)

// CordonByUser has a user cordon the n-th node, and returns it; nil if there is none.
func (l *Cluster) CordonByUser(n int) *corev1.Node {
	var list []*corev1.Node
	for _, m := range l.running() {
		if node := l.node(m); node != nil && m.joined && !node.Spec.Unschedulable {
			list = append(list, node)
		}
	}
	if len(list) == 0 {
		return nil
	}
	node := list[n%len(list)]
	node.Spec.Unschedulable = true
	l.cordoned[node.Name] = true
	l.world.Must(l.User.Update(l.world.Context(), node), "cordon node %s", node.Name)
	return node
}

// UncordonByUsers has users take back their cordons, except where a drain has begun meanwhile, and reports whether there was one to take
// back.
func (l *Cluster) UncordonByUsers() bool {
	uncordoned := false
	for _, m := range l.running() {
		node := l.node(m)
		if node == nil || !l.cordoned[node.Name] || node.Annotations[nodes.DrainStartedAnnotation] != "" || !l.DrainStarted(m.ID).IsZero() {
			continue
		}
		delete(l.cordoned, node.Name)
		node.Spec.Unschedulable, uncordoned = false, true
		l.world.Must(l.User.Update(l.world.Context(), node), "uncordon node %s", node.Name)
	}
	l.house()
	return uncordoned
}

// UncordonRestored has a user take back the cordons of Machines whose deletion was not in the backup: their controller knows of no drain.
func (l *Cluster) UncordonRestored() {
	for _, m := range l.running() {
		node := l.node(m)
		if node == nil || !node.Spec.Unschedulable || node.Annotations[nodes.DrainStartedAnnotation] != "" || l.cordoned[node.Name] {
			continue
		}
		node.Spec.Unschedulable = false
		l.world.Must(l.User.Update(l.world.Context(), node), "uncordon node %s", node.Name)
	}
}

// Lifts reports whether a write has taken back the cordon of a user.
func (l *Cluster) Lifts(op memapi.Op) bool {
	node := &corev1.Node{}
	return op.Kind == "Node" && l.cordoned[op.Key.Name] && l.User.Get(l.world.Context(), op.Key, node) == nil && !node.Spec.Unschedulable
}
