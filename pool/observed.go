package pool

import (
	"cmp"
	"time"

	"github.com/muster-project/muster/pool/capacity"
)

// Guard is a Machine that stands for an instance and must be deleted before the instance is removed, with its own drain and hooks. While
// there is one, Muster's drain is the request to delete it, it reports when the drain has ended, and no timeout of Muster overrides it.
type Guard struct {
	// Requested is true if its deletion was requested, by Muster or by another client.
	Requested bool
	// Released is true if the drain has ended and nothing holds the instance any more.
	Released bool
	// DrainEnded is when it released the instance after its drain; zero while it has not, and where the user excluded the drain.
	DrainEnded time.Time
	// WaitReasons tell users what its deletion waits for.
	WaitReasons []string
}

// DrainedOther reports whether the guard's drain ended before the node joined, or before it turned Ready: it drained an earlier Node of the
// same instance, or the Node object that the kubelet of another machine of that name has taken over since, and pods are still to be
// evicted.
func (g Guard) DrainedOther(n *Node) bool {
	return n != nil && !g.DrainEnded.IsZero() && (n.Joined.After(g.DrainEnded) || n.Ready && n.ReadySince.After(g.DrainEnded))
}

// guarded returns, for messages, the name of an instance whose removal was requested and that its guard has not released, and what that
// waits for.
func (i *Instance) guarded() (name string, waits []string, ok bool) {
	if i.Guard == nil || !i.Guard.Requested || i.Guard.Released {
		return "", nil, false
	}
	name = i.ID
	if i.Node != nil {
		name = i.Node.Name
	}
	return name, i.Guard.WaitReasons, true
}

// Observed is everything that the cloud reports about one pool, and what the workload cluster reports about its nodes.
type Observed struct {
	// Group is nil while the cloud has no group with the pool's owner tag.
	Group *Group
	// FormerGroup, when set, is why the group is not created yet: the one that the pool had under another name or owner ID is being deleted.
	FormerGroup *Cause
	// OwnershipConflict, when set, names a cloud object that has the pool's name without its owner tag. Muster never changes or deletes it.
	OwnershipConflict *Cause
	// TaggedFor is the object that the group's tags name beside the owner ID, as cluster/namespace/name; where there is no group, the tags of
	// what is left of it: its template, its role.
	TaggedFor string
	// Unowned, when set, is the group behind OwnershipConflict, with what its adoption depends on.
	Unowned *Unowned
	// Wanted is the template that the spec asks for; its Ref is empty. It is zero while the spec can't be translated without bootstrap data
	// that is missing.
	Wanted Template
	// Versions are the templates that exist in the cloud, newest first: those that Muster created, and the user-managed ones that the group
	// launches from or should.
	Versions []Template
	// MissingPrerequisites names the prerequisites of the group (a role of its machines and its policies) that are missing or out of date, and
	// that Muster creates.
	MissingPrerequisites []string
	// Leftovers names the objects that Muster created and that are left when group and template are gone. It is read only while the pool is
	// being deleted.
	Leftovers []string
	// InstancesBelow begins the provider IDs that the instances of a new group get, where there is no group and the cloud numbers instances
	// anew in each group of a name; empty elsewhere.
	InstancesBelow string
	// FormerNodes are the names of the Nodes of such IDs that are still Ready. The instances of a new group get these names too.
	FormerNodes []string
	// Instances are the existing members of the group, terminating ones included, ordered by creation, then ID.
	Instances []Instance
	// ExternalStandby are the provider IDs of instances that another client put into standby: they are not in Instances, and not gone
	// either.
	ExternalStandby []string
	// Beside are instances that serve beside Instances while a provider rollout is paused. Nothing is decided about them, and their Nodes
	// stay; new ones that do not join halt the rollout.
	Beside []Instance
	// ProviderRollout is the running provider rollout, or the last one that the cloud remembers; nil if there was none.
	ProviderRollout *ProviderRollout
	// ProviderRolloutUnknown, when set, is the cloud's refusal to report whether a provider rollout is running. No other one is started
	// then, no serving instance is replaced, and every version of the template may still be launched from.
	ProviderRolloutUnknown *Cause
	// NodesUnknown is true if the workload cluster does not answer: a missing Node then means nothing.
	NodesUnknown bool
	// NodesRefused is why the workload cluster is not asked before a user changes something; empty if it only does not answer.
	NodesRefused string
	// ShortNotice is true if the cloud may terminate instances minutes after its notice: the pool is observed more often.
	ShortNotice bool
	// Cache is how fresh the reads behind the observation are.
	Cache CacheStatus
	// UnfilledSince is since when reads have shown that the group rests with fewer instances than its size and that no other instance has
	// appeared; zero while it does not. The engine sets it.
	UnfilledSince time.Time
	// Issues are the cloud's own words on why instances do not come or go: failed scaling activities, health.
	Issues []Cause
	// Unresolved are those of the issues for which a part of the specification was not compared with the group: it names what does not exist
	// or can't be met, or its look-up was refused.
	Unresolved []Cause
	// Caveats warn users of a specified change that the cloud may refuse, or has refused for as long as nothing else changes. Nothing is
	// decided by them.
	Caveats []Cause
	// ResolvedLookups are look-ups made during this observation (an image by its name). The engine has them stored on the object before a
	// step starts that may rest on them, so that later publications roll nothing by themselves.
	ResolvedLookups map[string]string
	// Capacity is the capacity of each machine of Wanted; nil if it is not known.
	Capacity *NodeCapacity
	// Operations are long-running operations of the cloud that were started for the pool and whose end was not observed yet, newest last.
	// They are stored on the object as hints, so that a failure can be reported in the cloud's words after a restart. Nothing is decided by
	// them.
	Operations []Operation
}

// Unfilled returns how many instances the group lacks while the cloud is not known to be at work on it.
func (o Observed) Unfilled() int {
	if o.Group == nil || o.Group.Deleting || o.Group.Busy != nil || o.ProviderRollout.Runs() {
		return 0
	}
	counted := 0
	for _, i := range o.Instances {
		if i.State != Terminating && !i.Standby {
			counted++
		}
	}
	return max(0, o.Group.Size-counted)
}

// Operation is one long-running operation of the cloud, as far as it has to be known to ask about it again.
type Operation struct {
	// Type is the method by which it was begun: PUT, PATCH or DELETE.
	Type string
	// Resource is the cloud's ID of what it works on.
	Resource string
	// Token resumes the polling of the operation in the cloud's own client. It holds no secret.
	Token string
}

// Group is the cloud's object that keeps the machines.
type Group struct {
	// ID is the cloud's identifier of the group (an ARN, a resource ID).
	ID string
	// Size is the number of machines that the group itself is asked to keep; those that are set aside are not in it.
	Size int
	// Surge is the part of Size that Muster added for a rollout, as the driver recorded it with the size (Traits.RecordsSurge). It is
	// used only where an external autoscaler owns the size, and is never more than what was added.
	Surge int
	// SurgeRecordStale is true if more surge is recorded than Surge, because machines are gone since, or it is recorded for a smaller size
	// than Size: UpdateGroup records what is left.
	SurgeRecordStale bool
	// SurgePlanned is the surge that is kept beside the size for a size that is not asked for yet (Step.Planned).
	SurgePlanned PlannedSurge
	// ProviderRolloutSurge is the number of machines that a running provider rollout adds beyond those that may be unavailable. Only plans
	// need it.
	ProviderRolloutSurge int
	// Min and Max are the group's own limits as they are in the cloud, where it has any.
	Min, Max int
	// Least is the number of machines below which the cloud refuses to remove any, whatever the bounds of an autoscaler are; zero if the group
	// may be empty.
	Least int
	// KeepsExcess is true if the cloud leaves more machines than Size as they are until the group is changed: it chooses then which go.
	KeepsExcess bool
	// LeavesFailed is the object's field by which the cloud leaves instances of this group that failed as they are; empty where it replaces
	// them, or a client does (Traits.KeepsFailedInstances).
	LeavesFailed string
	// Template is the Ref of the template that the group launches from now.
	Template string
	// Content is that of what the group launches now, for a cloud that makes machines of more than their template (a version
	// that the group has beside it); empty where the template says it all.
	Content string
	// Drift names the fields of the group, its size aside, that differ from what the specification asks for.
	Drift []string
	// Unchangeable names the fields of the group that differ from what the specification asks for and that this cloud can't
	// change on a group that exists.
	Unchangeable []string
	// Unfinished, when set, is what a provider rollout has left half-done that was cancelled or has failed: the cloud changes nothing else of
	// the group until another one ends it, though every instance may be what is wanted.
	Unfinished *Cause
	// Deferred names a change that is not requested yet, because the cloud would refuse it in the group's present state, and what it waits
	// for. It is nil if there is none, and for users only.
	Deferred *Cause
	// State is the group's state in the cloud's own word, for people; empty where it has none. Nothing is decided by it.
	State string
	// Image is the machine image that new instances get, in the cloud's own word, where the cloud chooses it; for people. Nothing is decided
	// by it.
	Image string
	// Deleting is true if the cloud is deleting the group.
	Deleting bool
	// Busy, when set, is what the cloud is doing to the group, by itself or on request: no step that changes the group starts before it has
	// ended.
	Busy *Cause
	// Failed, when set, is why the creation or the deletion of the group failed, in the cloud's words. The group can still be changed and
	// deleted.
	Failed *Cause
	// Created is when the cloud made the group; zero when it does not say.
	Created time.Time
	// DeleteFailedAt is when the last deletion of the group ended without success, by the clock that Decide is handed; zero when
	// none did.
	DeleteFailedAt time.Time
	// ScaleUpFailedAt is when the cloud last gave up bringing requested machines, by the clock of Decide; zero if it did not, or has
	// brought them since. Size is the size after that.
	ScaleUpFailedAt time.Time
	// UnfulfilledCapacity is by how many machines the requested capacity is above Size, because the cloud gave up on them: it may bring
	// them later with another change.
	UnfulfilledCapacity int
}

// InstanceState is an instance's place in its life.
type InstanceState string

// The states of an instance.
const (
	// Pending instances are being launched.
	Pending InstanceState = "Pending"
	// Running instances run; whether they serve is the node's matter.
	Running InstanceState = "Running"
	// Terminating instances are being terminated, by Muster, another client or the cloud.
	Terminating InstanceState = "Terminating"
	// Failed instances run no more or never will, and are still members of the group.
	Failed InstanceState = "Failed"
)

// Instance is one machine of the group.
type Instance struct {
	// ID is the cloud's name for it within the group, as Start wants it back.
	ID string
	// ProviderID is the spec.providerID of its Node.
	ProviderID string
	// UID identifies the instance among all that ever had its ID; empty where the cloud never gives an ID twice.
	UID string
	// Zone is the failure domain that it is in.
	Zone string
	// Template is the template that it was launched from. Its Content is empty if it is unknown.
	Template Template
	State    InstanceState
	// RemovalAssumed is true if the instance is Terminating because the cloud has accepted its removal, or may have, and no read shows that
	// yet: the cloud may have ignored it.
	RemovalAssumed bool
	// CloudState is its state in the cloud's own word, for people; empty where the cloud has none. Nothing is decided by it.
	CloudState string
	// Stopped is the cloud's own word for why a Failed instance does not run, where it has not failed to be made but was stopped or
	// deallocated; for people, and empty otherwise. Nothing is decided by it.
	Stopped string
	// Created is when the cloud made it, by the clock that Decide is handed and not by the cloud's where the two differ; zero when
	// the cloud does not say.
	Created time.Time
	// Renewed is when the cloud last provisioned it once more, by the same clock, as clouds do that give machines a new disk in place: it
	// boots and joins anew, and is as old as before. Zero where the cloud never does, or does not say.
	Renewed time.Time
	// Marked instances are selected first when instances go (annotation cluster.x-k8s.io/delete-machine, or the cluster-autoscaler's taint
	// ToBeDeletedByClusterAutoscaler). The mark alone is no reason to go.
	Marked bool
	// DeletionRequested, when set, is why exactly this instance goes (its Machine was deleted, its zone is not wanted any more). It is
	// replaced, unless the pool wants fewer machines than exist.
	DeletionRequested *Cause
	// TerminationNotice, when set, is why the cloud is about to terminate the instance (an interruption of spare capacity, failing
	// hardware, a failed health check). It is drained at once, whatever the budgets are.
	TerminationNotice *Cause
	// Guard, when set, is the Machine that must be deleted before the instance is removed.
	Guard *Guard
	// LifecycleHook is set while a hook of Muster keeps a Terminating instance running, so that it can be drained.
	LifecycleHook *LifecycleHook
	// Standby is true if Muster put the instance into standby: it serves, and the group has launched another in its place.
	Standby bool
	// EnteringStandby is true if the cloud has accepted Muster's request to put the instance into standby so lately that reads may not show
	// it. The cloud may also have ignored the request: a surge counts the instance as in standby, everything else as it was read.
	EnteringStandby bool
	// TemplateDiff names the object's fields in which its template differs from the wanted one, where that is known.
	TemplateDiff []string
	// InPlaceDrift names the object's fields that the cloud can change on an existing instance and that differ from the spec on this one.
	// They do not make an instance stale.
	InPlaceDrift []string
	// Updating is true while the cloud changes the instance in place: it accepts no other change of it before it is done.
	Updating bool
	// ScaleInUnprotected is true if the cloud may terminate this instance when another client makes the group smaller.
	ScaleInUnprotected bool
	// ScaleInProtected is true if the cloud does not choose this instance when the group is made smaller, and Unprotect can change that.
	ScaleInProtected bool
	// Node is nil as long as the machine has not joined the workload cluster.
	Node *Node
}

// Node is the Node of one instance, as the workload cluster reports it.
type Node struct {
	// Name of the Node object; Joined is when it was made.
	Name   string
	Joined time.Time
	// Ready is the node's Ready condition; ReadySince is when it last changed.
	Ready      bool
	ReadySince time.Time
	// SkipRemediation is true if the user excluded the node from remediation (annotation cluster.x-k8s.io/skip-remediation).
	SkipRemediation bool
	// Held is true if a user keeps the machine from being replaced while it serves, HeldUntil its end, if any, and HeldBy what does, for
	// messages; empty is the annotation muster.dev/hold.
	Held      bool
	HeldUntil time.Time
	HeldBy    string
	// Preserved is true if a user wants to look at the machine if it fails (annotation muster.dev/preserve), PreservedUntil the end of that,
	// if any.
	Preserved      bool
	PreservedUntil time.Time
	// Pods tells whether one of its pods keeps it in the same way. It is known only of the instances that Plan.ReadPods names.
	Pods PodHold
	// Cordoned is true if nothing new is scheduled onto it, whichever client set that.
	Cordoned bool
	// Evictable predicts a drain that begins now. It is known only while instances are chosen: of nodes that others cordoned, and
	// of those that Plan.Undecided names.
	Evictable Evictable
	// DrainStarted is when our drain of it began; zero when we do not drain it.
	DrainStarted time.Time
	// Quarantined is true if Muster has marked the node as one that it can't drain, while it drains it.
	Quarantined bool
	// DrainAbandoned is when Muster last ended a drain of the node because it was blocked and another instance could go; zero if it never
	// did, or has drained the node again since.
	DrainAbandoned time.Time
	// Remaining is the number of pods that a drain has still to evict. It is known only while DrainStarted is set.
	Remaining int
	// Detaching is the number of volumes that a removal waits for until they are detached, whatever the drain's timeout says.
	// They have a timeout of their own, after which none is counted. It is known only while DrainStarted is set.
	Detaching int
	// Blocked names pods and what keeps them (a budget), and volumes that are attached, for people.
	Blocked []string
	// KubeletVersion as the node reports it, with the leading v.
	KubeletVersion string
}

// PodHold tells whether a pod keeps the machine of its node from being replaced while it serves.
type PodHold struct {
	// Known is false while the pods have not been read.
	Known bool
	// By is the pod and its mark, for messages; empty if no pod does.
	By string
}

// Evictable tells what a drain would find on a node.
type Evictable string

// What a drain would find; empty is unknown.
const (
	// EvictNothing: no pod that a drain would evict.
	EvictNothing Evictable = "Nothing"
	// EvictAll: pods, and nothing prevents the eviction of any of them.
	EvictAll Evictable = "All"
	// EvictSome: at least one pod that can't be evicted now.
	EvictSome Evictable = "Some"
)

// freshness is the time after its join within which a healthy node turns Ready. A node whose last change was within it has never been
// Ready.
const freshness = 10 * time.Second

// Joining reports whether the node exists and has never been Ready, as far as can be told.
func (n *Node) Joining() bool { return !n.Ready && n.ReadySince.Sub(n.Joined) < freshness }

// Drained reports whether the node holds nothing any more that a drain would evict or wait for.
func (n *Node) Drained() bool {
	return !n.DrainStarted.IsZero() && n.Remaining == 0 && n.Detaching == 0
}

// CordonedByOthers reports whether the node is cordoned and not drained by us.
func (n *Node) CordonedByOthers() bool { return n != nil && n.Cordoned && n.DrainStarted.IsZero() }

// NodeCapacity is the capacity of each machine of the wanted template.
type NodeCapacity = capacity.NodeCapacity

// NodesUnknownText returns why nothing is known about nodes.
func (o Observed) NodesUnknownText() string {
	return cmp.Or(o.NodesRefused, "the workload cluster does not answer")
}

// CacheStatus describes how fresh the reads behind an observation are.
type CacheStatus struct {
	// Fresh is true if this call read everything from the cloud and used no cached or batched result.
	Fresh bool
	// GroupFresh is true if the group was read by a request that this call waited for, alone or batched with other pools: another read
	// would return the same.
	GroupFresh bool
	// Shared is true if the reads are shared among pools, so that frequent reads cost next to nothing.
	Shared bool
	// Reused is true if a fresh read was requested and the result of a recent one was used, because no step of Muster has changed anything
	// since. Another process may have.
	Reused bool
	// StaleUntil is until when the reads are known to be possibly out of date: the cloud has just refused a write of Muster because what it
	// rested on was. Zero is never. The engine sets it.
	StaleUntil time.Time
}
