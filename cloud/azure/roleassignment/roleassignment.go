// Package roleassignment reads, creates and deletes the role assignment of the identity that Azure creates with a scale set.
//
// A role assignment is deleted only if it belongs to the pool: its name is made of the owner's, or its principal is an identity of the
// pool's scale set. Any other is left alone. The object remembers the assignment and its principal: without the scale set nothing in Azure
// shows whether an assignment whose name the user chose belongs to the pool.
package roleassignment

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/authorization/armauthorization/v2"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

const (
	// need is the prerequisite of a scale set whose identity lacks its role.
	need = "role assignment of the scale set's identity"
	// rememberIdentity is the key under which the object keeps the principal of the role assignment.
	rememberIdentity = "identity"
	// readPeriod is the time for which a read is reused: as a rule only Muster changes the assignment.
	readPeriod = time.Hour
)

// Spec holds the pool's specification and the known state of its scale set.
type Spec struct {
	Owner  cloud.Owner
	Source *azurev1.MachinePoolSource
	// ScaleSet is the name of the scale set, and Exists is true if it exists.
	ScaleSet string
	Exists   bool
	// Principal is the identity that Azure created with the scale set; empty where there is none.
	Principal string
	// Remembered are the look-ups that the object holds.
	Remembered map[string]string
}

// role returns the role assignment that the specification asks for; false where the scale set has no identity of its own.
func (s Spec) role() (model.Role, bool) { return model.RoleOf(s.Owner, s.Source) }

// owns reports whether a role assignment with the wanted name belongs to the pool, for any principal.
func (s Spec) owns(is Memory) bool {
	return s.Source.Pool.RoleName() == "" || strings.EqualFold(is.principal, s.Principal) ||
		strings.EqualFold(is.principal, s.Remembered[rememberIdentity])
}

// Memory is the role assignment with the wanted name as it was read last. Its zero value has it read again.
type Memory struct {
	// of is the ID of the role assignment that was read.
	of string
	at time.Time
	// principal is empty if the role assignment does not exist.
	principal, role string
	// granted is a principal that has the role according to Azure's reply at grantedAt: by Muster's assignment, or by another client's.
	granted   string
	grantedAt time.Time
}

// has reports whether the principal has the role.
func (m Memory) has(principal string, role model.Role) bool {
	return m.granted != "" && m.granted == principal ||
		m.principal != "" && strings.EqualFold(m.principal, principal) && strings.EqualFold(lastOf(m.role), lastOf(role.DefinitionID))
}

// lastOf returns the end of an ID. Azure returns role definitions with or without the subscription in front.
func lastOf(id string) string { return id[strings.LastIndex(id, "/")+1:] }

// Pass is one call of Observe or Start as far as it is about the role assignment.
type Pass struct {
	Session *session.Session
	Now     time.Time
	Spec    Spec
	Memory  *Memory
}

// Observation is the result of Observe.
type Observation struct {
	// Missing and Leftovers are prerequisites that are missing, and those that are to be deleted with the pool.
	Missing, Leftovers []string
	Issues             []pool.Cause
	// Remember are the look-ups with those of the role assignment.
	Remember map[string]string
}

// Observe compares the role assignment with the specification. It adds to the given look-ups what the object has to remember. A failed
// read is an issue while the scale set exists; otherwise it is an error, because the object could be released while its assignment exists.
func (p Pass) Observe(ctx context.Context, remember map[string]string) (Observation, error) {
	role, required := p.Spec.role()
	out := Observation{Remember: remember}
	previous, err := p.observePrevious(ctx, &out)
	if err != nil || !required {
		return out, err
	}
	is, err := p.read(ctx, role)
	switch {
	case err != nil && !p.Spec.Exists:
		return out, err
	case err != nil:
		out.Issues, out.Remember = append(out.Issues, driverkit.CauseOf(err)), p.asRemembered(out.Remember)
		return out, nil
	}
	p.compare(&out, role, is)
	if !previous && (p.owned(is) || is.has(p.Spec.Principal, role)) {
		out.Remember = remembering(out.Remember, rememberRole, role.ID())
	}
	return out, nil
}

// compare adds what the role assignment that was read means.
func (p Pass) compare(out *Observation, role model.Role, is Memory) {
	now, remembered := p.Spec.Principal, p.Spec.Remembered[rememberIdentity]
	if now != "" && !is.has(now, role) {
		out.Missing = append(out.Missing, need)
	}
	if p.owned(is) {
		out.Leftovers = append(out.Leftovers, need)
	}
	if now != "" && (is.principal == "" || is.has(now, role)) {
		remembered = now
	}
	out.Remember = remembering(out.Remember, rememberIdentity, remembered)
}

// owned reports whether a role assignment with the wanted name exists and belongs to the pool.
func (p Pass) owned(is Memory) bool { return is.principal != "" && p.Spec.owns(is) }

// remembering returns a map with one more value, unless that is empty.
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

// read reads the role assignment with the wanted name.
func (p Pass) read(ctx context.Context, role model.Role) (Memory, error) {
	known := *p.Memory
	if !known.at.IsZero() && known.of == role.ID() && p.Now.Sub(known.at) < readPeriod {
		return known, nil
	}
	found, err := p.Session.RoleAssignments.Get(ctx, role.Scope, role.Name, nil)
	if err = session.Refusal(err, p.Now); err != nil && !session.Absent(err) {
		return Memory{}, err
	}
	read := Memory{of: role.ID(), at: p.Now}
	if known.of == role.ID() && p.Now.Sub(known.grantedAt) < readPeriod {
		read.granted, read.grantedAt = known.granted, known.grantedAt
	}
	if err == nil && found.Properties != nil {
		read.principal, read.role = textOf(found.Properties.PrincipalID), textOf(found.Properties.RoleDefinitionID)
	}
	*p.Memory = read
	return read, nil
}

// textOf returns the text that a pointer points at; empty for nil.
func textOf(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// EnsurePrerequisites creates the role assignment. An assignment can't be changed: one of a previous identity, which Azure deleted with a
// previous scale set, or of another role is deleted first, and the next pass creates the new one.
func (p Pass) EnsurePrerequisites(ctx context.Context) error {
	if previous, exists, err := p.previous(ctx); err != nil {
		return err
	} else if exists {
		return p.remove(ctx, previous)
	}
	role, required := p.Spec.role()
	now := p.Spec.Principal
	if !required || now == "" {
		return nil
	}
	is, err := p.read(ctx, role)
	switch {
	case err != nil:
		return err
	case is.has(now, role):
		return nil
	case is.principal == "":
		return p.create(ctx, role, now)
	case p.Spec.owns(is):
		return p.remove(ctx, role)
	}
	return cloud.Invalidf("spec.systemAssignedIdentityRole.name",
		"role assignment %s exists and has another owner: it is left alone. Choose another name", role.Name)
}

// create creates the role assignment.
func (p Pass) create(ctx context.Context, role model.Role, principal string) error {
	*p.Memory = Memory{}
	_, err := p.Session.RoleAssignments.Create(ctx, role.Scope, role.Name, armauthorization.RoleAssignmentCreateParameters{
		Properties: &armauthorization.RoleAssignmentProperties{
			PrincipalID: &principal, RoleDefinitionID: &role.DefinitionID, PrincipalType: new(armauthorization.PrincipalTypeServicePrincipal),
		},
	}, nil)
	switch err = session.Refusal(err, p.Now); cloud.CodeOf(err) {
	case "RoleAssignmentExists":
		// It is not visible yet, or another client has assigned the same role to the principal: there can't be two.
		*p.Memory = Memory{of: role.ID(), granted: principal, grantedAt: p.Now}
		return nil
	case "PrincipalNotFound":
		return &cloud.Error{Kind: cloud.Conflict, Op: cloud.OpOf(err), Code: "PrincipalNotFound", Message: fmt.Sprintf(
			"the directory does not know the identity of scale set %s yet", p.Spec.ScaleSet)}
	}
	return err
}

// CleanUp deletes the role assignment if it belongs to the pool.
func (p Pass) CleanUp(ctx context.Context) error {
	if previous, exists, err := p.previous(ctx); err != nil {
		return err
	} else if exists {
		return p.remove(ctx, previous)
	}
	role, required := p.Spec.role()
	if !required {
		return nil
	}
	is, err := p.read(ctx, role)
	if err != nil || is.principal == "" || !p.Spec.owns(is) {
		return err
	}
	return p.remove(ctx, role)
}

// remove deletes a role assignment.
func (p Pass) remove(ctx context.Context, role model.Role) error {
	*p.Memory = Memory{}
	_, err := p.Session.RoleAssignments.Delete(ctx, role.Scope, role.Name, nil)
	if err = session.Refusal(err, p.Now); session.Absent(err) {
		return nil
	}
	return err
}
