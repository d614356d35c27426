package pool

// Traits are facts about a cloud, as data, so that the decision needs to know no cloud.
type Traits struct {
	// Group is what the cloud calls its groups, for messages: "Auto Scaling group", "scale set".
	Group string
	// Template is what it calls what machines are launched from: "launch template", "model".
	Template string
	// Needs is what it calls what groups need beside their template, where they need anything: "node role", "role assignment".
	Needs string
	// RemoveBatch is how many instances one removal may name.
	RemoveBatch int
	// Rolls says that the cloud can replace stale instances by itself.
	Rolls bool
	// RollsChanges says that the cloud's own roll replaces machines of another template and no others, whatever the pool's
	// strategy is; those that are stale for another reason (a restart) are replaced by our hand. It implies Rolls.
	RollsChanges bool
	// CancelsNot says that a roll of the cloud's own that runs can't be ended: it is waited for.
	CancelsNot bool
	// SetsAside says that instances can be taken out of the group's count while they go on running. A rollout then surges
	// without a write to the group's size or to its maximum.
	SetsAside bool
	// NoReplace says that no instance can be terminated without lowering the group's size: an instance is replaced by a
	// removal, and by raising the size again.
	NoReplace bool
	// KeepsSurge says that the driver keeps Step.Surge beside the size and gives it back as Group.Surge, so that a surge by the
	// size can be told from what somebody else asks for who sizes the group. Without it there is no such surge then.
	KeepsSurge bool
	// Inline says that the template is a part of the group: there is one version of it, which CreateGroup makes with the group
	// and PutTemplate changes on it. It goes with the group.
	Inline bool
	// DeletesBusy says that a group can be deleted whatever the cloud is doing to it.
	DeletesBusy bool
	// KeepsFailed says that failed instances stay until somebody removes them. Otherwise the cloud replaces them.
	KeepsFailed bool
}

// Runs says that an instance runs. One that a cloud says has failed and leaves alone may be well enough to serve: its Node
// knows better than what the cloud once could not finish on it.
func (t Traits) Runs(i Instance) bool {
	return i.State == Running || i.State == Failed && t.KeepsFailed && i.Node != nil && i.Node.Ready
}

// SparesVersions says that no version of the template is made for bootstrap data alone, as long as that of the group is good:
// nothing would launch from it where the group is pointed at a template by a roll, which replaces every machine, and a group
// that holds its template is written to for each.
func (t Traits) SparesVersions() bool { return t.RollsChanges || t.Inline }
