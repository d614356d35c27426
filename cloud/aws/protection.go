package aws

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// A refresh replaces whatever is of another launch template version than the one that it pins, for that is all that the service
// compares. But versions are also made for a new bootstrap token alone, and an instance of such a version is as good as a new
// one; and a restart that is begun again must not replace again what it has replaced. So those that a refresh is not for are
// protected from scale-in while it runs, and the refresh is told to ignore what is protected. Each gets Muster's tag, so that
// a protection that another client set stays. Protection keeps nothing from being terminated by name, by a health
// check or by a spot interruption. Once no refresh runs, Muster's protection is drift and is removed.

const (
	// protectMost is how many instances one call may protect.
	protectMost = 50
	// tagMost is how many resources one call may tag, or take a tag from.
	tagMost = 1000
)

// keepOthers protects those that the refresh is not for, and takes the protection from those that it is for where that is ours,
// or where the pool wants protected instances replaced. It says whether the refresh has to ignore what is protected.
func (p *pass) keepOthers(ctx context.Context, s pool.Step) (kept bool, err error) {
	is := p.memory.group.is
	if is == nil || len(s.Targets) == 0 {
		return false, nil
	}
	if err := p.readMembers(ctx, is); err != nil {
		return false, err
	}
	keep, protect, err := p.keeping(s)
	if err != nil {
		return false, err
	}
	if err := p.unprotect(ctx, p.freed(s, len(keep) > 0)); err != nil {
		return false, err
	}
	return len(keep) > 0, p.protect(ctx, protect)
}

// freed are the instances that the refresh is for and whose protection would keep it from them: ours, and, where the refresh has to
// ignore what is protected, those of others that the pool wants replaced.
func (p *pass) freed(s pool.Step, ignores bool) []string {
	asked := p.t.pool.RefreshPreferences
	all := ignores && asked != nil && asked.ScaleInProtectedInstances == string(asgtypes.ScaleInProtectedInstancesRefresh)
	var ids []string
	meant := targeted(s)
	for _, i := range p.memory.group.is.Instances {
		if id := session.Deref(i.InstanceId); meant[id] && session.Deref(i.ProtectedFromScaleIn) && (all || p.memory.members[id].kept) {
			ids = append(ids, id)
		}
	}
	return ids
}

// targeted are the names of the instances that a step is about.
func targeted(s pool.Step) map[string]bool {
	ids := make(map[string]bool, len(s.Targets))
	for _, t := range s.Targets {
		ids[t.ID] = true
	}
	return ids
}

// keeping are the instances that the refresh would replace and is not for, and which of them are not protected yet.
func (p *pass) keeping(s pool.Step) (keep, protect []string, err error) {
	meant := targeted(s)
	for _, i := range p.memory.group.is.Instances {
		id := session.Deref(i.InstanceId)
		state, member := asg.StateOf(i)
		switch {
		case !member || state == pool.Terminating || meant[id] || asg.InStandby(i):
			continue
		case !s.ReplaceMatching && p.refOf(i.LaunchTemplate) == s.Template:
			continue
		}
		keep = append(keep, id)
		if session.Deref(i.ProtectedFromScaleIn) {
			continue
		}
		if i.LifecycleState != asgtypes.LifecycleStateInService {
			return nil, nil, &cloud.Error{Kind: cloud.Conflict, Code: "NotInService", Message: fmt.Sprintf(
				"instance %s is %s and is not to be replaced: the refresh begins once it is in service and can be protected", id, i.LifecycleState)}
		}
		protect = append(protect, id)
	}
	return keep, protect, nil
}

// protect tags first, so that a crash in between leaves no protection that is not known to be ours.
func (p *pass) protect(ctx context.Context, ids []string) error {
	for some := range slices.Chunk(ids, tagMost) {
		_, err := p.c.EC2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: some, Tags: p.keptTag()})
		if err = session.Refusal(err, p.now); err != nil {
			return session.ListChanged(err)
		}
		p.knowKept(some, true)
	}
	return p.setProtection(ctx, ids, true)
}

// unprotect takes the tag off last, for the same reason.
func (p *pass) unprotect(ctx context.Context, ids []string) error {
	if err := p.setProtection(ctx, ids, false); err != nil {
		return err
	}
	for some := range slices.Chunk(ids, tagMost) {
		_, err := p.c.EC2.DeleteTags(ctx, &ec2.DeleteTagsInput{Resources: some, Tags: p.keptTag()})
		if err = session.Refusal(err, p.now); err != nil {
			return session.ListChanged(err)
		}
		p.knowKept(some, false)
	}
	return nil
}

// keptTag is the tag of what we protect.
func (p *pass) keptTag() []ec2types.Tag {
	return []ec2types.Tag{{Key: new(tagKept), Value: &p.t.Owner.ID}}
}

func (p *pass) knowKept(ids []string, kept bool) {
	for _, id := range ids {
		read := p.memory.members[id]
		read.kept = kept
		p.memory.remember(id, read)
	}
}

func (p *pass) setProtection(ctx context.Context, ids []string, on bool) error {
	for some := range slices.Chunk(ids, protectMost) {
		_, err := p.c.AutoScaling.SetInstanceProtection(ctx, &autoscaling.SetInstanceProtectionInput{
			AutoScalingGroupName: &p.t.group, InstanceIds: some, ProtectedFromScaleIn: &on,
		})
		if err = session.Refusal(err, p.now); cloud.KindOf(err) == cloud.Invalid {
			return &cloud.Error{Kind: cloud.Conflict, Code: "InstancesChanged", Message: "the group's instances have changed meanwhile: " + err.Error()}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// leftProtected returns the instances with a protection of Muster's that no refresh needs.
func (p *pass) leftProtected(is *asgtypes.AutoScalingGroup) []string {
	var ids []string
	if p.memory.rolls.at.IsZero() || p.memory.rolls.refused != nil || p.memory.rolls.running() {
		return nil
	}
	for _, i := range is.Instances {
		id := session.Deref(i.InstanceId)
		if state, member := asg.StateOf(i); member && state != pool.Terminating && session.Deref(i.ProtectedFromScaleIn) && p.memory.members[id].kept {
			ids = append(ids, id)
		}
	}
	return ids
}

// unkeep removes Muster's protections that no refresh needs.
func (p *pass) unkeep(ctx context.Context, is *asgtypes.AutoScalingGroup) error {
	if err := p.readMembers(ctx, is); err != nil {
		return err
	}
	p.memory.rolls = rollsRead{}
	if err := p.readRolls(ctx, is); err != nil {
		return err
	}
	return p.unprotect(ctx, p.leftProtected(is))
}
