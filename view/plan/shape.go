package plan

import (
	"encoding/json"
	"io"
	"time"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/pool"
)

// APIVersion and Kind begin the JSON form of plans. Fields are added to it, never renamed or removed.
const (
	APIVersion = "plan.muster.dev/v1"
	Kind       = "PlanList"
)

// List is the JSON form of plans.
type List struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Plans      []Plan `json:"plans"`
}

// Plan describes the effects of an edit on one machine pool.
type Plan struct {
	// Namespace and Name of the MachinePool; Infrastructure is its infrastructure object.
	Namespace      string    `json:"namespace"`
	Name           string    `json:"name"`
	Cluster        string    `json:"cluster"`
	Infrastructure Reference `json:"infrastructure"`
	// Headline summarizes the plan in one sentence.
	Headline string `json:"headline"`
	// New is true if the pool has no group in the cloud yet, Deleting that it is being deleted.
	New      bool `json:"new"`
	Deleting bool `json:"deleting"`
	// Desired is the number of machines that budgets are counted from, Machines how many exist now, Ready how many of them
	// serve: their nodes are Ready for as long as the pool asks, and neither drained nor on their way out.
	Desired  int `json:"desired"`
	Machines int `json:"machines"`
	Ready    int `json:"ready"`
	// NodesUnknown is true if the workload cluster does not answer: Ready and LowestReady mean nothing then.
	NodesUnknown bool `json:"nodesUnknown"`
	// Replaced is the number of machines that are replaced, Removed of those that are removed without replacement, Added of additional
	// machines that replace none.
	Replaced int `json:"replaced"`
	Removed  int `json:"removed"`
	Added    int `json:"added"`
	// Outdated is the number of machines that differ from the objects, whether or not they are replaced.
	Outdated int `json:"outdated"`
	// LowestReady is the least number of Ready machines on the way, MostMachines the largest number of machines. For a provider rollout they
	// are the bounds that the cloud guarantees.
	LowestReady  int `json:"lowestReady"`
	MostMachines int `json:"mostMachines"`
	// Adoption describes the first effects on the group of another tool; absent if none is adopted.
	Adoption *Adoption `json:"adoption,omitempty"`
	// MissingGrant is the object that an operator would apply to allow the requested adoption; absent if no grant is missing.
	MissingGrant *musterv1.AdoptionGrant `json:"missingGrant,omitempty"`
	// Changes lists the fields that the edit changes, with the effect of each.
	Changes []Change `json:"changes"`
	// Waves lists the rounds in which Muster replaces machines.
	Waves []Wave `json:"waves"`
	// Rolled lists the machines of a provider rollout, in an order that the cloud chooses; Gone those that are removed for good.
	Rolled []MachineChange `json:"rolled"`
	Gone   []MachineChange `json:"gone"`
	// InPlace are the machines that stay and are changed as they are.
	InPlace []MachineChange `json:"inPlace"`
	// Holds lists what holds back the rollout now, or a later wave of it, and passes by time or by a gate.
	Holds []Hold `json:"holds,omitempty"`
	// RolledBegins is when the provider rollout begins at the earliest.
	RolledBegins Begins `json:"rolledBegins,omitzero"`
	// Steps lists the steps on the way, each once for consecutive equal ones.
	Steps []string `json:"steps"`
	// Blocked lists the causes that keep the pool from following the objects until something changes, most important first.
	Blocked []Cause `json:"blocked"`
	// Warnings lists further facts. They do not block the pool.
	Warnings []string `json:"warnings"`
}

// Reference names an object of the pool's namespace.
type Reference struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// Effect classifies the effect of a changed field.
type Effect string

// The effects.
const (
	// ReplacesMachines means that some existing machines no longer match the objects.
	ReplacesMachines Effect = "ReplacesMachines"
	// NewMachinesOnly means that only machines launched from now on are different.
	NewMachinesOnly Effect = "NewMachinesOnly"
	// InPlace means that the change is applied without replacing machines: sizes, limits, tags, procedures.
	InPlace Effect = "InPlace"
	// Nothing means that nothing in the cloud changes now.
	Nothing Effect = "Nothing"
	// Unknown means that the effect is unknown; Change.Why explains the reason.
	Unknown Effect = "Unknown"
)

// Change is one field that an edit changes.
type Change struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Path of the field, in the version of the kind that controllers read.
	Path string `json:"path"`
	// From and To are its values in short, "-" for none. They are empty where they may hold secrets.
	From string `json:"from"`
	To   string `json:"to"`
	// Effect is the effect of this field alone; Why explains it if necessary.
	Effect Effect `json:"effect"`
	Why    string `json:"why,omitempty"`
}

// Wave is one round of a rollout: replacements are launched, and the listed machines are drained and removed.
type Wave struct {
	// LowestReady is the least number of Ready machines while the replacements boot.
	LowestReady int             `json:"lowestReady"`
	Machines    []MachineChange `json:"machines"`
	Begins
}

// Begins is when machines begin to be replaced, where policies, waves or soaks delay that.
type Begins struct {
	// Earliest is the time if every machine joins within three minutes, and drains take no time; zero if no time is known.
	Earliest time.Time `json:"earliest,omitzero"`
	// WaitsFor is the gate because of which no time is known.
	WaitsFor *Cause `json:"waitsFor,omitempty"`
}

// Hold is a cause that holds back a rollout.
type Hold struct {
	Cause
	// Until is when time alone may end it; zero if it does not.
	Until time.Time `json:"until,omitzero"`
}

// MachineChange is one machine that goes or is changed.
type MachineChange struct {
	ID string `json:"id"`
	// Node is empty for a machine that never joined.
	Node string `json:"node"`
	Zone string `json:"zone"`
	// Reason is a word for programs, Message a sentence for people.
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Fields are those in which the machine's template differs from the wanted one, as far as that is known.
	Fields []string `json:"fields,omitempty"`
}

// Cause is a reason word and a sentence.
type Cause struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

func beginsOf(b Begin) Begins {
	out := Begins{Earliest: b.At}
	if b.Gate != nil {
		cause := causeOf(*b.Gate)
		out.WaitsFor = &cause
	}
	return out
}

// Moves reports whether machines are replaced or removed.
func (p Plan) Moves() bool { return p.Replaced > 0 || p.Removed > 0 }

func causeOf(c pool.Cause) Cause { return Cause{c.Reason, c.Message} }

func machinesOf(list []ReplacedMachine) []MachineChange {
	out := []MachineChange{}
	for _, d := range list {
		m := MachineChange{ID: d.Instance.ID, Zone: d.Instance.Zone, Reason: d.Cause.Reason, Message: d.Cause.Message,
			Fields: d.Instance.TemplateDiff}
		if n := d.Instance.Node; n != nil {
			m.Node = n.Name
		}
		out = append(out, m)
	}
	return out
}

// JSON writes plans for programs.
func JSON(w io.Writer, plans []Plan) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if plans == nil {
		plans = []Plan{}
	}
	return e.Encode(List{APIVersion: APIVersion, Kind: Kind, Plans: plans})
}
