package model

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
)

// contributor is the role that an identity is given unless another is named.
const contributor = "b24988ac-6180-42a0-ab88-20f7382dd24c"

// identity is what machines are to Azure itself.
func identity(spec *azurev1.AzureMachinePoolSpec) *armcompute.VirtualMachineScaleSetIdentity {
	switch spec.Identity {
	case azurev1.VMIdentitySystemAssigned:
		return &armcompute.VirtualMachineScaleSetIdentity{Type: new(armcompute.ResourceIdentityTypeSystemAssigned)}
	case azurev1.VMIdentityUserAssigned:
		ids := map[string]*armcompute.UserAssignedIdentitiesValue{}
		for _, i := range spec.UserAssignedIdentities {
			id := identityID(i.ProviderID)
			if _, twice := nameLike(ids, id); twice {
				continue
			}
			ids[id] = &armcompute.UserAssignedIdentitiesValue{}
		}
		return &armcompute.VirtualMachineScaleSetIdentity{Type: new(armcompute.ResourceIdentityTypeUserAssigned), UserAssignedIdentities: ids}
	}
	return nil
}

// identityID is a resource ID, with or without the scheme of provider IDs before it.
func identityID(id string) string {
	if rest, ok := strings.CutPrefix(id, "azure://"); ok {
		id = "/" + strings.TrimLeft(rest, "/")
	}
	return id
}

// checkIdentity refuses what Azure would.
func (in Input) checkIdentity() error {
	spec := in.Source.Pool
	switch {
	case spec.Identity == azurev1.VMIdentitySystemAssigned && spec.Flexible():
		return cloud.Invalidf(fieldIdentity, "a Flexible scale set takes no identity that Azure makes: set UserAssigned, or "+
			"orchestrationMode Uniform")
	case spec.Identity == azurev1.VMIdentityUserAssigned && len(spec.UserAssignedIdentities) == 0:
		return cloud.Invalidf(fieldIdentities, "identity UserAssigned wants at least one identity: name it")
	}
	for k, i := range spec.UserAssignedIdentities {
		if id := strings.ToLower(identityID(i.ProviderID)); spec.Identity == azurev1.VMIdentityUserAssigned &&
			!strings.HasPrefix(id, "/subscriptions/") {
			return cloud.Invalidf(indexed(fieldIdentities, k)+".providerID", "want the resource ID of an identity, found %q", i.ProviderID)
		}
	}
	return nil
}

// Role is what a scale set's own identity is allowed to do, and where.
type Role struct {
	// Name of the role assignment, a GUID in small letters: as the specification says, or else made of the owner, so that it is the same
	// each time.
	Name string
	// Scope is the resource ID of what the role is for, without a slash at its end.
	Scope string
	// DefinitionID is the resource ID of the role.
	DefinitionID string
}

// RoleOf is the role that the specification wants the scale set's own identity to have; false where the scale set has no such identity.
func RoleOf(owner cloud.Owner, source *azurev1.MachinePoolSource) (Role, bool) {
	spec := source.Pool
	if spec.Identity != azurev1.VMIdentitySystemAssigned {
		return Role{}, false
	}
	subscription := "/subscriptions/" + source.Cluster.SubscriptionID
	var asked azurev1.SystemAssignedIdentityRole
	if spec.SystemAssignedIdentityRole != nil {
		asked = *spec.SystemAssignedIdentityRole
	}
	return Role{
		Name:         cmp.Or(strings.ToLower(spec.RoleName()), OwnRole(owner)),
		Scope:        "/" + strings.Trim(cmp.Or(asked.Scope, subscription), "/"),
		DefinitionID: cmp.Or(asked.DefinitionID, subscription+"/providers/Microsoft.Authorization/roleDefinitions/"+contributor),
	}, true
}

// OwnRole is the name of an owner's role assignment unless the user has chosen another.
func OwnRole(owner cloud.Owner) string { return guid("role assignment of " + owner.ID) }

// roleAssignments is what stands between a scope and the name of a role assignment in its ID.
const roleAssignments = "/providers/Microsoft.Authorization/roleAssignments/"

// ID is the role assignment's.
func (r Role) ID() string { return r.Scope + roleAssignments + r.Name }

// RoleByID is the role assignment of an ID, as far as that tells: without what is allowed. It is false for what is no such ID.
func RoleByID(id string) (Role, bool) {
	at := strings.LastIndex(id, roleAssignments)
	if at < 0 {
		return Role{}, false
	}
	return Role{Scope: id[:at], Name: id[at+len(roleAssignments):]}, true
}

// guid is made of a text, and the same each time.
func guid(text string) string {
	sum := sha256.Sum256([]byte(text))
	id := sum[:16]
	// Version 5, made of a name; and the variant that all are of.
	id[6], id[8] = id[6]&0x0f|0x50, id[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
