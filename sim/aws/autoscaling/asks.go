package autoscaling

import (
	"maps"
	"net/http"

	"github.com/muster-project/muster/sim/aws/iam"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
	"github.com/muster-project/muster/sim/aws/wire"
)

// groupARN is the ARN of a group, also of one that is not there.
func (r *Service) groupARN(name string) (string, map[string]string) {
	g := r.Groups.Rows.Get(name)
	if g == nil {
		return "arn:aws:autoscaling:" + r.Region + ":" + r.Account + ":autoScalingGroup:*:autoScalingGroupName/" + name, nil
	}
	tags := map[string]string{}
	for k, t := range g.Tags {
		tags[k] = t.Value
	}
	return shapes.Str(g.Spec.AutoScalingGroupARN), tags
}

// askGroup is any change of a group. One that gives it another template launches in the caller's name.
func askGroup(r *Service, x *wire.Call, name string) ([]iam.Ask, error) {
	group := x.Params.Get("AutoScalingGroupName")
	for _, key := range []string{"InstanceId", "InstanceIds.member.1"} {
		if m := r.Members.MemberOf(x.Params.Get(key)); group == "" && m != nil {
			group = m.Group
		}
	}
	resource, tags := r.groupARN(group)
	asks := []iam.Ask{iam.About(name, resource, iam.Carried("autoscaling", tags))}
	var in struct {
		LaunchTemplate       *autoscaling.LaunchTemplateSpecification `query:"LaunchTemplate"`
		MixedInstancesPolicy *autoscaling.MixedInstancesPolicy        `query:"MixedInstancesPolicy"`
		DesiredConfiguration *autoscaling.DesiredConfiguration        `query:"DesiredConfiguration"`
	}
	if err := wire.DecodeQuery(x.Params, &in, false); err != nil {
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

// askGroupLaunch is what Auto Scaling asks before it uses the caller's template: may the caller launch from it?
func (r *Service) askGroupLaunch(s *autoscaling.LaunchTemplateSpecification) []iam.Ask {
	if s == nil {
		return nil
	}
	v, err := r.EC2.Templates.TemplateVersion(s.LaunchTemplateId, s.LaunchTemplateName, s.Version)
	if err != nil {
		return nil // The operation will say so.
	}
	return r.EC2.AskLaunch(&v.Data, v.Template, nil, func(message string) *wire.APIError {
		return &wire.APIError{Code: "AccessDenied", Message: "You are not authorized to use launch template: " + v.Template + ". " + message,
			Status: http.StatusForbidden}
	})
}

func askNewGroup(r *Service, x *wire.Call, name string) ([]iam.Ask, error) {
	asks, err := askGroup(r, x, name)
	if err != nil {
		return nil, err
	}
	in := &autoscaling.CreateAutoScalingGroupInput{}
	if err := x.Decode(in); err != nil {
		return nil, err
	}
	maps.Copy(asks[0].Context, iam.Given(groupTagsAsked(in.Tags)))
	return append(asks, r.IAM.Directory.AskService("autoscaling.amazonaws.com")...), nil
}

func groupTagsAsked(tags []autoscaling.Tag) map[string]string {
	out := map[string]string{}
	for _, t := range tags {
		out[shapes.Str(t.Key)] = shapes.Str(t.Value)
	}
	return out
}

func askGroupTags(r *Service, x *wire.Call, name string) ([]iam.Ask, error) {
	in := &autoscaling.CreateOrUpdateTagsInput{}
	if err := x.Decode(in); err != nil {
		return nil, err
	}
	var asks []iam.Ask
	for _, t := range in.Tags {
		resource, tags := r.groupARN(shapes.Str(t.ResourceId))
		asks = append(asks, iam.About(name, resource, iam.Carried("autoscaling", tags), iam.Given(groupTagsAsked(in.Tags))))
	}
	return asks, nil
}

// Asks are what the actions of the service ask of the caller's policies. An action that is not listed is asked for on everything; an
// action without a name stands for all others that write.
var Asks = map[string]iam.Asker[*Service]{
	"CreateAutoScalingGroup": askNewGroup,
	"CreateOrUpdateTags":     askGroupTags,
	"DeleteTags":             askGroupTags,
	"":                       askGroup,
}
