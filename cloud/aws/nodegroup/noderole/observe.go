package noderole

import (
	"context"
	"fmt"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// Findings are what an observation of a pool reports about its node role.
type Findings struct {
	// Leftovers are what Muster deletes with the pool.
	Leftovers []string
	// Missing are prerequisites of the node group that EnsurePrerequisites provides.
	Missing []string
	Issues  []pool.Cause
	// Unsatisfiable is why the specification can't be satisfied, nil if it can.
	Unsatisfiable error
	// TaggedFor is the object that the tags of a role that Muster made name, as cluster/namespace/name.
	TaggedFor string
	// unread is true if the role could not be read.
	unread bool
}

// Observe reads the role, at once where there is no node group and slowly otherwise, and reports what of it Muster deletes with the pool.
func (p Pass) Observe(ctx context.Context) (Findings, error) {
	if err := p.read(ctx); err != nil {
		if !p.Spec.GroupExists || p.Memory.tolerance.Tolerate(p.Now, err) != nil {
			return Findings{}, err
		}
		// The group has its role: a failed read of it blocks nothing else.
		return Findings{Issues: []pool.Cause{driverkit.CauseOf(err)}, unread: true}, nil
	}
	found := Findings{TaggedFor: p.Memory.taggedFor}
	if p.Memory.deletable() {
		found.Leftovers = []string{roleItem(p.Memory.name)}
	}
	return found, nil
}

// Compare reads the role like Observe, and reports what it lacks. It adds to the look-ups which policies the specification asks for. failed
// is true if the specification can't be satisfied for another reason already.
func (p Pass) Compare(ctx context.Context, failed bool, lookups map[string]string) (Findings, error) {
	found, err := p.Observe(ctx)
	if err != nil || found.unread {
		return found, err
	}
	p.rememberPolicies(lookups)
	role := p.Memory
	switch {
	case p.mayNotAttach() && !failed:
		found.Unsatisfiable = cloud.Invalidf(FieldPolicies,
			"policies may be added to the node role only where the controller allows it: switch on its feature gate EKSAllowAddRoles, or take the "+
				"field out")
	case role.arn == "" && p.Spec.MayCreate:
		found.Missing = []string{roleItem(role.name)}
	case role.arn == "" && !failed:
		found.Unsatisfiable = cloud.Invalidf(FieldName,
			"there is no IAM role %s, and the controller makes none: make it, name another, or switch on the feature gate EKSEnableIAM", role.name)
	case role.owned:
		found.Missing = append(p.missingPolicies(), p.obsoleteItems()...)
	case len(p.Spec.Policies) > 0:
		found.Issues = append(found.Issues, pool.Cause{Reason: "ForeignRole", Message: fmt.Sprintf(
			"IAM role %s was not made for this pool: it is used as it is, and %s are not attached to it", role.name, FieldPolicies)})
	}
	return found, nil
}

// roleItem names the role among prerequisites and leftovers.
func roleItem(name string) string { return "IAM role " + name }
