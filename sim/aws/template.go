package aws

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes/ec2"
)

const (
	// maxUserData is how many bytes of user data an instance takes, before base64.
	maxUserData = 16384
	// maxTemplates a region and maxVersions a template are EC2's quotas.
	maxTemplates, maxVersions = 5000, 10000
	// maxDescription is the length of a version's description.
	maxDescription = 255
	// maxDeletedVersions is how many versions one call may delete.
	maxDeletedVersions = 200
	// templatePage is the largest page of launch templates and their versions.
	templatePage = 200
)

// templateName is what EC2 lets a launch template be called.
var templateName = regexp.MustCompile(`^[a-zA-Z0-9().\-/_]{3,128}$`)

func (r *realm) createLaunchTemplate(in *ec2.CreateLaunchTemplateInput) (*ec2.CreateLaunchTemplateOutput, error) {
	name := str(in.LaunchTemplateName)
	if !templateName.MatchString(name) {
		return nil, refuse("InvalidLaunchTemplateName.MalformedException", "The launch template name '%s' is not valid: 3 to 128 letters, digits and ().-/_ are wanted.", name)
	}
	data, err := r.checkTemplateData(in.LaunchTemplateData, in.VersionDescription)
	if err != nil {
		return nil, err
	}
	tags, err := r.creationTags(in.TagSpecifications, "launch-template")
	if err != nil {
		return nil, err
	}
	id, err := r.once("CreateLaunchTemplate", str(in.ClientToken), in, func() (string, error) {
		if r.templateNamed(name) != nil {
			return "", refuse("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.")
		}
		if r.templates.Len() >= maxTemplates {
			return "", refuse("LaunchTemplateLimitExceeded", "You have reached the limit of %d launch templates in this region.", maxTemplates)
		}
		t := &template{ID: r.newID("lt"), Name: name, Created: r.now, Default: 1, Tags: tags}
		r.templates.Put(t.ID, t)
		r.addVersion(t, *data, str(in.VersionDescription))
		return t.ID, nil
	})
	if err != nil {
		return nil, err
	}
	t := r.templates.Get(id)
	if t == nil {
		return nil, templateGone(id)
	}
	return &ec2.CreateLaunchTemplateOutput{LaunchTemplate: r.showTemplate(t), Warning: r.warn(data)}, nil
}

func (r *realm) createLaunchTemplateVersion(in *ec2.CreateLaunchTemplateVersionInput) (*ec2.CreateLaunchTemplateVersionOutput, error) {
	t, err := r.findTemplate(in.LaunchTemplateId, in.LaunchTemplateName)
	if err != nil {
		return nil, err
	}
	data, err := r.checkTemplateData(in.LaunchTemplateData, in.VersionDescription)
	if err != nil {
		return nil, err
	}
	if source := str(in.SourceVersion); source != "" {
		if data, err = r.onTopOf(t, source, data); err != nil {
			return nil, err
		}
	}
	n, err := r.once("CreateLaunchTemplateVersion", str(in.ClientToken), in, func() (string, error) {
		if t.Latest >= maxVersions {
			return "", refuse("VersionLimitExceeded", "You have reached the limit of %d versions of the launch template %s.", maxVersions, t.ID)
		}
		return itoa(r.addVersion(t, *data, str(in.VersionDescription)).Number), nil
	})
	if err != nil {
		return nil, err
	}
	v, err := r.versionOf(t, n)
	if err != nil {
		return nil, err
	}
	return &ec2.CreateLaunchTemplateVersionOutput{LaunchTemplateVersion: r.showVersion(t, v), Warning: r.warn(data)}, nil
}

// onTopOf fills what the new data leaves open from an older version.
func (r *realm) onTopOf(t *template, source string, data *ec2.ResponseLaunchTemplateData) (*ec2.ResponseLaunchTemplateData, error) {
	v, err := r.versionOf(t, source)
	if err != nil {
		return nil, err
	}
	merged := v.Data
	if v.Blob != "" {
		merged.UserData = ptr(r.kept(v.Blob))
	}
	overlay(&merged, data)
	return &merged, nil
}

func (r *realm) addVersion(t *template, data ec2.ResponseLaunchTemplateData, description string) *version {
	t.Latest++
	v := &version{Template: t.ID, Number: t.Latest, Created: r.now, Description: description, Data: data, Blob: r.keep(str(data.UserData))}
	v.Data.UserData = nil
	r.versions.Put(versionKey(t.ID, v.Number), v)
	r.templates.Touch(t.ID)
	return v
}

// checkTemplateData refuses what EC2 refuses when a template is made; what only matters at launch is warned of.
func (r *realm) checkTemplateData(d *ec2.RequestLaunchTemplateData, description *string) (*ec2.ResponseLaunchTemplateData, error) {
	if d == nil {
		return nil, refuse("MissingParameter", "The request must contain the parameter LaunchTemplateData")
	}
	if len(str(description)) > maxDescription {
		return nil, refuse("InvalidParameterValue", "The version description is longer than %d characters.", maxDescription)
	}
	if err := checkUserData(str(d.UserData)); err != nil {
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
		return nil, refuse("InvalidParameterCombination", "Network interfaces and an instance-level security groups may not be specified on the same request")
	}
	for _, check := range []func(*ec2.RequestLaunchTemplateData) error{checkDevices, checkEnumerations, checkPlacement, checkMarket, checkInterfaces} {
		if err := check(d); err != nil {
			return nil, err
		}
	}
	out := &ec2.ResponseLaunchTemplateData{}
	return out, reshape(d, out)
}

// checkIDs refuses what cannot be an ID at all.
func checkIDs(d *ec2.RequestLaunchTemplateData) error {
	if id := str(d.ImageId); id != "" && !strings.HasPrefix(id, "ami-") && !strings.HasPrefix(id, "resolve:ssm:") {
		return refuse("InvalidAMIID.Malformed", `Invalid id: "%s" (expecting "ami-...")`, id)
	}
	for _, id := range d.SecurityGroupIds {
		if !strings.HasPrefix(id, "sg-") {
			return refuse("InvalidGroupId.Malformed", `Invalid id: "%s" (expecting "sg-...")`, id)
		}
	}
	return nil
}

// ebsTypes are the kinds of volume.
var ebsTypes = []string{"standard", "io1", "io2", "gp2", "gp3", "st1", "sc1"}

func checkDevices(d *ec2.RequestLaunchTemplateData) error {
	for _, device := range d.BlockDeviceMappings {
		if err := checkVolume(val(device.Ebs)); err != nil {
			return err
		}
		if err := checkSnapshot(val(device.Ebs)); err != nil {
			return err
		}
	}
	return nil
}

func checkVolume(v ec2.LaunchTemplateEbsBlockDeviceRequest) error {
	kind := v.VolumeType
	provisioned := kind == "io1" || kind == "io2"
	switch {
	case kind != "" && !slices.Contains(ebsTypes, kind):
		return refuse("InvalidParameterValue", "Value (%s) for parameter volumeType is invalid. Allowed values are %s.", kind, strings.Join(ebsTypes, ", "))
	case provisioned && v.Iops == nil:
		return refuse("MissingParameter", "The parameter iops must be specified for %s volumes.", kind)
	case v.Iops != nil && !provisioned && kind != "gp3":
		return refuse("InvalidParameterCombination", "The parameter iops is not supported for %s volumes.", kind)
	case v.Throughput != nil && kind != "gp3":
		return refuse("InvalidParameterCombination", "The parameter throughput is not supported for %s volumes.", kind)
	}
	return nil
}

func checkUserData(encoded string) error {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return refuse("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.")
	}
	if len(raw) > maxUserData {
		return refuse("InvalidParameterValue", "User data is limited to %d bytes", maxUserData)
	}
	return nil
}

// warn tells what a launch from the template would be refused for.
func (r *realm) warn(d *ec2.ResponseLaunchTemplateData) *ec2.ValidationWarning {
	l := r.launchFrom(d)
	var errs []ec2.ValidationError
	for _, check := range []func(launch) error{r.checkImage, r.checkType, r.checkKey, r.checkGroups} {
		if err := check(l); err != nil {
			e := toAPI(serviceEC2, err)
			errs = append(errs, ec2.ValidationError{Code: ptr(e.Code), Message: ptr(e.Message)})
		}
	}
	if errs == nil {
		return nil
	}
	return &ec2.ValidationWarning{Errors: errs}
}

// creationTags are the tags that a creation gives to the resource itself.
func (r *realm) creationTags(specs []ec2.TagSpecification, kind string) (map[string]string, error) {
	out := map[string]string{}
	for _, s := range specs {
		if s.ResourceType != kind {
			return nil, refuse("InvalidParameterValue", "'%s' is not a valid taggable resource type for this operation.", s.ResourceType)
		}
		if err := checkTags(s.Tags); err != nil {
			return nil, err
		}
		for _, t := range s.Tags {
			out[str(t.Key)] = str(t.Value)
		}
	}
	return out, nil
}

func (r *realm) templateNamed(name string) *template {
	for _, t := range r.templates.All() {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// findTemplate finds a template by one of ID and name.
func (r *realm) findTemplate(id, name *string) (*template, error) {
	switch {
	case str(id) != "" && str(name) != "":
		return nil, refuse("InvalidParameterCombination", "You cannot specify both a launch template ID and a launch template name.")
	case str(id) != "":
		if !strings.HasPrefix(*id, "lt-") {
			return nil, refuse("InvalidLaunchTemplateId.Malformed", `Invalid id: "%s" (expecting "lt-...")`, *id)
		}
		if t := r.templates.Get(*id); t != nil {
			return t, nil
		}
		return nil, templateGone(*id)
	case str(name) != "":
		if t := r.templateNamed(*name); t != nil {
			return t, nil
		}
		return nil, refuse("InvalidLaunchTemplateName.NotFoundException", "The specified launch template, with template name %s, does not exist.", *name)
	}
	return nil, refuse("MissingParameter", "The request must contain the parameter LaunchTemplateId or LaunchTemplateName.")
}

func templateGone(id string) *apiError {
	return refuse("InvalidLaunchTemplateId.NotFound", "The specified launch template, with template ID %s, does not exist.", id)
}

// versionOf finds a version by its number, $Latest or $Default; "" means the default.
func (r *realm) versionOf(t *template, which string) (*version, error) {
	n := t.Default
	switch which {
	case "", "$Default":
	case "$Latest":
		n = r.latest(t)
	default:
		parsed, err := strconv.ParseInt(which, 10, 64)
		if err != nil {
			return nil, refuse("InvalidLaunchTemplateId.VersionNotFound", "Could not find the specified version %s for the launch template with ID %s.", which, t.ID)
		}
		n = parsed
	}
	if v := r.versions.Get(versionKey(t.ID, n)); v != nil {
		return v, nil
	}
	return nil, refuse("InvalidLaunchTemplateId.VersionNotFound", "Could not find the specified version %s for the launch template with ID %s.", which, t.ID)
}

// latest is the highest version that still exists.
func (r *realm) latest(t *template) int64 {
	var n int64
	for _, v := range r.versions.Under(t.ID + "/") {
		n = max(n, v.Number)
	}
	return n
}

func (r *realm) showTemplate(t *template) *ec2.LaunchTemplate {
	return &ec2.LaunchTemplate{
		LaunchTemplateId: ptr(t.ID), LaunchTemplateName: ptr(t.Name), CreateTime: stamp(t.Created), CreatedBy: ptr(r.root()),
		DefaultVersionNumber: ptr(t.Default), LatestVersionNumber: ptr(r.latest(t)), Tags: tagsOf(t.Tags),
	}
}

func (r *realm) showVersion(t *template, v *version) *ec2.LaunchTemplateVersion {
	data := v.Data
	if v.Blob != "" {
		data.UserData = ptr(r.kept(v.Blob))
	}
	return &ec2.LaunchTemplateVersion{
		LaunchTemplateId: ptr(t.ID), LaunchTemplateName: ptr(t.Name), VersionNumber: ptr(v.Number), CreateTime: stamp(v.Created),
		CreatedBy: ptr(r.root()), DefaultVersion: ptr(v.Number == t.Default), VersionDescription: opt(v.Description), LaunchTemplateData: &data,
	}
}

// root is the ARN of the account's root, who makes everything here.
func (r *realm) root() string { return "arn:aws:iam::" + r.account + ":root" }
