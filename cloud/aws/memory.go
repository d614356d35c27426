package aws

import (
	"time"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/lifecycle"
	"github.com/muster-project/muster/cloud/aws/members"
	"github.com/muster-project/muster/cloud/aws/refresh"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
)

// memory holds the last reads of one pool. Losing it costs a few reads and nothing else.
type memory struct {
	// touch marks what the process has read of the group for all pools as out of date.
	touch func()
	reads
	// members stay as they are whatever is written, as do holds.
	members members.Members
	holds   lifecycle.Holds
	// written are the lifecycle hooks that this process put.
	written lifecycle.Written
	// tagged are the tags of the group that this process put and that may be removed again.
	tagged session.Recent
}

// reads is the part of memory that a write makes out of date, or notes.
type reads struct {
	group      groupRead
	template   launch.Memory
	hooks      lifecycle.Hooks
	refreshes  refresh.History
	activities asg.Activities
	// resized is when Muster last requested more instances, made when the service reported that it has created the group.
	resized, made time.Time
	// asked is the size that was last requested, when the request may have been received.
	asked cache.RequestedSize
}

// groupRead is the group as it was read; is is nil if it did not exist.
type groupRead struct {
	is     *asgtypes.AutoScalingGroup
	at     time.Time
	named  driverkit.NamedGroup
	former driverkit.FormerGroup
}

// size returns the size of the group; zero if it did not exist.
func (g groupRead) size() int {
	if g.is == nil {
		return 0
	}
	return int(ptr.Deref(g.is.DesiredCapacity, 0))
}

// touchedGroup is called before a write to the group: whatever its result, the last reads are out of date.
func (m *memory) touchedGroup() {
	m.touch()
	m.group, m.hooks, m.template.Wrote = groupRead{}, lifecycle.Hooks{}, false
}

// touchedMembers is called before a write that concerns the group's instances and leaves its hooks as they are.
func (m *memory) touchedMembers() {
	hooks := m.hooks
	m.touchedGroup()
	m.hooks = hooks
}

// touchedRefreshes is called before a write that concerns the refreshes.
func (m *memory) touchedRefreshes() {
	m.touchedMembers()
	m.refreshes = refresh.History{}
}

// forget discards everything that was read, after a conflict.
func (m *memory) forget() {
	m.touchedGroup()
	m.refreshes.Outdate()
	m.template.Forget()
}
