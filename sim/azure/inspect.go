package azure

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
)

// Calls is the log of all requests.
func (c *Cloud) Calls() *sim.Calls { return &c.calls }

// Faults are the rules in force.
func (c *Cloud) Faults() *sim.Faults { return c.faults }

// SetSpeed changes how much faster than life things go that start from now on.
func (c *Cloud) SetSpeed(factor float64) { c.speed.Set(factor) }

// State is all that the cloud holds.
type State struct {
	Sets        []Set
	Assignments []Assignment
}

// Set is what the simulator holds of a scale set.
type Set struct {
	ID, Name, Group, Mode, Size, State string
	Capacity                           int
	// Launches is how many machines are still to be made: fewer than Capacity lacks once an allocation has failed.
	Launches int
	Tags     map[string]string
	Zones    []string
	// Model is a fingerprint of all that makes machines, Version its ETag, Busy whether an operation runs on it.
	Model, Version string
	Busy           bool
	// Content is all that makes machines and can't be changed on them later: without custom data, extensions and tags. Extensions
	// are those, CustomData is what machines boot with, which no API shows.
	Content, Extensions string
	CustomData          []byte
	// Code and Message are why its last operation failed, "" where it did not.
	Code, Message string
	Created       time.Time
	Machines      []Machine
}

// Machine is what the simulator holds of a machine of a scale set.
type Machine struct {
	// ID is the instance's within its scale set, Name the machine's, Computer its host's, UID that by which the MachineHost knows it.
	ID, Name, Computer, UID string
	ProviderID              string
	State, Power, Zone      string
	FaultDomain             int
	Size, Image, Address    string
	// Model is the fingerprint of what it was made of, Latest whether that is the scale set's.
	Model                   string
	Latest, Spot, Protected bool
	// Content and Extensions are those of the model that it has, as Set has them.
	Content, Extensions string
	Tags                map[string]string
	Code, Message       string
	Created             time.Time
}

// Assignment is a role assignment.
type Assignment struct{ Name, Scope, Role, Principal string }

// State is what the cloud holds at this time.
func (c *Cloud) State() State {
	out := State{Sets: []Set{}}
	// An error to write shows with the next request; what is held is shown all the same.
	_ = c.by(func(w *inventory) error {
		for _, s := range w.sets.All() {
			out.Sets = append(out.Sets, w.inspect(s))
		}
		for _, a := range w.assignments.All() {
			out.Assignments = append(out.Assignments, Assignment{Name: a.Name, Scope: a.Scope, Role: a.Role, Principal: a.Principal})
		}
		return nil
	})
	return out
}

func (w *inventory) inspect(s *scaleSet) Set {
	out := Set{
		ID: s.ID, Name: s.Name, Group: s.Group, Mode: s.mode(), Size: s.size(), State: s.State, Capacity: s.capacity(), Tags: pairs(s.Doc, "tags"),
		Zones: texts(s.Doc, "zones"), Model: s.Model, Version: etag(s.Version), Busy: s.busy(), Created: s.Created,
		Launches: s.Launches,
	}
	out.Content, out.Extensions = w.contents(s.Model, under(s.Doc, profilePath), s.size())
	// What can't be decoded was refused when it was given.
	out.CustomData, _ = base64.StdEncoding.DecodeString(w.kept(s.Blob))
	if s.Trouble != nil {
		out.Code, out.Message = s.Trouble.Code, s.Trouble.Message
	}
	for _, m := range w.machinesOf(s) {
		shown := Machine{
			ID: m.Instance, Name: m.Name, Computer: m.Computer, UID: m.UID, ProviderID: w.fleet.providerID(s, m), State: m.State, Power: m.Power, Zone: m.Zone,
			FaultDomain: m.Fault, Size: m.Size, Image: written(dig(m.Profile, "storageProfile.imageReference")), Address: m.Address, Model: m.Model,
			Latest: m.Model == s.Model, Spot: m.Spot, Protected: truth(m.Protection, "protectFromScaleIn"), Tags: cloned(m.Tags), Created: m.Created,
		}
		shown.Content, shown.Extensions = w.contents(m.Model, m.Profile, m.Size)
		if m.Trouble != nil {
			shown.Code, shown.Message = m.Trouble.Code, m.Trouble.Message
		}
		out.Machines = append(out.Machines, shown)
	}
	return out
}

// content is what machines of a model are made of, and the extensions that they have.
type content struct{ fixed, extensions string }

// contents are those of a model, which is put into words once.
func (w *inventory) contents(model string, profile document, size string) (fixed, extensions string) {
	if known, ok := w.known[model]; ok {
		return known.fixed, known.extensions
	}
	rest := document{}
	for member, v := range profile {
		if member != "extensionProfile" {
			rest[member] = v
		}
	}
	c := content{size + " " + written(rest), written(profile["extensionProfile"])}
	w.known[model] = c
	return c.fixed, c.extensions
}

// by does something by hand: no request, no token, no limit and no fault is in its way.
func (c *Cloud) by(f func(*inventory) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if err := c.settle(now, false); err != nil {
		return err
	}
	c.inventory.now, c.inventory.touched = now, true
	if err := f(c.inventory); err != nil {
		return err
	}
	return c.settle(now, true)
}

// findMachine finds a machine by its name, by the ID by which guests know it, by its resource ID or its provider ID.
func (w *inventory) findMachine(id string) (*scaleSet, *machine, error) {
	for _, m := range w.machines.All() {
		s := w.sets.Get(m.Set)
		if s == nil {
			continue
		}
		for _, name := range []string{m.Name, m.UID, m.id(s), w.fleet.providerID(s, m)} {
			if strings.EqualFold(name, id) {
				return s, m, nil
			}
		}
	}
	return nil, nil, fmt.Errorf("there is no machine %s", id)
}

// portal is what a user does in the portal: no request, no token, no limit and no fault is in the way.
type portal struct{ cloud *Cloud }

// onMachine does something to a machine by hand.
func (c portal) onMachine(id string, f func(*inventory, *scaleSet, *machine) error) error {
	return c.cloud.by(func(w *inventory) error {
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
func (c portal) Terminate(id string) error {
	return c.onMachine(id, func(w *inventory, s *scaleSet, m *machine) error {
		if m.State == stateDeleting {
			return fmt.Errorf("machine %s is being deleted", id)
		}
		w.fleet.remove(m)
		w.fleet.uncount(s, 1)
		return nil
	})
}

// Stop powers a machine off; its size goes on to be paid for.
func (c portal) Stop(id string) error {
	return c.onMachine(id, func(w *inventory, _ *scaleSet, m *machine) error { return w.fleet.powerOffBy(m) })
}

// Deallocate powers a machine off and gives its place back.
func (c portal) Deallocate(id string) error {
	return c.onMachine(id, func(w *inventory, _ *scaleSet, m *machine) error { return w.fleet.deallocateBy(m) })
}

// Start powers a machine on that was stopped or deallocated; one that runs goes on.
func (c portal) Start(id string) error {
	return c.onMachine(id, func(w *inventory, _ *scaleSet, m *machine) error { return w.fleet.startBy(m) })
}

// Evict takes a spot machine back, by its policy; one that is none is refused.
func (c portal) Evict(id string) error {
	return c.onMachine(id, func(w *inventory, _ *scaleSet, m *machine) error {
		if !m.Spot || m.State == stateDeleting {
			return fmt.Errorf("machine %s is not a living spot machine", id)
		}
		w.fleet.evict(m)
		return nil
	})
}

// Sicken lets what runs inside a machine report that it is unhealthy, until the machine is started again.
func (c portal) Sicken(id string) error {
	return c.onMachine(id, func(_ *inventory, _ *scaleSet, m *machine) error {
		m.Sick = true
		return nil
	})
}

// AttachDisk attaches a volume to a machine, as storage drivers do for pods.
func (c portal) AttachDisk(id, name string) error {
	return c.onMachine(id, func(_ *inventory, _ *scaleSet, m *machine) error {
		disks := items(m.Profile, "storageProfile.dataDisks")
		lun := 63 - len(disks)
		place(m.Profile, "storageProfile.dataDisks", append(disks, document{
			"name": name, "lun": float64(lun), "createOption": "Attach", "caching": "ReadOnly",
			"managedDisk": document{"id": resourceID(m.Sub, m.Group, "Microsoft.Compute/disks", name)},
		}))
		return nil
	})
}

// Attach creates a user's own machine in a scale set in flexible mode, which is counted with the others: it has the name and the
// tags that he gives it, and boots from nothing of the scale set's.
func (c portal) Attach(set, name string, tags map[string]string) error {
	return outOfBand{c.cloud}.onSet(set, func(w *inventory, s *scaleSet) error {
		if s.uniform() || w.machines.Get(machineKey(s.key(), name)) != nil {
			return fmt.Errorf("scale set %s is not in flexible mode, or there is a machine %s", set, name)
		}
		m := &machine{
			Set: s.key(), Sub: s.Sub, Group: s.Group, Location: s.location(), Flexible: true, Number: s.Next, UID: w.environment.uuid("machine"),
			Name: name, Instance: name, Computer: name, State: stateSucceeded, Power: powerRunning, Created: w.now, Version: 1, Size: s.size(),
			Profile: copied(under(s.Doc, profilePath)), Model: "attached " + name, Tags: cloned(tags), Address: w.environment.address(), NeverBoots: true,
		}
		place(m.Profile, "extensionProfile", nil)
		if zones := texts(s.Doc, "zones"); len(zones) > 0 {
			m.Zone = zones[0]
		}
		s.Next++
		w.machines.Put(machineKey(m.Set, m.Instance), m)
		place(s.Doc, "sku.capacity", float64(s.capacity()+1))
		w.changed(s)
		return nil
	})
}

// Detach takes a machine out of its scale set in flexible mode. What it is from then on is not simulated.
func (c portal) Detach(id string) error {
	return c.cloud.by(func(w *inventory) error {
		s, m, err := w.findMachine(id)
		if err != nil {
			return err
		}
		w.machines.Delete(machineKey(m.Set, m.Instance))
		w.fleet.uncount(s, 1)
		return nil
	})
}

// Fail lets a machine be in the state Failed with a code and words of the service.
func (c portal) Fail(id, code, message string) error {
	return c.onMachine(id, func(_ *inventory, _ *scaleSet, m *machine) error {
		m.State, m.Trouble, m.DoneAt = stateFailed, &trouble{Code: code, Message: message}, time.Time{}
		return nil
	})
}

// adminHandler is what the owner sees over HTTP. Beside what every simulator has, hands can be laid on machines, by their names or
// UIDs: POST machines/{id}/terminate, stop, start, deallocate, evict, detach or sicken; PUT applications, groups, resources, quotas and attached, in JSON, are what
// PutApplication, PutGroup (of the default subscription), Resource, SetQuota and Attach take; DELETE quotas takes all bounds away.
func (c *Cloud) adminHandler() http.Handler {
	a := &sim.Admin{Calls: &c.calls, Faults: c.faults, Speed: &c.speed, State: func() any { return c.State() }, OutOfBand: c.Capabilities().OutOfBand}
	hands := map[string]func(string) error{"terminate": c.Terminate, "stop": c.Stop, "start": c.Start, "deallocate": c.Deallocate, "evict": c.Evict, "detach": c.Detach, "sicken": c.Sicken}
	mux := http.NewServeMux()
	mux.Handle("/", a.Handler())
	mux.HandleFunc("POST "+sim.AdminPath+"machines/{id}/{hand}", func(w http.ResponseWriter, r *http.Request) {
		hand, known := hands[r.PathValue("hand")]
		if !known {
			http.NotFound(w, r)
			return
		}
		done(w, hand(r.PathValue("id")), http.StatusConflict)
	})
	mux.HandleFunc("PUT "+sim.AdminPath+"applications", func(w http.ResponseWriter, r *http.Request) {
		var a Application
		if decoded(w, r, &a) {
			done(w, c.PutApplication(a), http.StatusBadRequest)
		}
	})
	mux.HandleFunc("PUT "+sim.AdminPath+"groups", func(w http.ResponseWriter, r *http.Request) {
		var g Group
		if decoded(w, r, &g) {
			done(w, c.PutGroup(c.subscriptions[0].ID, g), http.StatusBadRequest)
		}
	})
	mux.HandleFunc("PUT "+sim.AdminPath+"quotas", func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Location, Family string
			Limit            int
		}
		if decoded(w, r, &q) {
			done(w, c.SetQuota(q.Location, q.Family, q.Limit), http.StatusBadRequest)
		}
	})
	mux.HandleFunc("PUT "+sim.AdminPath+"attached", func(w http.ResponseWriter, r *http.Request) {
		var a struct {
			Set, Name string
			Tags      map[string]string
		}
		if decoded(w, r, &a) {
			done(w, c.Attach(a.Set, a.Name, a.Tags), http.StatusConflict)
		}
	})
	mux.HandleFunc("DELETE "+sim.AdminPath+"quotas", func(w http.ResponseWriter, _ *http.Request) { done(w, c.ClearQuotas(), http.StatusBadRequest) })
	mux.HandleFunc("PUT "+sim.AdminPath+"resources", func(w http.ResponseWriter, r *http.Request) {
		var given struct {
			ID  string
			Doc document
		}
		if decoded(w, r, &given) {
			if given.Doc == nil {
				given.Doc = document{}
			}
			done(w, c.Resource(given.ID, given.Doc), http.StatusBadRequest)
		}
	})
	return mux
}

// decoded reads what the owner sends, or says what is wrong with it.
func decoded(w http.ResponseWriter, r *http.Request, into any) bool {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, bodyLimit)).Decode(into); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return false
	}
	return true
}

func done(w http.ResponseWriter, err error, status int) {
	if err != nil {
		http.Error(w, err.Error(), status)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
