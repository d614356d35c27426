package aws

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/aws/query"
	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
	"github.com/muster-project/muster/sim/aws/shapes/ec2"
)

// ec2ARN is the ARN of something of EC2, by its ID.
func (r *realm) ec2ARN(kind, id string) string {
	account := r.account
	if kind == "image" {
		account = ""
	}
	return "arn:aws:ec2:" + r.region + ":" + account + ":" + kind + "/" + id
}

// ec2Kinds are the kinds of things by the beginnings of their IDs.
var ec2Kinds = []struct{ prefix, kind string }{
	{"lt-", "launch-template"}, {"i-", "instance"}, {"ami-", "image"}, {"subnet-", "subnet"}, {"sg-", "security-group"}, {"vpc-", "vpc"}, {"key-", "key-pair"},
}

func ec2Kind(id string) string {
	for _, k := range ec2Kinds {
		if strings.HasPrefix(id, k.prefix) {
			return k.kind
		}
	}
	return "unknown"
}

// tagsOfID are the tags of something of EC2.
func (r *realm) tagsOfID(id string) map[string]string {
	if t := r.templates.Get(id); t != nil {
		return t.Tags
	}
	if i := r.instances.Get(id); i != nil {
		return i.Tags
	}
	if s := r.subnets.Get(id); s != nil {
		return s.Tags
	}
	if g := r.securityGroups.Get(id); g != nil {
		return g.Tags
	}
	return nil
}

func tagMap(tags []ec2.Tag) map[string]string {
	out := map[string]string{}
	for _, t := range tags {
		out[str(t.Key)] = str(t.Value)
	}
	return out
}

// askNewTemplate: making a template with tags is tagging as well.
func askNewTemplate(r *realm, x *exchange, name string) ([]ask, error) {
	in := &ec2.CreateLaunchTemplateInput{}
	if err := x.decode(in); err != nil {
		return nil, err
	}
	tags := map[string]string{}
	for _, s := range in.TagSpecifications {
		maps.Copy(tags, tagMap(s.Tags))
	}
	resource := r.ec2ARN("launch-template", "*")
	asks := []ask{about(name, resource, given(tags))}
	if len(tags) > 0 {
		asks = append(asks, about("ec2:CreateTags", resource, given(tags), map[string][]string{"ec2:CreateAction": {x.action}}))
	}
	return asks, nil
}

func askTemplate(r *realm, x *exchange, name string) ([]ask, error) {
	id := x.params.Get("LaunchTemplateId")
	if t := r.templateNamed(x.params.Get("LaunchTemplateName")); id == "" && t != nil {
		id = t.ID
	}
	return []ask{about(name, r.ec2ARN("launch-template", cmp.Or(id, "*")), carried("ec2", r.tagsOfID(id)))}, nil
}

func askTags(r *realm, x *exchange, name string) ([]ask, error) {
	in := &ec2.CreateTagsInput{}
	if err := query.Decode(x.params, in, false, "Action", "Version"); err != nil {
		return nil, err
	}
	var asks []ask
	for _, id := range in.Resources {
		asks = append(asks, about(name, r.ec2ARN(ec2Kind(id), id), given(tagMap(in.Tags)), carried("ec2", r.tagsOfID(id))))
	}
	return asks, nil
}

func askInstances(r *realm, x *exchange, name string) ([]ask, error) {
	var asks []ask
	for _, key := range slices.Sorted(maps.Keys(x.params)) {
		if key == "InstanceId" || strings.HasPrefix(key, "InstanceId.") {
			id := x.params.Get(key)
			asks = append(asks, about(name, r.ec2ARN("instance", id), carried("ec2", r.tagsOfID(id))))
		}
	}
	return asks, nil
}

func askRun(r *realm, x *exchange, _ string) ([]ask, error) {
	in := &ec2.RunInstancesInput{}
	if err := x.decode(in); err != nil {
		return nil, err
	}
	l, err := r.launchOf(in)
	if err != nil {
		return nil, err
	}
	template := ""
	if in.LaunchTemplate != nil {
		template = str(in.LaunchTemplate.LaunchTemplateId)
	}
	return r.askLaunch(&l.data, template, []string{l.subnet}, nil), nil
}

// askLaunch is what a launch asks for: on everything that it touches, the tags that it gives, the role that it passes on. refusal
// words a denial where a service launches for somebody.
func (r *realm) askLaunch(d *ec2.ResponseLaunchTemplateData, template string, subnets []string, refusal func(string) *apiError) []ask {
	l := r.launchFrom(d)
	context := map[string][]string{"ec2:InstanceType": {l.kind}}
	resources := []string{r.ec2ARN("instance", "*"), r.ec2ARN("network-interface", "*"), r.ec2ARN("volume", "*"), r.ec2ARN("image", cmp.Or(l.image, "*"))}
	if template != "" {
		resources = append(resources, r.ec2ARN("launch-template", template))
		context["ec2:LaunchTemplate"] = []string{r.ec2ARN("launch-template", template)}
		context["ec2:IsLaunchTemplateResource"] = []string{"true"}
	}
	for _, id := range slices.Concat(subnets, l.groups) {
		resources = append(resources, r.ec2ARN(ec2Kind(id), id))
	}
	var asks []ask
	for _, resource := range resources {
		asks = append(asks, about("ec2:RunInstances", resource, context, given(l.tags)))
	}
	for _, s := range d.TagSpecifications {
		asks = append(asks, about("ec2:CreateTags", r.ec2ARN(s.ResourceType, "*"), context, given(tagMap(s.Tags)), map[string][]string{"ec2:CreateAction": {"RunInstances"}}))
	}
	if p := d.IamInstanceProfile; p != nil {
		asks = append(asks, r.directory.askPass(r.directory.roleOfProfile(str(p.Name)+str(p.Arn)), "ec2.amazonaws.com"))
	}
	for n := range asks {
		asks[n].refusal = refusal
	}
	return asks
}

// roleOfProfile is the ARN of the role of an instance profile, whose own name it most often has.
func (d *directory) roleOfProfile(profile string) string {
	name := profile[strings.LastIndex(profile, "/")+1:]
	if p := d.profiles.Get(roleKey(name)); p != nil && p.Role != "" {
		name = p.Role
	}
	return d.roleARN(name)
}

func (d *directory) roleARN(name string) string {
	if found := d.roles.Get(roleKey(name)); found != nil {
		return d.arn("role", found.Path, found.Name)
	}
	return d.arn("role", "/", name)
}

// askPass is handing a role to a service.
func (d *directory) askPass(role, service string) ask {
	return about("iam:PassRole", role, map[string][]string{"iam:PassedToService": {service}})
}

// askService is what a service needs that is used in an account for the first time: a role of its own.
func (d *directory) askService(service string) []ask {
	name := serviceRoles[service]
	if d.roles.Get(roleKey(name)) != nil {
		return nil
	}
	return []ask{about("iam:CreateServiceLinkedRole", d.arn("role", serviceRolePath+service+"/", name), map[string][]string{"iam:AWSServiceName": {service}})}
}

func askParameters(r *realm, x *exchange, name string) ([]ask, error) {
	var in struct {
		Name, Path string
		Names      []string
	}
	if err := decodeJSON(x, &in); err != nil {
		return nil, err
	}
	var asks []ask
	for _, n := range append(in.Names, in.Name, in.Path) {
		if n == "" {
			continue
		}
		account := r.account
		if strings.HasPrefix(n, "/aws/") {
			account = ""
		}
		asks = append(asks, about(name, "arn:aws:ssm:"+r.region+":"+account+":parameter"+n))
	}
	return asks, nil
}

func askRole(_ *realm, x *exchange, name string) ([]ask, error) {
	return []ask{about(name, x.params.Get("RoleArn"))}, nil
}

// groupARN is the ARN of a group, also of one that is not there.
func (r *realm) groupARN(name string) (string, map[string]string) {
	g := r.groups.Get(name)
	if g == nil {
		return "arn:aws:autoscaling:" + r.region + ":" + r.account + ":autoScalingGroup:*:autoScalingGroupName/" + name, nil
	}
	tags := map[string]string{}
	for k, t := range g.Tags {
		tags[k] = t.Value
	}
	return str(g.Spec.AutoScalingGroupARN), tags
}

// askGroup is any change of a group. One that gives it another template launches in the caller's name.
func askGroup(r *realm, x *exchange, name string) ([]ask, error) {
	group := x.params.Get("AutoScalingGroupName")
	for _, key := range []string{"InstanceId", "InstanceIds.member.1"} {
		if m := r.memberOf(x.params.Get(key)); group == "" && m != nil {
			group = m.Group
		}
	}
	resource, tags := r.groupARN(group)
	asks := []ask{about(name, resource, carried("autoscaling", tags))}
	var in struct {
		LaunchTemplate       *autoscaling.LaunchTemplateSpecification `query:"LaunchTemplate"`
		MixedInstancesPolicy *autoscaling.MixedInstancesPolicy        `query:"MixedInstancesPolicy"`
		DesiredConfiguration *autoscaling.DesiredConfiguration        `query:"DesiredConfiguration"`
	}
	if err := query.Decode(x.params, &in, false, "Action", "Version"); err != nil {
		return nil, err
	}
	if d := in.DesiredConfiguration; d != nil {
		in.LaunchTemplate, in.MixedInstancesPolicy = d.LaunchTemplate, d.MixedInstancesPolicy
	}
	if p := in.MixedInstancesPolicy; p != nil && p.LaunchTemplate != nil {
		in.LaunchTemplate = p.LaunchTemplate.LaunchTemplateSpecification
	}
	return append(asks, r.askGroupLaunch(in.LaunchTemplate)...), nil
}

// askGroupLaunch is what Auto Scaling asks before it takes somebody's template: may he launch from it himself?
func (r *realm) askGroupLaunch(s *autoscaling.LaunchTemplateSpecification) []ask {
	if s == nil {
		return nil
	}
	v, err := r.templateVersion(s.LaunchTemplateId, s.LaunchTemplateName, s.Version)
	if err != nil {
		return nil // The operation will say so.
	}
	return r.askLaunch(&v.Data, v.Template, nil, func(message string) *apiError {
		return &apiError{Code: "AccessDenied", Message: "You are not authorized to use launch template: " + v.Template + ". " + message, Status: http.StatusForbidden}
	})
}

func askNewGroup(r *realm, x *exchange, name string) ([]ask, error) {
	asks, err := askGroup(r, x, name)
	if err != nil {
		return nil, err
	}
	in := &autoscaling.CreateAutoScalingGroupInput{}
	if err := x.decode(in); err != nil {
		return nil, err
	}
	maps.Copy(asks[0].context, given(groupTagsAsked(in.Tags)))
	return append(asks, r.directory.askService("autoscaling.amazonaws.com")...), nil
}

func groupTagsAsked(tags []autoscaling.Tag) map[string]string {
	out := map[string]string{}
	for _, t := range tags {
		out[str(t.Key)] = str(t.Value)
	}
	return out
}

func askGroupTags(r *realm, x *exchange, name string) ([]ask, error) {
	in := &autoscaling.CreateOrUpdateTagsInput{}
	if err := x.decode(in); err != nil {
		return nil, err
	}
	var asks []ask
	for _, t := range in.Tags {
		resource, tags := r.groupARN(str(t.ResourceId))
		asks = append(asks, about(name, resource, carried("autoscaling", tags), given(groupTagsAsked(in.Tags))))
	}
	return asks, nil
}
