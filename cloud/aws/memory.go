package aws

import (
	"sync"
	"time"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

const (
	// sameMoment is how old a look at the group may be to be taken for a fresh one right after a write of ours that did
	// not concern the group.
	sameMoment = 2 * time.Second
	// activityGrace is given to a group after we changed its size before it is asked why instances are missing;
	// activityPeriod is the time between two such questions.
	activityGrace, activityPeriod = 5 * time.Second, 20 * time.Second
	// visibleWithin is how long a read may still show a group as it was before a write: the service's reads are eventually
	// consistent.
	visibleWithin = 10 * time.Second
)

// memory are the last reads of one pool. Losing it costs a few reads and nothing else.
type memory struct {
	// mu is held for a whole pass: passes of one pool do not overlap.
	mu         sync.Mutex
	group      groupRead
	template   launch.Memory
	hooks      hooksRead
	rolls      rollsRead
	activities activitiesRead
	// members are what EC2 said about the group's instances, by ID. It stays true whatever is written.
	members map[string]memberRead
	// holds are what is known of the instances that our hook holds, by ID.
	holds map[string]holdRead
	// marked are the spot instances of the region that have their notice.
	marked map[string]bool
	// resized is when we last asked for more instances, made when the service said that it has made the group.
	resized, made time.Time
	// asked is the size that the group was last asked for, when it may have been heard.
	asked asked
}

// asked is a size that we asked for, and when.
type asked struct {
	size int32
	at   time.Time
}

// groupRead is the group as it was read; nil within means that there was none.
type groupRead struct {
	is *asgtypes.AutoScalingGroup
	at time.Time
}

type hooksRead struct {
	list []asgtypes.LifecycleHook
	at   time.Time
}

type activitiesRead struct {
	issues []pool.Cause
	at     time.Time
}

// groupAsRead says whether the group need not be read again.
func (m *memory) groupAsRead(now time.Time, maxAge time.Duration) bool {
	age := now.Sub(m.group.at)
	if m.group.at.IsZero() {
		return false
	}
	return maxAge > 0 && age <= maxAge || m.template.Wrote && age <= sameMoment
}

// remember keeps what is known about an instance.
func (m *memory) remember(id string, read memberRead) {
	if m.members == nil {
		m.members = map[string]memberRead{}
	}
	m.members[id] = read
}

// asks notes that the group was asked for a size, unless that was surely not heard.
func (m *memory) asks(size int32, now time.Time, err error) {
	if err == nil || cloud.KindOf(err) == cloud.Unavailable {
		m.asked = asked{size, now}
	}
}

// behind says that the group as it was read does not show what it was asked for a moment ago: either the read is older, or
// somebody else was faster. Neither is a ground to take instances away.
func (m *memory) behind(now time.Time) bool {
	return m.group.is != nil && !m.asked.at.IsZero() && now.Sub(m.asked.at) < visibleWithin && session.Deref(m.group.is.DesiredCapacity) != m.asked.size
}

// touchedGroup is called before a write to the group: whatever comes of it, the last reads are worth nothing.
func (m *memory) touchedGroup() {
	m.group, m.hooks, m.template.Wrote = groupRead{}, hooksRead{}, false
}

// touchedMembers is called before a write that concerns the group's instances and leaves its hooks as they are.
func (m *memory) touchedMembers() {
	hooks := m.hooks
	m.touchedGroup()
	m.hooks = hooks
}
