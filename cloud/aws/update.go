package aws

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// updateGroup repairs the fields that drifted, and lets the group launch from another template when the step names one.
// The group's size is never touched.
func (p *pass) updateGroup(ctx context.Context, s pool.Step) error {
	if err := p.known(ctx); err != nil {
		return err
	}
	is := p.memory.group.is
	if is == nil {
		return &cloud.Error{Kind: cloud.Conflict, Code: "NoGroup", Message: "Auto Scaling group " + p.t.group + " is gone: there is nothing to update"}
	}
	// A look-up that fails keeps only that from being repaired which depends on it.
	want, err := p.want(ctx)
	if err != nil && want.group.subnets == nil && slices.Contains(s.Fields, driftSubnets) {
		return err
	}
	if err := p.readHooks(ctx); err != nil {
		return err
	}
	existing := p.memory.hooks
	input, changed, err := p.updateInput(s, is, want.group)
	if err != nil {
		return err
	}
	if slices.Contains(s.Fields, driftHooks) {
		p.memory.touchedGroup()
	} else {
		p.memory.touchedMembers()
	}
	if changed {
		if _, err := p.c.AutoScaling.UpdateAutoScalingGroup(ctx, input); err != nil {
			return session.Refusal(err, p.now)
		}
	}
	return p.repair(ctx, s.Fields, is, existing, want.group)
}

// repair puts right what has calls of its own.
func (p *pass) repair(ctx context.Context, fields []string, is *asgtypes.AutoScalingGroup, existing hooksRead, want groupSpec) error {
	for _, one := range []struct {
		field string
		do    func() error
	}{
		{driftTags, func() error { return p.updateTags(ctx, is, want) }},
		{driftHooks, func() error { return p.updateHooks(ctx, is, existing, want) }},
		{driftProcesses, func() error { return p.updateProcesses(ctx, is, want) }},
		{driftKept, func() error { return p.unkeep(ctx, is) }},
	} {
		if !slices.Contains(fields, one.field) {
			continue
		}
		if err := one.do(); err != nil {
			return err
		}
	}
	return nil
}

// updateInput holds the fields of the group itself that are to change, and nothing else.
func (p *pass) updateInput(s pool.Step, is *asgtypes.AutoScalingGroup, want groupSpec) (*autoscaling.UpdateAutoScalingGroupInput, bool, error) {
	input := &autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: &p.t.group}
	changed := false
	for _, field := range s.Fields {
		switch field {
		case driftMin:
			input.MinSize = &want.min
		case driftMax:
			if want.max < session.Deref(is.DesiredCapacity) {
				continue
			}
			input.MaxSize = &want.max
		case driftSubnets:
			input.VPCZoneIdentifier = new(strings.Join(want.subnets, ","))
		case driftCooldown:
			input.DefaultCooldown = &want.cooldown
		case driftWarmup:
			input.DefaultInstanceWarmup = &want.warmup
		case driftRebalance:
			input.CapacityRebalance = &want.rebalance
		case driftMixed:
		default:
			continue
		}
		changed = true
	}
	launches, err := p.updateTemplate(s, is, want, input)
	return input, changed || launches, err
}

// updateTemplate fills in what the group launches from, when the step names a template or the policy around it changes.
func (p *pass) updateTemplate(s pool.Step, is *asgtypes.AutoScalingGroup, want groupSpec, input *autoscaling.UpdateAutoScalingGroupInput) (bool, error) {
	name := s.Template
	if name == "" || name == p.refOf(launchedFrom(is)) {
		if !slices.Contains(s.Fields, driftMixed) {
			return false, nil
		}
		name = p.refOf(launchedFrom(is))
	}
	from, err := specification(name)
	if err != nil {
		return false, err
	}
	if want.mixed == nil {
		input.LaunchTemplate = from
		return true, nil
	}
	want.mixed.LaunchTemplate.LaunchTemplateSpecification = from
	input.MixedInstancesPolicy = want.mixed
	return true, nil
}

// updateTags takes away what we once put there, then puts what is missing, the bookkeeping in the same call.
func (p *pass) updateTags(ctx context.Context, is *asgtypes.AutoScalingGroup, want groupSpec) error {
	if err := p.deleteTags(ctx, want.surplusTags(is)); err != nil {
		return err
	}
	return p.putTags(ctx, want.missingTags(is))
}

func (p *pass) putTags(ctx context.Context, tags map[string]string) error {
	if len(tags) == 0 {
		return nil
	}
	_, err := p.c.AutoScaling.CreateOrUpdateTags(ctx, &autoscaling.CreateOrUpdateTagsInput{Tags: session.GroupTags(p.t.group, tags, bookkeeping)})
	return session.Refusal(err, p.now)
}

func (p *pass) deleteTags(ctx context.Context, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	tags := map[string]string{}
	for _, key := range keys {
		tags[key] = ""
	}
	_, err := p.c.AutoScaling.DeleteTags(ctx, &autoscaling.DeleteTagsInput{Tags: session.GroupTags(p.t.group, tags, bookkeeping)})
	return session.Refusal(err, p.now)
}

// book writes a bookkeeping tag, when it says something else.
func (p *pass) book(ctx context.Context, is *asgtypes.AutoScalingGroup, key, text string) error {
	switch tagOf(is, key) {
	case text:
		return nil
	default:
		if text == "" {
			return p.deleteTags(ctx, []string{key})
		}
		return p.putTags(ctx, map[string]string{key: text})
	}
}

// updateHooks first books every hook that is or will be ours, so that a crash in between forgets none, then puts and
// removes. The next pass books out what was removed. Hooks that may not be listed are left as they are.
func (p *pass) updateHooks(ctx context.Context, is *asgtypes.AutoScalingGroup, known hooksRead, want groupSpec) error {
	if known.refused != nil {
		return known.refused
	}
	existing := known.list
	put, remove := want.hookChanges(is, existing)
	names := session.Unique(slices.Concat(hookNames(want.hooks), remove, p.memory.hooksPutBefore(p.now)))
	if err := p.book(ctx, is, tagOurHooks, session.Marks(names)); err != nil {
		return err
	}
	for _, h := range put {
		p.memory.putHooks[session.Deref(h.LifecycleHookName)] = p.now
		_, err := p.c.AutoScaling.PutLifecycleHook(ctx, &autoscaling.PutLifecycleHookInput{
			AutoScalingGroupName: &p.t.group, LifecycleHookName: h.LifecycleHookName, LifecycleTransition: h.LifecycleTransition,
			DefaultResult: h.DefaultResult, HeartbeatTimeout: h.HeartbeatTimeout, NotificationMetadata: h.NotificationMetadata,
			NotificationTargetARN: notificationTarget(h, existing), RoleARN: h.RoleARN,
		})
		if err != nil {
			return session.Refusal(err, p.now)
		}
	}
	for _, name := range remove {
		_, err := p.c.AutoScaling.DeleteLifecycleHook(ctx, &autoscaling.DeleteLifecycleHookInput{AutoScalingGroupName: &p.t.group, LifecycleHookName: &name})
		if err = session.Refusal(err, p.now); err != nil && !session.Absent(err) {
			return err
		}
		delete(p.memory.putHooks, name)
	}
	return nil
}

// updateProcesses books, suspends and resumes, in this order for the same reason.
func (p *pass) updateProcesses(ctx context.Context, is *asgtypes.AutoScalingGroup, want groupSpec) error {
	suspend, resume := want.processes(is)
	if err := p.book(ctx, is, tagSuspended, strings.Join(session.Unique(slices.Concat(want.suspended, resume)), ",")); err != nil {
		return err
	}
	if len(suspend) > 0 {
		_, err := p.c.AutoScaling.SuspendProcesses(ctx, &autoscaling.SuspendProcessesInput{AutoScalingGroupName: &p.t.group, ScalingProcesses: suspend})
		if err != nil {
			return session.Refusal(err, p.now)
		}
	}
	if len(resume) > 0 {
		_, err := p.c.AutoScaling.ResumeProcesses(ctx, &autoscaling.ResumeProcessesInput{AutoScalingGroupName: &p.t.group, ScalingProcesses: resume})
		if err != nil {
			return session.Refusal(err, p.now)
		}
	}
	return nil
}
