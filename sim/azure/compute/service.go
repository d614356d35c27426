// Package compute simulates Microsoft.Compute: virtual machine scale sets of both modes, their machines, sizes and quotas.
//
// Machines are made one after another, operations go on and end, all at sim.Speed. Upgrade policies and automatic repairs act as in the
// real service: they change and replace machines without draining them.
package compute

import (
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/shapes"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/fleet"
)

// bodies are the types of requests.
var bodies = shapes.Compute().Types

// Service is Microsoft.Compute with all that it holds. Its operations run one at a time.
type Service struct {
	*arm.Core

	sets       *core.Table[scaleSet]
	machines   *fleet.Machines[machine, *machine]
	operations *core.Table[operation]
	blobs      core.Contents[string] // custom data in base64
	quotas     *core.Table[quota]
	images     *core.Table[Image]

	// known is what models are made of, by their fingerprints.
	known map[string]content

	models          *models
	capacity        *capacity
	scaleSets       *scaleSets
	virtualMachines *virtualMachines
	life            *life
	running         *running
	upgrades        *upgrades
	views           *views

	// NodeOf returns what a machine that another provider manages learns from it, and its version of Kubernetes; nil for others.
	NodeOf func(Node) (*sim.Managed, string)
}

// The parts of the service, by what they decide. Each embeds the Service, which holds the tables.
type (
	// models checks what clients send against what the service accepts.
	models struct{ *Service }
	// capacity is the quotas of cores and the sizes on offer.
	capacity struct{ *Service }
	// scaleSets are the operations on scale sets as a whole.
	scaleSets struct{ *Service }
	// virtualMachines are the operations on machines.
	virtualMachines struct{ *Service }
	// life creates, powers and removes machines.
	life struct{ *Service }
	// running are the operations that go on.
	running struct{ *Service }
	// upgrades are rolling upgrades and automatic repairs.
	upgrades struct{ *Service }
	// views are scale sets and machines as clients see them.
	views struct{ *Service }
)

// New returns the empty service.
func New(base *arm.Core) *Service {
	w := &Service{
		Core:       base,
		sets:       core.NewTable[scaleSet]("scale-set/"),
		operations: core.NewTable[operation]("operation/"),
		blobs:      core.NewContents[string]("blob/"),
		quotas:     core.NewTable[quota]("quota/"),
		images:     core.NewTable[Image]("image/"),
		known:      map[string]content{},
	}
	w.machines = fleet.New(base.State, "machine/", fleet.Kind[*machine]{
		Group: func(m *machine) string {
			if s := w.sets.Get(m.Set); s != nil {
				return s.Name
			}
			return ""
		},
		Occupies: func(m *machine) bool { return m.State != stateDeleting },
		Runs:     func(m *machine) bool { return m.Power == powerRunning },
		Guest:    func(m *machine) sim.Machine { return w.life.guest(m) },
	})
	w.models, w.capacity, w.scaleSets, w.virtualMachines, w.life = &models{w}, &capacity{w}, &scaleSets{w}, &virtualMachines{w}, &life{w}
	w.running, w.upgrades, w.views = &running{w}, &upgrades{w}, &views{w}
	return w
}

// Tables returns the tables of the service.
func (w *Service) Tables() core.Tables {
	return core.Tables{w.sets, w.machines, w.operations, w.blobs, w.quotas, w.images}
}

// Resume powers on again the machines that ran, and drops custom data that nothing refers to any more.
func (w *Service) Resume() {
	used := map[string]bool{}
	for _, s := range w.sets.All() {
		used[s.Blob] = true
	}
	for _, m := range w.machines.All() {
		used[m.Blob] = true
	}
	w.blobs.Sweep(used)
	w.machines.Resume()
}

// Remember keeps an operation about which nothing is done, so that it can be read, and returns it under an ID of its own.
func (w *Service) Remember(op arm.Operation) *arm.Operation {
	op.ID = w.UUID("operation")
	kept := &operation{Operation: op}
	w.operations.Put(op.ID, kept)
	return &kept.Operation
}

// HasPrincipal reports whether a scale set has an identity of that ID.
func (w *Service) HasPrincipal(id string) bool {
	for _, s := range w.sets.All() {
		if s.Principal != "" && strings.EqualFold(s.Principal, id) {
			return true
		}
	}
	return false
}

// set finds a scale set; the error is ARM's.
func (w *Service) set(sub, group, name string) (*scaleSet, error) {
	if s := w.sets.Get(SetKey(sub, group, name)); s != nil && !s.Alone {
		return s, nil
	}
	return nil, arm.NotFound("Microsoft.Compute/virtualMachineScaleSets", name, group)
}

// machinesOf are the machines of a scale set, in the order in which they were made.
func (w *Service) machinesOf(s *scaleSet) []*machine { return w.machines.Of(s.key() + "|") }

// staying are the machines of a scale set that are not being deleted.
func (w *Service) staying(s *scaleSet) []*machine {
	return slices.DeleteFunc(w.machinesOf(s), func(m *machine) bool { return m.State == stateDeleting })
}

// flexible finds a machine of a scale set in flexible mode by its own name.
func (w *Service) flexible(sub, group, name string) (*scaleSet, *machine, error) {
	for _, m := range w.machines.All() {
		if m.Flexible && strings.EqualFold(m.Name, name) && strings.EqualFold(m.Group, group) && strings.EqualFold(m.Sub, sub) {
			if s := w.sets.Get(m.Set); s != nil {
				return s, m, nil
			}
		}
	}
	return nil, nil, arm.NotFound("Microsoft.Compute/virtualMachines", name, group)
}

// touch notes that a machine has changed.
func (w *Service) touch(m *machine) { w.machines.Touch(machineKey(m.Set, m.Instance)) }

// changed notes that a scale set has changed, and counts its ETag up.
func (w *Service) changed(s *scaleSet) {
	s.Version++
	w.sets.Touch(s.key())
}

// Tagged finds the scale set or the machine at a scope: its ID, its tags, and how they are replaced. It returns an empty ID for none.
func (w *Service) Tagged(scope string) (id string, tags map[string]string, put func(map[string]string)) {
	if s := w.sets.Get(strings.ToLower(scope)); s != nil {
		return s.ID, document.Pairs(s.Doc, "tags"), func(t map[string]string) {
			s.Doc["tags"] = document.OfStrings(t)
			w.changed(s)
		}
	}
	for _, m := range w.machines.All() {
		if s := w.sets.Get(m.Set); s != nil && m.Flexible && strings.EqualFold(m.id(s), scope) {
			return m.id(s), m.Tags, func(t map[string]string) {
				m.Tags = t
				m.Version++
				w.touch(m)
			}
		}
	}
	return "", nil, nil
}

// Tick brings the service to the present and returns when something is due next; the zero time means never.
func (w *Service) Tick() time.Time {
	var next time.Time
	for _, s := range w.sets.All() {
		next = core.Earliest(next, w.life.tickSet(s))
	}
	for key, m := range w.machines.All() {
		next = core.Earliest(next, w.life.tickMachine(key, m))
	}
	for _, s := range w.sets.All() {
		next = core.Earliest(next, core.Earliest(w.upgrades.tickRoll(s), w.upgrades.tickRepairs(s)))
	}
	for _, op := range w.operations.All() {
		next = core.Earliest(next, w.running.tickOperation(op))
	}
	return next
}
