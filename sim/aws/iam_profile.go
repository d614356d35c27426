package aws

import (
	"cmp"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes/iam"
)

func (d *directory) findProfile(name *string) (*profile, error) {
	if p := d.profiles.Get(roleKey(str(name))); p != nil {
		return p, nil
	}
	return nil, noSuchEntity("Instance Profile %s cannot be found.", str(name))
}

func (d *directory) showProfile(p *profile) *iam.InstanceProfile {
	out := &iam.InstanceProfile{
		InstanceProfileName: ptr(p.Name), Path: ptr(p.Path), InstanceProfileId: ptr(p.ID), CreateDate: stamp(p.Created),
		Arn: ptr(d.arn("instance-profile", p.Path, p.Name)), Tags: showIAMTags(p.Tags),
	}
	if r := d.roles.Get(roleKey(p.Role)); r != nil {
		out.Roles = []iam.Role{*d.showRole(r)}
	}
	return out
}

func (r *realm) createInstanceProfile(in *iam.CreateInstanceProfileInput) (*iam.CreateInstanceProfileOutput, error) {
	d, name, path := r.directory, str(in.InstanceProfileName), cmp.Or(str(in.Path), "/")
	if err := checkIAMName("instanceProfileName", strings.ReplaceAll(name, "/", "!"), path); err != nil {
		return nil, err
	}
	tags, err := iamTags(in.Tags)
	if err != nil {
		return nil, err
	}
	switch {
	case d.profiles.Get(roleKey(name)) != nil:
		return nil, conflict("EntityAlreadyExists", "Instance Profile %s already exists.", name)
	case d.profiles.Len() >= maxProfiles:
		return nil, conflict("LimitExceeded", "Cannot exceed quota for InstanceProfilesPerAccount: %d", maxProfiles)
	}
	made := &profile{Name: name, Path: path, ID: d.newID("AIPA"), Created: r.now, Tags: tags}
	d.profiles.Put(roleKey(name), made)
	return &iam.CreateInstanceProfileOutput{InstanceProfile: d.showProfile(made)}, nil
}

func (r *realm) getInstanceProfile(in *iam.GetInstanceProfileInput) (*iam.GetInstanceProfileOutput, error) {
	p, err := r.directory.findProfile(in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	return &iam.GetInstanceProfileOutput{InstanceProfile: r.directory.showProfile(p)}, nil
}

func (r *realm) deleteInstanceProfile(in *iam.DeleteInstanceProfileInput) (*iam.DeleteInstanceProfileOutput, error) {
	p, err := r.directory.findProfile(in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	if p.Role != "" {
		return nil, conflict("DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.")
	}
	r.directory.profiles.Delete(roleKey(p.Name))
	return &iam.DeleteInstanceProfileOutput{}, nil
}

func (r *realm) addRoleToInstanceProfile(in *iam.AddRoleToInstanceProfileInput) (*iam.AddRoleToInstanceProfileOutput, error) {
	p, err := r.directory.findProfile(in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	found, err := r.directory.findRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	if p.Role != "" {
		return nil, conflict("LimitExceeded", "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1")
	}
	p.Role = found.Name
	r.directory.profiles.Touch(roleKey(p.Name))
	return &iam.AddRoleToInstanceProfileOutput{}, nil
}

func (r *realm) removeRoleFromInstanceProfile(in *iam.RemoveRoleFromInstanceProfileInput) (*iam.RemoveRoleFromInstanceProfileOutput, error) {
	p, err := r.directory.findProfile(in.InstanceProfileName)
	if err != nil {
		return nil, err
	}
	if roleKey(p.Role) != roleKey(str(in.RoleName)) {
		return nil, noSuchEntity("Role %s cannot be found in the instance profile %s.", str(in.RoleName), p.Name)
	}
	p.Role = ""
	r.directory.profiles.Touch(roleKey(p.Name))
	return &iam.RemoveRoleFromInstanceProfileOutput{}, nil
}

func (r *realm) listInstanceProfilesForRole(in *iam.ListInstanceProfilesForRoleInput) (*iam.ListInstanceProfilesForRoleOutput, error) {
	found, err := r.directory.findRole(in.RoleName)
	if err != nil {
		return nil, err
	}
	var with []*profile
	for _, p := range r.directory.profiles.All() {
		if roleKey(p.Role) == roleKey(found.Name) {
			with = append(with, p)
		}
	}
	page, next, more, err := pageIAM(r, with, func(p *profile) string { return roleKey(p.Name) }, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	out := &iam.ListInstanceProfilesForRoleOutput{Marker: next, IsTruncated: more}
	for _, p := range page {
		out.InstanceProfiles = append(out.InstanceProfiles, *r.directory.showProfile(p))
	}
	return out, nil
}

// checkProfile refuses a launch with an instance profile that does not exist, where the simulator is strict.
func (r *realm) checkProfile(l launch) error {
	p := l.data.IamInstanceProfile
	if p == nil || !r.server.strict {
		return nil
	}
	name, arn := str(p.Name), str(p.Arn)
	if found := r.directory.profiles.Get(roleKey(cmp.Or(name, arn[strings.LastIndex(arn, "/")+1:]))); found != nil && found.Role != "" {
		return nil
	}
	return refuse("InvalidParameterValue", "Value (%s) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", cmp.Or(name, arn))
}
