package compute

import (
	"time"

	"github.com/muster-project/muster/sim/gcp/project"
)

// tick lets a group do what it does by itself, and returns when it looks again.
func (w *keeper) tick(g *manager) time.Time {
	if !project.Due(g.NextLook, w.Now) {
		return g.NextLook
	}
	g.NextLook = time.Time{}
	w.managers.Touch(g.path())
	if g.Deletion != "" {
		w.finishDeletion(g)
		return time.Time{}
	}
	w.repair(g)
	w.scaling.grow(g)
	return g.NextLook
}

// finishDeletion removes a group whose instances are gone.
func (w *keeper) finishDeletion(g *manager) {
	if len(w.members(g)) > 0 {
		return
	}
	w.Finish(g.Deletion)
	w.managers.Delete(g.path())
}

// repair creates instances again that do not run although the group has not stopped them.
func (w *keeper) repair(g *manager) {
	force := g.text("instanceLifecyclePolicy.forceUpdateOnRepair", "NO") == "YES"
	for _, m := range w.members(g) {
		if m.Action != actionNone {
			continue
		}
		failed := m.State == stateTerminated || !m.exists()
		if failed && g.repairs(false) || w.ails(g, m) {
			w.fleet.recreate(m, force)
		}
	}
}

// ails reports whether an instance fails its health check, the group repairs that, and the time has passed in which it ignores failures.
func (w *keeper) ails(g *manager, m *instance) bool {
	check, delay := g.healthCheck()
	if !m.Unhealthy || check == "" || !g.repairs(true) {
		return false
	}
	until := m.Running.Add(w.Life(time.Duration(delay) * time.Second))
	if until.After(w.Now) {
		g.NextLook = project.Earliest(g.NextLook, until)
		return false
	}
	return true
}
