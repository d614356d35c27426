package compute

import (
	"cmp"
	"slices"
	"time"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/fleet"
)

// tick lets a group do what it does by itself, and returns when it looks again.
func (w *keeper) tick(g *manager) time.Time {
	if !core.Due(g.NextLook, w.Now) {
		return g.NextLook
	}
	g.NextLook = time.Time{}
	w.managers.Touch(g.path())
	if g.Deletion != "" {
		w.finishDeletion(g)
		return time.Time{}
	}
	w.repair(g)
	w.roll(g)
	w.redistribute(g)
	w.trim(g)
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

// repair creates instances again that do not run although the group has not stopped them. They stay what they were, unless the group
// updates on repair.
func (w *keeper) repair(g *manager) {
	force := g.text("instanceLifecyclePolicy.forceUpdateOnRepair", "NO") == "YES"
	for _, m := range w.members(g) {
		if m.Action != actionNone {
			continue
		}
		failed := m.State == stateTerminated || !m.exists()
		if failed && g.repairs(false) || w.ails(g, m) {
			w.life.recreate(m, force)
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
		g.NextLook = core.Earliest(g.NextLook, until)
		return false
	}
	return true
}

// available reports whether an instance runs and nothing happens to it that disrupts it.
func (m *instance) available() bool {
	return m.State == stateRunning && !m.Unhealthy && (m.Action == actionNone || m.Action == actionRefreshing)
}

// roll updates instances by itself where the update policy is proactive. Nothing drains them.
func (w *keeper) roll(g *manager) {
	if !g.proactive() {
		return
	}
	least, most := g.text("updatePolicy.minimalAction", updateReplace), g.text("updatePolicy.mostDisruptiveAllowedAction", updateReplace)
	old := w.outdated(g)
	actions := map[*instance]string{}
	var due []*instance
	for _, m := range w.staying(g) {
		action := w.scaling.needed(g, m, slices.Contains(old, m))
		if action == updateNone || worse(action, most) != most || m.Action != actionNone && m.Action != actionCreating {
			continue
		}
		actions[m] = worse(action, least)
		due = append(due, m)
	}
	if len(due) == 0 {
		return
	}
	slices.SortStableFunc(due, func(a, b *instance) int { return cmp.Compare(order(a), order(b)) })
	w.surge(g, due, actions)
	w.replace(g, due, actions, old)
}

// order puts instances that are not available first.
func order(m *instance) int {
	if m.available() {
		return 1
	}
	return 0
}

// substitutes reports whether the group replaces an instance by another one.
func (g *manager) substitutes(action string) bool {
	return action == updateReplace && g.text("updatePolicy.replacementMethod", "SUBSTITUTE") == "SUBSTITUTE"
}

// surge creates instances beside the group's size, for as many as are to be replaced.
func (w *keeper) surge(g *manager, due []*instance, actions map[*instance]string) {
	replaced := 0
	for _, m := range due {
		if g.substitutes(actions[m]) {
			replaced++
		}
	}
	for n := min(replaced, g.surge()) - (len(w.staying(g)) - g.Target); n > 0; n-- {
		w.life.add(g)
	}
}

// replace updates as many instances as may be unavailable.
func (w *keeper) replace(g *manager, due []*instance, actions map[*instance]string, old []*instance) {
	have := w.staying(g)
	up := 0
	for _, m := range have {
		up += order(m)
	}
	budget := up - (g.Target - g.unavailable())
	for _, m := range due {
		if actions[m] != updateRefresh && m.available() {
			if budget <= 0 {
				continue
			}
			budget--
		}
		if g.substitutes(actions[m]) {
			w.life.remove(m)
			continue
		}
		w.scaling.update(m, actions[m], slices.Contains(old, m))
	}
}

// redistribute creates an instance in the zone with the fewest, where a regional group is uneven and nothing else happens to it. One in the
// zone with the most goes once the new one runs.
func (w *keeper) redistribute(g *manager) {
	shape := g.text("distributionPolicy.targetShape", "EVEN")
	if !g.regional() || g.text("updatePolicy.instanceRedistributionType", "PROACTIVE") != "PROACTIVE" || shape == "ANY" ||
		shape == "ANY_SINGLE_ZONE" {
		return
	}
	members := w.members(g)
	if len(members) != g.Target || slices.ContainsFunc(members, func(m *instance) bool { return !m.available() }) {
		return
	}
	zones, spread := w.placement.order(g), fleet.SpreadOf(members)
	if spread[zones[len(zones)-1]]-spread[zones[0]] > 1 {
		w.life.add(g)
	}
}

// trim deletes what a rollout or a redistribution has created beside the group's size, once all instances run.
func (w *keeper) trim(g *manager) {
	have := w.staying(g)
	if len(have) <= g.Target || slices.ContainsFunc(have, func(m *instance) bool { return !m.available() }) {
		return
	}
	for _, m := range w.scaling.surplus(g, have, len(have)-g.Target) {
		w.life.remove(m)
	}
}
