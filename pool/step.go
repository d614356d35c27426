package pool

// StepKind names one of the closed set of steps. A driver decides how a step is spelled, never when.
type StepKind string

// The steps that a driver starts, and Drain, which the Kubernetes edge starts.
const (
	// PutTemplate makes a new version of the template with the wanted content; the first one makes the template.
	PutTemplate StepKind = "PutTemplate"
	// CreateGroup makes the group, with Size instances launched from Template.
	CreateGroup StepKind = "CreateGroup"
	// UpdateGroup makes the fields named in Fields as the specification wants them; it never touches the size.
	UpdateGroup StepKind = "UpdateGroup"
	// Resize sets the group's size to Size. It never goes below what exists: instances that go are chosen by name.
	Resize StepKind = "Resize"
	// Drain cordons the nodes of the instances in Targets and evicts what runs there.
	Drain StepKind = "Drain"
	// Undrain takes back a cordon of ours from nodes whose removal is no longer wanted.
	Undrain StepKind = "Undrain"
	// Remove terminates exactly the instances in Targets and lowers the group's size by their number in the same call.
	Remove StepKind = "Remove"
	// PruneTemplates deletes the template versions in Refs.
	PruneTemplates StepKind = "PruneTemplates"
	// DeleteGroup deletes the group with whatever instances it still holds.
	DeleteGroup StepKind = "DeleteGroup"
	// DeleteTemplates deletes the template with all its versions.
	DeleteTemplates StepKind = "DeleteTemplates"
)

// Step is the one thing that a pass does. It is begun, never waited for.
type Step struct {
	Kind StepKind
	// Cause is why, for the condition, the event and the plan.
	Cause Cause
	// Targets are the instances concerned, each with its own cause.
	Targets []Target
	// Size is the group's size that CreateGroup and Resize ask for.
	Size int
	// Template is the Ref that CreateGroup and UpdateGroup launch from; Base is the newest version that PutTemplate saw
	// before it, which makes its client token.
	Template, Base string
	// Fields are the drifted fields that UpdateGroup repairs.
	Fields []string
	// Refs are the template versions that PruneTemplates deletes.
	Refs []string
}

// Target is one instance that a step concerns.
type Target struct {
	ID         string
	ProviderID string
	// Node is the name of the instance's Node, empty when it never joined.
	Node  string
	Cause Cause
}

// Plan is what the decision says about a pool: at most one step, what is waited for, and what is refused.
type Plan struct {
	// Step is nil when there is nothing to do, or nothing that may be done yet.
	Step *Step
	// Waiting says what the pool waits for, most important first.
	Waiting []Cause
	// Refused says why the object can't be followed until somebody changes something.
	Refused *Cause
	// Settled says that nothing in the cloud is on its way: the next look can wait for the resync.
	Settled bool
	// Gone says that nothing of the pool is left in the cloud, so that the object may go.
	Gone bool
}
