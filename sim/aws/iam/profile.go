package iam

import (
	"cmp"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/iam"
)

func (d *Directory) findProfile(name *string) (*Profile, error) {
	if p := d.Profiles.Get(RoleKey(shapes.Str(name))); p != nil {
		return p, nil
	}
	return nil, noSuchEntity("Instance Profile %s cannot be found.", shapes.Str(name))
}

func (d *Directory) showProfile(p *Profile) *iam.InstanceProfile {
	out := &iam.InstanceProfile{
		InstanceProfileName: new(p.Name), Path: new(p.Path), InstanceProfileId: new(p.ID), CreateDate: shapes.Stamp(p.Created),
		Arn: new(d.ARN("instance-profile", p.Path, p.Name)), Tags: showIAMTags(p.Tags),
	}
	if r := d.Roles.Get(RoleKey(p.Role)); r != nil {
		out.Roles = []iam.Role{*d.showRole(r)}
	}
	return out
}

func (r *Service) createInstanceProfile(in *iam.CreateInstanceProfileInput) (*iam.CreateInstanceProfileOutput, error) {
	d, name, path := r.Directory, shapes.Str(in.InstanceProfileName), cmp.Or(shapes.Str(in.Path), "/")
	if err := checkIAMName("instanceProfileName", strings.ReplaceAll(name, "/", "!"), path); err != nil {
		return nil, err
	}
	tags, err := iamTags(in.Tags)
	if err != nil {
		return nil, err
	}
	switch {
	case d.Profiles.Get(RoleKey(name)) != nil:
		return nil, conflict("EntityAlreadyExists", "Instance Profile %s already exists.", name)
	case d.Profiles.Len() >= maxProfiles:
		return nil, conflict("LimitExceeded", "Cannot exceed quota for InstanceProfilesPerAccount: %d", maxProfiles)
	}
	made := &Profile{Name: name, Path: path, ID: d.NewID("AIPA"), Created: r.core.Now, Tags: tags}
	d.Profiles.Put(RoleKey(name), made)
	return &iam.CreateInstanceProfileOutput{InstanceProfile: d.showProfile(made)}, nil
}

func (r *Service) getInstanceProfile(in *iam.GetInstanceProfileInput) (*iam.GetInstanceProfileOutput, error) {
	p, err := r.Directory.findProfile(in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	return &iam.GetInstanceProfileOutput{InstanceProfile: r.Directory.showProfile(p)}, nil
}

func (r *Service) deleteInstanceProfile(in *iam.DeleteInstanceProfileInput) (*iam.DeleteInstanceProfileOutput, error) {
	p, err := r.Directory.findProfile(in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	if p.Role != "" {
		return nil, conflict("DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.")
	}
	r.Directory.Profiles.Delete(RoleKey(p.Name))
	return &iam.DeleteInstanceProfileOutput{}, nil
}

func (r *Service) addRoleToInstanceProfile(in *iam.AddRoleToInstanceProfileInput) (*iam.AddRoleToInstanceProfileOutput, error) {
	p, err := r.Directory.findProfile(in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	found, err := r.Directory.FindRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	if p.Role != "" {
		return nil, conflict("LimitExceeded", "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1")
	}
	p.Role = found.Name
	r.Directory.Profiles.Touch(RoleKey(p.Name))
	return &iam.AddRoleToInstanceProfileOutput{}, nil
}

func (r *Service) removeRoleFromInstanceProfile(in *iam.RemoveRoleFromInstanceProfileInput) (*iam.RemoveRoleFromInstanceProfileOutput,
	error) {
	p, err := r.Directory.findProfile(in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	if RoleKey(p.Role) != RoleKey(shapes.Str(in.RoleName)) {
		return nil, noSuchEntity("Role %s cannot be found in the instance profile %s.", shapes.Str(in.RoleName), p.Name)
	}
	p.Role = ""
	r.Directory.Profiles.Touch(RoleKey(p.Name))
	return &iam.RemoveRoleFromInstanceProfileOutput{}, nil
}

func (r *Service) listInstanceProfilesForRole(in *iam.ListInstanceProfilesForRoleInput) (*iam.ListInstanceProfilesForRoleOutput, error) {
	found, err := r.Directory.FindRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	var with []*Profile
	for _, p := range r.Directory.Profiles.All() {
		if RoleKey(p.Role) == RoleKey(found.Name) {
			with = append(with, p)
		}
	}
	page, next, more, err := pageIAM(r, with, func(p *Profile) string { return RoleKey(p.Name) }, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	out := &iam.ListInstanceProfilesForRoleOutput{Marker: next, IsTruncated: more}
	for _, p := range page {
		out.InstanceProfiles = append(out.InstanceProfiles, *r.Directory.showProfile(p))
	}
	return out, nil
}
