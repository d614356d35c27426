// Package detail describes one pool: its machines with what happens to each, its rollout, budget, drains, conditions and events.
package detail

import (
	"time"

	"github.com/muster-project/muster/view"
	"github.com/muster-project/muster/view/memory"
	"github.com/muster-project/muster/view/rollout"
)

// APIVersion and Kind begin the JSON form. Fields are added to it, never renamed or removed.
const (
	APIVersion = "page.muster.dev/v1"
	Kind       = "Pool"
)

// Detail is one pool.
type Detail struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Pool       view.Pool `json:"pool"`
	Cloud      string    `json:"cloud,omitempty"`
	Version    string    `json:"version,omitempty"`
	Template   string    `json:"template,omitempty"`
	ProviderID string    `json:"providerID,omitempty"`
	Paused     bool      `json:"paused,omitempty"`
	Deleting   bool      `json:"deleting,omitempty"`
	// Observed is the time at which a pass of this process observed the pool; zero if none did, and everything is from the objects then.
	// NotObserved explains why the cloud was not observed since.
	Observed    time.Time `json:"observed,omitzero"`
	NotObserved string    `json:"notObserved,omitempty"`
	// NodesUnknown is true if the workload cluster did not answer.
	NodesUnknown bool `json:"nodesUnknown,omitempty"`
	// Rollout and Budget are those of the last pass.
	Rollout *Rollout `json:"rollout,omitempty"`
	Budget  *Budget  `json:"budget,omitempty"`
	// Progress is how far the rollout is, as the infrastructure object reports it; nil if it reports none. Policies is what the rollout
	// policies that select the pool allow now; nil if there are none, or if they may not be read.
	Progress *rollout.Status `json:"progress,omitempty"`
	Policies *Policies       `json:"policies,omitempty"`
	Zones    []Zone          `json:"zones"`
	Machines int             `json:"machines"`
	Drains   []Drain         `json:"drains"`
	Differs  []Differs       `json:"differs"`
	// Waiting are the causes that the pool waits for, most important first; Issues are the cloud's own errors.
	Waiting    []Cause         `json:"waiting"`
	Issues     []Cause         `json:"issues"`
	Conditions []Condition     `json:"conditions"`
	Events     []Event         `json:"events"`
	History    []memory.Sample `json:"history"`
	// Unread are the parts that could not be read, with the reasons.
	Unread []string `json:"unread,omitempty"`
	// Commands would act on the pool. The page itself writes nothing.
	Commands []Command `json:"commands"`
}

// Cause is a reason for programs and a sentence for people.
type Cause struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Status is the state of a machine in one word.
type Status string

// The states of a machine.
const (
	Pending     Status = "Pending"
	Joining     Status = "Joining"
	Serving     Status = "Ready"
	NotReady    Status = "NotReady"
	Draining    Status = "Draining"
	Terminating Status = "Terminating"
	Failed      Status = "Failed"
	NodeUnknown Status = "Unknown"
)

// Age tells whether a machine was launched from the wanted template.
type Age string

// The ages of a machine.
const (
	New     Age = "new"
	Old     Age = "old"
	Unknown Age = "unknown"
)

// Zone holds the machines of a zone.
type Zone struct {
	Name     string    `json:"name"`
	Machines []Machine `json:"machines"`
}

// Machine is one instance of the pool.
type Machine struct {
	ID      string    `json:"id"`
	Name    string    `json:"name,omitempty"`
	Node    string    `json:"node,omitempty"`
	Version string    `json:"version,omitempty"`
	Status  Status    `json:"status"`
	Age     Age       `json:"age"`
	Created time.Time `json:"created,omitzero"`
	// Template is the template that it was launched from; Differs names the fields in which that differs from the wanted one.
	Template string   `json:"template,omitempty"`
	Differs  []string `json:"differs,omitempty"`
	// Held is true if a lifecycle hook keeps it running until it is drained, Protected if the cloud does not choose it for a scale-in, Marked
	// if it is selected first for a scale-in, Standby if it serves while its replacement boots.
	Held      bool `json:"held,omitempty"`
	Protected bool `json:"protected,omitempty"`
	Marked    bool `json:"marked,omitempty"`
	Standby   bool `json:"standby,omitempty"`
	// Kept is true if a user keeps it from being replaced, KeptUntil the end of that; zero for none.
	Kept      bool      `json:"kept,omitempty"`
	KeptUntil time.Time `json:"keptUntil,omitzero"`
	// Goes is the reason to replace or remove it, now or later; nil if it stays. Selected is true if its turn has come, Wave the wave of the
	// rollout in which it goes, from 1; 0 if that is not known.
	Goes     *Cause `json:"goes,omitempty"`
	Selected bool   `json:"selected,omitempty"`
	Wave     int    `json:"wave,omitempty"`
	// Note is the cloud's own word for its state.
	Note string `json:"note,omitempty"`
}

// Rollout is the progress of the replacement of machines.
type Rollout struct {
	State string `json:"state"`
	Cause Cause  `json:"cause"`
	Left  int    `json:"left"`
	Total int    `json:"total"`
	Waves []Wave `json:"waves"`
	// Step is the step that the last pass began; empty if it began nothing.
	Step string `json:"step,omitempty"`
}

// Wave is one round of a rollout.
type Wave struct {
	Number          int      `json:"number"`
	Machines        []string `json:"machines"`
	Surge           int      `json:"surge"`
	LowestAvailable int      `json:"lowestAvailable"`
}

// Budget holds the limits of the rollout and what is used of them.
type Budget struct {
	Desired        int `json:"desired"`
	Available      int `json:"available"`
	Unavailable    int `json:"unavailable"`
	MaxUnavailable int `json:"maxUnavailable"`
	Surge          int `json:"surge"`
	MaxSurge       int `json:"maxSurge"`
}

// UnavailableLeft returns how many more machines may be unavailable.
func (b Budget) UnavailableLeft() int { return max(0, b.MaxUnavailable-b.Unavailable) }

// SurgeLeft returns how many more machines may be launched for the rollout.
func (b Budget) SurgeLeft() int { return max(0, b.MaxSurge-b.Surge) }

// Drain is a drain that is under way.
type Drain struct {
	Machine string    `json:"machine"`
	Node    string    `json:"node"`
	Since   time.Time `json:"since"`
	// Pods is the number of pods to evict, Volumes of volumes to detach. Blocked names pods and what keeps them.
	Pods    int      `json:"pods"`
	Volumes int      `json:"volumes"`
	Blocked []string `json:"blocked,omitempty"`
}

// Differs is a field in which machines differ from the wanted template.
type Differs struct {
	Field    string `json:"field"`
	Machines int    `json:"machines"`
}

// Condition is a condition of the pool or its infrastructure object.
type Condition struct {
	Kind    string    `json:"kind"`
	Type    string    `json:"type"`
	Status  string    `json:"status"`
	Reason  string    `json:"reason"`
	Message string    `json:"message,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	// Bad is true if the condition reports a problem.
	Bad bool `json:"bad,omitempty"`
}

// Event is an event of the pool or its infrastructure object.
type Event struct {
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"`
	Warning bool      `json:"warning,omitempty"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	Count   int       `json:"count"`
}

// Command is a command line that acts on the pool.
type Command struct {
	Title string `json:"title"`
	Line  string `json:"line"`
}
