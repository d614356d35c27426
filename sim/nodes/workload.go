package nodes

import (
	"github.com/muster-project/muster/sim"
)

var _ sim.Workload = (*Fleet)(nil)

// Ready reports that the machine's kubelet runs and has said that its node is Ready.
func (f *Fleet) Ready(id string) bool {
	m := f.managerOf(id)
	return m != nil && m.isReady()
}

// Cordon closes the machine's node to new pods, or opens it again, which ends a drain too. It returns at once.
func (f *Fleet) Cordon(id string, closed bool) {
	f.manage(id, func(m *manager) {
		m.close(closed)
		if !closed {
			m.draining, m.force, m.drained = false, false, false
		}
	})
}

// Drain closes the machine's node and evicts its pods, by force whatever their budgets say. It returns at once, and reports
// whether nothing is left that has to go.
func (f *Fleet) Drain(id string, force bool) (done bool) {
	m := f.managerOf(id)
	if m == nil || !m.hasNode() {
		return true
	}
	f.manage(id, func(m *manager) {
		done = m.drained
		if done {
			return
		}
		if !m.draining {
			m.close(true)
		}
		m.draining, m.force = true, m.force || force
	})
	return done
}

// Mark changes labels and taints of the machine's node, once it has one. It returns at once.
func (f *Fleet) Mark(id string, change sim.Marks) {
	f.manage(id, func(m *manager) { m.marks = append(m.marks, change) })
}

// Unregister deletes the node of a machine that is on. It returns at once, and the machine may be powered off then.
func (f *Fleet) Unregister(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if g, ok := f.guests[id]; ok && !f.closed {
		g.manager.unregister()
	}
}

// managerOf returns the manager of a machine's node; nil for a machine that is off.
func (f *Fleet) managerOf(id string) *manager {
	f.mu.Lock()
	defer f.mu.Unlock()
	if g, ok := f.guests[id]; ok {
		return g.manager
	}
	return nil
}

// manage requests an action on a machine's node and starts carrying it out.
func (f *Fleet) manage(id string, ask func(*manager)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if g, ok := f.guests[id]; ok && !f.closed {
		g.manager.ask(ask)
	}
}
