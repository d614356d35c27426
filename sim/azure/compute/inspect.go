package compute

import (
	"fmt"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/fleet"
)

// Set is the simulator's state of a scale set.
type Set struct {
	ID, Name, Group, Mode, Size, State string
	// Alone is true if its machines are virtual machines by themselves: no client sees a scale set.
	Alone    bool
	Capacity int
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

// Machine is the simulator's state of a machine of a scale set.
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

// Inspect returns all scale sets with their machines.
func (w *Service) Inspect() []Set {
	out := []Set{}
	for _, s := range w.sets.All() {
		out = append(out, w.inspect(s))
	}
	return out
}

func (w *Service) inspect(s *scaleSet) Set {
	out := Set{
		ID: s.ID, Name: s.Name, Group: s.Group, Mode: s.mode(), Size: s.size(), State: s.State, Capacity: s.capacity(),
		Tags:  document.Pairs(s.Doc, "tags"),
		Zones: document.Texts(s.Doc, "zones"), Model: s.Model, Version: arm.ETag(s.Version), Busy: s.busy(), Created: s.Created,
		Launches: s.Launches, Alone: s.Alone,
	}
	out.Content, out.Extensions = w.contents(s.Model, document.Under(s.Doc, profilePath), s.size())
	out.CustomData = fleet.UserData(w.blobs.Kept(s.Blob))
	if s.Trouble != nil {
		out.Code, out.Message = s.Trouble.Code, s.Trouble.Message
	}
	for _, m := range w.machinesOf(s) {
		shown := Machine{
			ID: m.Instance, Name: m.Name, Computer: m.Computer, UID: m.UID, ProviderID: w.life.providerID(s, m), State: m.State, Power: m.Power,
			Zone:        m.Zone,
			FaultDomain: m.Fault, Size: m.Type, Image: document.Written(document.Dig(m.Profile, "storageProfile.imageReference")),
			Address: m.Address, Model: m.Model,
			Latest: m.Model == s.Model, Spot: m.Spot, Protected: document.Truth(m.Protection, "protectFromScaleIn"),
			Tags: document.Overlaid(m.Tags, nil), Created: m.Created,
		}
		shown.Content, shown.Extensions = w.contents(m.Model, m.Profile, m.Type)
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
func (w *Service) contents(model string, profile document.Object, size string) (fixed, extensions string) {
	if known, ok := w.known[model]; ok {
		return known.fixed, known.extensions
	}
	rest := document.Object{}
	for member, v := range profile {
		if member != "extensionProfile" {
			rest[member] = v
		}
	}
	c := content{size + " " + document.Written(rest), document.Written(profile["extensionProfile"])}
	w.known[model] = c
	return c.fixed, c.extensions
}

// findMachine finds a machine by its name, by the ID by which guests know it, by its resource ID or its provider ID.
func (w *Service) findMachine(id string) (*scaleSet, *machine, error) {
	for _, m := range w.machines.All() {
		s := w.sets.Get(m.Set)
		if s == nil {
			continue
		}
		for _, name := range []string{m.Name, m.UID, m.id(s), w.life.providerID(s, m)} {
			if strings.EqualFold(name, id) {
				return s, m, nil
			}
		}
	}
	return nil, nil, fmt.Errorf("there is no machine %s", id)
}
