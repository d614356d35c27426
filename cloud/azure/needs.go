package azure

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/authorization/armauthorization/v2"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

const (
	// needRole is what a scale set's own identity needs.
	needRole = "role assignment of the scale set's identity"
	// rememberIdentity is where the object keeps whose role assignment there is: when the scale set is gone nothing tells any more
	// whether one whose name the user chose is Muster's.
	rememberIdentity = "identity"
)

// roleRead is the role assignment of our name as it was read; its principal is empty when there was none.
type roleRead struct {
	// of is the ID of the role assignment that was read.
	of              string
	at              time.Time
	principal, role string
	// given is a principal that has the role already, as Azure said at a moment: by Muster's assignment, or by that of another client.
	given   string
	givenAt time.Time
}

// observeRole observes whether the identity that Azure made with the scale set has its role, and what is to be deleted with the pool. It
// is asked hourly: only Muster changes it as a rule.
func (p *pass) observeRole(ctx context.Context, out *pool.Observed) error {
	role, wanted := model.RoleOf(p.t.Owner, p.t.Spec)
	former, err := p.observeFormer(ctx, out)
	if err != nil || !wanted {
		return err
	}
	is, err := p.readRole(ctx, role)
	switch {
	case err != nil && p.memory.set.is == nil:
		// To go on would let an object go whose role assignment is there.
		return err
	case err != nil:
		out.Issues, out.ResolvedLookups = append(out.Issues, driverkit.CauseOf(err)), p.asRemembered(out.ResolvedLookups)
		return nil
	}
	p.tellRole(out, role, is)
	if !former && (p.mine(is) || is.has(p.principal(), role)) {
		out.ResolvedLookups = remembering(out.ResolvedLookups, rememberRole, role.ID())
	}
	return nil
}

// tellRole says what the role assignment that was read means.
func (p *pass) tellRole(out *pool.Observed, role model.Role, is roleRead) {
	now, remembered := p.principal(), p.t.Remembered[rememberIdentity]
	if now != "" && !is.has(now, role) {
		out.MissingPrerequisites = append(out.MissingPrerequisites, needRole)
	}
	if p.mine(is) {
		out.Leftovers = append(out.Leftovers, needRole)
	}
	if now != "" && (is.principal == "" || is.has(now, role)) {
		remembered = now
	}
	out.ResolvedLookups = remembering(out.ResolvedLookups, rememberIdentity, remembered)
}

// mine reports whether there is a role assignment with the wanted name that is Muster's.
func (p *pass) mine(is roleRead) bool { return is.principal != "" && p.oursToo(is) }

// remembering is a map with one more value, unless that is empty.
func remembering(m map[string]string, key, value string) map[string]string {
	if value == "" {
		return m
	}
	out := map[string]string{key: value}
	for k, v := range m {
		if k != key {
			out[k] = v
		}
	}
	return out
}

// has reports whether the principal has the role.
func (r roleRead) has(principal string, role model.Role) bool {
	return r.given != "" && r.given == principal ||
		r.principal != "" && strings.EqualFold(r.principal, principal) && strings.EqualFold(lastOf(r.role), lastOf(role.DefinitionID))
}

// lastOf is the end of an ID. Azure gives role definitions back with or without the subscription in front.
func lastOf(id string) string { return id[strings.LastIndex(id, "/")+1:] }

// oursToo reports whether a role assignment with the wanted name is Muster's, for any principal: its name is made of the owner, or it is
// that of an identity of Muster's. One whose name the user chose may have another owner.
func (p *pass) oursToo(is roleRead) bool {
	return p.t.pool.RoleName() == "" || strings.EqualFold(is.principal, p.principal()) ||
		strings.EqualFold(is.principal, p.t.Remembered[rememberIdentity])
}

// principal is the identity that Azure made with the scale set; empty when there is none.
func (p *pass) principal() string {
	is := p.memory.set.is
	if is == nil || is.Identity == nil {
		return ""
	}
	return deref(is.Identity.PrincipalID)
}

// readRole reads the role assignment of our name.
func (p *pass) readRole(ctx context.Context, role model.Role) (roleRead, error) {
	if known := p.memory.role; !known.at.IsZero() && known.of == role.ID() && p.now.Sub(known.at) < slowPeriod {
		return known, nil
	}
	found, err := p.c.RoleAssignments.Get(ctx, role.Scope, role.Name, nil)
	if err = session.Refusal(err, p.now); err != nil && !session.Absent(err) {
		return roleRead{}, err
	}
	read := roleRead{of: role.ID(), at: p.now}
	if known := p.memory.role; known.of == role.ID() && p.now.Sub(known.givenAt) < slowPeriod {
		read.given, read.givenAt = known.given, known.givenAt
	}
	if err == nil && found.Properties != nil {
		read.principal, read.role = deref(found.Properties.PrincipalID), deref(found.Properties.RoleDefinitionID)
	}
	p.memory.role = read
	return read, nil
}

// provide gives the identity its role. An assignment can't be changed: one of an earlier identity, which Azure has deleted with an
// earlier scale set, or of another role is deleted first, and the next pass makes it anew.
func (p *pass) provide(ctx context.Context, _ pool.Step) error {
	if former, there, err := p.former(ctx); err != nil {
		return err
	} else if there {
		return p.dropRole(ctx, former)
	}
	role, wanted := model.RoleOf(p.t.Owner, p.t.Spec)
	now := p.principal()
	if !wanted || now == "" {
		return nil
	}
	is, err := p.readRole(ctx, role)
	switch {
	case err != nil:
		return err
	case is.has(now, role):
		return nil
	case is.principal == "":
		return p.giveRole(ctx, role, now)
	case p.oursToo(is):
		return p.dropRole(ctx, role)
	}
	return cloud.Invalidf("spec.systemAssignedIdentityRole.name",
		"role assignment %s exists and has another owner: it is left alone. Choose another name", role.Name)
}

// giveRole makes the role assignment.
func (p *pass) giveRole(ctx context.Context, role model.Role, principal string) error {
	p.memory.role = roleRead{}
	_, err := p.c.RoleAssignments.Create(ctx, role.Scope, role.Name, armauthorization.RoleAssignmentCreateParameters{
		Properties: &armauthorization.RoleAssignmentProperties{
			PrincipalID: &principal, RoleDefinitionID: &role.DefinitionID, PrincipalType: new(armauthorization.PrincipalTypeServicePrincipal),
		},
	}, nil)
	switch err = session.Refusal(err, p.now); cloud.CodeOf(err) {
	case "RoleAssignmentExists":
		// It is not shown yet, or another client has given it the same role: there can't be two.
		p.memory.role = roleRead{of: role.ID(), given: principal, givenAt: p.now}
		return nil
	case "PrincipalNotFound":
		return &cloud.Error{Kind: cloud.Conflict, Op: opOf(err), Code: "PrincipalNotFound", Message: fmt.Sprintf(
			"the directory does not know the identity of scale set %s yet", p.t.name)}
	}
	return err
}

// cleanUp deletes the role assignment, if it is ours.
func (p *pass) cleanUp(ctx context.Context, _ pool.Step) error {
	if former, there, err := p.former(ctx); err != nil {
		return err
	} else if there {
		return p.dropRole(ctx, former)
	}
	role, wanted := model.RoleOf(p.t.Owner, p.t.Spec)
	if !wanted {
		return nil
	}
	is, err := p.readRole(ctx, role)
	if err != nil || is.principal == "" || !p.oursToo(is) {
		return err
	}
	return p.dropRole(ctx, role)
}

func (p *pass) dropRole(ctx context.Context, role model.Role) error {
	p.memory.role = roleRead{}
	_, err := p.c.RoleAssignments.Delete(ctx, role.Scope, role.Name, nil)
	if err = session.Refusal(err, p.now); session.Absent(err) {
		return nil
	}
	return err
}
