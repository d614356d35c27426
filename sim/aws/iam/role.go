package iam

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/iam"
	"github.com/muster-project/muster/sim/aws/wire"
)

// NameOr is the role's name, or another where there is no role any more.
func (r *Role) NameOr(other string) string {
	if r == nil {
		return other
	}
	return r.Name
}

// FindRole returns the role of that name.
func (d *Directory) FindRole(name *string) (*Role, error) {
	if r := d.Roles.Get(RoleKey(shapes.Str(name))); r != nil {
		return r, nil
	}
	return nil, noSuchEntity("The role with name %s cannot be found.", shapes.Str(name))
}

func (d *Directory) touch(r *Role) { d.Roles.Touch(RoleKey(r.Name)) }

func (r *Service) createRole(in *iam.CreateRoleInput) (*iam.CreateRoleOutput, error) {
	d, name, path := r.Directory, shapes.Str(in.RoleName), cmp.Or(shapes.Str(in.Path), "/")
	if err := checkIAMName("roleName", name, path); err != nil {
		return nil, err
	}
	if err := checkTrust(shapes.Str(in.AssumeRolePolicyDocument)); err != nil {
		return nil, err
	}
	tags, err := iamTags(in.Tags)
	if err != nil {
		return nil, err
	}
	seconds := cmp.Or(shapes.Val(in.MaxSessionDuration), int32(3600))
	switch {
	case d.Roles.Get(RoleKey(name)) != nil:
		return nil, conflict("EntityAlreadyExists", "Role with name %s already exists.", name)
	case d.Roles.Len() >= maxRoles:
		return nil, conflict("LimitExceeded", "Cannot exceed quota for RolesPerAccount: %d", maxRoles)
	case seconds < 3600 || seconds > 43200:
		return nil, iamInvalid("1 validation error detected: Value '%d' at 'maxSessionDuration' failed to satisfy constraint: Member must have "+
			"value between 3600 and 43200", seconds)
	}
	if b := shapes.Str(in.PermissionsBoundary); b != "" {
		if _, err := d.Document(b); err != nil {
			return nil, err
		}
	}
	made := &Role{
		Name: name, Path: path, ID: d.NewID("AROA"), Trust: *in.AssumeRolePolicyDocument, Description: shapes.Str(in.Description),
		MaxSession: seconds,
		Boundary:   shapes.Str(in.PermissionsBoundary), Created: r.core.Now, Known: r.core.Now.Add(r.core.Life(lifeKnown)), Tags: tags,
		Inline: map[string]string{},
	}
	d.Roles.Put(RoleKey(name), made)
	return &iam.CreateRoleOutput{Role: d.showRole(made)}, nil
}

func checkTrust(document string) error {
	if len(document) > maxTrust {
		return conflict("LimitExceeded", "Cannot exceed quota for ACLSizePerRole: %d", maxTrust)
	}
	if _, err := parsePolicy([]byte(document), true); err != nil {
		return wire.Refuse("MalformedPolicyDocument", "This policy contains invalid Json: %v", err)
	}
	return nil
}

func (d *Directory) showRole(r *Role) *iam.Role {
	out := &iam.Role{
		RoleName: new(r.Name), Path: new(r.Path), RoleId: new(r.ID), Arn: new(d.ARN("role", r.Path, r.Name)), CreateDate: shapes.Stamp(r.Created),
		AssumeRolePolicyDocument: encoded(r.Trust), Description: shapes.Opt(r.Description), MaxSessionDuration: new(r.MaxSession),
		Tags: showIAMTags(r.Tags),
	}
	if r.Boundary != "" {
		out.PermissionsBoundary = &iam.AttachedPermissionsBoundary{PermissionsBoundaryArn: new(r.Boundary), PermissionsBoundaryType: "Policy"}
	}
	return out
}

func (r *Service) getRole(in *iam.GetRoleInput) (*iam.GetRoleOutput, error) {
	found, err := r.Directory.FindRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	return &iam.GetRoleOutput{Role: r.Directory.showRole(found)}, nil
}

func (r *Service) listRoles(in *iam.ListRolesInput) (*iam.ListRolesOutput, error) {
	var found []*Role
	for _, one := range r.Directory.Roles.All() {
		if strings.HasPrefix(one.Path, cmp.Or(shapes.Str(in.PathPrefix), "/")) {
			found = append(found, one)
		}
	}
	page, next, more, err := pageIAM(r, found, func(x *Role) string { return RoleKey(x.Name) }, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	out := &iam.ListRolesOutput{Marker: next, IsTruncated: more}
	for _, one := range page {
		shown := r.Directory.showRole(one)
		// A list tells neither.
		shown.Tags, shown.PermissionsBoundary = nil, nil
		out.Roles = append(out.Roles, *shown)
	}
	return out, nil
}

func (r *Service) deleteRole(in *iam.DeleteRoleInput) (*iam.DeleteRoleOutput, error) {
	d := r.Directory
	found, err := d.FindRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	switch {
	case len(found.Attached) > 0:
		return nil, conflict("DeleteConflict", "Cannot delete entity, must detach all policies first.")
	case len(found.Inline) > 0:
		return nil, conflict("DeleteConflict", "Cannot delete entity, must delete policies first.")
	case strings.HasPrefix(found.Path, serviceRolePath):
		return nil, wire.Refuse("UnmodifiableEntity",
			"Cannot perform the operation on the protected role '%s' - this role is only modifiable by AWS", found.Name)
	}
	for _, p := range d.Profiles.All() {
		if RoleKey(p.Role) == RoleKey(found.Name) {
			return nil, conflict("DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.")
		}
	}
	d.Roles.Delete(RoleKey(found.Name))
	return &iam.DeleteRoleOutput{}, nil
}

func (r *Service) updateAssumeRolePolicy(in *iam.UpdateAssumeRolePolicyInput) (*iam.UpdateAssumeRolePolicyOutput, error) {
	found, err := r.Directory.FindRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	if err := checkTrust(shapes.Str(in.PolicyDocument)); err != nil {
		return nil, err
	}
	found.Trust = *in.PolicyDocument
	r.Directory.touch(found)
	return &iam.UpdateAssumeRolePolicyOutput{}, nil
}

func (r *Service) putRoleBoundary(in *iam.PutRolePermissionsBoundaryInput) (*iam.PutRolePermissionsBoundaryOutput, error) {
	found, err := r.Directory.FindRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	if _, err := r.Directory.Document(shapes.Str(in.PermissionsBoundary)); err != nil {
		return nil, err
	}
	found.Boundary = shapes.Str(in.PermissionsBoundary)
	r.Directory.touch(found)
	return &iam.PutRolePermissionsBoundaryOutput{}, nil
}

func (r *Service) deleteRoleBoundary(in *iam.DeleteRolePermissionsBoundaryInput) (*iam.DeleteRolePermissionsBoundaryOutput, error) {
	found, err := r.Directory.FindRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	found.Boundary = ""
	r.Directory.touch(found)
	return &iam.DeleteRolePermissionsBoundaryOutput{}, nil
}

func (r *Service) tagRole(in *iam.TagRoleInput) (*iam.TagRoleOutput, error) {
	found, err := r.Directory.FindRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(showIAMTags(found.Tags), func(have iam.Tag) bool {
		return slices.ContainsFunc(in.Tags, func(t iam.Tag) bool { return shapes.Str(t.Key) == shapes.Str(have.Key) })
	})
	tags, err := iamTags(append(all, in.Tags...))
	if err != nil {
		return nil, err
	}
	found.Tags = tags
	r.Directory.touch(found)
	return &iam.TagRoleOutput{}, nil
}

func (r *Service) untagRole(in *iam.UntagRoleInput) (*iam.UntagRoleOutput, error) {
	found, err := r.Directory.FindRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	tags := maps.Clone(found.Tags)
	for _, k := range in.TagKeys {
		delete(tags, k)
	}
	found.Tags = tags
	r.Directory.touch(found)
	return &iam.UntagRoleOutput{}, nil
}

func (r *Service) listRoleTags(in *iam.ListRoleTagsInput) (*iam.ListRoleTagsOutput, error) {
	found, err := r.Directory.FindRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	page, next, more, err := pageIAM(r, showIAMTags(found.Tags), func(t iam.Tag) string { return *t.Key }, in.Marker, in.MaxItems)
	return &iam.ListRoleTagsOutput{Tags: page, Marker: next, IsTruncated: more}, err
}
