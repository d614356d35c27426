// Package report says what a pass means for people and for programs: conditions, counts, the state word and the
// sentence. It is pure: two passes over the same facts give byte-equal reports. One file per condition.
package report

import "github.com/muster-project/muster/pool"

// The condition types, the same on every infrastructure kind.
const (
	// Ready is the summary: one sentence on what, how many, and what is waited for.
	Ready = "Ready"
	// TemplateReady reports whether the template in the cloud is the one that the specification asks for.
	TemplateReady = "TemplateReady"
	// GroupReady reports whether the group exists, belongs to the pool, and has the shape and size that the spec asks for.
	GroupReady = "GroupReady"
	// PrerequisitesReady reports whether the prerequisites of the group exist; it is absent if there are none.
	PrerequisitesReady = "PrerequisitesReady"
	// InstancesReady reports whether as many nodes are Ready as the pool wants.
	InstancesReady = "InstancesReady"
	// UpToDate reports whether every instance was launched from the wanted template, and has what is changed in place.
	UpToDate = "UpToDate"
	// Draining names the nodes that are being drained and the reasons why their pods remain; it is absent while there are none.
	Draining = "Draining"
	// Deleting reports the progress of the deletion; it is absent while the object is not being deleted.
	Deleting = "Deleting"
)

// Status of a condition.
type Status string

// The three values that a condition takes.
const (
	True    Status = "True"
	False   Status = "False"
	Unknown Status = "Unknown"
)

// Condition is one fact about the pool. Times and generations are the Kubernetes edge's matter.
type Condition struct {
	Type    string
	Status  Status
	Reason  string
	Message string
}

// Event is something that happened in this pass, with its value.
type Event struct {
	// Warning events need the user's attention.
	Warning bool
	Reason  string
	Message string
}

// Counts are observed numbers. A nil count is unknown.
type Counts struct {
	// Desired is the number of instances that the pool should have now.
	Desired int
	// Current is the number that it has: every instance of the group that is not being removed.
	Current *int
	// Ready is the number of them that have a Ready node.
	Ready *int
	// UpToDate is the number of them that were launched from the wanted template.
	UpToDate *int
}

// State is the pool's one-word state for the State column.
type State string

// The states, first match wins.
const (
	StateDeleting State = "Deleting"
	StateError    State = "Error"
	StateWaiting  State = "Waiting"
	StateCreating State = "Creating"
	StateScaling  State = "Scaling"
	StateUpdating State = "Updating"
	// StateUnhealthy: every machine is there and has joined, and not all nodes are Ready.
	StateUnhealthy State = "Unhealthy"
	StateRunning   State = "Running"
)

// Instance is one row of status.instances.
type Instance struct {
	ID         string
	ProviderID string
	Zone       string
	State      pool.InstanceState
	// Node is empty as long as the machine has not joined; Ready is its node's condition.
	Node    string
	Ready   bool
	Version string
	// Template is the Ref that the instance was launched from.
	Template string
}

// Report is everything that a pass has to say.
type Report struct {
	Conditions []Condition
	Counts     Counts
	State      State
	Events     []Event
	// Seen is true if the cloud was read and answered: what follows is observed. Otherwise it is empty, and the object keeps what it has.
	Seen bool
	// Provisioned is true if the group exists and belongs to the pool.
	Provisioned bool
	// GroupID is the cloud's name of the group, for spec.providerID.
	GroupID string
	// Template is the Ref of the newest template.
	Template string
	// ProviderIDs of all instances that are not failed or on their way out, and of those that we hold back from it for their
	// drain, in a stable order.
	ProviderIDs []string
	Instances   []Instance
	// Size is the group's own size, which becomes spec.replicas of the core object where an external autoscaler owns the size.
	Size *int
	// Capacity is the capacity of each machine of the wanted template; nil if it is not known now.
	Capacity *pool.NodeCapacity
	// ResolvedLookups are look-ups to be kept on the object.
	ResolvedLookups map[string]string
	// Operations are the cloud's long-running operations, to be kept on the object as hints.
	Operations []pool.Operation
}

// Condition is the one of a type; the zero Condition when the report does not have it.
func (r Report) Condition(name string) Condition {
	for _, c := range r.Conditions {
		if c.Type == name {
			return c
		}
	}
	return Condition{}
}
