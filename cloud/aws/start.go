package aws

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// steps are how each step is begun.
var steps = driverkit.Steps[*pass]{
	pool.PutTemplate:           (*pass).putTemplate,
	pool.CreateGroup:           (*pass).createGroup,
	pool.Adopt:                 func(p *pass, ctx context.Context, _ pool.Step) error { return adopt(ctx, p) },
	pool.UpdateGroup:           (*pass).updateGroup,
	pool.Resize:                (*pass).resize,
	pool.Remove:                func(p *pass, ctx context.Context, s pool.Step) error { return p.terminate(ctx, s, true) },
	pool.Replace:               func(p *pass, ctx context.Context, s pool.Step) error { return p.terminate(ctx, s, false) },
	pool.EnterStandby:          (*pass).enterStandby,
	pool.StartProviderRollout:  (*pass).startRoll,
	pool.CancelProviderRollout: (*pass).cancelRoll,
	pool.Release:               (*pass).release,
	pool.Renew:                 (*pass).renew,
	pool.EnsurePrerequisites:   (*pass).provide,
	pool.DefaultTemplate:       (*pass).defaultTemplate,
	pool.PruneTemplates:        (*pass).pruneTemplates,
	pool.DeleteGroup:           func(p *pass, ctx context.Context, _ pool.Step) error { return p.deleteGroup(ctx) },
	pool.DeleteTemplates:       func(p *pass, ctx context.Context, _ pool.Step) error { return p.deleteTemplates(ctx) },
}

// start begins the step.
func (p *pass) start(ctx context.Context, s pool.Step) error {
	run, err := steps.Step(s.Kind, "an Auto Scaling group")
	if err != nil {
		return err
	}
	return run(p, ctx, s)
}

// known makes sure that the group and the template have been read before something depends on them, and that the group is
// the pool's own.
func (p *pass) known(ctx context.Context) error {
	if err := p.read(ctx); err != nil {
		return err
	}
	return driverkit.Owned(p.foreignGroup())
}

// read makes sure that the group and the template have been read.
func (p *pass) read(ctx context.Context) error {
	if p.memory.group.at.IsZero() {
		if err := p.readGroup(ctx); err != nil {
			return err
		}
	}
	if err := p.readNamed(ctx); err != nil {
		return err
	}
	followTemplate(p)
	if !p.memory.template.Known() {
		return p.readTemplate(ctx)
	}
	return nil
}

// knownTemplate is known, and makes sure that the template is the pool's own too.
func (p *pass) knownTemplate(ctx context.Context) error {
	if err := p.known(ctx); err != nil {
		return err
	}
	return driverkit.Owned(p.launch.Foreign())
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
		DesiredCapacity:                new(int32(s.Size)),
		DefaultCooldown:                &g.cooldown,
		DefaultInstanceWarmup:          &g.warmup,
		CapacityRebalance:              &g.rebalance,
		VPCZoneIdentifier:              new(strings.Join(g.subnets, ",")),
		LifecycleHookSpecificationList: g.hooks,
		Tags:                           session.GroupTags(p.t.group, withoutSuspended(g.tags), bookkeeping),
	}
	if g.mixed != nil {
		g.mixed.LaunchTemplate.LaunchTemplateSpecification = from
		input.MixedInstancesPolicy = g.mixed
	} else {
		input.LaunchTemplate = from
	}
	p.memory.touchedGroup()
	p.memory.resized = p.now
	_, err = p.c.AutoScaling.CreateAutoScalingGroup(ctx, input)
	if err = session.Refusal(err, p.now); cloud.CodeOf(err) == "AlreadyExists" {
		return p.confirmGroupCreated(ctx, err)
	}
	if err == nil {
		p.memory.rolls, p.memory.hooks = rollsRead{at: p.now}, hooksRead{list: created(g.hooks), at: p.now, made: true}
	}
	if driverkit.MayHaveHappened(err) {
		p.memory.made = p.now
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

// confirmGroupCreated finds out whether a group that exists already is the one that an earlier, unanswered request made.
func (p *pass) confirmGroupCreated(ctx context.Context, refused error) error {
	return driverkit.Confirm(refused, p.readGroup(ctx), func() bool {
		is := p.memory.group.is
		return is != nil && p.ours(is) && !strings.HasPrefix(session.Deref(is.Status), asg.StatusDeleting)
	})
}

// specification names a template's version the way a group does: by ID and number, never by an alias that moves.
func specification(name string) (*asgtypes.LaunchTemplateSpecification, error) {
	id, number, err := launch.ParseRef(name)
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
	size := int32(s.Size)
	if is := p.memory.group.is; is != nil && size < session.Deref(is.DesiredCapacity) {
		if err := p.upToDate(); err != nil {
			return err
		}
		if err := removesNone(ctx, p, size); err != nil {
			return err
		}
	}
	p.memory.touchedMembers()
	p.memory.resized = p.now
	_, err := p.c.AutoScaling.SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{
		AutoScalingGroupName: &p.t.group, DesiredCapacity: &size, HonorCooldown: new(false),
	})
	err = session.Refusal(err, p.now)
	p.memory.asked.Note(s.Size, p.now, err)
	return err
}

// lookLasts is for how long after a look at the group its size may be lowered to the machines that were seen.
const lookLasts = 5 * time.Second

// removesNone makes sure that a lower size removes no machine: the service would choose which. Replies may have been slow, so that machines
// were launched since the look, and a machine that was moved to standby may be in service all the same.
func removesNone(ctx context.Context, p *pass, size int32) error {
	is := p.memory.group.is
	if p.now.Sub(p.memory.group.at) >= lookLasts {
		var err error
		if is, _, err = p.c.Group(ctx, p.t.group, 0); err != nil {
			return err
		}
	}
	if is != nil && asg.Members(is) <= int(size) {
		return nil
	}
	p.memory.touchedGroup()
	return &cloud.Error{Kind: cloud.Conflict, Code: "SizeNotShown", Message: fmt.Sprintf(
		"Auto Scaling group %s was to get a size of %d and has more machines: the service would choose those that go", p.t.group, size)}
}

// upToDate makes sure that what is taken away is chosen from what is there after all that we asked for.
func (p *pass) upToDate() error {
	size := p.memory.size()
	if p.memory.group.is == nil || !p.memory.asked.NotYetVisible(size, p.now, session.VisibleWithin) {
		return nil
	}
	p.memory.touchedGroup()
	return p.memory.asked.Conflict("Auto Scaling group "+p.t.group, size)
}

// deleteGroup deletes the group with what is still in it, if it is ours.
func (p *pass) deleteGroup(ctx context.Context) error {
	if err := p.known(ctx); err != nil {
		return err
	}
	if err := p.standbyKnown(ctx); err != nil {
		return err
	}
	// Whether the reply comes or not, it may be gone from now on.
	p.memory.made = time.Time{}
	p.memory.touchedGroup()
	_, err := p.c.AutoScaling.DeleteAutoScalingGroup(ctx, &autoscaling.DeleteAutoScalingGroupInput{
		AutoScalingGroupName: &p.t.group, ForceDelete: new(true),
	})
	if err = session.Refusal(err, p.now); session.Absent(err) || cloud.KindOf(err) == cloud.Denied && p.gone(ctx) {
		return nil
	}
	return err
}

// gone reports whether there is no group: credentials that allow by tags are denied what has none any more.
func (p *pass) gone(ctx context.Context) bool {
	return p.readGroup(ctx) == nil && p.memory.group.is == nil
}
