package aws

import (
	"maps"
	"slices"
	"sync"
	"time"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
)

// memory are the last reads of one pool. Losing it costs a few reads and nothing else.
type memory struct {
	// mu is held for a whole pass: passes of one pool do not overlap.
	mu sync.Mutex
	// touch makes what the process has read of the group for all pools out of date.
	touch func()
	reads
	// members are what EC2 said about the group's instances, by ID. It stays true whatever is written.
	members        map[string]memberRead
	membersRefused driverkit.Refusal
	// holds are what is known of the instances that our hook holds, by ID.
	holds map[string]holdRead
	// takes are the instances that we had the group terminate and that are still in it, by ID, with the time.
	takes map[string]time.Time
	// putHooks is when this process last put each lifecycle hook, by name.
	putHooks map[string]time.Time
	// marked are the spot instances of the region that have their notice.
	marked map[string]bool
}

// reads is the part of memory that a write makes out of date, or notes.
type reads struct {
	group      groupRead
	template   launch.Memory
	hooks      hooksRead
	rolls      rollsRead
	activities asg.Activities
	// resized is when we last asked for more instances, made when the service said that it has made the group.
	resized, made time.Time
	// asked is the size that the group was last asked for, when it may have been heard.
	asked cache.RequestedSize
}

// groupRead is the group as it was read; nil within means that there was none.
type groupRead struct {
	is    *asgtypes.AutoScalingGroup
	at    time.Time
	named driverkit.NamedGroup
}

type hooksRead struct {
	list []asgtypes.LifecycleHook
	at   time.Time
	// of is the group as it was then; nil until it is read if made is true: then Muster has just created it with these hooks.
	of   *asgtypes.AutoScalingGroup
	made bool
	// refused is the service's refusal to list them; list is empty then, which does not mean that there are none.
	refused error
}

// groupAsRead reports whether the group need not be read again.
func (m *memory) groupAsRead(now time.Time, maxAge time.Duration) bool {
	age := now.Sub(m.group.at)
	if m.group.at.IsZero() {
		return false
	}
	return maxAge > 0 && age <= maxAge || maxAge != cloud.NoSharedCache && m.template.Wrote && age <= session.SameMoment
}

// remember keeps what is known about an instance.
func (m *memory) remember(id string, read memberRead) {
	if m.members == nil {
		m.members = map[string]memberRead{}
	}
	m.members[id] = read
}

// hooksPutBefore returns the lifecycle hooks that this process has put a moment ago. Reads may show neither them nor their mark: to drop it
// would leave a hook for ever that is not wanted any more.
func (m *memory) hooksPutBefore(now time.Time) []string {
	if m.putHooks == nil {
		m.putHooks = map[string]time.Time{}
	}
	maps.DeleteFunc(m.putHooks, func(_ string, at time.Time) bool { return now.Sub(at) >= session.VisibleWithin })
	return slices.Collect(maps.Keys(m.putHooks))
}

// size is that of the group as it was read; zero where there was none.
func (m *memory) size() int {
	if m.group.is == nil {
		return 0
	}
	return int(session.Deref(m.group.is.DesiredCapacity))
}

// touchedGroup is called before a write to the group: whatever comes of it, the last reads are worth nothing.
func (m *memory) touchedGroup() {
	m.touch()
	m.group, m.hooks, m.template.Wrote = groupRead{}, hooksRead{}, false
}

// touchedMembers is called before a write that concerns the group's instances and leaves its hooks as they are.
func (m *memory) touchedMembers() {
	hooks := m.hooks
	m.touchedGroup()
	m.hooks = hooks
}

// forget drops everything that was read, after a conflict.
func (m *memory) forget() {
	m.touchedGroup()
	m.rolls.at = time.Time{}
	m.template.Forget()
}
