package workload

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/sim"
)

var _ sim.Workload = (*Cluster)(nil)

// A cloud that manages nodes reads them, and drains them by itself, with the same evictions as others. It may do so while all others wait:
// scheduled actions wake them.

// Ready reports whether the machine is a node that is Ready.
func (l *Cluster) Ready(id string) bool {
	node := l.Node(id)
	return node != nil && node.Status.Conditions[0].Status == corev1.ConditionTrue
}

// Cordon closes the machine's node to new pods, or opens it.
func (l *Cluster) Cordon(id string, closed bool) {
	if node := l.Node(id); node != nil && node.Spec.Unschedulable != closed {
		node.Spec.Unschedulable = closed
		if !closed {
			delete(l.Users.cordoned, node.Name) // the cloud has taken back a user's cordon with its own
		}
		l.closed[node.Name] = closed
		l.Change(node, "cordoned: %t", closed)
		if !closed {
			l.App.house()
		}
	}
}

// ClosedByCloud reports whether a node is closed, and the cloud has closed it.
func (l *Cluster) ClosedByCloud(node *corev1.Node) bool {
	return node.Spec.Unschedulable && l.closed[node.Name]
}

// Drain closes the machine's node, which may have joined after it was closed, evicts what runs on it, and reports whether nothing is left.
// A node that others can't reach is not drained by its cloud either.
func (l *Cluster) Drain(id string, force bool) bool {
	node := l.Node(id)
	if node == nil {
		return true
	}
	left := l.App.PodsOn(node.Name)
	l.mu.Lock()
	away, blocked := l.Outage.away, l.App.blocked
	l.mu.Unlock()
	if time.Now().Before(away) {
		return len(left) == 0
	}
	l.Cordon(id, true)
	for _, pod := range left {
		if force || !time.Now().Before(blocked) {
			l.App.Expel(&pod)
		}
	}
	return len(left) == 0
}

// Mark changes labels and taints of the machine's node.
func (l *Cluster) Mark(id string, change sim.Marks) {
	node := l.Node(id)
	if node == nil {
		return
	}
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	for _, key := range change.Unlabel {
		delete(node.Labels, key)
	}
	for key, value := range change.Labels {
		node.Labels[key] = value
	}
	for _, gone := range change.Untaint {
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool {
			return t.Key == gone.Key &&
				string(t.Effect) == gone.Effect
		})
	}
	for _, t := range change.Taints {
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(is corev1.Taint) bool {
			return is.Key == t.Key &&
				string(is.Effect) == t.Effect
		})
		node.Spec.Taints = append(node.Spec.Taints, taint(t))
	}
	l.Change(node, "marked")
}

// Unready turns about every other node not Ready for a while.
func (l *Cluster) Unready(d time.Duration) {
	for _, m := range l.running() {
		if m.joined && l.seed.Chance("ready", m.ID) < 0.5 {
			l.ready(m, corev1.ConditionFalse)
			l.env.At(time.Now().Add(d), func() {
				if m.off.IsZero() {
					l.ready(m, corev1.ConditionTrue)
				}
			})
		}
	}
}

// Unregister deletes the node of a machine, also of one that is off, with what ran there. What the machine becomes when it is powered on
// once more, before that is done, is another node.
func (l *Cluster) Unregister(id string) {
	l.mu.Lock()
	m := l.by[id]
	l.mu.Unlock()
	l.env.At(time.Now(), func() {
		if m != nil && m.joined {
			l.remove(m)
		}
	})
	l.env.Stir()
}

func taint(t sim.Taint) corev1.Taint {
	return corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)}
}

// Node returns the node of a machine that runs, as it is; nil when there is none.
func (l *Cluster) Node(id string) *corev1.Node {
	l.mu.Lock()
	m := l.by[id]
	runs := m != nil && m.joined && m.off.IsZero()
	l.mu.Unlock()
	if !runs {
		return nil
	}
	return l.node(m)
}

// Change writes a node that was changed, and traces how.
func (l *Cluster) Change(node *corev1.Node, format string, args ...any) {
	l.env.Must(l.User.Update(l.env.Context(), node, &client.UpdateOptions{}), "change node %s", node.Name)
	l.env.Trace("cloud", "node "+node.Name+" "+format, args...)
	l.env.Stir()
}

// guarded changes what the cloud looks at in its own time.
func (l *Cluster) guarded(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}
