package refresh

import (
	"cmp"
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

const (
	// maxListed bounds the refreshes that are read, newest first: enough to count failures in a row.
	maxListed = 20
	// mixedPeriod is the time between two reads of the refreshes while instances are of other content than the group launches: a pool that
	// replaces them one by one is observed several times a second, and what others begin may show a little later.
	mixedPeriod = 10 * time.Second
)

// TemplateOf returns the template that a launch template specification of a group or an instance names.
type TemplateOf func(*asgtypes.LaunchTemplateSpecification) pool.Template

// History is the instance refreshes of a group as they were read, newest first. The zero History is unknown.
type History struct {
	list []asgtypes.InstanceRefresh
	at   time.Time
	// refused is why they could not be listed; list is empty then.
	refused driverkit.Refusal
	// leaving are the instances that the group terminated when they were read.
	leaving map[string]bool
}

// None returns the history of a group that was created at a moment.
func None(at time.Time) History { return History{at: at} }

// Refused returns why the refreshes could not be listed; nil if they could.
func (h History) Refused() *pool.Cause { return h.refused.Cause() }

// Running reports whether the newest refresh had not ended.
func (h History) Running() bool { return len(h.list) > 0 && h.list[0].EndTime == nil }

// Fixed reports whether the newest refresh has not ended and decides what the group launches: the service rejects changes of that.
func (h History) Fixed() bool { return h.Running() && h.list[0].DesiredConfiguration != nil }

// Over reports whether it is known that no refresh runs.
func (h History) Over() bool { return !h.at.IsZero() && h.refused.Err == nil && !h.Running() }

// Outdate has the refreshes read again.
func (h *History) Outdate() { h.at = time.Time{} }

// Change holds the facts that tell whether refreshes may have changed since they were read.
type Change struct {
	Group *asgtypes.AutoScalingGroup
	// MaxAge is the maximum age of the history of a running refresh.
	MaxAge     time.Duration
	TemplateOf TemplateOf
	// Requested reports whether Muster had the group terminate an instance.
	Requested func(id string) bool
}

// Read reads the refreshes when they may have changed: while one runs, while instances are of another version than the group launches, when
// the group terminates instances that Muster did not name, and once in a while.
func (h *History) Read(ctx context.Context, c asg.Client, change Change) error {
	if h.current(change, c.Now) {
		return nil
	}
	found, err := c.Session.AutoScaling.DescribeInstanceRefreshes(ctx, &autoscaling.DescribeInstanceRefreshesInput{
		AutoScalingGroupName: &c.Name, MaxRecords: new(int32(maxListed)),
	})
	if err = session.Refusal(err, c.Now); session.Absent(err) || asg.BeingDeleted(err) {
		return nil
	}
	if failed := h.refused.Keep(c.Now, err); failed != nil {
		return failed
	}
	h.list, h.at, h.leaving = nil, c.Now, leaving(change.Group)
	if err == nil {
		h.list = timed(found)
	}
	return nil
}

// current reports whether the refreshes need not be read again.
func (h History) current(change Change, now time.Time) bool {
	age := now.Sub(h.at)
	switch {
	case h.refused.Err != nil:
		return h.refused.Rests(now, session.RefusedPeriod)
	case h.at.IsZero():
		return false
	case h.Running():
		// A pass that was held back goes on with what it has read: it would spend the next call on the same question, and never get further.
		return age <= change.MaxAge
	case age >= mixedPeriod && (change.mixed() || change.othersTerminate(h.leaving)):
		return false
	}
	return age < session.TracedPeriod
}

// mixed reports whether an instance was launched from other content than the group launches now.
func (c Change) mixed() bool {
	content := c.TemplateOf(asg.LaunchedFrom(c.Group)).Content
	for _, i := range c.Group.Instances {
		from := c.TemplateOf(i.LaunchTemplate).Content
		if _, member := asg.StateOf(i); member && from != "" && from != content {
			return true
		}
	}
	return false
}

// othersTerminate reports whether the group has begun to terminate instances that Muster did not name: a refresh that another client has
// begun does that.
func (c Change) othersTerminate(before map[string]bool) bool {
	if asg.Deleting(c.Group) {
		return false
	}
	for id := range leaving(c.Group) {
		if !c.Requested(id) && !before[id] {
			return true
		}
	}
	return false
}

// leaving returns the IDs of the instances that a group terminates.
func leaving(is *asgtypes.AutoScalingGroup) map[string]bool {
	ids := map[string]bool{}
	for _, i := range is.Instances {
		if state, _ := asg.StateOf(i); state == pool.Terminating {
			ids[ptr.Deref(i.InstanceId, "")] = true
		}
	}
	return ids
}

// timed returns the refreshes of a reply, with their times by the controller's clock.
func timed(found *autoscaling.DescribeInstanceRefreshesOutput) []asgtypes.InstanceRefresh {
	list := found.InstanceRefreshes
	for k := range list {
		list[k].StartTime, list[k].EndTime = session.OurTime(list[k].StartTime, found.ResultMetadata),
			session.OurTime(list[k].EndTime, found.ResultMetadata)
	}
	return list
}

// states maps the service's states to those of package pool.
var states = map[asgtypes.InstanceRefreshStatus]pool.ProviderRolloutState{
	asgtypes.InstanceRefreshStatusPending:            pool.ProviderRolloutRunning,
	asgtypes.InstanceRefreshStatusInProgress:         pool.ProviderRolloutRunning,
	asgtypes.InstanceRefreshStatusBaking:             pool.ProviderRolloutBaking,
	asgtypes.InstanceRefreshStatusCancelling:         pool.ProviderRolloutCancelling,
	asgtypes.InstanceRefreshStatusRollbackInProgress: pool.ProviderRolloutReverting,
	asgtypes.InstanceRefreshStatusSuccessful:         pool.ProviderRolloutSucceeded,
	asgtypes.InstanceRefreshStatusFailed:             pool.ProviderRolloutFailed,
	asgtypes.InstanceRefreshStatusRollbackFailed:     pool.ProviderRolloutFailed,
	asgtypes.InstanceRefreshStatusCancelled:          pool.ProviderRolloutCancelled,
	asgtypes.InstanceRefreshStatusRollbackSuccessful: pool.ProviderRolloutReverted,
}

// Newest returns the newest refresh; nil if there is none. An unknown state counts as not ended.
func (h History) Newest(of TemplateOf) *pool.ProviderRollout {
	if len(h.list) == 0 {
		return nil
	}
	newest := h.list[0]
	return &pool.ProviderRollout{
		ID:       ptr.Deref(newest.InstanceRefreshId, ""),
		State:    cmp.Or(states[newest.Status], pool.ProviderRolloutRunning),
		Template: goal(newest, of),
		Percent:  int(ptr.Deref(newest.PercentageComplete, 0)),
		Reason:   session.Clean(session.InstanceID.ReplaceAllString(ptr.Deref(newest.StatusReason, ""), "an instance")),
		Started:  ptr.Deref(newest.StartTime, time.Time{}),
		Ended:    ptr.Deref(newest.EndTime, time.Time{}),
		Failures: failures(h.list, of),
	}
}

// goal returns the template that a refresh launches from. One without a configuration of its own was not started by Muster.
func goal(r asgtypes.InstanceRefresh, of TemplateOf) pool.Template {
	d := r.DesiredConfiguration
	if d == nil {
		return pool.Template{}
	}
	from := d.LaunchTemplate
	if m := d.MixedInstancesPolicy; m != nil && m.LaunchTemplate != nil {
		from = m.LaunchTemplate.LaunchTemplateSpecification
	}
	if from == nil {
		return pool.Template{}
	}
	return of(from)
}

// failures counts the newest refreshes in a row that have failed and were to the same content.
func failures(list []asgtypes.InstanceRefresh, of TemplateOf) int {
	return asg.FailuresInARow(list, func(r asgtypes.InstanceRefresh) asg.Outcome {
		switch {
		case r.EndTime == nil, r.Status == asgtypes.InstanceRefreshStatusCancelled:
			return asg.Undecided
		case r.Status == asgtypes.InstanceRefreshStatusSuccessful:
			return asg.Succeeded
		}
		return asg.Failed
	}, func(r asgtypes.InstanceRefresh) pool.Template { return goal(r, of) })
}
