package nodegroup

import (
	"context"
	"time"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
)

// machines reads the instances of the node group, the updates that replace them, and why instances are missing.
func (r *reader) machines(ctx context.Context, s *state) error {
	if err := s.m.members.read(ctx, r.c, s.backing, r.now); err != nil {
		return err
	}
	if err := r.updates(ctx, s.is); err != nil {
		return err
	}
	s.cache.Shared = s.m.atRest(s.t)
	var err error
	s.launchIssues, err = s.m.activities.Read(ctx, r.c, s.backing, s.m.resized, r.now)
	if session.Absent(err) {
		return nil // the backing group was deleted meanwhile
	}
	return err
}

// memberRead is what EC2 says about one instance.
type memberRead struct {
	created time.Time
	// tags are those that it was seen to have.
	tags map[string]string
}

// instancesRead holds EC2's descriptions of the instances of the backing group, by ID, or the error of the read.
type instancesRead struct {
	known   map[string]memberRead
	refused driverkit.Refusal
}

// read asks EC2 about instances that are not known yet: the group's own answer does not tell when they were made. What EC2 does not show
// yet, for its reads are eventually consistent, is asked for again. If the call fails, launch times and tags stay unknown, and the rest of
// the pool is observed.
func (m *instancesRead) read(ctx context.Context, s *session.Session, backing *asgtypes.AutoScalingGroup, now time.Time) error {
	details := asg.Details[memberRead]{Keep: func(_ memberRead, i ec2types.Instance) memberRead {
		return memberRead{created: ptr.Deref(i.LaunchTime, time.Time{}), tags: session.TagMap(i.Tags)}
	}}
	return m.refused.Tolerate(now, session.RefusedPeriod, func() (err error) {
		m.known, err = details.Read(ctx, s, backing, m.known)
		return err
	})
}

// tagged notes that an instance has exactly these tags.
func (m *instancesRead) tagged(id string, tags map[string]string) {
	if m.known == nil {
		m.known = map[string]memberRead{}
	}
	read := m.known[id]
	read.tags = tags
	m.known[id] = read
}
