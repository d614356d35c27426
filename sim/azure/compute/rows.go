package compute

import (
	"strings"
	"time"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/fleet"
)

// Provisioning states, as ARM names them.
const (
	stateCreating  = "Creating"
	stateUpdating  = "Updating"
	stateDeleting  = "Deleting"
	stateSucceeded = "Succeeded"
	stateFailed    = "Failed"
)

// Power states, as they follow PowerState/ in an instance view.
const (
	powerStarting    = "starting"
	powerRunning     = "running"
	powerStopped     = "stopped"
	powerDeallocated = "deallocated"
)

// Orchestration modes.
const (
	modeUniform  = "Uniform"
	modeFlexible = "Flexible"
)

// scaleSet is a virtual machine scale set.
type scaleSet struct {
	// ID is the resource's ID in the case in which it was made; Sub, Group and Name are taken from it.
	ID, Sub, Group, Name string
	// Alone is true if its machines are virtual machines by themselves, which another provider keeps together: no client sees the scale set.
	Alone bool
	// Doc is what it is, as it was asked for: without what is only ever given, and without what only the service sets.
	Doc document.Object
	// Blob is where its custom data is kept, "" for none.
	Blob string
	// Given is a fingerprint of what is never shown: protected settings, passwords.
	Given string
	// Model is the fingerprint of all that makes machines.
	Model string
	State string
	// Version is what its ETag counts.
	Version int64
	Created time.Time
	UID     string
	// Principal is the ID of its own identity, "" for none.
	Principal string
	// Next is the number of the next machine.
	Next int64
	// Op is the operation for which machines are made, "" for none, Ops are all that run on the scale set.
	Op  string
	Ops []string
	// Launches is how many machines are still to be made, LaunchAt when the next is.
	Launches int
	LaunchAt time.Time
	// Roll is the rolling upgrade that runs, nil for none.
	Roll *rolling
	// Trouble is why the last operation has failed, Lacking why there were fewer machines than asked for before it.
	Trouble, Lacking *arm.Trouble
}

func (s *scaleSet) key() string { return strings.ToLower(s.ID) }

// etag returns the version of the scale set as it is shown, "" for nil.
func (s *scaleSet) etag() string {
	if s == nil {
		return ""
	}
	return arm.ETag(s.Version)
}

func (s *scaleSet) mode() string { return document.Text(s.Doc, "properties.orchestrationMode") }

func (s *scaleSet) uniform() bool { return s.mode() == modeUniform }

func (s *scaleSet) size() string { return document.Text(s.Doc, "sku.name") }

func (s *scaleSet) deleting() bool { return s.State == stateDeleting }

func (s *scaleSet) busy() bool { return s.Op != "" || len(s.Ops) > 0 }

func (s *scaleSet) capacity() int {
	n, _ := document.Number(s.Doc, "sku.capacity")
	return n
}

func (s *scaleSet) location() string { return document.Text(s.Doc, "location") }

// machine is a virtual machine of a scale set.
type machine struct {
	fleet.Machine
	fleet.Disruptions
	// Set is the key of its scale set, Sub, Group and Location those of it.
	Set, Sub, Group, Location string
	// Instance is its ID within the scale set: a number in uniform mode, its name in flexible mode.
	Name, Instance, Computer string
	Flexible                 bool
	UID                      string
	Fault                    int
	Address                  string
	State                    string
	Power                    string
	Created                  time.Time
	Version                  int64
	// Profile is what it was made of, Blob its custom data, Model the fingerprint of the model it has.
	Profile document.Object
	Blob    string
	Model   string
	Tags    map[string]string
	// Protection is its protection policy, nil for none.
	Protection document.Object
	Eviction   string
	// Op is the operation that runs on it alone.
	Op string
	// PowerAt is when it starts, DoneAt when what happens to it ends.
	PowerAt, DoneAt time.Time
	// Fails is what goes wrong when it is made, Trouble what has.
	Fails, Trouble *arm.Trouble
	// Sick is set while what is inside reports no health, Settled is when the last change of the machine ended.
	Sick    bool
	Settled time.Time
}

// id is the resource's ID.
func (m *machine) id(s *scaleSet) string {
	if m.Flexible {
		return arm.ResourceID(m.Sub, m.Group, "Microsoft.Compute/virtualMachines", m.Name)
	}
	return s.ID + "/virtualMachines/" + m.Instance
}

// changing reports that something happens to the machine.
func (m *machine) changing() bool {
	return m.State == stateCreating || m.State == stateUpdating || m.State == stateDeleting
}

// fallBack lets a machine that has failed be so again after a change that heals nothing.
func (m *machine) fallBack() {
	if m.State == stateFailed {
		m.Fails = m.Trouble
	}
}

// operation is something that takes time.
type operation struct {
	arm.Operation
	// Set is the key of the scale set that it is about, Machine the ID of the machine where it is about one alone.
	Set, Machine string
	// Keys are the machines that it waits for.
	Keys []string
	// Gone is true if its resource is being deleted.
	Gone bool
}

// quota is how many cores may be used, of a family of sizes or in all.
type quota struct{ Limit int }

// SetKey and machineKey are the keys of rows: IDs are the same whatever their case.
func SetKey(sub, group, name string) string {
	return strings.ToLower(arm.ResourceID(sub, group, "Microsoft.Compute/virtualMachineScaleSets", name))
}

func machineKey(set, instance string) string { return set + "|" + strings.ToLower(instance) }
