package workload

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/test/explore/oracle"
)

// Truth is what is so, whether the API server answers or not.
func (l *Cluster) Truth() map[string]oracle.Node {
	l.Arrive()
	all := map[string]oracle.Node{}
	for id, m := range l.by {
		n := oracle.Node{Joined: m.joined && m.off.IsZero(), Marked: m.marked}
		if !n.Joined {
			all[id] = n
			continue
		}
		n.Pods = len(l.PodsOn(m.Hostname))
		if node := l.node(m); node != nil {
			n.Ready = node.Status.Conditions[0].Status == corev1.ConditionTrue
			n.Cordoned = node.Spec.Unschedulable
			n.DrainStarted = l.drainOf(m, node)
		} else {
			n.DrainStarted = m.drained
		}
		all[id] = n
	}
	return all
}

// drainOf is when the first drain of the machine's node began, by Muster or for its Machine; zero where none has.
func (l *Cluster) drainOf(m *machine, node *corev1.Node) (began time.Time) {
	if at, err := time.Parse(time.RFC3339, node.Annotations[nodes.DrainStartedAnnotation]); err == nil && node.Spec.Unschedulable {
		began = at
	}
	if at := l.DrainStarted(m.ID); !at.IsZero() && (began.IsZero() || at.Before(began)) {
		began = at
	}
	return began
}

// Deletes remembers the drain of a node that Muster is about to delete while its machine runs.
func (l *Cluster) Deletes(name string) {
	if m := l.by[l.MachineOf(name)]; m != nil {
		if node := l.node(m); node != nil {
			m.drained = l.drainOf(m, node)
		}
	}
}
