package pool

import (
	"fmt"
	"time"

	"github.com/muster-project/muster/pool/rollouts"
)

// Plan is the result of a decision: at most one step, the instances to remove with their causes, and what is waited for or refused.
type Plan struct {
	// Step is nil when there is nothing to do, or nothing that may be done yet.
	Step *Step
	// Waiting lists the causes that the pool waits for, most important first.
	Waiting []Cause
	// Refused is why the object can't be followed until the user changes something.
	Refused *Cause
	// Quiescent is true if nothing in the cloud is on its way: the next look can wait for the resync.
	Quiescent bool
	// Next is the earliest moment at which time alone may change the plan: a deadline ends, a node has been Ready for long
	// enough. It is zero when only something that happens can.
	Next time.Time
	// DeletionComplete is true if nothing of the pool is left in the cloud, so that the object may go.
	DeletionComplete bool
	// Instances are those that there is a reason to remove or to replace, now or later, in the order of Observed.
	Instances []InstanceDecision
	// InPlace are those that the cloud changes without replacing them, now or later, in the order of Observed.
	InPlace []InstanceDecision
	// Undecided are instances that go in place of one whose drain is blocked if nothing prevents the eviction of their pods. The plan is to be
	// made again once that is known (Node.Evictable); until then the blocked one stays the one that goes.
	Undecided []string
	// PodReads tells whose pods decide what the rollout does next; empty without Desired.PodsHold.
	PodReads rollouts.PodReads
	// Forecast are the waves in which the rest of a rollout by Strategy replaces instances, if nothing goes wrong.
	Forecast []Wave
	// Budget bounds the rollout and every other step of Muster.
	Budget Budget
	// Rollout is the progress of the replacement of instances.
	Rollout Rollout
	// Progress is how far the waves are, with the record to keep for the next decision.
	Progress rollouts.Verdict
}

// InstanceDecision is why one instance goes.
type InstanceDecision struct {
	ID    string
	Cause Cause
	// LowersAvailable is true if the pool has one available machine less when it goes, so that it has to wait for its turn.
	LowersAvailable bool
	// Selected is true if its turn has come: it is being drained or removed.
	Selected bool
}

// Wave is one round of a rollout: Targets go, and as many come.
type Wave struct {
	Targets []InstanceRef
	// Surge is the number of machines above the wanted number that run meanwhile.
	Surge int
	// LowestAvailable is the least number of machines that serve meanwhile.
	LowestAvailable int
}

// Budget holds the numbers behind a decision.
type Budget struct {
	// Desired is the number of machines that budgets are counted from: the pool's replicas, or the group's own size without the surge where
	// an external autoscaler owns the size.
	Desired int
	// Available is the number of machines that serve now: joined, Ready for MinReady, not drained by Muster and not terminating.
	Available int
	// MaxSurge and MaxUnavailable are the strategy's values for Desired, as numbers of machines.
	MaxSurge, MaxUnavailable int
	// Unavailable is the number of Desired that do not serve, at least zero.
	Unavailable int
	// Surge is the number of machines above Desired that exist, or will exist, for the rollout.
	Surge int
	// Left is the number of instances that a rollout has still to replace.
	Left int
	// Surplus is the number of machines to remove because the group is larger than it may be, a surge of Muster's included.
	Surplus int
}

// RolloutState is the state of a rollout.
type RolloutState string

// The states of a rollout.
const (
	// RolloutDone: no instance has to be replaced.
	RolloutDone RolloutState = "Done"
	// RolloutInProgress: instances are being replaced, by Muster or by the cloud.
	RolloutInProgress RolloutState = "InProgress"
	// RolloutHalted: new instances do not become Ready, so that no more are replaced.
	RolloutHalted RolloutState = "Halted"
	// RolloutPaused: the user has paused replacements.
	RolloutPaused RolloutState = "Paused"
	// RolloutWaiting: a provider rollout failed or was cancelled and is started again after a pause, or something that it needs is missing.
	RolloutWaiting RolloutState = "Waiting"
	// RolloutNone: instances are stale, and nothing replaces them.
	RolloutNone RolloutState = "None"
)

// Rollout is the progress of the replacement of instances.
type Rollout struct {
	State RolloutState
	// Cause is the reason why instances are replaced, or why none is, with counts; zero if Done.
	Cause Cause
	// Left is the number of instances that are still to be replaced, Total the number of instances of the pool.
	Left, Total int
}

// StepKind is one of the closed set of steps. A driver decides how a step is executed, never when.
type StepKind string

// The steps that a driver starts, and Drain, which the Kubernetes edge starts.
const (
	// PutTemplate creates a version of the template with the wanted content; the first one creates the template. If the template is a part
	// of the group (Traits.InlineTemplate), it changes that part and nothing else of the group.
	PutTemplate StepKind = "PutTemplate"
	// CreateGroup creates the group with Size instances launched from Template, or from its own template (Traits.InlineTemplate).
	CreateGroup StepKind = "CreateGroup"
	// Adopt writes the owner tags to the group that Observed.Unowned describes, in one call, and changes nothing else. What belongs to the
	// group follows (Observed.MissingPrerequisites).
	Adopt StepKind = "Adopt"
	// UpdateGroup sets the fields named in Fields to their specified values. It never changes the size.
	UpdateGroup StepKind = "UpdateGroup"
	// Resize sets the group's size to Size, never below the number of existing instances: instances to remove are named, unless the cloud
	// selects them (Traits.SelectsInstances). If the group's own maximum is below Size, it is set to Size in the same call.
	Resize StepKind = "Resize"
	// Drain cordons the nodes of the instances in Targets and evicts their pods.
	Drain StepKind = "Drain"
	// Undrain uncordons nodes that Muster cordoned and that are not to be removed any more.
	Undrain StepKind = "Undrain"
	// Remove terminates exactly the instances in Targets and lowers the group's size by their number in the same call.
	Remove StepKind = "Remove"
	// Replace terminates exactly the instances in Targets and keeps the group's size, so that the group launches replacements. For instances
	// in standby it has launched them already.
	Replace StepKind = "Replace"
	// EnterStandby takes the instances in Targets out of the group's count without stopping them and keeps the group's size, so that the group
	// launches replacements. They are observed as Standby until they are gone.
	EnterStandby StepKind = "EnterStandby"
	// Apply changes the fields that Instance.InPlaceDrift names on the instances in Targets, without replacing them, to the values of the
	// group. The instances have the wanted content, so that nothing else of them changes.
	Apply StepKind = "Apply"
	// Protect protects the instances in Targets from an out-of-band scale-in. Muster's removals can still name them.
	Protect StepKind = "Protect"
	// Unprotect removes that protection: an external autoscaler sizes the group, and could not scale it in otherwise.
	Unprotect StepKind = "Unprotect"
	// Release lets the cloud terminate the instances in Targets, which a lifecycle hook of Muster holds and which are drained.
	Release StepKind = "Release"
	// Renew asks the cloud to hold the instances in Targets longer, because their drain has not ended.
	Renew StepKind = "Renew"
	// StartProviderRollout has the cloud replace the instances in Targets, and no others, with instances launched from Template. One
	// that was launched from another version of the same content stays. ReplaceMatching is true if some of Targets were launched from
	// Template itself. Where a cloud tells instances apart by more or less than that, its driver handles it.
	StartProviderRollout StepKind = "StartProviderRollout"
	// CancelProviderRollout cancels the provider rollout named in Refs. Replacements that it has launched stay.
	CancelProviderRollout StepKind = "CancelProviderRollout"
	// DefaultTemplate makes the version named in Template the template's default, for clients that launch from it without naming a version.
	DefaultTemplate StepKind = "DefaultTemplate"
	// PruneTemplates deletes the template versions in Refs.
	PruneTemplates StepKind = "PruneTemplates"
	// DeleteGroup deletes the group with the instances that it still has.
	DeleteGroup StepKind = "DeleteGroup"
	// DeleteTemplates deletes the template with all its versions.
	DeleteTemplates StepKind = "DeleteTemplates"
	// EnsurePrerequisites creates or corrects the prerequisites that Fields names, from Observed.MissingPrerequisites.
	EnsurePrerequisites StepKind = "EnsurePrerequisites"
	// CleanUp deletes the objects that Fields names, from Observed.Leftovers.
	CleanUp StepKind = "CleanUp"
)

// Step is the one action of a pass. It is started, and never waited for.
type Step struct {
	Kind StepKind
	// Cause is the reason, for the condition, the event and the plan.
	Cause Cause
	// Targets are the instances concerned, each with its own cause.
	Targets []InstanceRef
	// Size is the group's size that CreateGroup and Resize request.
	Size int
	// Surge is the part of the group's size after this step that was added for a rollout, where an external autoscaler owns the size. A driver
	// that can (Traits.RecordsSurge) records it beside the size and returns it as Group.Surge: in the same call if the cloud can do that,
	// else after a size that is raised and before one that is lowered, so that a crash in between leaves too many machines and never too
	// few.
	Surge int
	// Planned is the surge of the size that the next Resize asks for: UpdateGroup keeps it beside what Surge is now, and it
	// counts once that Resize is made. Zero plans none. Only a driver with Traits.RecordsSurge is asked for it.
	Planned PlannedSurge
	// More is true if there is more to do at once: another step, or more instances than one call may name.
	More bool
	// ReplaceMatching is true if StartProviderRollout replaces instances of the wanted template too.
	ReplaceMatching bool
	// Template is the Ref that CreateGroup, UpdateGroup and StartProviderRollout launch from, and that DefaultTemplate makes the default;
	// Base is the newest version that PutTemplate saw before it, which makes its client token.
	Template, Base string
	// Fields are the drifted fields that UpdateGroup repairs, the prerequisites of EnsurePrerequisites, or the leftovers of CleanUp.
	Fields []string
	// Refs are the template versions that PruneTemplates deletes, or the provider rollout that CancelProviderRollout cancels.
	Refs []string
}

// InstanceRef is one instance that a step concerns.
type InstanceRef struct {
	ID         string
	ProviderID string
	// UID identifies the instance among all that ever had its ID; empty where the cloud never gives an ID twice.
	UID string
	// Node is the name of the instance's Node, empty when it never joined.
	Node  string
	Cause Cause
	// Voluntary is true if Muster replaces it in a rollout, and Quarantined if the rollout goes on with others because it can't be drained.
	Voluntary, Quarantined bool
	// Ending is true if the cloud is about to terminate the instance by itself, and the pool wants no fewer for it: the group puts another in
	// its place.
	Ending bool
}

// forecast returns the waves in which Muster replaces the remaining instances: as many at a time as surge and unavailability allow together
// (rule 10).
func (v *status) forecast() []Wave {
	size := v.in.surge + v.in.unavailable
	if v.in.removalShrinksGroup() {
		size = v.in.surge
	}
	if v.fleet.toReplace == 0 || size == 0 || v.rollout.state == RolloutPaused || v.rollout.state == RolloutNone {
		return nil
	}
	var list []*member
	for _, m := range v.selection.queue {
		if m.toReplace {
			list = append(list, m)
		}
	}
	var waves []Wave
	for len(list) > 0 {
		wave := list[:min(size, len(list))]
		lowest := v.in.want - min(v.in.unavailable, len(wave))
		if len(waves) == 0 {
			lowest = min(lowest, max(v.fleet.available, 0))
		}
		waves = append(waves, Wave{Targets: instanceRefs(wave), Surge: min(v.in.surge, len(list)), LowestAvailable: max(0, lowest)})
		list = list[len(wave):]
	}
	return waves
}

// budgetReport returns the numbers behind the decision.
func (v *status) budgetReport() Budget {
	above := v.fleet.inStandby
	if !v.in.t.SupportsStandby {
		above = max(0, v.in.o.Group.Size-v.in.want)
	}
	return Budget{
		Desired: v.in.want, Available: v.fleet.available, MaxSurge: v.in.surge, MaxUnavailable: v.in.unavailable,
		Unavailable: max(0, v.in.want-v.fleet.available), Surge: above, Left: v.fleet.toReplace + v.fleet.requested,
		Surplus: v.budget.surplusCount(),
	}
}

// rolloutReport returns how far the replacement of instances is.
func (v *status) rolloutReport() Rollout {
	r := Rollout{State: RolloutDone, Total: len(v.fleet.members), Left: v.countReplaced()}
	roll := v.in.o.ProviderRollout
	switch {
	case roll != nil && !roll.ended() && (v.in.d.rolloutHeld() == nil || !v.in.t.CanCancelRollout || roll.ByOthers):
		r.State, r.Cause = RolloutInProgress, v.steps.providerRolloutProgress()
	case r.Left > 0 && !v.rollout.cloudFirst() && v.fleet.toReplace+v.fleet.inStandby+v.fleet.requested+v.fleet.goAnyway > 0:
		r.State, r.Cause = v.musterRollout()
	case r.Left > 0:
		r.State, r.Cause = v.cloudRollout(v.fleet.firstStale())
	case v.rollout.leftHalfDone():
		r.State, r.Cause = v.cloudRollout(v.rollout.repointingCause())
	}
	return r
}

// countReplaced returns how many instances are to be replaced, or about to be.
func (v *status) countReplaced() int {
	n := 0
	for _, m := range v.fleet.members {
		if m.replaced() {
			n++
		}
	}
	return n
}

// musterRollout returns state and cause of a rollout that Muster performs.
func (v *status) musterRollout() (RolloutState, Cause) {
	switch state, held := v.rollout.limits.heldBack(); {
	case v.rollout.blocked != nil:
		return v.rollout.state, *v.rollout.blocked
	case v.in.outOfBounds() != nil:
		return RolloutWaiting, *v.in.outOfBounds()
	case held != nil:
		return state, *held
	default:
		return RolloutInProgress, v.fleet.firstStale()
	}
}

// cloudRollout returns state and cause of a rollout that is left to the cloud, or that nothing performs, for the cause that it has.
func (v *status) cloudRollout(of Cause) (RolloutState, Cause) {
	state, held := v.rollout.limits.heldBack()
	switch waits := v.steps.rolloutWaits(); {
	case v.in.d.rolloutHeld() != nil:
		return RolloutPaused, *v.in.d.rolloutHeld()
	case held != nil && !v.in.usesProviderRollout():
		return state, *held
	case !v.in.usesProviderRollout() && v.in.d.Strategy != nil:
		return RolloutNone, Cause{"OnDelete", fmt.Sprintf("machines of an older %s stay until they are deleted (strategy OnDelete)",
			v.in.t.Template)}
	case !v.in.usesProviderRollout():
		return RolloutNone, Cause{"NotReplaced",
			fmt.Sprintf("nothing replaces machines of an older %s: the pool has no strategy", v.in.t.Template)}
	case v.rollout.halted() != nil:
		return RolloutHalted, *v.rollout.halted()
	case waits != nil:
		return RolloutWaiting, *waits
	default:
		return RolloutInProgress, of
	}
}
