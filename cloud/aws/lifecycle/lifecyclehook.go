package lifecycle

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"k8s.io/utils/ptr"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// activitiesPage is the largest page of activities.
const activitiesPage = 100

// hold is an instance that the drain hook holds.
type hold struct {
	// since is when the hook began to hold it, until when it stops by itself.
	since, until time.Time
	// over is true if the drain hook does not hold it any more; another hook may.
	over bool
	// guessed is true if the activities could not be read that tell since when and why: they are read again.
	guessed bool
	// cause is why the group terminates it; nil if a client requested that.
	cause *pool.Cause
}

// Holds are the instances that the drain hook holds, by ID, as far as is known.
type Holds struct {
	known map[string]hold
	// requested are the instances whose termination Muster requested and that are still in the group, with the time.
	requested map[string]time.Time
	// refused is why the group's activities could not be read.
	refused driverkit.Refusal
}

// Request notes that Muster had the group terminate an instance: when the drain hook holds it, nothing more has to be read.
func (h *Holds) Request(id string, now time.Time) {
	if h.requested == nil {
		h.requested = map[string]time.Time{}
	}
	h.requested[id] = now
}

// Requested reports whether Muster had the group terminate an instance.
func (h Holds) Requested(id string) bool {
	_, ok := h.requested[id]
	return ok
}

// Read reads since when and why instances are held of which that is not known. The group does not show it, its activities do. Instances
// that no activity is about are held since now, and so are those whose activities can't be read, until they can.
// marks is the group's bookkeeping tag of hooks.
func (h *Holds) Read(ctx context.Context, c Client, is *asgtypes.AutoScalingGroup, hooks Hooks, marks string) error {
	unknown := h.keep(is, func(i asgtypes.Instance) bool { return hooks.mayHold(i, marks) })
	if len(unknown) == 0 {
		h.refused = driverkit.Refusal{}
		return nil
	}
	if h.refused.Rests(c.Now, session.RefusedPeriod) {
		h.note(unknown, nil, c.Now)
		return nil
	}
	found, err := c.Session.AutoScaling.DescribeScalingActivities(ctx, &autoscaling.DescribeScalingActivitiesInput{
		AutoScalingGroupName: &c.Name, MaxRecords: new(int32(activitiesPage)),
	})
	if err = session.Refusal(err, c.Now); session.Absent(err) {
		err = nil
	}
	if failed := h.refused.Keep(c.Now, err); failed != nil {
		return failed
	}
	var activities []asgtypes.Activity
	if err == nil && found != nil {
		activities = found.Activities
	}
	h.note(unknown, activities, c.Now)
	return nil
}

// note notes how instances are held. What was guessed of one before is kept until the activities are read.
func (h *Holds) note(ids []string, activities []asgtypes.Activity, now time.Time) {
	for _, id := range ids {
		if h.known[id].guessed && h.refused.Err != nil {
			continue
		}
		read := holdFrom(activities, id, now)
		read.guessed = h.refused.Err != nil
		h.known[id] = read
	}
}

// Refused returns why it could not be read since when and why instances are held; nil if it could, or none is held.
func (h Holds) Refused() error { return h.refused.Err }

// keep forgets instances that are not held or not in the group any more, and returns the IDs of those that are held and not known.
func (h *Holds) keep(is *asgtypes.AutoScalingGroup, mayHold func(asgtypes.Instance) bool) (unknown []string) {
	current, requested := map[string]hold{}, map[string]time.Time{}
	for _, i := range is.Instances {
		id := ptr.Deref(i.InstanceId, "")
		at, ours := h.requested[id]
		if ours {
			requested[id] = at
		}
		if !mayHold(i) {
			continue
		}
		read, known := h.known[id]
		switch {
		case known:
			if current[id] = read; read.guessed && !read.over {
				unknown = append(unknown, id)
			}
		case ours:
			current[id] = hold{since: at, until: at.Add(drainHeartbeat)}
		default:
			unknown = append(unknown, id)
		}
	}
	h.known, h.requested = current, requested
	return unknown
}

// holdFrom returns how an instance is held, by the activity that terminates it.
func holdFrom(activities []asgtypes.Activity, id string, now time.Time) hold {
	read := hold{since: now}
	for _, a := range activities {
		if strings.HasPrefix(ptr.Deref(a.Description, ""), "Terminating") && strings.HasSuffix(ptr.Deref(a.Description, ""), id) &&
			a.StartTime != nil {
			read.since, read.cause = *a.StartTime, causeOf(ptr.Deref(a.Cause, ""))
		}
	}
	read.until = read.since.Add(drainHeartbeat)
	return read
}

// Of returns how the drain hook holds an instance; nil if it does not.
func (h Holds) Of(id string) *pool.LifecycleHook {
	read, ok := h.known[id]
	if !ok || read.over {
		return nil
	}
	return &pool.LifecycleHook{Since: read.since, Until: read.until, Heartbeat: drainHeartbeat}
}

// Cause returns why the group terminates an instance that is held; nil if it is not known, or if a client requested it.
func (h Holds) Cause(id string) *pool.Cause { return h.known[id].cause }

// Release lets the terminations of instances go on.
func (h *Holds) Release(ctx context.Context, c Client, targets []pool.InstanceRef) error {
	return h.each(c, targets, func(id string) error {
		_, err := c.Session.AutoScaling.CompleteLifecycleAction(ctx, &autoscaling.CompleteLifecycleActionInput{
			AutoScalingGroupName: &c.Name, LifecycleHookName: new(drainHook), InstanceId: &id,
			LifecycleActionResult: new(string(awsv1.LifecycleHookDefaultResultContinue)),
		})
		return err
	}, h.released)
}

// Renew has the hook hold instances for another heartbeat.
func (h *Holds) Renew(ctx context.Context, c Client, targets []pool.InstanceRef) error {
	return h.each(c, targets, func(id string) error {
		_, err := c.Session.AutoScaling.RecordLifecycleActionHeartbeat(ctx, &autoscaling.RecordLifecycleActionHeartbeatInput{
			AutoScalingGroupName: &c.Name, LifecycleHookName: new(drainHook), InstanceId: &id,
		})
		return err
	}, func(id string) {
		if read, ok := h.known[id]; ok {
			read.until = c.Now.Add(drainHeartbeat)
			h.known[id] = read
		}
	})
}

// each sends a request about each target's hold, several at a time, and calls done for each that succeeded. Where the hook does not hold an
// instance any more there is nothing to do.
func (h *Holds) each(c Client, targets []pool.InstanceRef, send func(id string) error, done func(id string)) error {
	ids := make([]string, len(targets))
	for k, target := range targets {
		ids[k] = target.ID
	}
	return c.Session.Each(ids, func(id string) error { return session.Refusal(send(id), c.Now) }, func(id string, err error) error {
		switch {
		case err == nil:
			done(id)
		case notHeld(err) || session.Absent(err) || asg.BeingDeleted(err):
			h.released(id)
		default:
			return fmt.Errorf("instance %s, held by %s: %w", id, drainHook, err)
		}
		return nil
	})
}

// released notes that the drain hook does not hold an instance any more.
func (h *Holds) released(id string) {
	if read, ok := h.known[id]; ok {
		read.over = true
		h.known[id] = read
	}
}

// notHeld reports whether a request was refused because no hook waits for the instance.
func notHeld(err error) bool {
	return cloud.CodeOf(err) == "ValidationError" && strings.Contains(err.Error(), "No active Lifecycle Action found")
}
