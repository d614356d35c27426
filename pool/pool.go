// Package pool is the domain of Muster: what a machine pool should be, what it is, and the one step that brings the two together. It
// decides for every cloud, and it is pure: no clock, no random source, no I/O, and no import but the standard library, so that every rule
// is a row in a table and every whole decision a property.
//
// A decision is a pipeline. Each stage holds the one before it and adds values to it:
//
//	inputs          what is asked for, what was observed, the traits of the cloud
//	classification  for each instance whether it serves, and why it goes, if it does
//	gate            whether instances may be replaced now, and why not
//	budget          the sizes between which the group may be, and how many instances may go
//	selection       the instances whose turn it is
//	steps           the steps that follow; the first that may be started is the plan's
//	status          what the plan reports
package pool

import (
	"math"
	"time"
)

// Desired is what the object asks for, translated once by the Kubernetes edge.
type Desired struct {
	// Replicas is the number of machines that the pool should have. It is ignored while External is set and the
	// group exists.
	Replicas int
	// ReplicasManagedExternally says that somebody else sizes the group (annotation cluster.x-k8s.io/replicas-managed-by): its size is
	// read and never written.
	ReplicasManagedExternally bool
	// Min and Max bound Replicas, as the group's own limits in the cloud do; both inclusive.
	Min, Max int
	// MinField and MaxField name the object's fields behind Min and Max, for messages. Without a MaxField the pool has no
	// limits, and Min and Max mean nothing.
	MinField, MaxField string
	// Deleting says that the object is being deleted: the nodes are drained, then everything that it owns in the cloud goes.
	Deleting bool
	// CreateBlocked, when set, says why nothing may be created yet: the cluster is not ready, the bootstrap data is missing. A
	// group that exists goes on being sized, drained and deleted.
	CreateBlocked *Cause
	// FormerMachines, when set, names the Machines of instances of a former group that are still being deleted. A new group gives the
	// provider IDs of those to other instances, whose Nodes the controller of Machines would drain and delete: it is not created before.
	FormerMachines *Cause
	// NoPrerequisites says that the object asks for nothing beside its template, so that nobody has to be told whether it is there.
	NoPrerequisites bool
	// DrainTimeout bounds the evictions from one node; zero means no bound.
	DrainTimeout time.Duration
	// NoDrain, when set, says why nodes are not drained before they go: their cluster is being deleted as a whole.
	NoDrain *Cause
	// DeletePolicy orders the instances that a scale-in or a rollout may choose from.
	DeletePolicy DeletePolicy
	// Seed tells pools apart, so that Random takes each of them in an order of its own. It never changes: the owner's ID.
	Seed string
	// Strategy is how stale instances are replaced, one by one and by our hand. Nil leaves them to the cloud's own roll
	// (Traits.ProviderRollout), and where there is none they stay until they go for another reason.
	Strategy *Strategy
	// Rollback says that the cloud takes a native roll that fails back to what the group launched from: the group is then
	// pointed at a new template by the roll, and not before it.
	Rollback bool
	// SkipModel says that a changed template is neither a reason to replace an instance nor one to prefer it (gate
	// SkipMachinePoolModelReconciliation).
	SkipModel bool
	// SkipModelCause is why SkipModel is set where the object asks for it; without a reason it is the gate that does.
	SkipModelCause Cause
	// RolloutPaused, when set, says why no instance is replaced for being stale now (annotation muster.dev/rollout: paused).
	RolloutPaused *Cause
	// Restart, when set, makes every instance stale that was made before a moment.
	Restart *Restart
	// MinReady is how long a node must have been Ready to count as available.
	MinReady time.Duration
	// JoinDeadline is how long after its launch an instance that was never Ready is said to serve nobody; zero is
	// DefaultJoinDeadline.
	JoinDeadline time.Duration
	// ProgressDeadline is how long after its launch an instance of the wanted template that was never Ready halts the
	// rollout; zero is DefaultProgressDeadline.
	ProgressDeadline time.Duration
	// Remediation, when set, asks for the replacement of instances whose nodes are unwell.
	Remediation *Remediation
	// RemediationHint says what a user can do about an instance without a node while Heal is nil; empty if there is nothing.
	RemediationHint string
	// LostBootstrapData are the hashes of bootstrap data whose token is gone, so that no machine launched with it can join any more.
	LostBootstrapData []string
	// TemplateHistoryLimit is how many template versions of distinct content are kept in all, the newest included, beside what is in use:
	// the history that can be looked at and gone back to. Zero is DefaultTemplateHistoryLimit, and it counts as MinTemplateHistoryLimit at
	// least.
	TemplateHistoryLimit int
	// StepsInBackoff are steps that the cloud refused a moment ago, with its words: they are not begun again before their back-off
	// has ended, and what does not depend on them goes on.
	StepsInBackoff map[StepKind]Cause
	// Unresponsive are the IDs of instances that a step of the kind has changed without effect: others come first.
	Unresponsive map[StepKind]map[string]bool
}

// The reasons of Desired.StepsInBackoff where the cloud has not refused what a step asks for.
const (
	// Throttled: the cloud takes no more calls for now.
	Throttled = "Throttled"
	// ClientRateLimited: the step was not sent, because a rate budget of this client is used up.
	ClientRateLimited = "ClientRateLimited"
	// NoEffect: the cloud accepted the step more than once, and still reports the state before it.
	NoEffect = "NoEffect"
	// EffectPending: the cloud accepted the step a moment ago and may show its effect late. It is not told.
	EffectPending = "EffectPending"
)

// MaxReplicas is the largest number of machines that the pool's limits allow.
func (d Desired) MaxReplicas() int {
	if d.MaxField == "" {
		return math.MaxInt32
	}
	return d.Max
}

// minReplicas is the smallest number that they allow.
func (d Desired) minReplicas() int {
	if d.MaxField == "" {
		return 0
	}
	return d.Min
}

// DeletePolicy is the order in which surplus instances go.
type DeletePolicy string

// The delete policies, with the words of AzureMachinePool. Ties are broken by name.
const (
	Oldest DeletePolicy = "Oldest"
	Newest DeletePolicy = "Newest"
	// Random is a stable order: a hash of the pool's seed and the instance's ID.
	Random DeletePolicy = "Random"
)

// Cause is why something is done or not done: a reason word for machines and a sentence for people. Messages hold no
// times and no request ids, so that two passes over the same facts say the same.
type Cause struct {
	Reason  string
	Message string
}

// Template is a launch configuration, told apart by content.
type Template struct {
	// Ref is the cloud's own name for it, for example "lt-0123:4"; empty for one that does not exist yet.
	Ref string
	// Undeletable versions can't be deleted as long as the template exists (a default version).
	Undeletable bool
	// Content is the versioned hash of everything in it that only new machines can take up.
	Content string
	// Data is the hash of the bootstrap data. It alone never makes an instance stale.
	Data string
	// UserManaged says that it exists without us (a template that was brought, the cloud's own versions): it is never made, pruned,
	// made default or deleted by us.
	UserManaged bool
	// Description is, for people, what changed with this version and why, as the cloud keeps it beside the version. It is no part of
	// what tells templates apart, and holds no secret.
	Description string
}

// Same says whether both templates make the same machines, whatever bootstrap data they carry.
func (t Template) Same(o Template) bool { return t.Content != "" && t.Content == o.Content }

const (
	// DefaultTemplateHistoryLimit is the number of versions that are kept where nobody asks for another: what is wanted, what was
	// before, and what was before that, so that a change and a change taken back can both be looked at.
	DefaultTemplateHistoryLimit = 3
	// MinTemplateHistoryLimit leaves one version to go back to.
	MinTemplateHistoryLimit = 2
)

// Traits are facts about a cloud, as data, so that the decision needs to know no cloud.
type Traits struct {
	// Group is what the cloud calls its groups, for messages: "Auto Scaling group", "scale set".
	Group string
	// Template is what it calls what machines are launched from: "launch template", "model".
	Template string
	// Prerequisites is what it calls what groups need beside their template, where they need anything: "node role", "role assignment".
	Prerequisites string
	// RemoveBatch is how many instances one removal may name.
	RemoveBatch int
	// ProviderRollout says that the cloud can replace stale instances by itself.
	ProviderRollout bool
	// RolloutOnTemplateChange says that the cloud's own roll replaces machines of another template and no others, whatever the pool's
	// strategy is; those that are stale for another reason (a restart) are replaced by our hand. It implies Rolls.
	RolloutOnTemplateChange bool
	// CanCancelRollout is false if a running provider rollout cannot be cancelled: it is waited for.
	CanCancelRollout bool
	// SupportsStandby says that instances can be taken out of the group's count while they go on running. A rollout then surges
	// without a write to the group's size or to its maximum.
	SupportsStandby bool
	// ReplaceKeepsSize is false if every termination lowers the size of the group: replacing an instance then takes a removal and a
	// larger size.
	ReplaceKeepsSize bool
	// RecordsSurge says that the driver keeps Step.Surge beside the size and gives it back as Group.Surge, so that a surge by the
	// size can be told from what somebody else asks for who sizes the group. Without it there is no such surge then.
	RecordsSurge bool
	// InlineTemplate says that the template is a part of the group: there is one version of it, which CreateGroup makes with the group
	// and PutTemplate changes on it. It goes with the group.
	InlineTemplate bool
	// CanDeleteBusyGroup says that a group can be deleted whatever the cloud is doing to it.
	CanDeleteBusyGroup bool
	// KeepsFailedInstances says that failed instances stay until somebody removes them. Otherwise the cloud replaces them.
	KeepsFailedInstances bool
}

// Runs says that an instance runs. One that a cloud says has failed and leaves alone may be well enough to serve: its Node
// knows better than what the cloud once could not finish on it.
func (t Traits) Runs(i Instance) bool {
	return i.State == Running || i.State == Failed && t.KeepsFailedInstances && i.Node != nil && i.Node.Ready
}

// SkipsDataOnlyVersions says that no version of the template is made for bootstrap data alone, as long as that of the group is good:
// nothing would launch from it where the group is pointed at a template by a roll, which replaces every machine, and a group
// that holds its template is written to for each.
func (t Traits) SkipsDataOnlyVersions() bool { return t.RolloutOnTemplateChange || t.InlineTemplate }
