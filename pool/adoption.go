package pool

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/muster-project/muster/pool/words"
)

// AdoptAnnotation is the annotation that names the group to adopt, for messages. Its value is Desired.Adopt.
const AdoptAnnotation = "muster.dev/adopt"

// Unowned is a group that has the name of the pool's and lacks its owner tag: what a decision about its adoption rests on.
type Unowned struct {
	// Name is the group's name, as Desired.Adopt gives it; Group is the group as messages name it.
	Name, Group string
	// Unread is why the tags of what it launches from could not be read; nil if they were.
	Unread *Cause
	// Owner is the value of the group's owner tag: the ID of another owner; empty if there is none.
	Owner string
	// OtherCluster is the name of the cluster that the group's tags say it belongs to, where that is not the pool's.
	OtherCluster string
	// OfCluster is true if tags of the provider that made the group name the pool's cluster.
	OfCluster bool
	// Invited is true if the group's tag ConsentTag (KEY=VALUE) names the pool's object: the operator of the account has agreed.
	Invited    bool
	ConsentTag string
	// Account is the account, subscription or project that the cloud has the group in. Without it no grant reaches the group.
	Account string
	// Path is the group's name as grants have it: behind the names of the resource group and of the managed cluster that hold it, with
	// slashes between them.
	Path string
	// FormerOwner is which tags of a former owner name another object than the pool's; empty if there are none.
	FormerOwner string
	// NamedInstead is the name of another group, which the object names in spec.providerID; empty if it names this one, or none.
	NamedInstead string
	// TemplateConflict, when set, is why the template that the group launches from can't become the pool's.
	TemplateConflict *Cause
	// CreatedWithCluster is true if the cloud created the group in the same request as its cluster, from what this object asks for: no
	// annotation is needed to adopt it.
	CreatedWithCluster bool
	// Busy, when set, is what the cloud does to the group while it takes no write.
	Busy *Cause
	// Resources are the cloud objects that get the owner tags with the adoption, for people.
	Resources []string
}

// createdForPool reports whether the group was created with its cluster for this object, and nothing names another.
func (u Unowned) createdForPool() bool {
	return u.CreatedWithCluster && u.OtherCluster == "" && u.NamedInstead == ""
}

// notAllowed returns why the group may not be adopted by the pool, or nil. A user of a namespace alone must not be able to take over what
// the manager's credentials reach: the group's tags have to name the pool, or its cluster, or the operator has to grant it.
func (u Unowned) notAllowed(asked Adoption) *Cause {
	reason, grant := "", ""
	switch {
	case u.Invited:
		return nil
	case !u.OfCluster && !u.CreatedWithCluster:
		withheld := u.grantWithheld(asked)
		if withheld == "" {
			return nil
		}
		reason = "none of its tags names this pool's cluster, and " + withheld
		if g := u.MissingGrant(asked); g != nil {
			grant = fmt.Sprintf(", or have the operator of the management cluster apply an AdoptionGrant for namespace %s, account %s and group %s",
				asked.Namespace, g.Accounts[0], g.Groups[0])
		}
	case len(asked.SameNamed) > 0:
		reason = "its tags mean other clusters as well as this pool's, which have the same name or identifier: " + words.First(asked.SameNamed)
	default:
		return nil
	}
	return &Cause{AdoptionNotAllowed, fmt.Sprintf(
		"%s is not adopted, because %s. To allow it, have the operator of the account set its tag %s%s", u.Group, reason, u.ConsentTag, grant)}
}

// literal replaces what patterns give a meaning, and grants do not take, by what matches it.
var literal = strings.NewReplacer("[", "*", "]", "*", "?", "*", `\`, "*")

// MissingGrant returns the grant with which the pool could adopt the group; nil if the pool needs none, or no grant reaches the group.
func (u Unowned) MissingGrant(asked Adoption) *AdoptionGrant {
	switch {
	case asked.Name != u.Name || asked.Done, u.Owner != "" || u.OtherCluster != "" || u.NamedInstead != "": // refused for another reason
		return nil
	case u.Invited || u.OfCluster || u.CreatedWithCluster, u.grantWithheld(asked) == "", !u.grantable():
		return nil
	}
	return &AdoptionGrant{Accounts: []string{u.Account}, Groups: []string{literal.Replace(u.Path)}}
}

// grantable reports whether a grant could reach the group: no tag of a former owner names another object, and the tags that would name
// another cluster could be read.
func (u Unowned) grantable() bool { return u.Account != "" && u.FormerOwner == "" && u.Unread == nil }

// grantWithheld returns why no grant allows the pool to adopt the group; empty if one does.
func (u Unowned) grantWithheld(asked Adoption) string {
	switch {
	case u.FormerOwner != "":
		return "those of a former owner name another object: " + u.FormerOwner
	case u.Unread != nil:
		return "its template could not be read: " + u.Unread.Message
	case slices.ContainsFunc(asked.Grants, func(g AdoptionGrant) bool { return g.covers(u) }):
		return ""
	case asked.GrantsUnread != nil:
		return "the AdoptionGrants could not be read: " + asked.GrantsUnread.Message
	case len(asked.Grants) == 0:
		return "no AdoptionGrant names its namespace"
	}
	var names []string
	for _, g := range asked.Grants {
		names = append(names, g.Name)
	}
	return "no AdoptionGrant of its namespace covers it: " + words.First(names)
}

// AdoptionNotAllowed is the reason of a pool that may not adopt the group that it asks for.
const AdoptionNotAllowed = "AdoptionNotAllowed"

// Adoption is the wish to take over a group that another tool made.
type Adoption struct {
	// Name of the group (annotation muster.dev/adopt).
	Name string
	// SameNamed are Clusters, and infrastructure clusters, of other namespaces that the tags of the pool's mean too: they prove nothing then.
	SameNamed []string
	// Namespace of the pool, for messages. Grants are those of the operator for this namespace, and GrantsUnread, when set, is why some could
	// not be read.
	Namespace    string
	Grants       []AdoptionGrant
	GrantsUnread *Cause
	// Done is true if the pool has owned the group of that name before: its owner tag was removed since, or the group itself. An adoption
	// is made once.
	Done bool
}

// AdoptionGrant is the operator's consent that pools of a namespace adopt groups whose tags name no cluster.
type AdoptionGrant struct {
	// Name of the grant, for messages.
	Name string
	// Accounts are the accounts, subscriptions or projects, exactly; Groups are patterns of Unowned.Path, in which * stands for any text
	// without a slash.
	Accounts, Groups []string
}

// covers reports whether the grant names the group.
func (g AdoptionGrant) covers(u Unowned) bool {
	return u.Account != "" && slices.Contains(g.Accounts, u.Account) && slices.ContainsFunc(g.Groups, func(pattern string) bool {
		matches, err := path.Match(pattern, u.Path)
		return err == nil && matches
	})
}
