package aws

import (
	"context"
	"time"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// memberRead is what EC2 says about one instance and does not take back.
type memberRead struct {
	created time.Time
	// aside and kept say that it carries our tag of those that were set aside, or protected while a refresh ran.
	aside, kept bool
	// standby is when we put it into standby, as the service has said: reads may not show it for a moment.
	standby time.Time
	// spot is true if the cloud may take it back.
	spot bool
	// at is when that was asked.
	at time.Time
}

// incomplete reports whether what is known about an instance may have changed with what the group shows of it: a client put it into
// standby or protected it, and it may have been us.
func (r memberRead) incomplete(i asgtypes.Instance, now time.Time) bool {
	return asg.InStandby(i) && !r.aside || session.Deref(i.ProtectedFromScaleIn) && !r.kept && now.Sub(r.at) > session.SlowPeriod
}

// readMembers asks EC2 about instances that are not known yet: the group's own answer does not tell when they were made, nor
// by whom they were put into standby or protected. What EC2 does not show yet, for its reads are eventually consistent, is asked
// for again.
func (p *pass) readMembers(ctx context.Context, is *asgtypes.AutoScalingGroup) error {
	current, err := asg.Details[memberRead]{
		Incomplete: func(known memberRead, i asgtypes.Instance) bool { return known.incomplete(i, p.now) },
		Keep: func(known memberRead, i ec2types.Instance) memberRead {
			return memberRead{
				created: session.Deref(i.LaunchTime), spot: i.InstanceLifecycle == ec2types.InstanceLifecycleTypeSpot, at: p.now, standby: known.standby,
				aside: known.aside || session.TaggedFor(i.Tags, tagSetAside, p.t.Owner), kept: known.kept || session.TaggedFor(i.Tags, tagKept, p.t.Owner),
			}
		},
	}.Read(ctx, p.c, is, p.memory.members)
	p.memory.members = current
	return err
}

// observeMembers is readMembers for an observation. If EC2 denies the call, what only EC2 reports stays unknown and the rest of the pool
// is observed: launch times are zero, and an instance in standby that is not known to be Muster's is left to its owner. Steps that
// depend on what is unknown read again and return the refusal.
func (p *pass) observeMembers(ctx context.Context, is *asgtypes.AutoScalingGroup) error {
	return p.memory.membersRefused.Tolerate(p.now, session.RefusedPeriod, func() error { return p.readMembers(ctx, is) })
}

// standbyKnown returns an error while it is unknown whether Muster put an instance of the group into standby: a group is deleted with
// its standby instances, and those that Muster put there are drained first.
func (p *pass) standbyKnown(ctx context.Context) error {
	is, refused := p.memory.group.is, p.memory.membersRefused.Err
	if is == nil || refused == nil {
		return nil
	}
	for _, i := range is.Instances {
		if _, known := p.memory.members[session.Deref(i.InstanceId)]; asg.InStandby(i) && !known {
			return p.readMembers(ctx, is)
		}
	}
	return nil
}

// instances are the group's members, in the order in which they were made. Those of which it is not known yet are the
// youngest. Instances in standby that Muster did not put there are left to the client that did. One that Muster put there and that is not
// shown there yet counts as set aside, unless it is of the wanted template again: Auto Scaling may have ignored the request, and removing
// the instance as one whose successor was launched would replace it without a cause.
func (p *pass) instances(is *asgtypes.AutoScalingGroup, want wanted) []pool.Instance {
	var list []pool.Instance
	differs := p.launch.Differences(want.template)
	for _, i := range is.Instances {
		state, member := asg.StateOf(i)
		if !member {
			continue
		}
		id := session.Deref(i.InstanceId)
		read := p.memory.members[id]
		if asg.InStandby(i) && !read.aside {
			continue
		}
		template := p.memory.template.TemplateOf(p.refOf(i.LaunchTemplate))
		list = append(list, pool.Instance{
			ID:                id,
			ProviderID:        asg.ProviderID(i),
			Zone:              session.Deref(i.AvailabilityZone),
			Template:          template,
			State:             state,
			Created:           read.created,
			Standby:           asg.InStandby(i) || p.now.Sub(read.standby) < session.VisibleWithin && !template.Same(want.template.Template),
			LifecycleHook:     p.holdOf(id),
			TerminationNotice: p.terminationNotice(is, i),
			TemplateDiff:      differs(p.refOf(i.LaunchTemplate)),
		})
	}
	asg.SortByAge(list)
	return list
}

// externalStandby returns the instances that another client put into standby.
func (p *pass) externalStandby(is *asgtypes.AutoScalingGroup) []string {
	return asg.Standby(is, func(id string) bool { return !p.memory.members[id].aside })
}
