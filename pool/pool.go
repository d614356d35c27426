// Package pool is the domain of Muster: what a machine pool should be, what it is, and the one step that brings the two together. It
// decides for every cloud, and it is pure: no clock, no random source, no I/O, and no import but the standard library and its own
// parts, so that every rule is a row in a table and every whole decision a property.
//
// A decision is a pipeline of values. Each is made of those before it, which it names as its fields, and knows none of those after it:
//
//	inputs          what is asked for, what was observed, the traits of the cloud
//	classification  for each instance whether it serves, and why it goes, if it does
//	rollout         whether instances may be replaced now, by Muster or by the cloud, and why not
//	budget          the sizes between which the group may be, and how many instances may go; only a rollout that may go on gets a surge,
//	                beside deletions by name and remediation
//	selection       the instances whose turn it is
//	steps           the steps that follow; the first that may be started is the plan's
//	status          what the plan reports
package pool

import (
	"cmp"
	"math"
	"time"

	"github.com/muster-project/muster/pool/order"
	"github.com/muster-project/muster/pool/rollouts"
)

// Desired is the desired state of a pool: the specification of its object, translated once by the Kubernetes edge.
type Desired struct {
	// Replicas is the number of machines that the pool should have. It is ignored while ReplicasManagedExternally is set and the
	// group exists.
	Replicas int
	// ReplicasManagedExternally is true if an external autoscaler owns the size of the group (annotation
	// cluster.x-k8s.io/replicas-managed-by): its size is read and never written.
	ReplicasManagedExternally bool
	// AutoscalerField names the object's field that has the cloud's own autoscaler size the group, for messages; empty where another client
	// does.
	AutoscalerField string
	// Min and Max bound Replicas, as the group's own limits in the cloud do; both inclusive.
	Min, Max int
	// MinField and MaxField name the object's fields behind Min and Max, for messages. Without a MaxField the pool has no
	// limits, and Min and Max mean nothing.
	MinField, MaxField string
	// Deleting is true if the object is being deleted: the nodes are drained, then everything that it owns in the cloud goes.
	Deleting bool
	// CreateBlocked, when set, is why nothing may be created yet: the cluster is not ready, the bootstrap data is missing. A group that
	// exists is still sized, drained and deleted.
	CreateBlocked *Cause
	// Adopt names the group of another tool that becomes the pool's.
	Adopt Adoption
	// FormerMachines, when set, names the Machines of instances of a former group that are still being deleted. A new group gives the
	// provider IDs of those to other instances, whose Nodes the controller of Machines would drain and delete: it is not created before.
	FormerMachines *Cause
	// NoPrerequisites is true if the object asks for nothing beside its template, so that no condition reports whether it exists.
	NoPrerequisites bool
	// DrainTimeout bounds the evictions from one node; zero means no bound.
	DrainTimeout time.Duration
	// NoDrain, when set, is why nodes are not drained before they go: their cluster is being deleted as a whole.
	NoDrain *Cause
	// DeletePolicy orders the instances that a scale-in or a rollout may choose from.
	DeletePolicy DeletePolicy
	// Seed tells pools apart, so that Random takes each of them in an order of its own. It never changes: the owner's ID.
	Seed string
	// Strategy bounds the replacement of stale instances by Muster. Nil leaves them to a provider rollout (Traits.ProviderRollout), and
	// where there is none they stay until they go for another reason.
	Strategy *Strategy
	// Rollback is true if the cloud reverts a failed provider rollout to what the group launched from: the rollout then points the group at
	// the new template, and no step before it does.
	Rollback bool
	// SkipModel is true if a changed template is neither a reason to replace an instance nor one to prefer it (gate
	// SkipMachinePoolModelReconciliation).
	SkipModel bool
	// SkipModelCause is why SkipModel is set where the object asks for it; without a reason the gate does.
	SkipModelCause Cause
	// RolloutPaused, when set, is why no instance is replaced now, neither for being stale nor for its health (annotation
	// muster.dev/rollout: paused).
	RolloutPaused *Cause
	// RolloutDisabled, when set, is why a changed template replaces no instance (a field of the object). Unlike a pause it leaves remediation
	// as it is.
	RolloutDisabled *Cause
	// Restart, when set, makes every instance stale that was made before a moment.
	Restart *Restart
	// Version of Kubernetes that the machines should have; empty if it is unknown.
	Version string
	// Limits are what policies allow now, Progress what Plan.Progress was when it was last recorded.
	Limits   rollouts.Limits
	Progress rollouts.Record
	// PodsHold is true if pods may keep their machine from being replaced: the replacement of one that serves begins only when Node.Pods tells
	// that none does.
	PodsHold bool
	// MinReady is the time for which a node must have been Ready to count as available.
	MinReady time.Duration
	// JoinDeadline is the time after its launch from which an instance that was never Ready counts as not serving. Zero is
	// DefaultJoinDeadline.
	JoinDeadline time.Duration
	// ProgressDeadline is the time after its launch from which an instance of the wanted template that was never Ready halts the rollout. Zero
	// is DefaultProgressDeadline.
	ProgressDeadline time.Duration
	// Remediation, when set, asks for the replacement of instances whose nodes are unhealthy. RolloutPaused suspends it.
	Remediation *Remediation
	// RemediationHint tells what a user can do about an instance without a node while Remediation is nil. It is empty if there is nothing.
	RemediationHint string
	// LostBootstrapData are the hashes of bootstrap data whose token is gone, so that no machine launched with it can join any more.
	LostBootstrapData []string
	// RotatedBootstrapData are the hashes of earlier bootstrap data that differs from the present data in its tokens alone, and whose tokens
	// are kept alive: machines launched with it join as well.
	RotatedBootstrapData []string
	// TemplateHistoryLimit is the number of template versions of distinct content to keep, the newest included, in addition to those in use.
	// Zero is DefaultTemplateHistoryLimit; MinTemplateHistoryLimit is the least.
	TemplateHistoryLimit int
	// StepsInBackoff are steps that the cloud refused recently, with its words: they are not started again before their back-off has ended.
	// Steps that do not depend on them continue.
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

// rolloutHeld returns why no stale instance is replaced now, or nil.
func (d Desired) rolloutHeld() *Cause {
	return cmp.Or(d.RolloutPaused, d.RolloutDisabled)
}

// minReplicas is the smallest number that they allow.
func (d Desired) minReplicas() int {
	if d.MaxField == "" {
		return 0
	}
	return d.Min
}

// DeletePolicy is the order in which surplus instances go.
type DeletePolicy = order.Policy

// The delete policies.
const (
	Oldest = order.Oldest
	Newest = order.Newest
	Random = order.Random
)

// Cause is why something is done or not done: a reason for programs and a sentence for people. Messages hold no times and no request IDs,
// so that two passes over the same facts report the same.
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
	// Deleting is true if Muster has deleted it so recently that a read may be from before.
	Deleting bool
	// Content is the versioned hash of everything in it that only new machines can take up.
	Content string
	// Data is the hash of the bootstrap data. It alone never makes an instance stale.
	Data string
	// UserManaged is true if it exists without Muster (a template that the user brings, the cloud's own versions): Muster never creates,
	// prunes or deletes it, nor makes it the default.
	UserManaged bool
	// ByCloud is true if the cloud makes it of the group's own settings, which the specification asks for: UserManaged is true then as well.
	ByCloud bool
	// Description is, for people, what changed with this version and why, as the cloud keeps it beside the version. It does not tell
	// templates apart, and holds no secret.
	Description string
}

// Same reports whether both templates make the same machines, whatever bootstrap data they carry.
func (t Template) Same(o Template) bool { return t.Content != "" && t.Content == o.Content }

const (
	// DefaultTemplateHistoryLimit is the number of kept versions if the user asks for no other: the wanted one and the two before it, so
	// that a change and its revert can both be inspected.
	DefaultTemplateHistoryLimit = 3
	// MinTemplateHistoryLimit leaves one version to go back to.
	MinTemplateHistoryLimit = 2
)

// Traits are facts about a cloud, as data, so that the decision needs to know no cloud.
type Traits struct {
	// Group is the cloud's term for its groups, for messages: "Auto Scaling group", "scale set".
	Group string
	// GroupNamedBy is the object's field that names its group, where no other group can be the pool's; empty where an adoption gives it one
	// of another name.
	GroupNamedBy string
	// Template is its term for the configuration that machines are launched from: "launch template", "model".
	Template string
	// Prerequisites is its term for what groups need in addition to their template: "node role", "role assignment". It is empty for nothing.
	Prerequisites string
	// RemoveBatch is the maximum number of instances that one step names.
	RemoveBatch int
	// StandbyBatch is the maximum for EnterStandby, if it is lower than RemoveBatch; otherwise zero.
	StandbyBatch int
	// ProviderRollout is true if the cloud can replace stale instances by itself.
	ProviderRollout bool
	// RolloutOnTemplateChange is true if a provider rollout replaces instances of another template and no others, whatever the pool's
	// strategy is. Muster replaces those that are stale for another reason (a restart). It implies ProviderRollout.
	RolloutOnTemplateChange bool
	// RolloutOfOtherTemplates is true if a provider rollout replaces instances of another template and no others, and a strategy replaces
	// them in its place. Muster replaces those that are stale for another reason (a restart) in either case. It implies ProviderRollout.
	RolloutOfOtherTemplates bool
	// CanCancelRollout is false if a running provider rollout cannot be cancelled: it is waited for.
	CanCancelRollout bool
	// SupportsStandby is true if instances can be taken out of the group's count while they keep running. A rollout then surges without a
	// write to the group's size or to its maximum.
	SupportsStandby bool
	// SupportsInPlaceChanges is true if Apply can change some fields on existing instances: Instance.InPlaceDrift names them, and the
	// planner acts on that. The contract suite holds a driver to this trait and to the next.
	SupportsInPlaceChanges bool
	// SupportsScaleInProtection is true if Protect and Unprotect can change whether the cloud may choose an instance when the group is made
	// smaller: Instance.ScaleInUnprotected and Instance.ScaleInProtected report it.
	SupportsScaleInProtection bool
	// ReplaceKeepsSize is false if every termination lowers the size of the group: replacing an instance then takes a removal and a
	// larger size.
	ReplaceKeepsSize bool
	// RecordsSurge is true if the driver records Step.Surge beside the size and returns it as Group.Surge, so that a surge can be told from
	// the size that an external autoscaler asks for. Without it there is no such surge.
	RecordsSurge bool
	// InlineTemplate is true if the template is a part of the group: there is one version of it, which CreateGroup creates with the group
	// and PutTemplate changes on it. It goes with the group.
	InlineTemplate bool
	// CanDeleteBusyGroup is true if a group can be deleted whatever the cloud is doing to it.
	CanDeleteBusyGroup bool
	// KeepsFailedInstances is true if failed instances stay until a client removes them. Otherwise the cloud replaces them.
	KeepsFailedInstances bool
	// SelectsInstances is true if the cloud selects the instances that go when the size is lowered, and drains them: none can be named.
	// Nothing but a provider rollout replaces instances then.
	SelectsInstances bool
	// ImageFields name the fields, as Instance.TemplateDiff does, that set the machine image; none if one of them sets more than the image.
	ImageFields []string
	// LaunchesOnWrite is true if the cloud launches what a group lacks only as an answer to a write of the group, and leaves it short
	// otherwise.
	LaunchesOnWrite bool
}

// Runs reports whether an instance runs. One that the cloud reports as failed and leaves alone may still serve: its Node is more recent
// than what the cloud once could not finish on it.
func (t Traits) Runs(i Instance) bool {
	return i.State == Running || i.State == Failed && t.KeepsFailedInstances && i.Node != nil && i.Node.Ready
}

// SkipsDataOnlyVersions reports whether no version of the template is created for bootstrap data alone while the group's version is good:
// nothing would launch from it where a rollout points the group at a template, which replaces every instance, and a group that holds its
// template is written for each.
func (t Traits) SkipsDataOnlyVersions() bool { return t.RolloutOnTemplateChange || t.InlineTemplate }
