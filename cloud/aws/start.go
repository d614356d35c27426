package aws

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// start begins the step.
func (p *pass) start(ctx context.Context, s pool.Step) error {
	switch s.Kind {
	case pool.PutTemplate:
		return p.putTemplate(ctx, s)
	case pool.CreateGroup:
		return p.createGroup(ctx, s)
	case pool.UpdateGroup:
		return p.updateGroup(ctx, s)
	case pool.Resize:
		return p.resize(ctx, s)
	case pool.Remove:
		return p.remove(ctx, s)
	case pool.PruneTemplates:
		return p.pruneTemplates(ctx, s)
	case pool.DeleteGroup:
		return p.deleteGroup(ctx)
	case pool.DeleteTemplates:
		return p.deleteTemplates(ctx)
	default:
		return fmt.Errorf("step %s is not one that an Auto Scaling group can be asked for", s.Kind)
	}
}

// known makes sure that the group and the template have been read before something depends on them, and that the group is
// not somebody else's.
func (p *pass) known(ctx context.Context) error {
	if p.memory.group.at.IsZero() {
		if err := p.readGroup(ctx); err != nil {
			return err
		}
	}
	if p.memory.template.at.IsZero() {
		if err := p.readTemplate(ctx); err != nil {
			return err
		}
	}
	return notOurs(p.foreignGroup())
}

// knownTemplate is known, and makes sure that the template is not somebody else's either.
func (p *pass) knownTemplate(ctx context.Context) error {
	if err := p.known(ctx); err != nil {
		return err
	}
	return notOurs(p.foreignTemplate())
}

func notOurs(foreign *pool.Cause) error {
	if foreign == nil {
		return nil
	}
	return &cloud.Error{Kind: cloud.Conflict, Code: foreign.Reason, Message: foreign.Message}
}

// putTemplate makes the template with its first version, or a new version of it.
func (p *pass) putTemplate(ctx context.Context, s pool.Step) error {
	if err := p.knownTemplate(ctx); err != nil {
		return err
	}
	want, err := p.want(ctx)
	if err != nil {
		return err
	}
	if want.data == nil {
		return cloud.Invalidf(fieldBootstrap, "there is no bootstrap data to make a launch template with")
	}
	if p.madeSince(s.Base, want.template) {
		return nil
	}
	words := describe(want.template, want.data)
	token := clientToken(p.t.Owner.ID, want.template, p.predecessor(s))
	id := p.memory.template.id
	p.memory.touchedTemplate()
	if id == "" {
		return p.createTemplate(ctx, want, words, token)
	}
	made, err := p.c.ec2.CreateLaunchTemplateVersion(ctx, &ec2.CreateLaunchTemplateVersionInput{
		LaunchTemplateId: &id, LaunchTemplateData: want.data, VersionDescription: &words, ClientToken: &token,
	})
	if err != nil {
		return refusal(err, p.now)
	}
	if made.LaunchTemplateVersion != nil {
		p.learned(id, versionOf(*made.LaunchTemplateVersion), p.now)
	}
	return nil
}

// madeSince says whether a version of the wanted content and data has been made after the given one.
func (p *pass) madeSince(base string, want pool.Template) bool {
	for _, v := range p.memory.template.versions {
		if v.Ref == base {
			return false
		}
		if v.Same(want) && v.Data == want.Data {
			return true
		}
	}
	return false
}

// predecessor is what was there before: the newest version, or, when the template was deleted under a group, what that
// group still names. It keeps a repeated request apart from a new one with the same content.
func (p *pass) predecessor(s pool.Step) string {
	if s.Base == "" && p.memory.group.is != nil {
		return p.refOf(launchedFrom(p.memory.group.is))
	}
	return s.Base
}

func (p *pass) createTemplate(ctx context.Context, want wanted, words, token string) error {
	made, err := p.c.ec2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: &p.t.template, LaunchTemplateData: want.data, VersionDescription: &words, ClientToken: &token,
		TagSpecifications: []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeLaunchTemplate, Tags: ec2Tags(p.t.tags())}},
	})
	if err = refusal(err, p.now); codeOf(err) == "InvalidLaunchTemplateName.AlreadyExistsException" {
		return p.ourTemplateAfterAll(ctx, err)
	}
	if err != nil {
		return err
	}
	if made.LaunchTemplate != nil {
		first := version{number: deref(made.LaunchTemplate.LatestVersionNumber), Template: want.template}
		first.Fixed = first.number == deref(made.LaunchTemplate.DefaultVersionNumber)
		id := deref(made.LaunchTemplate.LaunchTemplateId)
		first.Ref = ref(id, strconv.FormatInt(first.number, 10))
		p.memory.template.versions = nil
		p.learned(id, first, p.now)
	}
	return nil
}

// ourTemplateAfterAll finds out whether a template that exists already is the one that an earlier, unanswered request made.
func (p *pass) ourTemplateAfterAll(ctx context.Context, refused error) error {
	if err := p.readTemplate(ctx); err != nil {
		return err
	}
	if p.memory.template.ours {
		return nil
	}
	return refused
}

// createGroup makes the group.
func (p *pass) createGroup(ctx context.Context, s pool.Step) error {
	if err := p.known(ctx); err != nil {
		return err
	}
	want, err := p.want(ctx)
	if err != nil {
		return err
	}
	from, err := specification(s.Template)
	if err != nil {
		return err
	}
	g := want.group
	input := &autoscaling.CreateAutoScalingGroupInput{
		AutoScalingGroupName:           &p.t.group,
		MinSize:                        &g.min,
		MaxSize:                        &g.max,
		DesiredCapacity:                value(int32(s.Size)),
		DefaultCooldown:                &g.cooldown,
		DefaultInstanceWarmup:          &g.warmup,
		CapacityRebalance:              &g.rebalance,
		VPCZoneIdentifier:              value(strings.Join(g.subnets, ",")),
		LifecycleHookSpecificationList: g.hooks,
		Tags:                           groupTags(p.t.group, withoutSuspended(g.tags)),
	}
	if g.mixed != nil {
		g.mixed.LaunchTemplate.LaunchTemplateSpecification = from
		input.MixedInstancesPolicy = g.mixed
	} else {
		input.LaunchTemplate = from
	}
	p.memory.touchedGroup()
	p.memory.resized = p.now
	_, err = p.c.autoscaling.CreateAutoScalingGroup(ctx, input)
	if err = refusal(err, p.now); codeOf(err) == "AlreadyExists" {
		return p.ourGroupAfterAll(ctx, err)
	}
	return err
}

// withoutSuspended leaves out the mark of suspended processes: a new group has none suspended.
func withoutSuspended(tags map[string]string) map[string]string {
	out := map[string]string{}
	for key, text := range tags {
		if key != tagSuspended {
			out[key] = text
		}
	}
	return out
}

// ourGroupAfterAll finds out whether a group that exists already is the one that an earlier, unanswered request made.
func (p *pass) ourGroupAfterAll(ctx context.Context, refused error) error {
	if err := p.readGroup(ctx); err != nil {
		return err
	}
	is := p.memory.group.is
	if is == nil || !p.ours(is) || strings.HasPrefix(deref(is.Status), statusDeleting) {
		return refused
	}
	return nil
}

// specification names a template's version the way a group does: by ID and number, never by an alias that moves.
func specification(name string) (*asgtypes.LaunchTemplateSpecification, error) {
	id, number, err := parseRef(name)
	if err != nil {
		return nil, err
	}
	return &asgtypes.LaunchTemplateSpecification{LaunchTemplateId: &id, Version: &number}, nil
}

// resize asks for more instances, now and not after the cooldown.
func (p *pass) resize(ctx context.Context, s pool.Step) error {
	if err := p.known(ctx); err != nil {
		return err
	}
	p.memory.touchedGroup()
	p.memory.resized = p.now
	_, err := p.c.autoscaling.SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{
		AutoScalingGroupName: &p.t.group, DesiredCapacity: value(int32(s.Size)), HonorCooldown: value(false),
	})
	return refusal(err, p.now)
}

// remove terminates exactly the given instances, each with the group's size lowered by one in the same call.
func (p *pass) remove(ctx context.Context, s pool.Step) error {
	if len(s.Targets) > removeBatch {
		return fmt.Errorf("asked to remove %d instances at once: at most %d", len(s.Targets), removeBatch)
	}
	if err := p.known(ctx); err != nil {
		return err
	}
	p.memory.touchedGroup()
	for _, target := range s.Targets {
		_, err := p.c.autoscaling.TerminateInstanceInAutoScalingGroup(ctx, &autoscaling.TerminateInstanceInAutoScalingGroupInput{
			InstanceId: &target.ID, ShouldDecrementDesiredCapacity: value(true),
		})
		if err = refusal(err, p.now); err == nil || absent(err) {
			continue
		}
		if going, readErr := p.going(ctx, target.ID, err); readErr != nil || !going {
			return fmt.Errorf("remove instance %s: %w", target.ID, cmp.Or(readErr, err))
		}
	}
	return nil
}

// going says whether a removal was refused only because the instance is on its way out already.
func (p *pass) going(ctx context.Context, id string, refused error) (bool, error) {
	if cloud.KindOf(refused) != cloud.Conflict {
		return false, nil
	}
	defer p.memory.touchedGroup()
	if err := p.readGroup(ctx); err != nil || p.memory.group.is == nil {
		return err == nil, err
	}
	for _, i := range p.memory.group.is.Instances {
		if deref(i.InstanceId) == id {
			state, member := stateOf(i)
			return !member || state == pool.Terminating, nil
		}
	}
	return true, nil
}

// pruneTemplates deletes versions. One that is gone already is no error.
func (p *pass) pruneTemplates(ctx context.Context, s pool.Step) error {
	if err := p.knownTemplate(ctx); err != nil {
		return err
	}
	id := p.memory.template.id
	if id == "" || len(s.Refs) == 0 {
		return nil
	}
	numbers := make([]string, 0, len(s.Refs))
	for _, name := range s.Refs {
		of, number, err := parseRef(name)
		if err != nil {
			return err
		}
		if of != id {
			return fmt.Errorf("asked to delete version %s, which is not of this pool's launch template %s", name, id)
		}
		numbers = append(numbers, number)
	}
	at := p.memory.template.at
	p.memory.touchedTemplate()
	done, err := p.c.ec2.DeleteLaunchTemplateVersions(ctx, &ec2.DeleteLaunchTemplateVersionsInput{LaunchTemplateId: &id, Versions: numbers})
	if err != nil {
		if err = refusal(err, p.now); absent(err) {
			return nil
		}
		return err
	}
	for _, item := range done.UnsuccessfullyDeletedLaunchTemplateVersions {
		if err := undeleted(item); err != nil {
			return err
		}
	}
	p.memory.template.at = at
	p.memory.template.versions = slices.DeleteFunc(p.memory.template.versions, func(v version) bool { return slices.Contains(s.Refs, v.Ref) })
	return nil
}

// undeleted is the error of one version that was not deleted; nil when it is not there anyway.
func undeleted(item ec2types.DeleteLaunchTemplateVersionsResponseErrorItem) error {
	if item.ResponseError == nil {
		return nil
	}
	switch item.ResponseError.Code {
	case ec2types.LaunchTemplateErrorCodeLaunchTemplateVersionDoesNotExist, ec2types.LaunchTemplateErrorCodeLaunchTemplateIdDoesNotExist,
		ec2types.LaunchTemplateErrorCodeLaunchTemplateNameDoesNotExist:
		return nil
	}
	return &cloud.Error{
		Kind: cloud.Conflict, Op: "ec2:DeleteLaunchTemplateVersions", Code: string(item.ResponseError.Code),
		Message: fmt.Sprintf("version %d: %s", deref(item.VersionNumber), clean(deref(item.ResponseError.Message))),
	}
}

// deleteGroup deletes the group with what is still in it, if it is ours.
func (p *pass) deleteGroup(ctx context.Context) error {
	if err := p.known(ctx); err != nil {
		return err
	}
	p.memory.touchedGroup()
	_, err := p.c.autoscaling.DeleteAutoScalingGroup(ctx, &autoscaling.DeleteAutoScalingGroupInput{
		AutoScalingGroupName: &p.t.group, ForceDelete: value(true),
	})
	if err = refusal(err, p.now); absent(err) {
		return nil
	}
	return err
}

// deleteTemplates deletes the template with all its versions, if it is ours.
func (p *pass) deleteTemplates(ctx context.Context) error {
	if err := p.knownTemplate(ctx); err != nil {
		return err
	}
	id := p.memory.template.id
	if id == "" {
		return nil
	}
	p.memory.touchedTemplate()
	_, err := p.c.ec2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: &id})
	if err = refusal(err, p.now); err != nil && !absent(err) {
		return err
	}
	p.memory.template = templateRead{at: p.now}
	return nil
}
