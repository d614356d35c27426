package nodegroup

import (
	"context"
	"slices"
	"strconv"
	"time"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// memberRead is what EC2 says about one instance.
type memberRead struct {
	created time.Time
	// spot is true if the cloud may take it back.
	spot bool
	// tags are those that it was seen to have.
	tags map[string]string
}

// instancesRead is what EC2 said about the instances of the group behind, by ID, or why it did not describe them.
type instancesRead struct {
	known   map[string]memberRead
	refused driverkit.Refusal
}

// read asks EC2 about instances that are not known yet: the group's own answer does not tell when they were made. What EC2
// does not show yet, for its reads are eventually consistent, is asked for again.
func (m *instancesRead) read(ctx context.Context, s *session.Session, behind behindRead) error {
	current, err := asg.Details[memberRead]{Keep: func(_ memberRead, i ec2types.Instance) memberRead {
		read := memberRead{created: ptr.Deref(i.LaunchTime, time.Time{}), spot: i.InstanceLifecycle == ec2types.InstanceLifecycleTypeSpot,
			tags: map[string]string{}}
		for _, t := range i.Tags {
			read.tags[ptr.Deref(t.Key, "")] = ptr.Deref(t.Value, "")
		}
		return read
	}}.Read(ctx, s, behind.is, m.known)
	m.known = current
	return err
}

// observe is read for an observation. If the call fails, launch times and tags stay unknown and the rest of the pool
// is observed.
func (m *instancesRead) observe(ctx context.Context, s *session.Session, behind behindRead, now time.Time) error {
	return m.refused.Tolerate(now, session.RefusedPeriod, func() error { return m.read(ctx, s, behind) })
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

// issues returns why EC2 did not describe instances, if it did not.
func (m instancesRead) issues() []pool.Cause {
	if refused := m.refused.Cause(); refused != nil {
		return []pool.Cause{*refused}
	}
	return nil
}

// templateUnknown reports whether it is unknown which template an instance was launched from: an update is open, and EC2 did not
// report when the instance was launched.
func (m instancesRead) templateUnknown(i asgtypes.Instance, updates updateHistory) bool {
	_, member := asg.StateOf(i)
	_, known := m.known[ptr.Deref(i.InstanceId, "")]
	return member && !known && m.refused.Err != nil && len(updates.open()) > 0
}

// ownVersion is the version of EKS's own template that an instance was launched from.
func ownVersion(i asgtypes.Instance) int64 {
	if i.LaunchTemplate == nil {
		return 0
	}
	number, _ := strconv.ParseInt(ptr.Deref(i.LaunchTemplate.Version, ""), 10, 64)
	return number
}

// broughtByUpdates returns which instances an update has brought that has not succeeded, or not yet: its ID, by theirs. Updates that did
// succeed, and those before, have left nothing else.
func (m instancesRead) broughtByUpdates(behind behindRead, updates updateHistory) map[string]string {
	brought := map[string]string{}
	if behind.is == nil {
		return brought
	}
	for _, u := range updates.open() {
		for _, i := range behind.is.Instances {
			if m.broughtBy(u, i, behind) {
				brought[ptr.Deref(i.InstanceId, "")] = ptr.Deref(u.Id, "")
			}
		}
	}
	return brought
}

// broughtBy reports whether an instance is younger than an update's beginning, and of a later version of EKS's own template than any that
// is older. An instance of which it is not known yet when it was made is as young as can be.
func (m instancesRead) broughtBy(u updateRead, i asgtypes.Instance, behind behindRead) bool {
	began, read := ptr.Deref(u.CreatedAt, time.Time{}), m.known[ptr.Deref(i.InstanceId, "")]
	if !read.created.IsZero() && read.created.Before(began) {
		return false
	}
	for _, other := range behind.is.Instances {
		o, ok := m.known[ptr.Deref(other.InstanceId, "")]
		if ok && !o.created.IsZero() && o.created.Before(began) && ownVersion(other) >= ownVersion(i) {
			return false
		}
	}
	return true
}

// percentOf is the share of instances that a roll has brought; EKS does not tell.
func (m instancesRead) percentOf(r *pool.ProviderRollout, brought map[string]string) int {
	if r.State == pool.ProviderRolloutSucceeded {
		return 100
	}
	fresh, all := 0, 0
	for id := range m.known {
		all++
		if brought[id] == r.ID {
			fresh++
		}
	}
	if all == 0 {
		return 0
	}
	return 100 * fresh / all
}

// untagged are the instances that lack tags which instances shall have: they were launched before the group behind had them.
func (m instancesRead) untagged(behind behindRead, want groupSpec) []string {
	var ids []string
	tags := withoutBooks(want.passed)
	if behind.is == nil {
		return nil
	}
	for _, i := range behind.is.Instances {
		id := ptr.Deref(i.InstanceId, "")
		read, known := m.known[id]
		if state, _ := asg.StateOf(i); !known || state != pool.Running && state != pool.Pending {
			continue
		}
		for key, text := range tags {
			if found, ok := read.tags[key]; !ok || found != text {
				ids = append(ids, id)
				break
			}
		}
	}
	slices.Sort(ids)
	return ids
}
