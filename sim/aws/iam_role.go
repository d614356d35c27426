package aws

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes/iam"
)

func (d *directory) findRole(name *string) (*role, error) {
	if r := d.roles.Get(roleKey(str(name))); r != nil {
		return r, nil
	}
	return nil, noSuchEntity("The role with name %s cannot be found.", str(name))
}

func (d *directory) touch(r *role) { d.roles.Touch(roleKey(r.Name)) }

func (r *realm) createRole(in *iam.CreateRoleInput) (*iam.CreateRoleOutput, error) {
	d, name, path := r.directory, str(in.RoleName), cmp.Or(str(in.Path), "/")
	if err := checkIAMName("roleName", name, path); err != nil {
		return nil, err
	}
	if err := checkTrust(str(in.AssumeRolePolicyDocument)); err != nil {
		return nil, err
	}
	tags, err := iamTags(in.Tags)
	if err != nil {
		return nil, err
	}
	seconds := cmp.Or(val(in.MaxSessionDuration), int32(3600))
	switch {
	case d.roles.Get(roleKey(name)) != nil:
		return nil, conflict("EntityAlreadyExists", "Role with name %s already exists.", name)
	case d.roles.Len() >= maxRoles:
		return nil, conflict("LimitExceeded", "Cannot exceed quota for RolesPerAccount: %d", maxRoles)
	case seconds < 3600 || seconds > 43200:
		return nil, iamInvalid("1 validation error detected: Value '%d' at 'maxSessionDuration' failed to satisfy constraint: Member must have value between 3600 and 43200", seconds)
	}
	if b := str(in.PermissionsBoundary); b != "" {
		if _, err := d.document(b); err != nil {
			return nil, err
		}
	}
	made := &role{
		Name: name, Path: path, ID: d.newID("AROA"), Trust: *in.AssumeRolePolicyDocument, Description: str(in.Description), MaxSession: seconds,
		Boundary: str(in.PermissionsBoundary), Created: r.now, Known: r.now.Add(r.life(lifeKnown)), Tags: tags,
		Inline: map[string]string{},
	}
	d.roles.Put(roleKey(name), made)
	return &iam.CreateRoleOutput{Role: d.showRole(made)}, nil
}

func checkTrust(document string) error {
	if len(document) > maxTrust {
		return conflict("LimitExceeded", "Cannot exceed quota for ACLSizePerRole: %d", maxTrust)
	}
	if _, err := parsePolicy([]byte(document), true); err != nil {
		return refuse("MalformedPolicyDocument", "This policy contains invalid Json: %v", err)
	}
	return nil
}

func (d *directory) showRole(r *role) *iam.Role {
	out := &iam.Role{
		RoleName: ptr(r.Name), Path: ptr(r.Path), RoleId: ptr(r.ID), Arn: ptr(d.arn("role", r.Path, r.Name)), CreateDate: stamp(r.Created),
		AssumeRolePolicyDocument: encoded(r.Trust), Description: opt(r.Description), MaxSessionDuration: ptr(r.MaxSession), Tags: showIAMTags(r.Tags),
	}
	if r.Boundary != "" {
		out.PermissionsBoundary = &iam.AttachedPermissionsBoundary{PermissionsBoundaryArn: ptr(r.Boundary), PermissionsBoundaryType: "Policy"}
	}
	return out
}

func (r *realm) getRole(in *iam.GetRoleInput) (*iam.GetRoleOutput, error) {
	found, err := r.directory.findRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	return &iam.GetRoleOutput{Role: r.directory.showRole(found)}, nil
}

func (r *realm) listRoles(in *iam.ListRolesInput) (*iam.ListRolesOutput, error) {
	var found []*role
	for _, one := range r.directory.roles.All() {
		if strings.HasPrefix(one.Path, cmp.Or(str(in.PathPrefix), "/")) {
			found = append(found, one)
		}
	}
	page, next, more, err := pageIAM(r, found, func(x *role) string { return roleKey(x.Name) }, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	out := &iam.ListRolesOutput{Marker: next, IsTruncated: more}
	for _, one := range page {
		shown := r.directory.showRole(one)
		// A list tells neither.
		shown.Tags, shown.PermissionsBoundary = nil, nil
		out.Roles = append(out.Roles, *shown)
	}
	return out, nil
}

func (r *realm) deleteRole(in *iam.DeleteRoleInput) (*iam.DeleteRoleOutput, error) {
	d := r.directory
	found, err := d.findRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	switch {
	case len(found.Attached) > 0:
		return nil, conflict("DeleteConflict", "Cannot delete entity, must detach all policies first.")
	case len(found.Inline) > 0:
		return nil, conflict("DeleteConflict", "Cannot delete entity, must delete policies first.")
	case strings.HasPrefix(found.Path, serviceRolePath):
		return nil, refuse("UnmodifiableEntity", "Cannot perform the operation on the protected role '%s' - this role is only modifiable by AWS", found.Name)
	}
	for _, p := range d.profiles.All() {
		if roleKey(p.Role) == roleKey(found.Name) {
			return nil, conflict("DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.")
		}
	}
	d.roles.Delete(roleKey(found.Name))
	return &iam.DeleteRoleOutput{}, nil
}

func (r *realm) updateAssumeRolePolicy(in *iam.UpdateAssumeRolePolicyInput) (*iam.UpdateAssumeRolePolicyOutput, error) {
	found, err := r.directory.findRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	if err := checkTrust(str(in.PolicyDocument)); err != nil {
		return nil, err
	}
	found.Trust = *in.PolicyDocument
	r.directory.touch(found)
	return &iam.UpdateAssumeRolePolicyOutput{}, nil
}

func (r *realm) putRoleBoundary(in *iam.PutRolePermissionsBoundaryInput) (*iam.PutRolePermissionsBoundaryOutput, error) {
	found, err := r.directory.findRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	if _, err := r.directory.document(str(in.PermissionsBoundary)); err != nil {
		return nil, err
	}
	found.Boundary = str(in.PermissionsBoundary)
	r.directory.touch(found)
	return &iam.PutRolePermissionsBoundaryOutput{}, nil
}

func (r *realm) deleteRoleBoundary(in *iam.DeleteRolePermissionsBoundaryInput) (*iam.DeleteRolePermissionsBoundaryOutput, error) {
	found, err := r.directory.findRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	found.Boundary = ""
	r.directory.touch(found)
	return &iam.DeleteRolePermissionsBoundaryOutput{}, nil
}

func (r *realm) tagRole(in *iam.TagRoleInput) (*iam.TagRoleOutput, error) {
	found, err := r.directory.findRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(showIAMTags(found.Tags), func(have iam.Tag) bool {
		return slices.ContainsFunc(in.Tags, func(t iam.Tag) bool { return str(t.Key) == str(have.Key) })
	})
	tags, err := iamTags(append(all, in.Tags...))
	if err != nil {
		return nil, err
	}
	found.Tags = tags
	r.directory.touch(found)
	return &iam.TagRoleOutput{}, nil
}

func (r *realm) untagRole(in *iam.UntagRoleInput) (*iam.UntagRoleOutput, error) {
	found, err := r.directory.findRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	tags := maps.Clone(found.Tags)
	for _, k := range in.TagKeys {
		delete(tags, k)
	}
	found.Tags = tags
	r.directory.touch(found)
	return &iam.UntagRoleOutput{}, nil
}

func (r *realm) listRoleTags(in *iam.ListRoleTagsInput) (*iam.ListRoleTagsOutput, error) {
	found, err := r.directory.findRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	page, next, more, err := pageIAM(r, showIAMTags(found.Tags), func(t iam.Tag) string { return *t.Key }, in.Marker, in.MaxItems)
	return &iam.ListRoleTagsOutput{Tags: page, Marker: next, IsTruncated: more}, err
}
