package compute

import (
	"fmt"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/fleet"
)

// Portal is what a user does in the portal: no request, no token, no limit and no fault is in the way.
type Portal struct {
	by func(func(*Service) error) error
}

// NewPortal returns a portal whose actions are run by the function.
func NewPortal(by func(func(*Service) error) error) Portal { return Portal{by} }

// onMachine does something to a machine by hand.
func (c Portal) onMachine(id string, f func(*Service, *scaleSet, *machine) error) error {
	return c.by(func(w *Service) error {
		s, m, err := w.findMachine(id)
		if err != nil {
			return err
		}
		if err := f(w, s, m); err != nil {
			return err
		}
		m.Version++
		w.touch(m)
		return nil
	})
}

// Terminate deletes a machine, named by its name, its UID, its resource ID or its provider ID, as a user does in the portal.
func (c Portal) Terminate(id string) error {
	return c.onMachine(id, func(w *Service, s *scaleSet, m *machine) error {
		if m.State == stateDeleting {
			return fmt.Errorf("machine %s is being deleted", id)
		}
		w.life.remove(m)
		w.life.uncount(s, 1)
		return nil
	})
}

// Stop powers a machine off; its size goes on to be paid for.
func (c Portal) Stop(id string) error {
	return c.onMachine(id, func(w *Service, _ *scaleSet, m *machine) error { return w.life.powerOffBy(m) })
}

// Deallocate powers a machine off and gives its place back.
func (c Portal) Deallocate(id string) error {
	return c.onMachine(id, func(w *Service, _ *scaleSet, m *machine) error { return w.life.deallocateBy(m) })
}

// Start powers a machine on that was stopped or deallocated; one that runs goes on.
func (c Portal) Start(id string) error {
	return c.onMachine(id, func(w *Service, _ *scaleSet, m *machine) error { return w.life.startBy(m) })
}

// Evict takes a spot machine back, by its policy; one that is none is refused.
func (c Portal) Evict(id string) error {
	return c.onMachine(id, func(w *Service, _ *scaleSet, m *machine) error {
		if !m.Spot || m.State == stateDeleting {
			return fmt.Errorf("machine %s is not a living spot machine", id)
		}
		w.life.evict(m)
		return nil
	})
}

// Sicken lets what runs inside a machine report that it is unhealthy, until the machine is started again.
func (c Portal) Sicken(id string) error {
	return c.onMachine(id, func(_ *Service, _ *scaleSet, m *machine) error {
		m.Sick = true
		return nil
	})
}

// Attach creates a user's own machine in a scale set in flexible mode, which is counted with the others: it has the name and the
// tags that are given, and boots from nothing of the scale set's.
func (c Portal) Attach(set, name string, tags map[string]string) error {
	return c.onSet(set, func(w *Service, s *scaleSet) error {
		if s.uniform() || w.machines.Get(machineKey(s.key(), name)) != nil {
			return fmt.Errorf("scale set %s is not in flexible mode, or there is a machine %s", set, name)
		}
		m := &machine{
			Machine: fleet.Machine{Number: s.Next, Type: s.size()}, Disruptions: fleet.Disruptions{NeverBoots: true}, Address: w.Address(),
			Set: s.key(), Sub: s.Sub, Group: s.Group, Location: s.location(), Flexible: true, UID: w.UUID("machine"),
			Name: name, Instance: name, Computer: name, State: stateSucceeded, Power: powerRunning, Created: w.Now, Version: 1,
			Profile: document.Copied(document.Under(s.Doc, profilePath)), Model: "attached " + name, Tags: document.Overlaid(tags, nil),
		}
		document.Place(m.Profile, "extensionProfile", nil)
		if zones := document.Texts(s.Doc, "zones"); len(zones) > 0 {
			m.Zone = zones[0]
		}
		s.Next++
		w.machines.Put(machineKey(m.Set, m.Instance), m)
		document.Place(s.Doc, "sku.capacity", float64(s.capacity()+1))
		w.changed(s)
		return nil
	})
}

// Detach takes a machine out of its scale set in flexible mode. What it is from then on is not simulated.
func (c Portal) Detach(id string) error {
	return c.by(func(w *Service) error {
		s, m, err := w.findMachine(id)
		if err != nil {
			return err
		}
		w.machines.Delete(machineKey(m.Set, m.Instance))
		w.life.uncount(s, 1)
		return nil
	})
}

// Fail lets a machine be in the state Failed with a code and words of the service.
func (c Portal) Fail(id, code, message string) error {
	return c.onMachine(id, func(_ *Service, _ *scaleSet, m *machine) error {
		m.State, m.Trouble, m.DoneAt = stateFailed, &arm.Trouble{Code: code, Message: message}, time.Time{}
		return nil
	})
}

// AddImage publishes an image of one's own.
func (c Portal) AddImage(i Image) error {
	return c.by(func(w *Service) error {
		w.images.Put(strings.ToLower(i.ID), &i)
		return nil
	})
}

// ClearQuotas takes all bounds of cores away.
func (c Portal) ClearQuotas() error {
	return c.by(func(w *Service) error {
		for key := range w.quotas.All() {
			w.quotas.Delete(key)
		}
		return nil
	})
}

// SetQuota bounds how many cores may be used in a location, of a family of sizes or, for "cores", in all. Below zero there is no bound.
func (c Portal) SetQuota(location, family string, limit int) error {
	return c.by(func(w *Service) error {
		if arm.LocationOf(location) == nil {
			return fmt.Errorf("there is no location %q", location)
		}
		key := arm.LocationOf(location).Name + "/" + strings.ToLower(family)
		if limit < 0 {
			w.quotas.Delete(key)
			return nil
		}
		w.quotas.Put(key, &quota{limit})
		return nil
	})
}

// onSet does something to a scale set, named by its name.
func (c Portal) onSet(name string, f func(*Service, *scaleSet) error) error {
	return c.by(func(w *Service) error {
		for _, s := range w.sets.All() {
			if strings.EqualFold(s.Name, name) {
				return f(w, s)
			}
		}
		return fmt.Errorf("there is no scale set %s", name)
	})
}

// CreateSet creates a scale set of the document as another tool would.
func (c Portal) CreateSet(sub, group, name string, d document.Object) error {
	return c.by(func(w *Service) error {
		s := &scaleSet{ID: arm.ResourceID(sub, group, "Microsoft.Compute/virtualMachineScaleSets", name), Sub: sub, Group: group, Name: name,
			Created: w.Now}
		defaults(d)
		if err := w.models.check(s, d); err != nil {
			return err
		}
		s.UID, s.State = w.UUID("scale set"), stateSucceeded
		w.scaleSets.accept(s, d)
		w.changed(s)
		w.sets.Put(s.key(), s)
		return nil
	})
}

// DeleteGroup deletes the scale set that on names.
func (c Portal) DeleteGroup(on sim.Resource) error {
	return c.onSet(on.Name, func(w *Service, s *scaleSet) error {
		if !s.deleting() {
			w.scaleSets.dropSet(s)
		}
		return nil
	})
}

// SetSize sets the capacity of the scale set that on names.
func (c Portal) SetSize(on sim.Resource) error {
	return c.onSet(on.Name, func(w *Service, s *scaleSet) error {
		if err := w.running.staysOpen(s); err != nil {
			return err
		}
		document.Place(s.Doc, "sku.capacity", float64(on.Size))
		w.running.begin(s, opPatch)
		w.life.fill(s)
		return nil
	})
}

// RemoveTag removes a tag, and returns an error if there is none.
func (c Portal) RemoveTag(on sim.Resource) error {
	return c.onSet(on.Name, func(w *Service, s *scaleSet) error {
		if _, has := document.Under(s.Doc, "tags")[on.Key]; !has {
			return fmt.Errorf("scale set %s has no tag %s", s.Name, on.Key)
		}
		delete(document.Under(s.Doc, "tags"), on.Key)
		w.changed(s)
		return nil
	})
}

// ChangeTag sets a tag of the scale set that on names.
func (c Portal) ChangeTag(on sim.Resource) error {
	return c.onSet(on.Name, func(w *Service, s *scaleSet) error {
		if document.Under(s.Doc, "tags") == nil {
			s.Doc["tags"] = document.Object{}
		}
		document.Under(s.Doc, "tags")[on.Key] = on.Value
		w.changed(s)
		return nil
	})
}

// instanceOf is the machine that a deed is done to: by its instance ID within the scale set where that is named.
func (c Portal) instanceOf(on sim.Resource) string {
	name := on.Instance
	_ = c.onSet(on.Name, func(w *Service, s *scaleSet) error {
		if m := w.machines.Get(machineKey(s.key(), on.Instance)); m != nil {
			name = m.UID
		}
		return nil
	})
	return name
}

// TerminateInstance deletes the machine that on names.
func (c Portal) TerminateInstance(on sim.Resource) error { return c.Terminate(c.instanceOf(on)) }

// InterruptInstance evicts the machine that on names.
func (c Portal) InterruptInstance(on sim.Resource) error { return c.Evict(c.instanceOf(on)) }
