package pool

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
