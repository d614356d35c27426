package nodegroup

import (
	"time"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/nodegroup/noderole"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
)

// memory holds the last reads of one pool. Losing it costs a few reads and nothing else.
type memory struct {
	// touch makes what the process has read of the group behind for all pools out of date.
	touch func()
	reads
	// behindName is the name of the group behind, as it was read last.
	behindName string
	members    instancesRead
	written    written
	// deleteFailed is when the last deletion of the group failed, as far as was seen; zero when none has.
	deleteFailed time.Time
}

// reads is the part of memory that a write makes out of date, or notes.
type reads struct {
	group      groupRead
	behind     behindRead
	template   launch.Memory
	updates    updateHistory
	role       noderole.Memory
	activities asg.Activities
	// resized is when we last asked for more instances, made when the service said that it has made the group.
	resized, made time.Time
	// asked is the size that the group was last asked for, when it may have been heard.
	asked cache.RequestedSize
}

// groupRead is the node group as it was read; nil within means that there was none.
type groupRead struct {
	is *ekstypes.Nodegroup
	// at is since when that is known to hold, asked when EKS said it, and of which specification.
	at, asked time.Time
	asks      string
	named     driverkit.NamedGroup
	former    driverkit.FormerGroup
}

// behindRead is the Auto Scaling group behind it; nil within means that there was none.
type behindRead struct {
	is *asgtypes.AutoScalingGroup
	at time.Time
}

// touchedGroup is called before a write to the node group or the group behind it: whatever comes of it, the last reads are worth
// nothing.
func (m *memory) touchedGroup() {
	m.touch()
	m.group, m.behind, m.template.Wrote = groupRead{}, behindRead{}, false
}

// touchedUpdates is called before a write that begins an update.
func (m *memory) touchedUpdates() {
	m.touchedGroup()
	m.updates.at = time.Time{}
}

// forget drops everything that was read, after a conflict.
func (m *memory) forget() {
	m.touchedUpdates()
	m.template.Forget()
	m.role = noderole.Memory{}
}

// noteFailure keeps the moment at which the last deletion failed: as the group says, else when that was first seen.
func (m *memory) noteFailure(is *ekstypes.Nodegroup, now time.Time) {
	changed := ptr.Deref(is.ModifiedAt, time.Time{})
	switch {
	case is.Status != ekstypes.NodegroupStatusDeleteFailed:
		m.deleteFailed = time.Time{}
	case changed.After(m.deleteFailed) && changed.Before(now):
		// Another deletion may have failed between two looks.
		m.deleteFailed = changed
	case m.deleteFailed.IsZero():
		m.deleteFailed = now
	}
}
