package compute

import (
	"cmp"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
)

const (
	repairsPath = "properties.automaticRepairsPolicy"
	// leastGrace and mostGrace bound for how long a machine is not repaired after it was changed; leastGrace is the default.
	leastGrace = 10 * time.Minute
	mostGrace  = 90 * time.Minute
	// repairPercent is how much of a scale set is repaired at a time, though one machine always is.
	repairPercent = 5
)

// probed reports whether a load balancer's probe watches the machines, reporting whether an extension inside them does.
func probed(profile document.Object) bool {
	return document.Text(profile, "networkProfile.healthProbe.id") != ""
}

func reporting(profile document.Object) bool {
	for _, e := range document.Objects(profile, "extensionProfile.extensions") {
		if strings.HasPrefix(document.Text(e, "properties.type"), "ApplicationHealth") {
			return true
		}
	}
	return false
}

// monitored reports whether the service learns how healthy the machines of a scale set are.
func monitored(d document.Object) bool {
	profile := document.Under(d, profilePath)
	return probed(profile) || reporting(profile)
}

// health is what is known of the health of what runs inside a machine, "" for nothing. An extension that does not run says nothing; a
// probe gets no answer then.
func (m *machine) health() string {
	silent := m.Power != powerRunning || m.NeverBoots
	switch {
	case !probed(m.Profile) && (!reporting(m.Profile) || silent):
		return ""
	case m.Sick || silent:
		return "unhealthy"
	}
	return "healthy"
}

// unwell reports whether a machine counts as unhealthy in an upgrade.
func (m *machine) unwell() bool { return m.State == stateFailed || m.health() == "unhealthy" }

// protected reports whether a policy of the machine's own keeps the scale set from taking it.
func (m *machine) protected() bool {
	return document.Truth(m.Protection, "protectFromScaleIn") || document.Truth(m.Protection, "protectFromScaleSetActions")
}

// tickRepairs repairs machines that have been unhealthy for long enough, a few at a time, and returns when the next one is due.
// A machine that could not be made is not repaired, nor is one that is protected.
func (w *upgrades) tickRepairs(s *scaleSet) time.Time {
	if !document.Truth(s.Doc, repairsPath+".enabled") || s.deleting() || s.busy() {
		return time.Time{}
	}
	grace := w.Life(cmp.Or(lasting(document.Text(s.Doc, repairsPath+".gracePeriod")), leastGrace))
	var next time.Time
	var now []*machine
	all := w.staying(s)
	for _, m := range all {
		if m.State != stateSucceeded || m.health() != "unhealthy" || m.protected() {
			continue
		}
		if at := m.Settled.Add(grace); at.After(w.Now) {
			next = core.Earliest(next, at)
		} else if len(now) < max(1, repairPercent*len(all)/100) {
			now = append(now, m)
		}
	}
	if len(now) == 0 {
		return next
	}
	w.repair(s, now)
	return w.Now.Add(w.Life(lifeChange))
}

// repair replaces machines, gives them another disk or starts them again, undrained. What replaces one has the model of now.
func (w *upgrades) repair(s *scaleSet, list []*machine) {
	w.running.begin(s, opRepair, list...)
	for _, m := range list {
		switch action := cmp.Or(document.Text(s.Doc, repairsPath+".repairAction"), "Replace"); {
		case strings.EqualFold(action, "Replace"):
			w.life.remove(m)
			if s.Launches == 0 {
				s.LaunchAt = w.Now
			}
			s.Launches++
		case strings.EqualFold(action, "Reimage"):
			m.Blob = s.Blob
			fallthrough
		default:
			w.virtualMachines.reboot(m)
			m.Version++
			w.touch(m)
		}
	}
}

// orchestration is what the service does by itself for a scale set, as its instance view shows it.
func orchestration(s *scaleSet) []any {
	if document.Under(s.Doc, repairsPath) == nil {
		return []any{}
	}
	state := "NotRunning"
	if document.Truth(s.Doc, repairsPath+".enabled") {
		state = "Running"
	}
	return []any{document.Object{"serviceName": "AutomaticRepairs", "serviceState": state}}
}
