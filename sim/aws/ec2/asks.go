package ec2

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/iam"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/ec2"
	"github.com/muster-project/muster/sim/aws/wire"
)

// askNewTemplate: making a template with tags is tagging as well.
func askNewTemplate(r *Service, x *wire.Call, name string) ([]iam.Ask, error) {
	in := &ec2.CreateLaunchTemplateInput{}
	if err := x.Decode(in); err != nil {
		return nil, err
	}
	tags := map[string]string{}
	for _, s := range in.TagSpecifications {
		maps.Copy(tags, tagMap(s.Tags))
	}
	resource := r.arn("launch-template", "*")
	asks := []iam.Ask{iam.About(name, resource, iam.Given(tags))}
	if len(tags) > 0 {
		asks = append(asks, iam.About("ec2:CreateTags", resource, iam.Given(tags), map[string][]string{"ec2:CreateAction": {x.Action}}))
	}
	return asks, nil
}

func askTemplate(r *Service, x *wire.Call, name string) ([]iam.Ask, error) {
	id := x.Params.Get("LaunchTemplateId")
	if t := r.Templates.TemplateNamed(x.Params.Get("LaunchTemplateName")); id == "" && t != nil {
		id = t.ID
	}
	return []iam.Ask{iam.About(name, r.arn("launch-template", cmp.Or(id, "*")), iam.Carried("ec2", r.Tags.tagsOfID(id)))}, nil
}

func askTags(r *Service, x *wire.Call, name string) ([]iam.Ask, error) {
	in := &ec2.CreateTagsInput{}
	if err := wire.DecodeQuery(x.Params, in, false); err != nil {
		return nil, err
	}
	var asks []iam.Ask
	for _, id := range in.Resources {
		asks = append(asks, iam.About(name, r.arn(ec2Kind(id), id), iam.Given(tagMap(in.Tags)), iam.Carried("ec2", r.Tags.tagsOfID(id))))
	}
	return asks, nil
}

func askInstances(r *Service, x *wire.Call, name string) ([]iam.Ask, error) {
	var asks []iam.Ask
	for _, key := range slices.Sorted(maps.Keys(x.Params)) {
		if key == "InstanceId" || strings.HasPrefix(key, "InstanceId.") {
			id := x.Params.Get(key)
			asks = append(asks, iam.About(name, r.arn("instance", id), iam.Carried("ec2", r.Tags.tagsOfID(id))))
		}
	}
	return asks, nil
}

func askRun(r *Service, x *wire.Call, _ string) ([]iam.Ask, error) {
	in := &ec2.RunInstancesInput{}
	if err := x.Decode(in); err != nil {
		return nil, err
	}
	l, err := r.Launcher.launchOf(in)
	if err != nil {
		return nil, err
	}
	template := ""
	if in.LaunchTemplate != nil {
		template = shapes.Str(in.LaunchTemplate.LaunchTemplateId)
	}
	return r.AskLaunch(&l.Data, template, []string{l.Subnet}, nil), nil
}

// AskLaunch is what a launch asks for: on everything that it touches, the tags that it gives, the role that it passes on. refusal
// words a denial where a service launches for the caller.
func (r *Service) AskLaunch(d *ec2.ResponseLaunchTemplateData, template string, subnets []string,
	refusal func(string) *wire.APIError) []iam.Ask {
	l := r.Launcher.LaunchFrom(d)
	context := map[string][]string{"ec2:InstanceType": {l.Kind}}
	resources := []string{r.arn("instance", "*"), r.arn("network-interface", "*"), r.arn("volume", "*"), r.arn("image", cmp.Or(l.Image, "*"))}
	if template != "" {
		resources = append(resources, r.arn("launch-template", template))
		context["ec2:LaunchTemplate"] = []string{r.arn("launch-template", template)}
		context["ec2:IsLaunchTemplateResource"] = []string{"true"}
	}
	for _, id := range slices.Concat(subnets, l.groups) {
		resources = append(resources, r.arn(ec2Kind(id), id))
	}
	var asks []iam.Ask
	for _, resource := range resources {
		asks = append(asks, iam.About("ec2:RunInstances", resource, context, iam.Given(l.Tags)))
	}
	for _, s := range d.TagSpecifications {
		asks = append(asks, iam.About("ec2:CreateTags", r.arn(s.ResourceType, "*"), context, iam.Given(tagMap(s.Tags)),
			map[string][]string{"ec2:CreateAction": {"RunInstances"}}))
	}
	if p := d.IamInstanceProfile; p != nil {
		asks = append(asks, r.IAM.Directory.AskPass(r.IAM.Directory.RoleOfProfile(shapes.Str(p.Name)+shapes.Str(p.Arn)), "ec2.amazonaws.com"))
	}
	for n := range asks {
		asks[n].Refusal = refusal
	}
	return asks
}

// Asks are what the actions of the service ask of the caller's policies. An action that is not listed is asked for on everything; an
// action without a name stands for all others that write.
var Asks = map[string]iam.Asker[*Service]{
	"CreateLaunchTemplate":         askNewTemplate,
	"CreateLaunchTemplateVersion":  askTemplate,
	"ModifyLaunchTemplate":         askTemplate,
	"DeleteLaunchTemplate":         askTemplate,
	"DeleteLaunchTemplateVersions": askTemplate,
	"CreateTags":                   askTags,
	"DeleteTags":                   askTags,
	"TerminateInstances":           askInstances,
	"GetConsoleOutput":             askInstances,
	"RunInstances":                 askRun,
}
