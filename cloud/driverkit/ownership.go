package driverkit

import (
	"fmt"
	"slices"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// NamedGroup is the group that the object names in spec.providerID, where that is another than the pool's own and the pool's own does not
// exist.
type NamedGroup struct {
	// ID is spec.providerID as it was looked up.
	ID string
	// Conflict is set if the group exists without the pool's owner tag.
	Conflict *pool.Cause
}

// NamedConflict returns why no other group is created beside the one that the object names, and that is not the pool's by its tags. group
// is the group as messages name it, name its name.
func NamedConflict(group, name string, by cloud.Claim) *pool.Cause {
	cause := cloud.NamedElsewhere(group, by.Fact())
	switch {
	case by.ID == "":
		cause.Message += ". " + pool.AdoptionHint(name)
	case by.TakeBack != "":
		cause.Message += ". Its other tags name this pool: to take it back, run: " + by.TakeBack
	}
	return cause
}

// Ownership holds the facts that decide whether the group of a pool may be changed.
type Ownership struct {
	// Exists is true if the group with the pool's name exists. Claim compares its tags with the pool.
	Exists bool
	Claim  cloud.Claim
	// Named is the group that the object names, and GroupID its present spec.providerID.
	Named   NamedGroup
	GroupID string
	// Former is a group of another name that could be the pool's.
	Former FormerGroup
	// Group is the group as messages name it ("scale set mp of resource group rg"), Kind what it is called without its name.
	Group, Kind string
	// Account is the account, subscription or project that the cloud has the group in, and Path the group's name as pool.Unowned has it.
	Account, Path string
	// Rename tells where the user gives the pool's group another name.
	Rename string
}

// Conflict returns why the group is neither changed nor created: a group with the pool's name, or the one that the object names, exists
// and is not the pool's by its tags, or one of another name could be the pool's. It is nil if there is no such group.
func (o Ownership) Conflict() *pool.Cause {
	switch {
	case !o.Exists && o.Named.ID == o.GroupID && o.Named.Conflict != nil:
		return o.Named.Conflict
	case !o.Exists:
		return o.Former.Conflict
	case o.Claim.Owned:
		return nil
	}
	return &pool.Cause{Reason: cloud.ReasonOwnershipConflict, Message: fmt.Sprintf(
		"%s exists and is not this pool's: %s. It is left alone. %s", o.Group, o.Claim.Fact(), o.advice())}
}

// advice returns what the user does about a group that is not the pool's.
func (o Ownership) advice() string {
	if o.Claim.Differs != "" {
		return "If the pool was moved, have the operator of the account change these tags (docs/identity.md); otherwise remove the annotation " +
			"muster.dev/owner-id from this object"
	}
	if o.Claim.TakeBack != "" {
		return "Its other tags name this pool, which was applied again without its owner ID: to take the group back, run: " + o.Claim.TakeBack
	}
	return fmt.Sprintf("Delete it, or give this pool's %s another name %s", o.Kind, o.Rename)
}

// ConflictWith is Conflict, and the conflict of the pool's template while there is no group. Once the group exists, a template of another
// owner is only an issue, so that the group can still be sized and deleted.
func (o Ownership) ConflictWith(template *pool.Cause) *pool.Cause {
	if group := o.Conflict(); group != nil || o.Exists {
		return group
	}
	return template
}

// Observed returns what is observed of a pool while the group is not the pool's: that alone, and the look-ups that the object remembers.
func (o Ownership) Observed(unowned *pool.Unowned, remembered map[string]string) pool.Observed {
	return pool.Observed{OwnershipConflict: o.Conflict(), Unowned: unowned, ResolvedLookups: remembered, TaggedFor: o.Claim.Named()}
}

// Permits returns nil if the step may be started: the group is the pool's, or does not exist, or the step is one of those that do not
// depend on its owner.
func (o Ownership) Permits(step pool.StepKind, always ...pool.StepKind) error {
	if slices.Contains(always, step) {
		return nil
	}
	return Owned(o.Conflict())
}

// Unowned returns the group that has the pool's name and is not the pool's; nil if there is none.
func (o Ownership) Unowned(name string) *pool.Unowned {
	if !o.Exists || o.Claim.Owned {
		return nil
	}
	return &pool.Unowned{Name: name, Group: o.Group, Owner: o.Claim.ID, Invited: o.Claim.Invited, ConsentTag: o.Claim.ConsentTag,
		Account: o.Account, Path: o.Path, FormerOwner: o.Claim.FormerOwner}
}

// Adoptable returns nil if the group can be adopted, and the error of the step otherwise: it is not as it was observed before the step was
// begun.
func (o Ownership) Adoptable(is *pool.Unowned) error {
	switch {
	case is == nil:
		return &cloud.Error{Kind: cloud.Conflict, Code: "NothingToAdopt", Message: o.Group + " is gone: there is nothing to adopt"}
	case is.TemplateConflict != nil:
		return Owned(is.TemplateConflict)
	case is.Owner != "" || is.OtherCluster != "" || is.NamedInstead != "":
		return Owned(o.Conflict())
	}
	return nil
}

// Owned returns a conflict as the error of a step that needs the group; nil without one.
func Owned(conflict *pool.Cause) error {
	if conflict == nil {
		return nil
	}
	return &cloud.Error{Kind: cloud.Conflict, Code: conflict.Reason, Message: conflict.Message}
}
