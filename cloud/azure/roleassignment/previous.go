package roleassignment

import (
	"context"
	"strings"

	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/driverkit"
)

const (
	// needPreviousGone is the prerequisite of a scale set whose specification names another role assignment than before, or none: the
	// principal of the previous one keeps the role until that is deleted.
	needPreviousGone = "end of its earlier role assignment"
	// rememberRole is the key under which the object keeps the ID of the role assignment: the specification may name another scope and
	// name by now, or no identity.
	rememberRole = "role"
)

// previous returns the pool's role assignment that the object remembers, where the specification asks for another or none, and whether it
// exists.
func (p Pass) previous(ctx context.Context) (model.Role, bool, error) {
	id := p.Spec.Remembered[rememberRole]
	previous, ok := model.RoleByID(id)
	if wanted, _ := p.Spec.role(); !ok || strings.EqualFold(wanted.ID(), id) {
		return model.Role{}, false, nil
	}
	found, err := p.Session.RoleAssignments.Get(ctx, previous.Scope, previous.Name, nil)
	if err = session.Refusal(err, p.Now); err != nil {
		if session.Absent(err) {
			err = nil
		}
		return previous, false, err
	}
	return previous, previous.Name == model.OwnRole(p.Spec.Owner) || found.Properties != nil &&
		strings.EqualFold(textOf(found.Properties.PrincipalID), p.Spec.Remembered[rememberIdentity]), nil
}

// observePrevious reports whether a previous role assignment may still exist, which is to be deleted now or with the pool.
func (p Pass) observePrevious(ctx context.Context, out *Observation) (bool, error) {
	_, exists, err := p.previous(ctx)
	if err != nil && !p.Spec.Exists {
		return false, err
	}
	if err != nil {
		out.Issues = append(out.Issues, driverkit.CauseOf(err))
	}
	if exists {
		out.Missing, out.Leftovers = append(out.Missing, needPreviousGone), append(out.Leftovers, needPreviousGone)
	}
	if exists = exists || err != nil; exists {
		out.Remember = p.asRemembered(out.Remember)
	}
	return exists, nil
}

// asRemembered keeps what the object remembers of role assignments.
func (p Pass) asRemembered(remember map[string]string) map[string]string {
	for _, key := range []string{rememberRole, rememberIdentity} {
		remember = remembering(remember, key, p.Spec.Remembered[key])
	}
	return remember
}
