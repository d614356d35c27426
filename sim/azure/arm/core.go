package arm

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
)

// Environment is what all that a simulator holds, now or earlier, shares.
type Environment struct {
	// Seed is where IDs and chances come from.
	Seed   sim.Seed
	Speed  *sim.Speed
	Faults *sim.Faults
	// Host runs what is inside machines; nil leaves them empty.
	Host sim.MachineHost
	// LiveTags lets machines of uniform scale sets show the scale set's current tags instead of those they were made with.
	LiveTags bool
	// TenantOf returns the directory of a subscription, "" for an unknown one.
	TenantOf func(subscription string) string
}

// Workload returns the host's view of nodes, nil if it has none.
func (e *Environment) Workload() sim.Workload {
	w, ok := e.Host.(sim.Workload)
	if !ok {
		return nil
	}
	return w
}

// Core is what the resource providers share: the clock, the numbering, and the resources that others refer to. Operations run one at
// a time.
type Core struct {
	*Environment
	// Now is the time of the operation that runs.
	Now time.Time
	// PageLimit is how many items a page of the read that runs may hold; zero is no limit but the list's own.
	PageLimit int
	// Sequences holds the numbering, Resources all that is only read or referred to: groups, networks, identities.
	Sequences *sim.Table[Sequence]
	Resources *sim.Table[Resource]
}

// NewCore returns an empty core.
func NewCore(e *Environment) *Core {
	return &Core{Environment: e, Sequences: sim.NewTable[Sequence]("sequence/"), Resources: sim.NewTable[Resource]("resource/")}
}

// Tables returns the tables of the core.
func (w *Core) Tables() Tables { return Tables{w.Sequences, w.Resources} }

// Table is a table of rows of any type.
type Table interface {
	Load(docs map[string]json.RawMessage) error
	Flush(changes map[string]json.RawMessage) error
}

// Tables are loaded and written together.
type Tables []Table

// Load reads the rows of all tables from documents.
func (t Tables) Load(docs map[string]json.RawMessage) error {
	for _, one := range t {
		if err := one.Load(docs); err != nil {
			return err
		}
	}
	return nil
}

// Flush writes the rows that have changed.
func (t Tables) Flush(changes map[string]json.RawMessage) error {
	for _, one := range t {
		if err := one.Flush(changes); err != nil {
			return err
		}
	}
	return nil
}

// Sequence numbers what the cloud makes.
type Sequence struct{ Last int64 }

// NextNumber returns the next number of a sequence.
func (w *Core) NextNumber(of string) int64 {
	s := w.Sequences.Get(of)
	if s == nil {
		s = &Sequence{}
		w.Sequences.Put(of, s)
	}
	s.Last++
	w.Sequences.Touch(of)
	return s.Last
}

// Life returns how long something takes here that takes d in the real cloud.
func (w *Core) Life(d time.Duration) time.Duration { return w.Speed.Of(d) }

// UUID makes the next ID of a kind.
func (w *Core) UUID(kind string) string { return w.Seed.UUID(kind, w.NextNumber("uuid")) }

// Address returns the next private address of a network.
func (w *Core) Address() string {
	n := w.NextNumber("address") + 3 // the first addresses of a subnet are the service's
	return "10.1." + strconv.Itoa(int(n/250)%250) + "." + strconv.Itoa(int(n%250)+4)
}

// Resource is a resource of no simulated provider: a group, a network, an identity.
type Resource struct {
	ID  string
	Doc document.Object
}

// PutResource creates a resource, or replaces it.
func (w *Core) PutResource(id string, d document.Object) {
	parts := strings.Split(strings.Trim(id, "/"), "/")
	d["id"], d["name"], d["type"] = id, parts[len(parts)-1], KindOf(parts)
	w.Resources.Put(strings.ToLower(id), &Resource{ID: id, Doc: d})
}

// Exists reports whether a resource exists.
func (w *Core) Exists(id string) bool { return w.Resources.Get(strings.ToLower(id)) != nil }

// HasGroup reports whether a resource group exists.
func (w *Core) HasGroup(sub, group string) bool {
	return w.Exists("/subscriptions/" + sub + "/resourceGroups/" + group)
}

// GroupName returns the resource group's name in the case in which it was made.
func (w *Core) GroupName(sub, group string) string {
	if r := w.Resources.Get(strings.ToLower("/subscriptions/" + sub + "/resourceGroups/" + group)); r != nil {
		return document.Text(r.Doc, "name")
	}
	return group
}

// KindOf returns the type of a resource by the parts of its ID, such as Microsoft.Network/virtualNetworks/subnets.
func KindOf(parts []string) string {
	for i, p := range parts {
		if !strings.EqualFold(p, "providers") || i+2 >= len(parts) {
			continue
		}
		kind := parts[i+1]
		for n := i + 2; n < len(parts); n += 2 {
			kind += "/" + parts[n]
		}
		return kind
	}
	return "Microsoft.Resources/resourceGroups"
}

// ResourceID returns the ID of a resource in a group.
func ResourceID(sub, group, kind, name string) string {
	return "/subscriptions/" + sub + "/resourceGroups/" + group + "/providers/" + kind + "/" + name
}

// LastOf returns what follows the last slash.
func LastOf(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

// Due reports a time that is set and has come.
func Due(at, now time.Time) bool { return !at.IsZero() && !at.After(now) }

// Earliest returns the earlier of two times; the zero time stands for never.
func Earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Stamp returns a time as ARM writes it.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.0000000+00:00") }
