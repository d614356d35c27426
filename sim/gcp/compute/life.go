package compute

import (
	"time"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/fleet"
	"github.com/muster-project/muster/sim/gcp/project"
)

// How long things take in life.
const (
	lifeAccept    = 2 * time.Second
	lifeProvision = 4 * time.Second
	lifeStage     = 6 * time.Second
	lifeVerify    = 15 * time.Second
	lifeStop      = 25 * time.Second
	lifeAbandon   = 5 * time.Second
	lifeRefresh   = 3 * time.Second
	lifeRelabel   = 2 * time.Second
	// lifeRetry is how long a group waits before it tries again to create an instance; it doubles up to retryLimit times.
	lifeRetry  = 20 * time.Second
	retryLimit = 4
	// lifeNotice is how long an instance that Compute Engine takes back has to stop.
	lifeNotice = 30 * time.Second
)

// tick brings one instance to the present.
func (w *life) tick(key string, m *instance) {
	if core.Due(m.ReclaimAt, w.Now) {
		w.preempt(m)
	}
	if core.Due(m.StopsAt, w.Now) {
		w.halt(m)
	}
	if core.Due(m.RelabelAt, w.Now) {
		m.Labels, m.Relabel, m.RelabelAt = m.Relabel, nil, time.Time{}
		w.touch(m)
	}
	if core.Due(m.Next, w.Now) && w.instances.Get(key) == m {
		w.advance(m)
	}
}

// due returns when something happens to an instance next, the zero time for never.
func (m *instance) due() time.Time {
	return core.Earliest(m.Next, m.RelabelAt, m.StopsAt, m.ReclaimAt)
}

// advance lets an instance pass from one state to the next.
func (w *life) advance(m *instance) {
	m.Next = time.Time{}
	w.touch(m)
	switch {
	case m.Action == actionAbandoning:
		w.release(m)
	case m.Action == actionRefreshing:
		w.apply(m)
		m.Action = actionNone
	case m.Action == actionVerifying:
		w.verify(m)
	case m.State == stateStopping:
		w.stopped(m)
	case !m.exists():
		w.attempt(m)
	case m.State == stateProvisioning:
		m.State, m.Next = stateStaging, w.Now.Add(w.Life(lifeStage))
	case m.State == stateStaging:
		w.run(m)
	}
	w.look(m)
}

// look lets the group of an instance look after it at once.
func (w *life) look(m *instance) {
	if g := w.groupOf(m); g != nil {
		g.NextLook = w.Now
		w.managers.Touch(g.path())
	}
}

// run starts what is inside an instance.
func (w *life) run(m *instance) {
	m.State, m.Running, m.Unhealthy = stateRunning, w.Now, false
	w.instances.PowerOn(m.key())
	if m.Group == "" {
		return
	}
	m.Action = actionNone
	if g := w.groupOf(m); g != nil {
		if check, _ := g.healthCheck(); check != "" {
			m.Action, m.Next = actionVerifying, w.Now.Add(w.Life(lifeVerify))
		}
	}
}

// verify ends the verification of an instance once its health check succeeds, or its failures count.
func (w *life) verify(m *instance) {
	g := w.groupOf(m)
	if g == nil || !m.NeverBoots && !m.Unhealthy {
		m.Action = actionNone
		return
	}
	_, delay := g.healthCheck()
	if until := m.Running.Add(w.Life(time.Duration(delay) * time.Second)); until.After(w.Now) {
		m.Next = until
		return
	}
	m.Unhealthy, m.Action = true, actionNone
}

// stopped passes an instance on that has stopped: it is deleted, created again, started again, or left as it is.
func (w *life) stopped(m *instance) {
	switch m.Action {
	case actionDeleting:
		w.instances.Delete(m.key())
	case actionRecreating:
		w.vanish(m)
		m.Next = w.Now.Add(w.Life(lifeAccept))
	case actionRestarting:
		w.apply(m)
		m.State, m.Next = stateStaging, w.Now.Add(w.Life(lifeStage))
	default:
		m.State = stateTerminated
	}
}

// vanish makes an instance one that does not exist, of which the name remains.
func (w *life) vanish(m *instance) {
	m.ID, m.State, m.Address, m.Created, m.Running = 0, "", "", time.Time{}, time.Time{}
	m.Disruptions, m.Unhealthy, m.Labels, m.Overrides = fleet.Disruptions{}, false, nil, nil
	m.Revision, m.Relabel, m.RelabelAt = time.Time{}, nil, time.Time{}
}

// remove begins to delete an instance of a group.
func (w *life) remove(m *instance) {
	if m.Action == actionDeleting {
		return
	}
	m.Action = actionDeleting
	w.stop(m)
	w.touch(m)
}

// recreate begins to delete an instance and to create it again under the same name.
func (w *life) recreate(m *instance, renew bool) {
	if m.leaving() || m.Action == actionRecreating {
		return
	}
	m.Action, m.Renew, m.Retries = actionRecreating, renew, 0
	w.stop(m)
	w.touch(m)
}

// stop begins to stop an instance. One that does not exist needs no time.
func (w *life) stop(m *instance) {
	w.off(m)
	m.StopsAt, m.ReclaimAt = time.Time{}, time.Time{}
	m.State, m.Next = stateStopping, w.Now.Add(w.Life(lifeStop))
	if !m.exists() {
		m.Next = w.Now.Add(w.Life(lifeAccept))
	}
}

// off stops what is inside an instance.
func (w *life) off(m *instance) {
	if m.powered() {
		w.instances.PowerOff(project.Digits(m.ID))
		m.Running = time.Time{}
	}
}

// halt stops an instance for good that no client has stopped. What its group does to one that runs ends with it.
func (w *life) halt(m *instance) {
	m.StopsAt = time.Time{}
	w.touch(m)
	if m.State != stateRunning {
		return
	}
	w.off(m)
	m.State = stateTerminated
	if m.Action != actionAbandoning {
		m.Action, m.Next = actionNone, time.Time{}
	}
	w.look(m)
}

// preempt takes a spot instance back: it is stopped, or deleted where the template says so. Its group then repairs it.
func (w *life) preempt(m *instance) {
	m.ReclaimAt = time.Time{}
	w.touch(m)
	if m.State != stateRunning || m.Action != actionNone && m.Action != actionVerifying {
		return
	}
	m.Action = actionNone
	if document.Text(w.properties(m.Content), "scheduling.instanceTerminationAction") == "DELETE" {
		w.off(m)
		w.vanish(m)
		w.look(m)
		return
	}
	w.stop(m)
	m.Next = w.Now.Add(w.Life(lifeNotice))
}

// release makes an instance one of no group. It goes on as it is.
func (w *life) release(m *instance) {
	w.instances.Delete(m.key())
	if !m.exists() {
		return
	}
	m.Group, m.Action = "", ""
	w.instances.Put(m.key(), m)
	if m.State == stateProvisioning || m.State == stateStaging {
		m.Next = w.Now.Add(w.Life(lifeStage))
	}
}

// apply gives an instance the group's configuration that overrides its template.
func (w *life) apply(m *instance) {
	g := w.groupOf(m)
	if g == nil {
		return
	}
	m.Overrides, m.Revision = document.Copied(g.Config), g.Revision
	if m.Labels != nil {
		m.Labels = document.Overlaid(m.Labels, document.Pairs(g.Config, "labels"))
	}
	if m.Renew {
		w.renew(g, m)
	}
}
