package azure

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// actions are what can be done to one machine beside changing and deleting it, by the last word of the path.
var actions = []struct {
	path, name string
	do         func(*inventory, *machine) error
}{
	{"poweroff", "powerOff", func(w *inventory, m *machine) error { return w.fleet.powerOffBy(m) }},
	{"deallocate", "deallocate", func(w *inventory, m *machine) error { return w.fleet.deallocateBy(m) }},
	{"start", "start", func(w *inventory, m *machine) error { return w.fleet.startBy(m) }},
	{"restart", "restart", func(w *inventory, m *machine) error { return w.fleet.restartBy(m) }},
}

// actionRoutes are the actions on machines of both kinds, and the eviction that clients may play.
func actionRoutes() []route {
	var out []route
	add := func(path, name, permission, bucket string, find func(*inventory, *exchange) (*scaleSet, *machine, error)) {
		for _, a := range actions {
			out = append(out, route{
				method: http.MethodPost, pattern: path + "/" + a.path, name: name + upper(a.name), permission: permission + a.name + "/action",
				service: "compute", bucket: bucket, mutating: true, versions: computeVersions, run: onOne(find, a.do),
			})
		}
		out = append(out, route{
			method: http.MethodPost, pattern: path + "/simulateeviction", name: name + "SimulateEviction", permission: permission + "write",
			service: "compute", bucket: bucket, mutating: true, versions: computeVersions, run: playEviction(find),
		})
	}
	add(setVMPath, "VirtualMachineScaleSetVMs_", setVMPermission, updateSetVM, func(w *inventory, x *exchange) (*scaleSet, *machine, error) {
		return w.virtualMachines.setVM(x)
	})
	add(vmPath, "VirtualMachines_", vmPermission, updateVM, func(w *inventory, x *exchange) (*scaleSet, *machine, error) {
		return w.flexible(x.vars["sub"], x.vars["rg"], x.vars["vm"])
	})
	return slices.Clip(out)
}

func upper(name string) string { return string(name[0]-'a'+'A') + name[1:] }

// onOne does something to one machine, and begins the operation that it is.
func onOne(find func(*inventory, *exchange) (*scaleSet, *machine, error), do func(*inventory, *machine) error) func(*inventory, *exchange) (*answer, error) {
	return func(w *inventory, x *exchange) (*answer, error) {
		s, m, err := find(w, x)
		if err != nil {
			return nil, err
		}
		if err := m.unchanging(); err != nil {
			return nil, err
		}
		if err := do(w, m); err != nil {
			return nil, notAllowed("%s", err.Error())
		}
		op := w.running.beginOn(s, m, "POST")
		m.State, m.DoneAt = stateUpdating, w.now.Add(w.life(lifeChange))
		m.Version++
		w.touch(m)
		return &answer{status: http.StatusAccepted, op: op}, nil
	}
}

// playEviction evicts a spot machine at once, as the service does for those who want to see it.
func playEviction(find func(*inventory, *exchange) (*scaleSet, *machine, error)) func(*inventory, *exchange) (*answer, error) {
	return func(w *inventory, x *exchange) (*answer, error) {
		_, m, err := find(w, x)
		if err != nil {
			return nil, err
		}
		if !m.Spot || m.State == stateDeleting {
			return nil, notAllowed("Simulating an eviction is allowed for Azure Spot Virtual Machines alone: '%s' is none.", m.Name)
		}
		w.fleet.evict(m)
		return &answer{status: http.StatusNoContent}, nil
	}
}

func (w *fleet) powerOffBy(m *machine) error {
	w.off(m)
	m.PowerAt = time.Time{}
	return nil
}

func (w *fleet) deallocateBy(m *machine) error {
	w.off(m)
	m.Power, m.PowerAt = powerDeallocated, time.Time{}
	return nil
}

func (w *fleet) startBy(m *machine) error {
	if m.State == stateDeleting {
		return fmt.Errorf("machine %s is being deleted", m.Name)
	}
	if m.Power == powerStopped || m.Power == powerDeallocated {
		m.Power, m.PowerAt = powerStarting, w.now.Add(w.life(lifePower))
	}
	return nil
}

func (w *fleet) restartBy(m *machine) error {
	if m.Power != powerRunning {
		return fmt.Errorf("machine %s does not run", m.Name)
	}
	w.off(m)
	return w.startBy(m)
}
