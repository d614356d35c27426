package aws

import (
	"cmp"
	"context"
	"slices"
	"time"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/muster-project/muster/cloud"
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
	// spot says that the cloud may take it back.
	spot bool
	// at is when that was asked.
	at time.Time
}

// membersRefusal is EC2's last refusal to describe instances; err is nil if there was none.
type membersRefusal struct {
	err error
	at  time.Time
}

// incomplete says that what is known about an instance may have changed with what the group says of it: somebody put it into
// standby or protected it, and it may have been us.
func (r memberRead) incomplete(i asgtypes.Instance, now time.Time) bool {
	return session.InStandby(i) && !r.aside || session.Deref(i.ProtectedFromScaleIn) && !r.kept && now.Sub(r.at) > session.SlowPeriod
}

// readMembers asks EC2 about instances that are not known yet: the group's own answer does not tell when they were made, nor
// by whom they were put into standby or protected. What EC2 does not show yet, for its reads are eventually consistent, is asked
// for again.
func (p *pass) readMembers(ctx context.Context, is *asgtypes.AutoScalingGroup) error {
	known := p.memory.members
	current := make(map[string]memberRead, len(is.Instances))
	var unknown []string
	for _, i := range is.Instances {
		id := session.Deref(i.InstanceId)
		if _, member := session.StateOf(i); !member {
			continue
		}
		read, ok := known[id]
		if ok {
			current[id] = read
		}
		if !ok || read.incomplete(i, p.now) {
			unknown = append(unknown, id)
		}
	}
	p.memory.members = current
	found, err := p.c.Instances(ctx, unknown)
	if err != nil {
		return err
	}
	for _, i := range found {
		known := current[session.Deref(i.InstanceId)]
		current[session.Deref(i.InstanceId)] = memberRead{
			created: session.Deref(i.LaunchTime), spot: i.InstanceLifecycle == ec2types.InstanceLifecycleTypeSpot, at: p.now,
			standby: known.standby, aside: known.aside || session.TaggedFor(i.Tags, tagSetAside, p.t.Owner), kept: known.kept || session.TaggedFor(i.Tags, tagKept, p.t.Owner),
		}
	}
	return nil
}

// observeMembers is readMembers for an observation. If EC2 denies the call, what only EC2 reports stays unknown and the rest of the pool
// is observed: launch times are zero, and an instance in standby that is not known to be Muster's is left to its owner. Steps that
// depend on what is unknown read again and return the refusal.
func (p *pass) observeMembers(ctx context.Context, is *asgtypes.AutoScalingGroup) error {
	known := &p.memory.membersRefused
	if known.err != nil && p.now.Sub(known.at) < session.RefusedPeriod {
		return nil
	}
	err := p.readMembers(ctx, is)
	*known = membersRefusal{}
	if err != nil && cloud.KindOf(err) == cloud.Denied {
		*known = membersRefusal{err: err, at: p.now}
		return nil
	}
	return err
}

// standbyKnown returns an error while it is unknown whether Muster put an instance of the group into standby: a group is deleted with
// its standby instances, and those that Muster put there are drained first.
func (p *pass) standbyKnown(ctx context.Context) error {
	is, refused := p.memory.group.is, p.memory.membersRefused.err
	if is == nil || refused == nil {
		return nil
	}
	for _, i := range is.Instances {
		if _, known := p.memory.members[session.Deref(i.InstanceId)]; session.InStandby(i) && !known {
			return p.readMembers(ctx, is)
		}
	}
	return nil
}

// instances are the group's members, in the order in which they were made. Those of which it is not known yet are the
// youngest. Instances in standby that Muster did not put there are left to whoever did. One that Muster put there and that is not shown
// there yet counts as set aside, unless it is of the wanted template again: Auto Scaling may have ignored the request, and removing the
// instance as one whose successor was launched would replace it without a cause.
func (p *pass) instances(is *asgtypes.AutoScalingGroup, want wanted) []pool.Instance {
	var list []pool.Instance
	differs := p.launch.Differences(want.template)
	for _, i := range is.Instances {
		state, member := session.StateOf(i)
		if !member {
			continue
		}
		id := session.Deref(i.InstanceId)
		read := p.memory.members[id]
		if session.InStandby(i) && !read.aside {
			continue
		}
		template := p.memory.template.TemplateOf(p.refOf(i.LaunchTemplate))
		list = append(list, pool.Instance{
			ID:                id,
			ProviderID:        session.ProviderID(i),
			Zone:              session.Deref(i.AvailabilityZone),
			Template:          template,
			State:             state,
			Created:           read.created,
			Standby:           session.InStandby(i) || p.now.Sub(read.standby) < session.VisibleWithin && !template.Same(want.template.Template),
			LifecycleHook:     p.holdOf(id),
			TerminationNotice: p.doomOf(is, i),
			TemplateDiff:      differs(p.refOf(i.LaunchTemplate)),
		})
	}
	slices.SortFunc(list, func(a, b pool.Instance) int {
		if a.Created.IsZero() != b.Created.IsZero() {
			return cmp.Compare(b.Created.Unix(), a.Created.Unix())
		}
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// lent are the instances that somebody put into standby himself.
func (p *pass) lent(is *asgtypes.AutoScalingGroup) []string {
	var ids []string
	for _, i := range is.Instances {
		if session.InStandby(i) && !p.memory.members[session.Deref(i.InstanceId)].aside {
			ids = append(ids, session.ProviderID(i))
		}
	}
	slices.Sort(ids)
	return ids
}
