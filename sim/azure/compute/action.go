package compute

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/muster-project/muster/sim/azure/arm"
)

// actions are what can be done to one machine beside changing and deleting it, by the last word of the path.
var actions = []struct {
	path, name string
	do         func(*Service, *machine) error
}{
	{"poweroff", "powerOff", func(w *Service, m *machine) error { return w.life.powerOffBy(m) }},
	{"deallocate", "deallocate", func(w *Service, m *machine) error { return w.life.deallocateBy(m) }},
	{"start", "start", func(w *Service, m *machine) error { return w.life.startBy(m) }},
	{"restart", "restart", func(w *Service, m *machine) error { return w.life.restartBy(m) }},
}

// actionRoutes are the actions on machines of both kinds, and the eviction that clients may play.
func actionRoutes() []arm.Route[*Service] {
	var out []arm.Route[*Service]
	add := func(path, name, permission, bucket string, find func(*Service, *arm.Call) (*scaleSet, *machine, error)) {
		for _, a := range actions {
			out = append(out, of(http.MethodPost, path+"/"+a.path, name+upper(a.name), permission+a.name+"/action", bucket, onOne(find, a.do)))
		}
		out = append(out, of(http.MethodPost, path+"/simulateeviction", name+"SimulateEviction", permission+"write", bucket, playEviction(find)))
	}
	add(setVMPath, "VirtualMachineScaleSetVMs_", setVMPermission, updateSetVM, func(w *Service, x *arm.Call) (*scaleSet, *machine, error) {
		return w.virtualMachines.setVM(x)
	})
	add(vmPath, "VirtualMachines_", vmPermission, updateVM, func(w *Service, x *arm.Call) (*scaleSet, *machine, error) {
		return w.flexible(x.Vars["sub"], x.Vars["rg"], x.Vars["vm"])
	})
	return slices.Clip(out)
}

func upper(name string) string { return string(name[0]-'a'+'A') + name[1:] }

// onOne does something to one machine, and begins the operation that it is.
func onOne(find func(*Service, *arm.Call) (*scaleSet, *machine, error), do func(*Service, *machine) error) func(*Service,
	*arm.Call) (*arm.Answer, error) {
	return func(w *Service, x *arm.Call) (*arm.Answer, error) {
		s, m, err := find(w, x)
		if err != nil {
			return nil, err
		}
		if err := m.unchanging(); err != nil {
			return nil, err
		}
		if err := do(w, m); err != nil {
			return nil, arm.NotAllowed("%s", err.Error())
		}
		op := w.running.beginOn(s, m, "POST")
		m.State, m.DoneAt = stateUpdating, w.Now.Add(w.Life(lifeChange))
		m.Version++
		w.touch(m)
		return &arm.Answer{Status: http.StatusAccepted, Op: &op.Operation}, nil
	}
}

// playEviction evicts a spot machine at once, as the service does on request.
func playEviction(find func(*Service, *arm.Call) (*scaleSet, *machine, error)) func(*Service, *arm.Call) (*arm.Answer, error) {
	return func(w *Service, x *arm.Call) (*arm.Answer, error) {
		_, m, err := find(w, x)
		if err != nil {
			return nil, err
		}
		if !m.Spot || m.State == stateDeleting {
			return nil, arm.NotAllowed("Simulating an eviction is allowed for Azure Spot Virtual Machines alone: '%s' is none.", m.Name)
		}
		w.life.evict(m)
		return &arm.Answer{Status: http.StatusNoContent}, nil
	}
}

func (w *life) powerOffBy(m *machine) error {
	w.off(m)
	m.PowerAt = time.Time{}
	return nil
}

func (w *life) deallocateBy(m *machine) error {
	w.off(m)
	m.Power, m.PowerAt = powerDeallocated, time.Time{}
	return nil
}

func (w *life) startBy(m *machine) error {
	if m.State == stateDeleting {
		return fmt.Errorf("machine %s is being deleted", m.Name)
	}
	if m.Power == powerStopped || m.Power == powerDeallocated {
		m.Power, m.PowerAt = powerStarting, w.Now.Add(w.Life(lifePower))
	}
	return nil
}

func (w *life) restartBy(m *machine) error {
	if m.Power != powerRunning {
		return fmt.Errorf("machine %s does not run", m.Name)
	}
	w.off(m)
	return w.startBy(m)
}
