package plan

import (
	"encoding/json"
	"io"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/pool"
)

// APIVersion and Kind begin the JSON form of plans. Fields are added to it, never renamed or taken away.
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

// Plan is what would become of one machine pool.
type Plan struct {
	// Namespace and Name of the MachinePool; Infrastructure is its infrastructure object.
	Namespace      string    `json:"namespace"`
	Name           string    `json:"name"`
	Cluster        string    `json:"cluster"`
	Infrastructure Reference `json:"infrastructure"`
	// Headline says it all in one sentence.
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
	// Replaced is how many machines are replaced by others, Removed how many go with none in their place, Added how many come
	// beside those that replace others.
	Replaced int `json:"replaced"`
	Removed  int `json:"removed"`
	Added    int `json:"added"`
	// Outdated is how many machines differ from what the objects ask for, whether or not something replaces them.
	Outdated int `json:"outdated"`
	// LowestReady is the least number of Ready machines on the way, MostMachines the largest number that exist. Where the
	// cloud replaces machines by itself they are the bounds that it promises.
	LowestReady  int `json:"lowestReady"`
	MostMachines int `json:"mostMachines"`
	// Adoption is what happens to the group of another tool before all else; absent where none is adopted.
	Adoption *Adoption `json:"adoption,omitempty"`
	// MissingGrant is what the operator would apply to allow the adoption that the pool asks for; absent if no grant is missing.
	MissingGrant *musterv1.AdoptionGrant `json:"missingGrant,omitempty"`
	// Changes are the fields that the edit changes, and what each does.
	Changes []Change `json:"changes"`
	// Waves are the rounds in which machines are replaced one by one.
	Waves []Wave `json:"waves"`
	// Rolled are the machines that the cloud replaces by itself, in an order that it chooses; Gone those that go for good.
	Rolled []MachineChange `json:"rolled"`
	Gone   []MachineChange `json:"gone"`
	// InPlace are the machines that stay and are changed as they are.
	InPlace []MachineChange `json:"inPlace"`
	// Steps are what is done on the way, each once for a row of equal ones.
	Steps []string `json:"steps"`
	// Blocked is what keeps the pool from following the objects until something changes, most important first.
	Blocked []Cause `json:"blocked"`
	// Warnings are worth knowing and block nothing.
	Warnings []string `json:"warnings"`
}

// Reference names an object of the pool's namespace.
type Reference struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// Effect is what a changed field does, in one word.
type Effect string

// The effects.
const (
	// ReplacesMachines reports whether machines which exist no longer are what the objects ask for.
	ReplacesMachines Effect = "ReplacesMachines"
	// NewMachinesOnly reports whether machines which are launched from now on are different, and that no other is touched.
	NewMachinesOnly Effect = "NewMachinesOnly"
	// InPlace reports whether something changes without a machine being replaced for it: sizes, limits, tags, how things are done.
	InPlace Effect = "InPlace"
	// Nothing reports whether nothing in the cloud changes now.
	Nothing Effect = "Nothing"
	// Unknown reports whether it can't be told, and Change.Why says why.
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
	// Effect is what this field alone does; Why says more where there is more to say.
	Effect Effect `json:"effect"`
	Why    string `json:"why,omitempty"`
}

// Wave is one round of a rollout: as many machines are launched as are named, and these go, each drained first.
type Wave struct {
	// LowestReady is the least number of Ready machines while those that are launched come up.
	LowestReady int             `json:"lowestReady"`
	Machines    []MachineChange `json:"machines"`
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
