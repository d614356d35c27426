package pool

import "time"

// Guard is somebody who lets go of an instance before it is removed, after a drain and hooks of his own: a Machine that
// stands for it is deleted first. While there is one, our drain of the instance is to ask him, he says when it has ended,
// and no timeout of ours overtakes him.
type Guard struct {
	// Requested says that he was asked to let go, by us or by anybody else.
	Requested bool
	// Released says that he has let go: the drain has ended and nobody holds the instance any more.
	Released bool
	// WaitReasons says what he waits for, for people.
	WaitReasons []string
}

// guarded says, for people, which instance is not let go yet by a guard who was asked, and what he waits for.
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

// Observed is everything that the cloud says about one pool, and what the workload cluster says about its nodes.
type Observed struct {
	// Group is nil as long as the cloud has no group of ours under the pool's name.
	Group *Group
	// OwnershipConflict, when set, says which cloud object has our name without our owner tag. It is never changed or deleted.
	OwnershipConflict *Cause
	// Wanted is the template that the specification asks for now; its Ref is empty. It is zero when the specification
	// can't be translated without bootstrap data that is not there.
	Wanted Template
	// Versions are the templates that exist in the cloud, newest first: those of ours, and the Given ones that the group
	// launches from or should.
	Versions []Template
	// Prerequisites names what the group needs beside its template and what is missing or not as it should be (a role of its
	// machines and its policies), and what is ours to make.
	MissingPrerequisites []string
	// Leftovers names what of ours stays in the cloud when group and template are gone. It is asked for only while the pool is
	// being deleted.
	Leftovers []string
	// Instances are the group's members that exist, terminating ones included, ordered by creation, then ID.
	Instances []Instance
	// ExternalStandby are the provider IDs of instances that somebody else has taken out of the group's count and keeps running (a standby
	// of his own): they are none of Instances, and are not gone either.
	ExternalStandby []string
	// ProviderRollout is the cloud's own roll that runs now, or else the last one that it remembers; nil when there was none.
	ProviderRollout *ProviderRollout
	// ProviderRolloutUnknown, when set, is the cloud's refusal to report whether a roll of its own runs. No other one is begun then, no
	// serving instance is replaced beside it, and every version of the template may still be launched from.
	ProviderRolloutUnknown *Cause
	// NodesUnknown says that the workload cluster could not be asked: a missing Node then means nothing.
	NodesUnknown bool
	// ShortNotice says that the cloud may take instances back minutes after it has said so: the pool is looked at more often.
	ShortNotice bool
	// Fresh is true if nothing in the observation is older than this call, reads that pools share included: a look that wants the newest
	// state need not ask a second time.
	Fresh bool
	// GroupFresh is true if the group was read by a request that this call has waited for, alone or together with other pools: a look that
	// wants a new answer would show the same.
	GroupFresh bool
	// Shared is true if the reads behind the observation are shared among pools, so that frequent looks cost next to nothing.
	Shared bool
	// Reused is true where a look was asked for that is as new as can be, and one that a step of ours left as it was a moment ago was
	// taken for it. Another process may have changed something since.
	Reused bool
	// Issues are the cloud's own words on why instances do not come or go: failed scaling activities, health.
	Issues []Cause
	// ResolvedLookups are look-ups that were resolved during this observation (an image by its name), to be kept on the object,
	// so that what the world publishes later rolls nothing by itself.
	ResolvedLookups map[string]string
	// Operations are the cloud's long-running operations that were begun for the pool and whose end was not seen yet, newest
	// last. They are kept on the object as hints, so that a failure can still be told about in the cloud's own words after
	// a restart; nothing is decided by them.
	Operations []Operation
}

// Operation is one long-running operation of the cloud, as far as it has to be known to ask about it again.
type Operation struct {
	// Type is the method by which it was begun: PUT, PATCH or DELETE.
	Type string
	// Resource is the cloud's ID of what it works on.
	Resource string
	// Token is what the cloud's own client takes to go on asking. It holds no secret.
	Token string
}

// Group is the cloud's object that keeps the machines.
type Group struct {
	// ID is what the cloud calls the group (an ARN, a resource ID).
	ID string
	// TaggedFor is the object that the group's tags name beside the owner ID, as cluster/namespace/name.
	TaggedFor string
	// Size is the number of machines that the group itself is asked to keep; those that are set aside are not in it.
	Size int
	// Surge is how many of Size a step of ours added for a rollout, as the driver kept it beside the size
	// (Traits.RecordsSurge). It is needed only where somebody else sizes the group. It never says more than was added.
	Surge int
	// SurgeRecordStale says that what is kept beside the size tells of more than Surge, for machines have gone since: UpdateGroup writes
	// down what is left.
	SurgeRecordStale bool
	// SurgePlanned is the surge that is kept beside the size for a size that is not asked for yet (Step.Planned).
	SurgePlanned PlannedSurge
	// ProviderRolloutSurge is how many machines the cloud's own roll adds while it goes on, as far as that is more than may be unavailable;
	// zero is none. Only plans need it.
	ProviderRolloutSurge int
	// Min and Max are the group's own limits as they are in the cloud, where it has any.
	Min, Max int
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
	// State is the group's state in the cloud's own word, for people; empty where it has none. Nothing is decided by it.
	State string
	// Deleting says that the cloud is removing the group.
	Deleting bool
	// Busy, when set, says what the cloud is doing to the group, by itself or because it was asked to: nothing that changes the
	// group is begun before that has ended.
	Busy *Cause
	// Failed, when set, says in the cloud's words why the group's creation or its deletion failed. It can still be changed and
	// deleted.
	Failed *Cause
	// Created is when the cloud made the group; zero when it does not say.
	Created time.Time
	// DeleteFailedAt is when the last deletion of the group ended without success, by the clock that Decide is handed; zero when
	// none did.
	DeleteFailedAt time.Time
	// ScaleUpFailedAt is when the cloud last gave up bringing machines that the group was asked for, by the clock that Decide is
	// handed; zero when it did not, or has brought them since. Size is then what the cloud is left with.
	ScaleUpFailedAt time.Time
	// UnfulfilledCapacity is by how many machines what the group is asked for is above Size, because the cloud has given up bringing them:
	// it may bring them later, with whatever else is asked of it.
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
	// Terminating instances are on their way out, whoever asked for it.
	Terminating InstanceState = "Terminating"
	// Failed instances run no more or never will, and are still members of the group.
	Failed InstanceState = "Failed"
)

// Instance is one machine of the group.
type Instance struct {
	// ID is the cloud's name for it within the group, as Start wants it back.
	ID string
	// ProviderID is what its Node carries in spec.providerID.
	ProviderID string
	// UID identifies the instance among all that ever had its ID; empty where the cloud never gives an ID twice.
	UID string
	// Zone is the failure domain that it is in.
	Zone string
	// Template is what it was launched from; Content is empty when that is unknown.
	Template Template
	State    InstanceState
	// CloudState is its state in the cloud's own word, for people; empty where the cloud has none. Nothing is decided by it.
	CloudState string
	// Stopped is the cloud's own word for why a Failed instance does not run, where it has not failed to be made but was stopped or
	// deallocated; for people, and empty otherwise. Nothing is decided by it.
	Stopped string
	// Created is when the cloud made it, by the clock that Decide is handed and not by the cloud's where the two differ; zero when
	// the cloud does not say.
	Created time.Time
	// Marked instances are chosen first when instances go (annotation cluster.x-k8s.io/delete-machine, or the cluster-autoscaler's
	// taint ToBeDeletedByClusterAutoscaler). The mark alone is no reason to go.
	Marked bool
	// DeletionRequested, when set, says why exactly this instance goes (its Machine was deleted). It is replaced, unless the pool
	// wants fewer machines than there are.
	DeletionRequested *Cause
	// TerminationNotice, when set, says why the cloud is about to take the instance (an interruption of spare capacity, failing hardware, a
	// failed health check). It is drained at once, whatever the budgets say.
	TerminationNotice *Cause
	// Guard, when set, is somebody else who has to let the instance go before it is removed.
	Guard *Guard
	// LifecycleHook is set while a termination hook of ours keeps a Terminating instance running, so that it can be drained.
	LifecycleHook *LifecycleHook
	// Standby says that we set the instance aside: it serves, and the group has launched another in its place.
	Standby bool
	// TemplateDiff names the object's fields in which its template differs from the wanted one, where that is known.
	TemplateDiff []string
	// InPlaceDrift names the object's fields that the cloud can change on an instance that exists, by giving it what the group has, and
	// that are not on this one yet as the specification asks for them. They are no part of what makes an instance stale.
	InPlaceDrift []string
	// ScaleInUnprotected says that the cloud may choose this instance by itself when somebody makes the group smaller.
	ScaleInUnprotected bool
	// ScaleInProtected is true if the cloud does not choose this instance when the group is made smaller, and Unprotect can change that.
	ScaleInProtected bool
	// Node is nil as long as the machine has not joined the workload cluster.
	Node *Node
}

// Node is what the workload cluster says about one instance.
type Node struct {
	// Name of the Node object; Joined is when it was made.
	Name   string
	Joined time.Time
	// Ready is the node's Ready condition; ReadySince is when it last changed.
	Ready      bool
	ReadySince time.Time
	// SkipRemediation says that somebody asked not to have it replaced for its health (annotation cluster.x-k8s.io/skip-remediation).
	SkipRemediation bool
	// Cordoned says that nothing new is scheduled onto it, by whomever.
	Cordoned bool
	// Empty is true if no pod runs on the node that a drain would evict. It is known only of nodes that others cordoned, and only
	// while instances are chosen.
	Empty bool
	// DrainStarted is when our drain of it began; zero when we do not drain it.
	DrainStarted time.Time
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

// freshness is how soon after its join a node turns Ready when all is well. A node that was last seen to turn within it
// has never been Ready.
const freshness = 10 * time.Second

// Joining says that the node is there and has never been Ready, as far as can be told.
func (n *Node) Joining() bool { return !n.Ready && n.ReadySince.Sub(n.Joined) < freshness }

// Drained says whether the node holds nothing any more that a drain would evict or wait for.
func (n *Node) Drained() bool {
	return !n.DrainStarted.IsZero() && n.Remaining == 0 && n.Detaching == 0
}

// CordonedByOthers reports whether the node is cordoned and not drained by us.
func (n *Node) CordonedByOthers() bool { return n != nil && n.Cordoned && n.DrainStarted.IsZero() }
