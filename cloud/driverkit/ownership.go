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

// NamedConflict returns why no other group is created beside the one that the object names and that lacks the pool's owner tag: owner is
// the value of that tag. group is the group as messages name it, name its name.
func NamedConflict(group, name, tag, owner string) *pool.Cause {
	cause := cloud.NamedElsewhere(group, fmt.Sprintf("its tag %s is %s", tag, QuoteTag(owner)))
	if owner == "" {
		cause.Message += ". " + pool.AdoptionHint(name)
	}
	return cause
}

// Ownership is what decides whether the group of a pool may be changed.
type Ownership struct {
	// Exists is true if the group with the pool's name exists, Owned if it has the pool's owner tag.
	Exists, Owned bool
	// Named is the group that the object names, and GroupID its present spec.providerID.
	Named   NamedGroup
	GroupID string
	// Group is the group as messages name it ("scale set mp of resource group rg"), Kind what it is called without its name.
	Group, Kind string
	// Tag is the owner tag, Owner its value; empty if it is missing.
	Tag, Owner string
	// Rename tells where the user gives the pool's group another name.
	Rename string
}

// Conflict returns why the group is neither changed nor created: a group with the pool's name, or the one that the object names, exists
// without the pool's owner tag. It is nil if there is no such group.
func (o Ownership) Conflict() *pool.Cause {
	switch {
	case !o.Exists && o.Named.ID == o.GroupID:
		return o.Named.Conflict
	case !o.Exists || o.Owned:
		return nil
	}
	return &pool.Cause{Reason: cloud.ReasonOwnershipConflict, Message: fmt.Sprintf(
		"%s exists and is not this pool's: its tag %s is %s. It is left alone. Delete it, or give this pool's %s another name %s",
		o.Group, o.Tag, QuoteTag(o.Owner), o.Kind, o.Rename)}
}

// ConflictWith is Conflict, and the conflict of the pool's template while there is no group. Once the group exists, a template of another
// owner is only an issue, so that the group can still be sized and deleted.
func (o Ownership) ConflictWith(template *pool.Cause) *pool.Cause {
	if group := o.Conflict(); group != nil || o.Exists {
		return group
	}
	return template
}

// Permits returns nil if the step may be started: the group is the pool's, or does not exist, or the step is one of those that do not
// depend on its owner.
func (o Ownership) Permits(step pool.StepKind, always ...pool.StepKind) error {
	if slices.Contains(always, step) {
		return nil
	}
	return Owned(o.Conflict())
}

// Unowned returns the group that has the pool's name and lacks its owner tag; nil if there is none.
func (o Ownership) Unowned(name string) *pool.Unowned {
	if !o.Exists || o.Owned {
		return nil
	}
	return &pool.Unowned{Name: name, Group: o.Group, Owner: o.Owner}
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

// QuoteTag returns the value of a tag as messages show it.
func QuoteTag(value string) string {
	if value == "" {
		return "missing"
	}
	return fmt.Sprintf("%q", value)
}

// Owned returns a conflict as the error of a step that needs the group; nil without one.
func Owned(conflict *pool.Cause) error {
	if conflict == nil {
		return nil
	}
	return &cloud.Error{Kind: cloud.Conflict, Code: conflict.Reason, Message: conflict.Message}
}
