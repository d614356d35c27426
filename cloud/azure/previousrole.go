package azure

import (
	"context"
	"strings"

	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

const (
	// needFormerGone is what is needed when the specification names another role assignment, or none: who had the earlier one keeps
	// what it allows until it is gone.
	needFormerGone = "end of its earlier role assignment"
	// rememberRole is where the object keeps which role assignment there is: its scope and its name may be others by now, or the
	// scale set may have no identity of its own any more, and then only the object tells where it is.
	rememberRole = "role"
)

// former is Muster's role assignment that the object remembers, where the specification wants another or none, and whether it is
// there.
func (p *pass) former(ctx context.Context) (model.Role, bool, error) {
	id := p.t.Remembered[rememberRole]
	former, ok := model.RoleByID(id)
	if wanted, _ := model.RoleOf(p.t.Owner, p.t.Spec); !ok || strings.EqualFold(wanted.ID(), id) {
		return model.Role{}, false, nil
	}
	found, err := p.c.RoleAssignments.Get(ctx, former.Scope, former.Name, nil)
	if err = session.Refusal(err, p.now); err != nil {
		if session.Absent(err) {
			err = nil
		}
		return former, false, err
	}
	return former, former.Name == model.OwnRole(p.t.Owner) || found.Properties != nil &&
		strings.EqualFold(deref(found.Properties.PrincipalID), p.t.Remembered[rememberIdentity]), nil
}

// observeFormer reports whether an earlier role assignment is there still, which is to go: now, or with the pool.
func (p *pass) observeFormer(ctx context.Context, out *pool.Observed) (bool, error) {
	_, there, err := p.former(ctx)
	if err != nil && p.memory.set.is == nil {
		return false, err
	}
	if err != nil {
		out.Issues = append(out.Issues, driverkit.CauseOf(err))
	}
	if there {
		out.MissingPrerequisites, out.Leftovers = append(out.MissingPrerequisites, needFormerGone), append(out.Leftovers, needFormerGone)
	}
	if there = there || err != nil; there {
		out.ResolvedLookups = p.asRemembered(out.ResolvedLookups)
	}
	return there, nil
}

// asRemembered keeps what the object remembers of role assignments.
func (p *pass) asRemembered(remember map[string]string) map[string]string {
	for _, key := range []string{rememberRole, rememberIdentity} {
		remember = remembering(remember, key, p.t.Remembered[key])
	}
	return remember
}
