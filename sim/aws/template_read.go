package aws

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/aws/shapes/ec2"
)

func (r *realm) describeLaunchTemplates(in *ec2.DescribeLaunchTemplatesInput) (*ec2.DescribeLaunchTemplatesOutput, error) {
	size, err := pageSize(in.MaxResults, 1, templatePage, templatePage, nil)
	if err != nil {
		return nil, err
	}
	wanted, err := r.templatesAsked(in)
	if err != nil {
		return nil, err
	}
	var found []*template
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
	page, next, err := paged(found, func(t *template) string { return t.ID }, in.NextToken, r.page(size))
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
func (r *realm) templatesAsked(in *ec2.DescribeLaunchTemplatesInput) ([]*template, error) {
	var out []*template
	if len(in.LaunchTemplateIds)+len(in.LaunchTemplateNames) == 0 {
		for _, t := range r.templates.All() {
			out = append(out, t)
		}
		return out, nil
	}
	for _, id := range in.LaunchTemplateIds {
		t, err := r.findTemplate(&id, nil)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	for _, name := range in.LaunchTemplateNames {
		t, err := r.findTemplate(nil, &name)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b *template) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(out, func(a, b *template) bool { return a.ID == b.ID }), nil
}

func (r *realm) describeLaunchTemplateVersions(in *ec2.DescribeLaunchTemplateVersionsInput) (*ec2.DescribeLaunchTemplateVersionsOutput, error) {
	size, err := pageSize(in.MaxResults, 1, templatePage, templatePage, nil)
	if err != nil {
		return nil, err
	}
	versions, err := r.versionsAsked(in)
	if err != nil {
		return nil, err
	}
	var found []*version
	for _, v := range versions {
		ok, err := r.versionMatches(in, v)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, v)
		}
	}
	page, next, err := paged(found, versionOrder, in.NextToken, r.page(size))
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeLaunchTemplateVersionsOutput{NextToken: next}
	for _, v := range page {
		out.LaunchTemplateVersions = append(out.LaunchTemplateVersions, *r.showVersion(r.templates.Get(v.Template), v))
	}
	return out, nil
}

// versionOrder sorts versions as EC2 lists them: the newest of a template first.
func versionOrder(v *version) string { return versionKey(v.Template, maxVersions*10-v.Number) }

// versionsAsked are the versions of one template, or $Latest and $Default of all templates of the account.
func (r *realm) versionsAsked(in *ec2.DescribeLaunchTemplateVersionsInput) ([]*version, error) {
	if str(in.LaunchTemplateId) == "" && str(in.LaunchTemplateName) == "" {
		return r.versionsOfAll(in.Versions)
	}
	t, err := r.findTemplate(in.LaunchTemplateId, in.LaunchTemplateName)
	if err != nil {
		return nil, err
	}
	if len(in.Versions) > 0 {
		if in.MinVersion != nil || in.MaxVersion != nil {
			return nil, refuse("InvalidParameterCombination", "You cannot specify both versions and a range of versions.")
		}
		return r.versionsNamed(t, in.Versions)
	}
	var out []*version
	low, high := rangeOf(in.MinVersion, in.MaxVersion)
	for _, v := range r.versions.Under(t.ID + "/") {
		if v.Number >= low && v.Number <= high {
			out = append(out, v)
		}
	}
	return sortVersions(out), nil
}

// versionsOfAll are $Latest, $Default or both of every template.
func (r *realm) versionsOfAll(which []string) ([]*version, error) {
	if len(which) == 0 || slices.ContainsFunc(which, func(v string) bool { return v != "$Latest" && v != "$Default" }) {
		return nil, refuse("MissingParameter", "When not specifying a launch template, only $Latest and $Default are valid versions.")
	}
	var out []*version
	for _, t := range r.templates.All() {
		some, err := r.versionsNamed(t, which)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return sortVersions(out), nil
}

func (r *realm) versionsNamed(t *template, which []string) ([]*version, error) {
	var out []*version
	for _, w := range which {
		v, err := r.versionOf(t, w)
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
		n, err := strconv.ParseInt(str(s), 10, 64)
		if err != nil {
			return otherwise
		}
		return n
	}
	return parse(low, 1), parse(high, maxVersions*10)
}

func sortVersions(v []*version) []*version {
	slices.SortFunc(v, func(a, b *version) int { return strings.Compare(versionOrder(a), versionOrder(b)) })
	return slices.Compact(v)
}

func (r *realm) versionMatches(in *ec2.DescribeLaunchTemplateVersionsInput, v *version) (bool, error) {
	t := r.templates.Get(v.Template)
	d := v.Data
	profile := val(d.IamInstanceProfile)
	return matchFilters(in.Filters, attributes{
		"create-time":          {v.Created.UTC().Format("2006-01-02T15:04:05.000Z")},
		"ebs-optimized":        {strconv.FormatBool(val(d.EbsOptimized))},
		"iam-instance-profile": {str(profile.Name), str(profile.Arn)},
		"image-id":             {str(d.ImageId)},
		"instance-type":        {d.InstanceType},
		"is-default-version":   {strconv.FormatBool(v.Number == t.Default)},
		"kernel-id":            {str(d.KernelId)},
		"ram-disk-id":          {str(d.RamDiskId)},
		"http-endpoint":        {val(d.MetadataOptions).HttpEndpoint},
		"http-tokens":          {val(d.MetadataOptions).HttpTokens},
	}, t.Tags)
}

func (r *realm) modifyLaunchTemplate(in *ec2.ModifyLaunchTemplateInput) (*ec2.ModifyLaunchTemplateOutput, error) {
	t, err := r.findTemplate(in.LaunchTemplateId, in.LaunchTemplateName)
	if err != nil {
		return nil, err
	}
	if which := str(in.DefaultVersion); which != "" {
		v, err := r.versionOf(t, which)
		if err != nil {
			return nil, err
		}
		t.Default = v.Number
		r.templates.Touch(t.ID)
	}
	return &ec2.ModifyLaunchTemplateOutput{LaunchTemplate: r.showTemplate(t)}, nil
}

func (r *realm) deleteLaunchTemplate(in *ec2.DeleteLaunchTemplateInput) (*ec2.DeleteLaunchTemplateOutput, error) {
	t, err := r.findTemplate(in.LaunchTemplateId, in.LaunchTemplateName)
	if err != nil {
		return nil, err
	}
	shown := r.showTemplate(t)
	for key := range r.versions.Under(t.ID + "/") {
		r.versions.Delete(key)
	}
	r.templates.Delete(t.ID)
	r.forgetBlobs()
	return &ec2.DeleteLaunchTemplateOutput{LaunchTemplate: shown}, nil
}

func (r *realm) deleteLaunchTemplateVersions(in *ec2.DeleteLaunchTemplateVersionsInput) (*ec2.DeleteLaunchTemplateVersionsOutput, error) {
	if len(in.Versions) == 0 || len(in.Versions) > maxDeletedVersions {
		return nil, refuse("InvalidParameterValue", "You can specify 1 to %d launch template version numbers.", maxDeletedVersions)
	}
	t, err := r.findTemplate(in.LaunchTemplateId, in.LaunchTemplateName)
	if err != nil {
		return nil, err
	}
	out := &ec2.DeleteLaunchTemplateVersionsOutput{}
	for _, which := range in.Versions {
		number := opt(which)
		n, parseErr := strconv.ParseInt(which, 10, 64)
		v, err := r.versionOf(t, which)
		if parseErr != nil {
			return nil, refuse("InvalidParameterValue", "The version '%s' is not valid: a number is wanted.", str(number))
		}
		code, message := "", ""
		switch {
		case err != nil:
			code, message = "launchTemplateVersionDoesNotExist", errorMessage(err)
		case v.Number == t.Default:
			code, message = "unexpectedError", "You cannot delete the default version of a launch template."
		}
		if code != "" {
			out.UnsuccessfullyDeletedLaunchTemplateVersions = append(out.UnsuccessfullyDeletedLaunchTemplateVersions,
				ec2.DeleteLaunchTemplateVersionsResponseErrorItem{
					LaunchTemplateId: ptr(t.ID), LaunchTemplateName: ptr(t.Name), VersionNumber: ptr(n),
					ResponseError: &ec2.ResponseError{Code: code, Message: ptr(message)},
				})
			continue
		}
		r.versions.Delete(versionKey(t.ID, n))
		out.SuccessfullyDeletedLaunchTemplateVersions = append(out.SuccessfullyDeletedLaunchTemplateVersions,
			ec2.DeleteLaunchTemplateVersionsResponseSuccessItem{LaunchTemplateId: ptr(t.ID), LaunchTemplateName: ptr(t.Name), VersionNumber: ptr(n)})
	}
	r.forgetBlobs()
	return out, nil
}

// errorMessage is the message of a refusal without its code.
func errorMessage(err error) string {
	if e, ok := errors.AsType[*apiError](err); ok {
		return e.Message
	}
	return err.Error()
}
