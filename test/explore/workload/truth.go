package workload

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/test/explore/oracle"
)

// quarantineLabel is the label of nodes in quarantine, as the project promises it.
const quarantineLabel = "muster.dev/quarantined"

// Truth returns the actual state of the Nodes, also while the API server is down.
func (l *Cluster) Truth() map[string]oracle.Node {
	l.Arrive()
	all := map[string]oracle.Node{}
	for id, m := range l.by {
		n := oracle.Node{Joined: m.joined && m.off.IsZero(), Marked: m.marked}
		if !n.Joined {
			all[id] = n
			continue
		}
		n.Pods = len(l.App.PodsOn(m.Hostname))
		if node := l.node(m); node != nil {
			n.Ready = node.Status.Conditions[0].Status == corev1.ConditionTrue
			n.Cordoned = node.Spec.Unschedulable
			n.DrainStarted, n.Quarantined = l.Drains.of(m, node), node.Labels[quarantineLabel] != ""
		} else {
			n.DrainStarted = m.drained
		}
		all[id] = n
	}
	return all
}

// Drains are those that Muster began on the nodes of a cluster, or for their Machines.
type Drains struct{ cluster *Cluster }

// Begun reports whether a drain by Muster has begun on a node.
func (d *Drains) Begun(name string) bool {
	node := &corev1.Node{}
	return d.cluster.User.Get(d.cluster.env.Context(), client.ObjectKey{Name: name}, node) == nil && node.Spec.Unschedulable &&
		node.Annotations[nodes.DrainStartedAnnotation] != ""
}

// of is when the first drain of the machine's node began, by Muster or for its Machine; zero where none has.
func (d *Drains) of(m *machine, node *corev1.Node) (began time.Time) {
	if at, err := time.Parse(time.RFC3339, node.Annotations[nodes.DrainStartedAnnotation]); err == nil && node.Spec.Unschedulable {
		began = at
	}
	if at := d.cluster.DrainStarted(m.ID); !at.IsZero() && (began.IsZero() || at.Before(began)) {
		began = at
	}
	return began
}

// Remember remembers the drain of a node that Muster is about to delete while its machine runs.
func (d *Drains) Remember(name string) {
	if m := d.cluster.by[d.cluster.MachineOf(name)]; m != nil {
		if node := d.cluster.node(m); node != nil {
			m.drained = d.of(m, node)
		}
	}
}
