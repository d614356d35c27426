package pool

// StepKind names one of the closed set of steps. A driver decides how a step is spelled, never when.
type StepKind string

// The steps that a driver starts, and Drain, which the Kubernetes edge starts.
const (
	// PutTemplate makes a new version of the template with the wanted content; the first one makes the template. Where the
	// template is a part of the group (Traits.InlineTemplate) it changes the group's own, and nothing else of the group.
	PutTemplate StepKind = "PutTemplate"
	// CreateGroup makes the group, with Size instances launched from Template, or from the template that it brings along
	// (Traits.InlineTemplate).
	CreateGroup StepKind = "CreateGroup"
	// UpdateGroup makes the fields named in Fields as the specification wants them; it never touches the size.
	UpdateGroup StepKind = "UpdateGroup"
	// Resize sets the group's size to Size. It never goes below what exists: instances that go are chosen by name. A group
	// that has a maximum of its own below Size gets Size for its maximum in the same call.
	Resize StepKind = "Resize"
	// Drain cordons the nodes of the instances in Targets and evicts what runs there.
	Drain StepKind = "Drain"
	// Undrain takes back a cordon of ours from nodes whose removal is no longer wanted.
	Undrain StepKind = "Undrain"
	// Remove terminates exactly the instances in Targets and lowers the group's size by their number in the same call.
	Remove StepKind = "Remove"
	// Replace terminates exactly the instances in Targets and leaves the group's size as it is, so that the group launches
	// others in their place; in the place of one that was set aside it has done so already.
	Replace StepKind = "Replace"
	// EnterStandby takes the instances in Targets out of the group's count without stopping them, and leaves the group's size as
	// it is, so that the group launches others in their place. They are seen as Aside until they are gone.
	EnterStandby StepKind = "EnterStandby"
	// Apply changes, on the instances in Targets and without replacing them, what Instance.InPlaceDrift names: they get it as the
	// group has it. They are of the wanted content, so that nothing else of them changes.
	Apply StepKind = "Apply"
	// Protect keeps the cloud from choosing the instances in Targets when somebody makes the group smaller. Our own removals
	// name them all the same.
	Protect StepKind = "Protect"
	// Unprotect lets the cloud choose the instances in Targets again: an external autoscaler sizes the group, and could not scale it in
	// otherwise.
	Unprotect StepKind = "Unprotect"
	// Release lets the cloud go on with the instances in Targets, which a termination hook of ours holds and which are
	// drained.
	Release StepKind = "Release"
	// Renew asks the cloud to hold the instances in Targets longer, because their drain has not ended.
	Renew StepKind = "Renew"
	// StartProviderRollout has the cloud replace by itself the instances in Targets by others that are launched from Template, and no
	// other: one that was launched from another version of the same content stays. Every says that some of Targets were
	// launched from Template itself. Where a cloud tells machines apart by more or less than that, its driver sees to it.
	StartProviderRollout StepKind = "StartProviderRollout"
	// CancelProviderRollout ends the cloud's own roll named in Refs where it stands; what it has replaced stays.
	CancelProviderRollout StepKind = "CancelProviderRollout"
	// DefaultTemplate makes the version named in Template the template's default, for those who launch from it without saying
	// from which version.
	DefaultTemplate StepKind = "DefaultTemplate"
	// PruneTemplates deletes the template versions in Refs.
	PruneTemplates StepKind = "PruneTemplates"
	// DeleteGroup deletes the group with whatever instances it still holds.
	DeleteGroup StepKind = "DeleteGroup"
	// DeleteTemplates deletes the template with all its versions.
	DeleteTemplates StepKind = "DeleteTemplates"
	// EnsurePrerequisites makes what Fields names as the group needs it: what Observed.Prerequisites says.
	EnsurePrerequisites StepKind = "EnsurePrerequisites"
	// CleanUp deletes what Fields names: what Observed.Leftovers says.
	CleanUp StepKind = "CleanUp"
)

// Step is the one thing that a pass does. It is begun, never waited for.
type Step struct {
	Kind StepKind
	// Cause is why, for the condition, the event and the plan.
	Cause Cause
	// Targets are the instances concerned, each with its own cause.
	Targets []InstanceRef
	// Size is the group's size that CreateGroup and Resize ask for.
	Size int
	// Surge is how many of the group's size after this step were added for a rollout, where somebody else sizes the group:
	// a driver that can (Traits.RecordsSurge) keeps it beside the size and gives it back as Group.Surge: in the same call if the
	// cloud can do that, else after a size that is raised and before one that is lowered, so that a crash in between leaves
	// too many machines and never too few.
	Surge int
	// Planned is the surge of the size that the next Resize asks for: UpdateGroup keeps it beside what Surge is now, and it
	// counts once that Resize is made. Zero plans none. Only a driver with Traits.RecordsSurge is asked for it.
	Planned PlannedSurge
	// More says that there is more to do at once: another step, or more instances than one call may name.
	More bool
	// ReplaceMatching says that StartProviderRollout replaces instances of the wanted template too.
	ReplaceMatching bool
	// Template is the Ref that CreateGroup, UpdateGroup and StartProviderRollout launch from, and that DefaultTemplate makes the default; Base is the newest version that PutTemplate saw
	// before it, which makes its client token.
	Template, Base string
	// Fields are the drifted fields that UpdateGroup repairs, what Provide makes, or what CleanUp deletes.
	Fields []string
	// Refs are the template versions that PruneTemplates deletes, or the roll that CancelProviderRollout ends.
	Refs []string
}

// InstanceRef is one instance that a step concerns.
type InstanceRef struct {
	ID         string
	ProviderID string
	// Node is the name of the instance's Node, empty when it never joined.
	Node  string
	Cause Cause
}
