package nodegroup

import (
	"time"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/nodegroup/noderole"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
)

// memory holds the last reads of one pool. Losing it costs a few reads and nothing else.
type memory struct {
	// touch makes what the process has read of the backing group for all pools out of date.
	touch func()
	reads
	// backingName is the name of the backing group, as it was read last.
	backingName string
	members     instancesRead
	written     written
	// deleteFailed is when the last deletion of the group failed, as far as was seen; zero when none has.
	deleteFailed time.Time
}

// reads is the part of memory that a write makes out of date, or notes.
type reads struct {
	group      groupRead
	template   launch.Memory
	updates    updateHistory
	role       noderole.Memory
	activities asg.Activities
	// resized is when we last asked for more instances, made when the service said that it has made the group.
	resized, made time.Time
	// asked is the size that the group was last asked for, when it may have been heard.
	asked cache.RequestedSize
}

// groupRead is the node group with its backing group, as they were read.
type groupRead struct {
	// is is nil if there is no node group, backing if it has no Auto Scaling group or is not the pool's.
	is      *ekstypes.Nodegroup
	backing *asgtypes.AutoScalingGroup
	// at is since when that is known to hold, asked when EKS said it, and of which specification.
	at, asked time.Time
	asks      string
	named     driverkit.NamedGroup
	former    driverkit.FormerGroup
}

// written holds what this process put on the node group and may remove again.
type written struct{ tags, labels, taints session.Recent }

// touchedGroup is called before a write to the node group or its backing group: whatever comes of it, the last reads are worth nothing.
func (m *memory) touchedGroup() {
	m.touch()
	m.group, m.template.Wrote = groupRead{}, false
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

// atRest reports whether nothing is going on in the node group, as far as is known: whatever begins shows in the backing group.
func (m *memory) atRest(t target) bool {
	is, backing := m.group.is, m.group.backing
	return is != nil && t.owns(is) && is.Status == ekstypes.NodegroupStatusActive && (is.Health == nil || len(is.Health.Issues) == 0) &&
		m.updates.quiet() && backing != nil && m.backingName != "" && !asg.Missing(backing)
}
