package azure

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
)

// inventory is all that the cloud holds. Its methods run one at a time.
type inventory struct {
	cloud *Cloud
	// now is the time of what runs.
	now time.Time
	// pageLimit is how many items a page of the read that runs may hold; zero is no limit but the list's own.
	pageLimit int

	sequences   *sim.Table[sequence]
	resources   *sim.Table[resource]
	sets        *sim.Table[scaleSet]
	machines    *sim.Table[machine]
	operations  *sim.Table[operation]
	blobs       *sim.Table[blob]
	assignments *sim.Table[assignment]
	quotas      *sim.Table[quota]
	secrets     *sim.Table[Application]
	images      *sim.Table[Image]

	// known is what models are made of, by their fingerprints.
	known map[string]content
	// due is when something happens next by itself; touched is true if a request has changed something since the last tick.
	due     time.Time
	touched bool

	models          *models
	capacity        *capacity
	scaleSets       *scaleSets
	virtualMachines *virtualMachines
	fleet           *fleet
	running         *running
	upgrades        *upgrades
	views           *views
	environment     *environment
	roles           *roles

	// powerOn and powerOff are what becomes of machines once the state is on disk.
	powerOn, powerOff []string
}

// The parts of the inventory, by what they decide. Each embeds the inventory, which holds the tables.
type (
	// models checks what clients send against what the service accepts.
	models struct{ *inventory }
	// capacity is the quotas of cores and the sizes on offer.
	capacity struct{ *inventory }
	// scaleSets are the operations on scale sets as a whole.
	scaleSets struct{ *inventory }
	// virtualMachines are the operations on machines.
	virtualMachines struct{ *inventory }
	// fleet creates, powers and removes machines.
	fleet struct{ *inventory }
	// running are the operations that go on.
	running struct{ *inventory }
	// upgrades are rolling upgrades and automatic repairs.
	upgrades struct{ *inventory }
	// views are scale sets and machines as clients see them.
	views struct{ *inventory }
	// environment is what scale sets refer to: groups, networks, identities and tags.
	environment struct{ *inventory }
	// roles are role assignments and definitions.
	roles struct{ *inventory }
)

// stored is a table whatever its rows are.
type stored interface {
	Load(docs map[string]json.RawMessage) error
	Flush(changes map[string]json.RawMessage) error
}

func newInventory(c *Cloud) *inventory {
	w := &inventory{
		cloud:       c,
		sequences:   sim.NewTable[sequence]("sequence/"),
		resources:   sim.NewTable[resource]("resource/"),
		sets:        sim.NewTable[scaleSet]("scale-set/"),
		machines:    sim.NewTable[machine]("machine/"),
		operations:  sim.NewTable[operation]("operation/"),
		blobs:       sim.NewTable[blob]("blob/"),
		assignments: sim.NewTable[assignment]("role-assignment/"),
		quotas:      sim.NewTable[quota]("quota/"),
		secrets:     sim.NewTable[Application]("application/"),
		images:      sim.NewTable[Image]("image/"),
		known:       map[string]content{},
	}
	w.models, w.capacity, w.scaleSets, w.virtualMachines, w.fleet = &models{w}, &capacity{w}, &scaleSets{w}, &virtualMachines{w}, &fleet{w}
	w.running, w.upgrades, w.views, w.environment, w.roles = &running{w}, &upgrades{w}, &views{w}, &environment{w}, &roles{w}
	return w
}

func (w *inventory) tables() []stored {
	return []stored{w.sequences, w.resources, w.sets, w.machines, w.operations, w.blobs, w.assignments, w.quotas, w.secrets, w.images}
}

func (w *inventory) load(docs map[string]json.RawMessage) error {
	for _, t := range w.tables() {
		if err := t.Load(docs); err != nil {
			return err
		}
	}
	return nil
}

func (w *inventory) flush(changes map[string]json.RawMessage) error {
	for _, t := range w.tables() {
		if err := t.Flush(changes); err != nil {
			return err
		}
	}
	return nil
}

// number is the next number of a sequence.
func (w *inventory) number(of string) int64 {
	s := w.sequences.Get(of)
	if s == nil {
		s = &sequence{}
		w.sequences.Put(of, s)
	}
	s.Last++
	w.sequences.Touch(of)
	return s.Last
}

// life is how long something takes here that takes so long in life.
func (w *inventory) life(d time.Duration) time.Duration { return w.cloud.speed.Of(d) }

// keep stores custom data once and returns where.
func (w *inventory) keep(base64 string) string {
	if base64 == "" {
		return ""
	}
	key := sim.Seed(0).Hex(32, base64)
	if w.blobs.Get(key) == nil {
		w.blobs.Put(key, &blob{base64})
	}
	return key
}

func (w *inventory) kept(key string) string {
	if b := w.blobs.Get(key); b != nil {
		return b.Base64
	}
	return ""
}

// forgetBlobs drops custom data that nothing refers to any more.
func (w *inventory) forgetBlobs() {
	used := map[string]bool{}
	for _, s := range w.sets.All() {
		used[s.Blob] = true
	}
	for _, m := range w.machines.All() {
		used[m.Blob] = true
	}
	for key := range w.blobs.All() {
		if !used[key] {
			w.blobs.Delete(key)
		}
	}
}

// set finds a scale set; the error is ARM's.
func (w *inventory) set(sub, group, name string) (*scaleSet, error) {
	if s := w.sets.Get(setKey(sub, group, name)); s != nil {
		return s, nil
	}
	return nil, notFound("Microsoft.Compute/virtualMachineScaleSets", name, group)
}

// machinesOf are the machines of a scale set, in the order in which they were made.
func (w *inventory) machinesOf(s *scaleSet) []*machine {
	var out []*machine
	for _, m := range w.machines.Under(s.key() + "|") {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b *machine) int { return a.Number - b.Number })
	return out
}

// staying are the machines of a scale set that are not being deleted.
func (w *inventory) staying(s *scaleSet) []*machine {
	return slices.DeleteFunc(w.machinesOf(s), func(m *machine) bool { return m.State == stateDeleting })
}

// flexible finds a machine of a scale set in flexible mode by its own name.
func (w *inventory) flexible(sub, group, name string) (*scaleSet, *machine, error) {
	for _, m := range w.machines.All() {
		if m.Flexible && strings.EqualFold(m.Name, name) && strings.EqualFold(m.Group, group) && strings.EqualFold(m.Sub, sub) {
			if s := w.sets.Get(m.Set); s != nil {
				return s, m, nil
			}
		}
	}
	return nil, nil, notFound("Microsoft.Compute/virtualMachines", name, group)
}

// touch notes that a machine has changed.
func (w *inventory) touch(m *machine) { w.machines.Touch(machineKey(m.Set, m.Instance)) }

// changed notes that a scale set has changed, and counts its ETag up.
func (w *inventory) changed(s *scaleSet) {
	s.Version++
	w.sets.Touch(s.key())
}

// etag is the version of something, as it is shown.
func etag(version int64) string { return fmt.Sprintf("\"%d\"", version) }
