package driverkit

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// searchAge bounds the age of a list of groups in which one is looked for.
const searchAge = 30 * time.Second

// SearchAge returns the most age of the list of groups in which a group is looked for that could be the pool's: such a group is from an
// earlier life of its object, or another tool's from before it was applied, so that the list is not older than the object. Pools that are
// created together share one list, and the steps of a creation too.
func SearchAge(s cloud.Search, now time.Time) time.Duration {
	if s.Since.IsZero() {
		return searchAge
	}
	return max(0, min(searchAge, now.Sub(s.Since)))
}

// Candidate is a group of another name than the pool's that may be the pool's all the same.
type Candidate struct {
	// Name of the group; Group is the group as messages name it.
	Name, Group string
	// Claim compares its tags with the pool.
	Claim cloud.Claim
	// ByProvider is true if it is the group that the ecosystem's provider makes for the object.
	ByProvider bool
	// Deleting is true if the cloud is deleting it.
	Deleting bool
	// Elsewhere describes that it is in another location than the specification names, and the required change; empty if it is not.
	Elsewhere string
}

// could reports whether the group is the pool's by all that its tags say but the owner ID, or was made for the pool by another provider.
func (c Candidate) could() bool {
	return c.Claim.SameName || c.Claim.Owned || c.ByProvider && c.Claim.ID == ""
}

// FormerGroup holds the causes that prevent the creation of a group while another one could be the pool's.
type FormerGroup struct {
	// Conflict is set if there is such a group, Deleting if it is being deleted.
	Conflict, Deleting *pool.Cause
}

// Former returns what the groups that were found keep from being created; nameOf returns the name of an owner's group. A group under the
// pool's own name and ID is the one that is about to be created, and that an earlier look did not show.
func Former(o cloud.Owner, found []Candidate, nameOf func(cloud.Owner) string) FormerGroup {
	slices.SortFunc(found, func(a, b Candidate) int { return cmp.Compare(a.Name, b.Name) })
	var out FormerGroup
	for _, c := range found {
		switch {
		case !c.could() || c.Name == nameOf(o) && c.Elsewhere == "":
		case c.Deleting:
			out.Deleting = &pool.Cause{Reason: "FormerGroupDeleting", Message: fmt.Sprintf(
				"%s, which is this pool's of before, is being deleted: no other is created until it is gone", c.Group)}
		default:
			return FormerGroup{Conflict: &pool.Cause{Reason: cloud.ReasonOwnershipConflict, Message: c.conflict(o, nameOf)}}
		}
	}
	return out
}

// conflict returns the message about the group, with the command that takes it back.
func (c Candidate) conflict(o cloud.Owner, nameOf func(cloud.Owner) string) string {
	const alone = "It is left alone, and no other is created"
	if c.Claim.ID == "" && c.ByProvider {
		return fmt.Sprintf("%s has the name that the other provider gives this pool's, and lacks the tag %s. %s. %s. "+
			"To have another created, name it by the annotation muster.dev/group-name", c.Group, c.Claim.Tag, alone, pool.AdoptionHint(c.Name))
	}
	if c.Claim.ID == "" {
		return fmt.Sprintf("%s has this pool's tags and lacks the tag %s. %s. %s", c.Group, c.Claim.Tag, alone, pool.AdoptionHint(c.Name))
	}
	fact, back := "the tags of this pool and another owner ID, because the pool was applied again without it", "run: "+c.command(o, nameOf)
	if c.Claim.Owned {
		fact = "the owner ID of this pool"
	}
	if c.Elsewhere != "" && c.Claim.Owned {
		back = c.Elsewhere
	} else if c.Elsewhere != "" {
		back += ", and " + c.Elsewhere
	}
	return fmt.Sprintf("%s has %s. %s. To take it back, %s", c.Group, fact, alone, back)
}

// command returns the command that gives the object the owner ID and the name of the group.
func (c Candidate) command(o cloud.Owner, nameOf func(cloud.Owner) string) string {
	var annotations []string
	if c.Claim.TakeBack != "" {
		annotations = append(annotations, "muster.dev/owner-id="+c.Claim.ID)
	}
	before := o
	before.ID, before.GroupName = c.Claim.ID, ""
	switch derived := nameOf(before) == c.Name; {
	case !derived:
		annotations = append(annotations, "muster.dev/group-name="+c.Name)
	case o.GroupName != "":
		annotations = append(annotations, "muster.dev/group-name-")
	}
	return o.Annotate(annotations...)
}
