package members

import (
	"context"
	"time"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

const (
	// tagStandby is on instances that Muster put into standby. One in standby without it was put there by another client.
	tagStandby = "muster.dev/set-aside"
	// tagKept is on instances that Muster protected from scale-in so that a refresh leaves them.
	tagKept = "muster.dev/kept"
)

// member holds the details of one instance that EC2 reports and that do not change.
type member struct {
	created time.Time
	// standby and kept are true if it has Muster's tag of instances in standby, or of those protected while a refresh ran.
	standby, kept bool
	// owned is true if it has the pool's owner tags.
	owned bool
	// entered is when the service accepted Muster's request to put it into standby: reads may not show that for a moment.
	entered time.Time
	// spot is true if the cloud may interrupt it.
	spot bool
	// at is the time of the read from EC2.
	at time.Time
}

// incomplete reports whether what is known about an instance may have changed with what the group shows of it: a client put it into standby
// or protected it, and it may have been Muster.
func (m member) incomplete(i asgtypes.Instance, now time.Time) bool {
	return asg.InStandby(i) && !m.standby || ptr.Deref(i.ProtectedFromScaleIn, false) && !m.kept && now.Sub(m.at) > session.SlowPeriod
}

// Members holds the known details of the instances of a group. The zero Members are empty.
type Members struct {
	known map[string]member
	// refused is why EC2 did not describe instances.
	refused driverkit.Refusal
	// noticed are the spot instances of the region that are about to be interrupted.
	noticed map[string]bool
}

// Read asks EC2 about instances that are not known yet: the group's own answer does not tell when they were launched, nor which client put
// them into standby or protected them. Those that EC2 does not show yet, because its reads are eventually consistent, are read again.
func (m *Members) Read(ctx context.Context, c asg.Client, is *asgtypes.AutoScalingGroup, owner cloud.Owner) error {
	current, err := asg.Details[member]{
		Incomplete: func(known member, i asgtypes.Instance) bool { return known.incomplete(i, c.Now) },
		Keep: func(known member, i ec2types.Instance) member {
			return member{
				created: ptr.Deref(i.LaunchTime, time.Time{}), spot: i.InstanceLifecycle == ec2types.InstanceLifecycleTypeSpot, at: c.Now,
				entered: known.entered,
				owned:   known.owned || session.Spelling.Claim(owner, session.In(session.TagMap(i.Tags))).Owned,
				standby: known.standby || session.TaggedFor(i.Tags, tagStandby, owner), kept: known.kept || session.TaggedFor(i.Tags, tagKept, owner),
			}
		},
	}.Read(ctx, c.Session, is, m.known)
	m.known = current
	return err
}

// Untagged returns the instances of a group that lack the pool's owner tags, as far as that is known.
func (m Members) Untagged(is *asgtypes.AutoScalingGroup) []string {
	var ids []string
	for _, i := range is.Instances {
		id := ptr.Deref(i.InstanceId, "")
		if known, ok := m.known[id]; ok && !known.owned && !known.at.IsZero() && asg.Present(i) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Tag writes the pool's owner tags to instances.
func (m *Members) Tag(ctx context.Context, c asg.Client, ids []string, tags map[string]string) error {
	return c.TagInstances(ctx, ids, tags, func(ids []string) { m.change(ids, func(k *member) { k.owned = true }) })
}

// Observe is Read for an observation. If the call fails, what only EC2 reports stays unknown and the rest of the pool is observed:
// launch times are zero, and an instance in standby that is not known to be Muster's is left to its owner. Steps that depend on what is
// unknown read again and return the error.
func (m *Members) Observe(ctx context.Context, c asg.Client, is *asgtypes.AutoScalingGroup, owner cloud.Owner) error {
	return m.refused.Tolerate(c.Now, session.RefusedPeriod, func() error { return m.Read(ctx, c, is, owner) })
}

// Refused returns why EC2 did not describe instances at the last read; nil if it did.
func (m Members) Refused() error { return m.refused.Err }

// StandbyUnknown reports whether it is unknown if Muster put some instance of the group into standby.
func (m Members) StandbyUnknown(is *asgtypes.AutoScalingGroup) bool {
	if is == nil || m.refused.Err == nil {
		return false
	}
	for _, i := range is.Instances {
		if _, known := m.known[ptr.Deref(i.InstanceId, "")]; asg.InStandby(i) && !known {
			return true
		}
	}
	return false
}

// ShortNotice reports whether the group has spot instances, which may be interrupted at any time.
func (m Members) ShortNotice(is *asgtypes.AutoScalingGroup) bool {
	for _, i := range is.Instances {
		if asg.Present(i) && m.known[ptr.Deref(i.InstanceId, "")].spot {
			return true
		}
	}
	return false
}

// ReadNotices reads which spot instances are about to be interrupted, if the group has any or if EC2 does not report which are spot. With
// fresh it does not use an answer that pools share.
func (m *Members) ReadNotices(ctx context.Context, c asg.Client, is *asgtypes.AutoScalingGroup, fresh bool) error {
	m.noticed = nil
	if !m.ShortNotice(is) && m.refused.Err == nil {
		return nil
	}
	noticed, err := c.Session.SpotNotices(ctx, c.Now, fresh)
	m.noticed = noticed
	return err
}

// interrupted is why an instance is about to be terminated that has its notice.
var interrupted = pool.Cause{Reason: "SpotInterruption",
	Message: "EC2 has given notice that it takes the spot instance back within two minutes"}

// Interruption returns the notice that EC2 gave of an instance's interruption; nil if it gave none.
func (m Members) Interruption(id string) *pool.Cause {
	if !m.noticed[id] {
		return nil
	}
	cause := interrupted
	return &cause
}

// Created returns when an instance was launched; zero while that is unknown.
func (m Members) Created(id string) time.Time { return m.known[id].created }

// External reports whether another client put an instance that is in standby there.
func (m Members) External(id string) bool { return !m.known[id].standby }

// Entering reports whether the service accepted Muster's request to put an instance into standby so recently that reads may not show it.
func (m Members) Entering(id string, now time.Time) bool {
	return now.Sub(m.known[id].entered) < session.VisibleWithin
}

// change changes what is known about instances.
func (m *Members) change(ids []string, change func(*member)) {
	if m.known == nil {
		m.known = map[string]member{}
	}
	for _, id := range ids {
		known := m.known[id]
		change(&known)
		m.known[id] = known
	}
}
