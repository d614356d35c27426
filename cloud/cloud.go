// Package cloud is the contract between the engine and one cloud: three methods, plain data in and out, and six kinds
// of error. A driver spells steps in its cloud's words. It holds no policy, never waits, and never decides when.
package cloud

import (
	"context"
	"time"

	"github.com/muster-project/muster/pool"
)

// Driver runs pools of one kind on one cloud. S is the kind's own specification, as the API has it. All methods are safe for concurrent
// use, return after a few requests at most, and return *Error if the cloud refuses.
type Driver[S any] interface {
	// Traits are facts about the cloud that hold for every pool of the kind.
	Traits() pool.Traits
	// Observe reads everything that the cloud reports about one pool. It never writes. Node fields are left nil. With *SpecUnsatisfiableError
	// (the specification cannot be satisfied, and nothing runs yet) the observation is complete, so that the pool can be deleted. With any
	// other error it must not be used.
	Observe(ctx context.Context, t Target[S]) (pool.Observed, error)
	// Start begins one step and returns at once. It is idempotent: an effect that exists already is no error.
	Start(ctx context.Context, t Target[S], s pool.Step) error
}

// Target identifies one pool, with everything that a driver needs to know in addition to the step.
type Target[S any] struct {
	Owner Owner
	// GroupID is the cloud's group that the object names in spec.providerID; empty where it names none. It is the pool's own, or that of
	// another tool which managed the pool before: a group that exists without the owner tag is reported as OwnershipConflict, and no other is
	// created.
	GroupID string
	// Adopt is true if the object asks to adopt a group that exists: the pool's template is then the one that the group launches from.
	Adopt bool
	// AssumeOwned is true for a preview of an adoption: a group that carries no owner tag is observed as if it were the pool's. Nothing is
	// ever started for such a target.
	AssumeOwned bool
	// KubernetesVersion is the desired version of the machines, with the leading v; empty if the object names none.
	KubernetesVersion string
	// Bootstrap is the bootstrap data of new machines.
	Bootstrap Bootstrap
	// FailureDomains that the core object prefers; the specification's own zones come first.
	FailureDomains []string
	// Remembered are the look-ups that earlier observations resolved, as they are stored on the object.
	Remembered map[string]string
	// Operations are the long-running operations that an earlier observation named, as they are stored on the object. They are hints for the
	// error message of a failure; nothing else may be derived from them.
	Operations []pool.Operation
	// Cache limits the age of the reads behind the observation.
	Cache CacheControl
	// Search is for which other groups the observation looks: the pool's own does not exist, and the next step is to create it.
	Search Search
	// Deleting is true if the pool is being deleted: an object that no longer shows must be known to be gone before the pool is released.
	Deleting bool
	// Spec is the kind's own specification. It must not be changed.
	Spec S
}

// AdoptedTemplate is the key of Target.Remembered under which the name of the launch template of an adopted group is kept.
const AdoptedTemplate = pool.AdoptedKey + "-template"

// CacheControl limits which cached reads an observation may use; pool.CacheStatus is the answer. A driver's own writes always make older
// reads useless.
type CacheControl struct {
	// MaxAge is the maximum age of a read. Zero requires one that is made for this pass, alone or batched with those of other pools, and
	// NoSharedCache one that is shared with no other pool.
	MaxAge time.Duration
	// ByEvent is true if an event (an edit, a change of a Node) asked for the pass before the next look is due. What only other clients change
	// beside the group is found by the looks that are due, and need not be read for an event.
	ByEvent bool
}

// NoSharedCache is the CacheControl.MaxAge of an observation that shares no read with other pools.
const NoSharedCache time.Duration = -1

// Search selects the groups of other names that could be the pool's, so that no second one is created.
type Search struct {
	// Tagged are the groups whose tags name the pool's object, whatever their owner ID is: the object may have been applied again without
	// the one that it had.
	Tagged bool
	// Provider is the group that the ecosystem's provider makes for the object. Nothing but the cluster's and the object's name connects it
	// with the pool.
	Provider bool
	// Since is when the object was created: a list of groups from before it may lack one that was created just before. Zero is unknown.
	Since time.Time
}

// Owner identifies the object that a cloud object belongs to. Ownership needs the ID and the names to agree with the tags: see Claim.
type Owner struct {
	// ID survives moves, backup and restore of the Kubernetes object, and is never reused.
	ID string
	// Cluster, Namespace and Name of the infrastructure object's cluster and of the object.
	Cluster, Namespace, Name string
	// Kind of the object, for commands in messages: awsmachinepool.
	Kind string
	// GroupName, when set, is the name that the cloud's group shall have instead of the derived one.
	GroupName string
}

const (
	// nameLimit leaves room for the suffix in the shortest name that a cloud allows (128 characters).
	nameLimit = 100
	// suffixLength of the owner's hash makes a clash of two owners with one name as good as impossible.
	suffixLength = 10
)

// ResourceName is the name of the owner's group and template in the cloud. It is a function of the object's name and
// owner ID alone, so that a create whose reply was lost is found again, and no two clusters ever share a group.
func (o Owner) ResourceName() string {
	if o.GroupName != "" {
		return o.GroupName
	}
	name := o.Name
	if len(name) > nameLimit {
		name = name[:nameLimit]
	}
	return name + "-" + Digest([]byte(o.ID), suffixLength)
}
