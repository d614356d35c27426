package ec2

import (
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/ec2"
	"github.com/muster-project/muster/sim/aws/wire"
)

func (r *Templates) describeLaunchTemplates(in *ec2.DescribeLaunchTemplatesInput) (*ec2.DescribeLaunchTemplatesOutput, error) {
	size, err := pageSize(in.MaxResults, 1, templatePage, templatePage, nil)
	if err != nil {
		return nil, err
	}
	wanted, err := r.templatesAsked(in)
	if err != nil {
		return nil, err
	}
	var found []*Template
	for _, t := range wanted {
		ok, err := matchFilters(in.Filters, attributes{
			"create-time": {t.Created.UTC().Format("2006-01-02T15:04:05.000Z")}, "launch-template-name": {t.Name}, "launch-template-id": {t.ID},
		}, t.Tags)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, t)
		}
	}
	page, next, err := account.Paged(r.Core, found, func(t *Template) string { return t.ID }, in.NextToken, r.Page(size))
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeLaunchTemplatesOutput{NextToken: next}
	for _, t := range page {
		out.LaunchTemplates = append(out.LaunchTemplates, *r.showTemplate(t))
	}
	return out, nil
}

// templatesAsked are the templates that are named, or all; one that is named must exist.
func (r *Templates) templatesAsked(in *ec2.DescribeLaunchTemplatesInput) ([]*Template, error) {
	if len(in.LaunchTemplateIds)+len(in.LaunchTemplateNames) == 0 {
		return r.Rows.List(""), nil
	}
	var out []*Template
	for _, id := range in.LaunchTemplateIds {
		t, err := r.FindTemplate(&id, nil)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	for _, name := range in.LaunchTemplateNames {
		t := r.TemplateNamed(name)
		if t == nil {
			return nil, wire.Refuse("InvalidLaunchTemplateName.NotFoundException",
				"At least one of the launch templates specified in the request does not exist.")
		}
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b *Template) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(out, func(a, b *Template) bool { return a.ID == b.ID }), nil
}

func (r *Templates) describeLaunchTemplateVersions(in *ec2.DescribeLaunchTemplateVersionsInput) (*ec2.DescribeLaunchTemplateVersionsOutput,
	error) {
	size, err := pageSize(in.MaxResults, 1, templatePage, templatePage, nil)
	if err != nil {
		return nil, err
	}
	versions, err := r.versionsAsked(in)
	if err != nil {
		return nil, err
	}
	var found []*Version
	for _, v := range versions {
		ok, err := r.versionMatches(in, v)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, v)
		}
	}
	page, next, err := account.Paged(r.Core, found, versionOrder, in.NextToken, r.Page(size))
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeLaunchTemplateVersionsOutput{NextToken: next}
	for _, v := range page {
		out.LaunchTemplateVersions = append(out.LaunchTemplateVersions, *r.showVersion(r.Rows.Get(v.Template), v))
	}
	return out, nil
}

// versionOrder sorts versions as EC2 lists them: the newest of a template first.
func versionOrder(v *Version) string { return VersionKey(v.Template, maxVersions*10-v.Number) }

// versionsAsked are the versions of one template, or $Latest and $Default of all templates of the account.
func (r *Templates) versionsAsked(in *ec2.DescribeLaunchTemplateVersionsInput) ([]*Version, error) {
	if shapes.Str(in.LaunchTemplateId) == "" && shapes.Str(in.LaunchTemplateName) == "" {
		return r.versionsOfAll(in.Versions)
	}
	t, err := r.FindTemplate(in.LaunchTemplateId, in.LaunchTemplateName)
	if err != nil {
		return nil, err
	}
	if len(in.Versions) > 0 {
		if in.MinVersion != nil || in.MaxVersion != nil {
			return nil, wire.Refuse("InvalidParameterCombination", "You cannot specify both versions and a range of versions.")
		}
		return r.versionsNamed(t, in.Versions)
	}
	var out []*Version
	low, high := rangeOf(in.MinVersion, in.MaxVersion)
	for _, v := range r.Versions.Under(t.ID + "/") {
		if v.Number >= low && v.Number <= high {
			out = append(out, v)
		}
	}
	return sortVersions(out), nil
}

// versionsOfAll are $Latest, $Default or both of every template.
func (r *Templates) versionsOfAll(which []string) ([]*Version, error) {
	const words = "When not specifying a launch template, only $Latest and $Default are valid versions."
	switch {
	case len(which) == 0:
		return nil, wire.Refuse("MissingParameter", words)
	case slices.ContainsFunc(which, func(v string) bool { return v != "$Latest" && v != "$Default" }):
		return nil, wire.Refuse("InvalidParameterValue", words)
	}
	var out []*Version
	for _, t := range r.Rows.All() {
		some, err := r.versionsNamed(t, which)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return sortVersions(out), nil
}

func (r *Templates) versionsNamed(t *Template, which []string) ([]*Version, error) {
	var out []*Version
	for _, w := range which {
		v, err := r.VersionOf(t, w)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return sortVersions(out), nil
}

// rangeOf is a range of version numbers; what is missing is open.
func rangeOf(low, high *string) (int64, int64) {
	parse := func(s *string, otherwise int64) int64 {
		n, err := strconv.ParseInt(shapes.Str(s), 10, 64)
		if err != nil {
			return otherwise
		}
		return n
	}
	return parse(low, 1), parse(high, maxVersions*10)
}

func sortVersions(v []*Version) []*Version {
	slices.SortFunc(v, func(a, b *Version) int { return strings.Compare(versionOrder(a), versionOrder(b)) })
	return slices.Compact(v)
}

func (r *Templates) versionMatches(in *ec2.DescribeLaunchTemplateVersionsInput, v *Version) (bool, error) {
	t := r.Rows.Get(v.Template)
	d := v.Data
	profile := shapes.Val(d.IamInstanceProfile)
	return matchFilters(in.Filters, attributes{
		"create-time":          {v.Created.UTC().Format("2006-01-02T15:04:05.000Z")},
		"ebs-optimized":        {strconv.FormatBool(shapes.Val(d.EbsOptimized))},
		"iam-instance-profile": {shapes.Str(profile.Name), shapes.Str(profile.Arn)},
		"image-id":             {shapes.Str(d.ImageId)},
		"instance-type":        {d.InstanceType},
		"is-default-version":   {strconv.FormatBool(v.Number == t.Default)},
		"kernel-id":            {shapes.Str(d.KernelId)},
		"ram-disk-id":          {shapes.Str(d.RamDiskId)},
		"http-endpoint":        {shapes.Val(d.MetadataOptions).HttpEndpoint},
		"http-tokens":          {shapes.Val(d.MetadataOptions).HttpTokens},
	}, t.Tags)
}

func (r *Templates) modifyLaunchTemplate(in *ec2.ModifyLaunchTemplateInput) (*ec2.ModifyLaunchTemplateOutput, error) {
	t, err := r.FindTemplate(in.LaunchTemplateId, in.LaunchTemplateName)
	if err != nil {
		return nil, err
	}
	if which := shapes.Str(in.DefaultVersion); which != "" {
		v, err := r.VersionOf(t, which)
		if err != nil {
			return nil, wire.Refuse("InvalidLaunchTemplateId.VersionNotFound",
				"The launch template version %s is not found for the specified launch template.", which)
		}
		t.Default = v.Number
		r.Rows.Touch(t.ID)
	}
	return &ec2.ModifyLaunchTemplateOutput{LaunchTemplate: r.showTemplate(t)}, nil
}

func (r *Templates) deleteLaunchTemplate(in *ec2.DeleteLaunchTemplateInput) (*ec2.DeleteLaunchTemplateOutput, error) {
	t, err := r.FindTemplate(in.LaunchTemplateId, in.LaunchTemplateName)
	if err != nil {
		return nil, err
	}
	shown := r.showTemplate(t)
	for key := range r.Versions.Under(t.ID + "/") {
		r.Versions.Delete(key)
	}
	r.Rows.Delete(t.ID)
	r.ForgetUserData()
	return &ec2.DeleteLaunchTemplateOutput{LaunchTemplate: shown}, nil
}

// DeleteLaunchTemplateVersions is the action of that name.
func (r *Templates) DeleteLaunchTemplateVersions(in *ec2.DeleteLaunchTemplateVersionsInput) (*ec2.DeleteLaunchTemplateVersionsOutput,
	error) {
	if len(in.Versions) == 0 || len(in.Versions) > maxDeletedVersions {
		return nil, wire.Refuse("InvalidParameterValue", "You can specify 1 to %d launch template version numbers.", maxDeletedVersions)
	}
	t, err := r.FindTemplate(in.LaunchTemplateId, in.LaunchTemplateName)
	if err != nil {
		return nil, err
	}
	out := &ec2.DeleteLaunchTemplateVersionsOutput{}
	for _, which := range in.Versions {
		number := shapes.Opt(which)
		n, parseErr := strconv.ParseInt(which, 10, 64)
		v, err := r.VersionOf(t, which)
		if parseErr != nil {
			return nil, wire.Refuse("InvalidParameterValue", "The version '%s' is not valid: a number is wanted.", shapes.Str(number))
		}
		code, message := "", ""
		switch {
		case err != nil:
			code, message = "launchTemplateVersionDoesNotExist", wire.ErrorMessage(err)
		case v.Number == t.Default:
			code, message = "unexpectedError", "You cannot delete the default version of a launch template."
		}
		if code != "" {
			out.UnsuccessfullyDeletedLaunchTemplateVersions = append(out.UnsuccessfullyDeletedLaunchTemplateVersions,
				ec2.DeleteLaunchTemplateVersionsResponseErrorItem{
					LaunchTemplateId: new(t.ID), LaunchTemplateName: new(t.Name), VersionNumber: new(n),
					ResponseError: &ec2.ResponseError{Code: code, Message: new(message)},
				})
			continue
		}
		r.Versions.Delete(VersionKey(t.ID, n))
		out.SuccessfullyDeletedLaunchTemplateVersions = append(out.SuccessfullyDeletedLaunchTemplateVersions,
			ec2.DeleteLaunchTemplateVersionsResponseSuccessItem{LaunchTemplateId: new(t.ID), LaunchTemplateName: new(t.Name), VersionNumber: new(n)})
	}
	r.ForgetUserData()
	return out, nil
}
