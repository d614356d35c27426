package sim

import (
	"fmt"
	"slices"
)

// Capabilities describes what is particular about a simulated cloud, for callers that do not know which one it is.
type Capabilities struct {
	// OutOfBand are the actions of a user of the cloud's console.
	OutOfBand OutOfBandActions
	// Snapshot returns what the cloud has now.
	Snapshot func() Snapshot
	// Denied is how the cloud words a denied request: Code, Message and Status.
	Denied Fault
	// NoCapacity is part of the cloud's message for a machine that it has no capacity for.
	NoCapacity string
	// Groups is how the cloud's groups behave.
	Groups GroupBehavior
	// Ignorable are rules that each ignore one thing that clients can set, without end.
	Ignorable []Fault
}

// GroupBehavior describes how one kind of group behaves in its cloud.
type GroupBehavior struct {
	// BusyAfterChange is true if the cloud works on a group for a while after each change, and rejects other changes meanwhile.
	BusyAfterChange bool
	// CompletedLater is true if some of what a client wants of a group can be set only once the group exists.
	CompletedLater bool
	// RecreatesInstances is true if the cloud recreates an instance that a client has deleted out of band. Otherwise the group's size is
	// lowered with the deletion.
	RecreatesInstances bool
	// RecordsRollouts is true if the cloud keeps a record of its own rollout that has succeeded. Otherwise only the instances show it.
	RecordsRollouts bool
	// Bootstraps is true if the cloud gives machines what they need to join a cluster: they boot without user data too.
	Bootstraps bool
	// HoldsOnce is true if a hook holds an instance for a fixed time, which no client can extend.
	HoldsOnce bool
	// RemovesUnheld is true if no hook holds an instance whose removal a client has requested by its ID.
	RemovesUnheld bool
	// HidesCreationTimes is true if the cloud does not show when an instance was created.
	HidesCreationTimes bool
}

// Action is an out-of-band change of a cloud: by its console or by another tool.
type Action string

// The actions. A Resource names what each changes.
const (
	// CreateGroup and CreateTemplate create one of that Name, as another tool does: without tags or machines.
	CreateGroup    Action = "make a group"
	CreateTemplate Action = "make a template"
	// DeleteGroup deletes the group of that Name with its machines, DeleteTemplate the template of that Name.
	DeleteGroup    Action = "delete a group"
	DeleteTemplate Action = "delete a template"
	// CreateVersion adds a version to the template Name, for other machines than the last; DeleteVersion deletes its Version.
	CreateVersion Action = "make a version"
	DeleteVersion Action = "delete a version"
	// LaunchFrom makes the group of that Name launch from the Version of its own template.
	LaunchFrom Action = "launch from another version"
	// SetSize sets the size of the group Name to Size, SetBounds its largest size to Size.
	SetSize   Action = "set the size"
	SetBounds Action = "set the bounds"
	// RemoveTag removes the tag Key of the group Name, ChangeTag sets it to Value.
	RemoveTag Action = "take a tag off"
	ChangeTag Action = "change a tag"
	// ResumeProcesses resumes all suspended processes of the group Name.
	ResumeProcesses Action = "resume processes"
	// RemoveHooks deletes the lifecycle hooks of the group Name.
	RemoveHooks Action = "take hooks away"
	// TerminateInstance terminates the Instance.
	TerminateInstance Action = "terminate an instance"
	// MoveToStandby takes the Instance out of the count of its group, in which it stays, so that a user can look at it.
	MoveToStandby Action = "put an instance aside"
	// MarkUnhealthy marks the Instance unhealthy, so that the cloud replaces it.
	MarkUnhealthy Action = "mark an instance unhealthy"
	// InterruptInstance makes the cloud reclaim the Instance after its notice; RecommendReplacement makes it report that it may soon.
	// Both are for machines sold on these terms, and are refused for others.
	InterruptInstance    Action = "interrupt an instance"
	RecommendReplacement Action = "recommend to replace an instance"
	// RebalanceZones makes the cloud move one instance of the group Name to another zone, launching first.
	RebalanceZones Action = "even out the zones"
	// FailInstance lets the Instance fail, StopInstance powers it off. RecreateInstance deletes it and has the group create another in its
	// place. DetachInstance removes it from its group; it goes on to run.
	FailInstance     Action = "fail an instance"
	StopInstance     Action = "stop an instance"
	RecreateInstance Action = "recreate an instance"
	DetachInstance   Action = "detach an instance"
	// StartRollout starts the cloud's own rollout of all instances of the group Name; CancelRollout cancels one; FailRollout fails
	// one because of an alarm. On a pool of a managed cluster the latter two end the operation that runs, whatever it does.
	StartRollout  Action = "begin a roll"
	CancelRollout Action = "end a roll"
	FailRollout   Action = "fail a roll"
	// Autoscale has the cloud's own autoscaler set the size of the group Name to Size.
	Autoscale Action = "autoscale"
	// UpgradeGroup upgrades the pool Name to the Kubernetes version Value, and to the version of its control plane without one.
	UpgradeGroup Action = "upgrade a group"
	// StopGroup powers off the machines of the pool Name, StartGroup powers them on again.
	StopGroup  Action = "stop a group"
	StartGroup Action = "start a group"
)

// Resource names what an action changes. The action says which fields it reads.
type Resource struct {
	// Name of a group or a template.
	Name string `json:"name,omitempty"`
	// Cluster is the name of the managed cluster if the group is a pool of one.
	Cluster string `json:"cluster,omitempty"`
	// Version of a template: its position among those that exist, the oldest being 1.
	Version int `json:"version,omitempty"`
	// Instance is an instance's ID in the cloud.
	Instance string `json:"instance,omitempty"`
	Size     int    `json:"size,omitempty"`
	// Key and Value of a tag.
	Key   string `json:"key,omitempty"`
	Value string `json:"value,omitempty"`
}

// OutOfBandActions run actions without a request, a signature, a limit or a fault. An action that the cloud does not have is present
// with nil, so that none is forgotten.
type OutOfBandActions map[Action]func(Resource) error

// Do runs an action and reports whether the cloud has it. It returns the action's error, or one for an action without an entry.
func (a OutOfBandActions) Do(action Action, on Resource) (has bool, err error) {
	do, known := a[action]
	switch {
	case !known:
		return false, fmt.Errorf("action %q has no entry: give it a function, or nil if the cloud has no such thing", action)
	case do == nil:
		return false, nil
	}
	if err := do(on); err != nil {
		return true, fmt.Errorf("%s by hand: %w", action, err)
	}
	return true, nil
}

// WithPools returns the actions with those on the pools of managed clusters, for resources that name a Cluster.
func (a OutOfBandActions) WithPools(pools OutOfBandActions) OutOfBandActions {
	out := OutOfBandActions{}
	for action, onGroup := range a {
		onPool := pools[action]
		if onPool == nil {
			out[action] = onGroup
			continue
		}
		out[action] = func(on Resource) error {
			switch {
			case on.Cluster != "":
				return onPool(on)
			case onGroup == nil:
				return fmt.Errorf("%s: only pools of managed clusters have it: name the cluster", action)
			}
			return onGroup(on)
		}
	}
	return out
}

// Known returns the actions that the cloud has, in order.
func (a OutOfBandActions) Known() []Action {
	out := make([]Action, 0, len(a))
	for action, do := range a {
		if do != nil {
			out = append(out, action)
		}
	}
	slices.Sort(out)
	return out
}
