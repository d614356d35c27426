package ec2

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/ec2"
	"github.com/muster-project/muster/sim/aws/wire"
)

// VersionAt is the number of a template's version, counted among those that exist, the oldest being 1.
func (r *Templates) VersionAt(template string, which int) (string, error) {
	var numbers []int64
	for _, v := range r.Versions.Under(template + "/") {
		numbers = append(numbers, v.Number)
	}
	if which < 1 || which > len(numbers) {
		return "", fmt.Errorf("launch template %s has %d versions, so that there is none to be counted %d", template, len(numbers), which)
	}
	slices.Sort(numbers)
	return strconv.FormatInt(numbers[which-1], 10), nil
}

// ForgetUserData drops user data that nothing refers to any more.
func (r *Templates) ForgetUserData() {
	used := map[string]bool{}
	for _, v := range r.Versions.All() {
		used[v.Blob] = true
	}
	for _, i := range r.Instances.Rows.All() {
		used[i.Blob] = true
	}
	r.UserData.Sweep(used)
}

const (
	// maxUserData limits the user data of an instance in bytes, before base64.
	maxUserData = 16384
	// maxTemplates a region and maxVersions a template are EC2's quotas.
	maxTemplates, maxVersions = 5000, 10000
	// maxDescription is the length of a version's description.
	maxDescription = 255
	// maxDeletedVersions limits the versions that one call deletes.
	maxDeletedVersions = 200
	// templatePage is the largest page of launch templates and their versions.
	templatePage = 200
)

// templateName matches the names that EC2 accepts for launch templates.
var templateName = regexp.MustCompile(`^[a-zA-Z0-9().\-/_]{3,128}$`)

// CreateLaunchTemplate is the action of that name.
func (r *Templates) CreateLaunchTemplate(in *ec2.CreateLaunchTemplateInput) (*ec2.CreateLaunchTemplateOutput, error) {
	name := shapes.Str(in.LaunchTemplateName)
	if !templateName.MatchString(name) {
		return nil, wire.Refuse("InvalidLaunchTemplateName.MalformedException",
			"The launch template name '%s' is not valid: 3 to 128 letters, digits and ().-/_ are wanted.", name)
	}
	data, err := r.checkTemplateData(in.LaunchTemplateData, in.VersionDescription)
	if err != nil {
		return nil, err
	}
	tags, err := r.creationTags(in.TagSpecifications, "launch-template")
	if err != nil {
		return nil, err
	}
	id, err := r.Once("CreateLaunchTemplate", shapes.Str(in.ClientToken), in, func() (string, error) {
		if r.TemplateNamed(name) != nil {
			return "", wire.Refuse("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.")
		}
		if r.Rows.Len() >= maxTemplates {
			return "", wire.Refuse("LaunchTemplateLimitExceeded", "You have reached the limit of %d launch templates in this region.", maxTemplates)
		}
		t := &Template{ID: r.NewID("lt"), Name: name, Created: r.Now, Default: 1, Tags: tags}
		r.Rows.Put(t.ID, t)
		r.AddVersion(t, *data, shapes.Str(in.VersionDescription))
		return t.ID, nil
	})
	if err != nil {
		return nil, err
	}
	t := r.Rows.Get(id)
	if t == nil {
		return nil, templateGone(id)
	}
	return &ec2.CreateLaunchTemplateOutput{LaunchTemplate: r.showTemplate(t), Warning: r.warn(data)}, nil
}

// CreateLaunchTemplateVersion is the action of that name.
func (r *Templates) CreateLaunchTemplateVersion(in *ec2.CreateLaunchTemplateVersionInput) (*ec2.CreateLaunchTemplateVersionOutput, error) {
	t, err := r.FindTemplate(in.LaunchTemplateId, in.LaunchTemplateName)
	if err != nil {
		return nil, err
	}
	data, err := r.checkTemplateData(in.LaunchTemplateData, in.VersionDescription)
	if err != nil {
		return nil, err
	}
	if source := shapes.Str(in.SourceVersion); source != "" {
		if data, err = r.onTopOf(t, source, data); err != nil {
			return nil, err
		}
	}
	n, err := r.Once("CreateLaunchTemplateVersion", shapes.Str(in.ClientToken), in, func() (string, error) {
		if t.Latest >= maxVersions {
			return "", wire.Refuse("VersionLimitExceeded", "You have reached the limit of %d versions of the launch template %s.", maxVersions, t.ID)
		}
		return shapes.Itoa(r.AddVersion(t, *data, shapes.Str(in.VersionDescription)).Number), nil
	})
	if err != nil {
		return nil, err
	}
	v, err := r.VersionOf(t, n)
	if err != nil {
		return nil, err
	}
	return &ec2.CreateLaunchTemplateVersionOutput{LaunchTemplateVersion: r.showVersion(t, v), Warning: r.warn(data)}, nil
}

// onTopOf fills what the new data leaves open from an older version.
func (r *Templates) onTopOf(t *Template, source string, data *ec2.ResponseLaunchTemplateData) (*ec2.ResponseLaunchTemplateData, error) {
	v, err := r.VersionOf(t, source)
	if err != nil {
		return nil, err
	}
	merged := v.Data
	if v.Blob != "" {
		merged.UserData = new(r.UserData.Kept(v.Blob))
	}
	shapes.Overlay(&merged, data)
	return &merged, nil
}

// AddVersion adds a version to a template.
func (r *Templates) AddVersion(t *Template, data ec2.ResponseLaunchTemplateData, description string) *Version {
	t.Latest++
	v := &Version{Template: t.ID, Number: t.Latest, Created: r.Now, Description: description, Data: data,
		Blob: r.UserData.Keep(shapes.Str(data.UserData), shapes.Str(data.UserData))}
	v.Data.UserData = nil
	r.Versions.Put(VersionKey(t.ID, v.Number), v)
	r.Rows.Touch(t.ID)
	return v
}

// checkTemplateData refuses what EC2 refuses when a template is made; what only matters at launch is warned of.
func (r *Templates) checkTemplateData(d *ec2.RequestLaunchTemplateData, description *string) (*ec2.ResponseLaunchTemplateData, error) {
	if d == nil {
		return nil, wire.Refuse("MissingParameter", "The request must contain the parameter LaunchTemplateData")
	}
	if len(shapes.Str(description)) > maxDescription {
		return nil, wire.Refuse("InvalidParameterValue", "The version description is longer than %d characters.", maxDescription)
	}
	if err := checkUserData(shapes.Str(d.UserData)); err != nil {
		return nil, err
	}
	if err := checkIDs(d); err != nil {
		return nil, err
	}
	for _, s := range d.TagSpecifications {
		if err := checkTags(s.Tags); err != nil {
			return nil, err
		}
	}
	if len(d.NetworkInterfaces) > 0 && len(d.SecurityGroupIds)+len(d.SecurityGroups) > 0 {
		return nil, wire.Refuse("InvalidParameterCombination",
			"Network interfaces and an instance-level security groups may not be specified on the same request")
	}
	for _, check := range []func(*ec2.RequestLaunchTemplateData) error{checkDevices, checkEnumerations, checkPlacement, checkMarket,
		checkInterfaces} {
		if err := check(d); err != nil {
			return nil, err
		}
	}
	out := &ec2.ResponseLaunchTemplateData{}
	return out, shapes.Reshape(d, out)
}

// warn tells what a launch from the template would be refused for.
func (r *Templates) warn(d *ec2.ResponseLaunchTemplateData) *ec2.ValidationWarning {
	l := r.Launcher.LaunchFrom(d)
	var errs []ec2.ValidationError
	for _, check := range []func(Launch) error{r.Launcher.checkImage, r.Launcher.checkType, r.Launcher.checkKey, r.Launcher.checkGroups} {
		if err := check(l); err != nil {
			e := wire.ToAPI(wire.ServiceEC2, err)
			errs = append(errs, ec2.ValidationError{Code: new(e.Code), Message: new(e.Message)})
		}
	}
	if errs == nil {
		return nil
	}
	return &ec2.ValidationWarning{Errors: errs}
}

// creationTags are the tags that a creation gives to the resource itself.
func (r *Templates) creationTags(specs []ec2.TagSpecification, kind string) (map[string]string, error) {
	out := map[string]string{}
	for _, s := range specs {
		if s.ResourceType != kind {
			return nil, wire.Refuse("InvalidParameterValue", "'%s' is not a valid taggable resource type for this operation.", s.ResourceType)
		}
		if err := checkTags(s.Tags); err != nil {
			return nil, err
		}
		for _, t := range s.Tags {
			out[shapes.Str(t.Key)] = shapes.Str(t.Value)
		}
	}
	return out, nil
}

// TemplateNamed returns the template of that name, nil for none.
func (r *Templates) TemplateNamed(name string) *Template {
	for _, t := range r.Rows.All() {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// FindTemplate finds a template by one of ID and name.
func (r *Templates) FindTemplate(id, name *string) (*Template, error) {
	switch {
	case shapes.Str(id) != "" && shapes.Str(name) != "":
		return nil, wire.Refuse("InvalidParameterCombination", "You cannot specify both a launch template ID and a launch template name.")
	case shapes.Str(id) != "":
		if !strings.HasPrefix(*id, "lt-") {
			return nil, wire.Refuse("InvalidLaunchTemplateId.Malformed", `Invalid id: "%s" (expecting "lt-...")`, *id)
		}
		if t := r.Rows.Get(*id); t != nil {
			return t, nil
		}
		return nil, templateGone(*id)
	case shapes.Str(name) != "":
		if t := r.TemplateNamed(*name); t != nil {
			return t, nil
		}
		return nil, wire.Refuse("InvalidLaunchTemplateName.NotFoundException",
			"The specified launch template, with template name %s, does not exist.", *name)
	}
	return nil, wire.Refuse("MissingParameter", "The request must contain the parameter LaunchTemplateId or LaunchTemplateName.")
}

func templateGone(id string) *wire.APIError {
	return wire.Refuse("InvalidLaunchTemplateId.NotFound", "The specified launch template, with template ID %s, does not exist.", id)
}

// VersionOf finds a version by its number, $Latest or $Default; "" means the default.
func (r *Templates) VersionOf(t *Template, which string) (*Version, error) {
	n := t.Default
	switch which {
	case "", "$Default":
	case "$Latest":
		n = r.latest(t)
	default:
		parsed, err := strconv.ParseInt(which, 10, 64)
		if err != nil {
			return nil, wire.Refuse("InvalidLaunchTemplateId.VersionNotFound",
				"Could not find the specified version %s for the launch template with ID %s.", which, t.ID)
		}
		n = parsed
	}
	if v := r.Versions.Get(VersionKey(t.ID, n)); v != nil {
		return v, nil
	}
	return nil, wire.Refuse("InvalidLaunchTemplateId.VersionNotFound",
		"Could not find the specified version %s for the launch template with ID %s.", which, t.ID)
}

// latest is the highest version that still exists.
func (r *Templates) latest(t *Template) int64 {
	var n int64
	for _, v := range r.Versions.Under(t.ID + "/") {
		n = max(n, v.Number)
	}
	return n
}

func (r *Templates) showTemplate(t *Template) *ec2.LaunchTemplate {
	return &ec2.LaunchTemplate{
		LaunchTemplateId: new(t.ID), LaunchTemplateName: new(t.Name), CreateTime: shapes.Stamp(t.Created), CreatedBy: new(r.root()),
		DefaultVersionNumber: new(t.Default), LatestVersionNumber: new(r.latest(t)), Tags: tagsOf(t.Tags),
	}
}

func (r *Templates) showVersion(t *Template, v *Version) *ec2.LaunchTemplateVersion {
	data := v.Data
	if v.Blob != "" {
		data.UserData = new(r.UserData.Kept(v.Blob))
	}
	return &ec2.LaunchTemplateVersion{
		LaunchTemplateId: new(t.ID), LaunchTemplateName: new(t.Name), VersionNumber: new(v.Number), CreateTime: shapes.Stamp(v.Created),
		CreatedBy: new(r.root()), DefaultVersion: new(v.Number == t.Default), VersionDescription: shapes.Opt(v.Description),
		LaunchTemplateData: &data,
	}
}

// root is the ARN of the account's root, who makes everything here.
func (r *Templates) root() string { return "arn:aws:iam::" + r.Account + ":root" }
