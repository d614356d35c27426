package asg

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

const (
	// RemoveBatch is half of what one TerminateInstanceInAutoScalingGroup takes. It keeps a removal within a few seconds where that call is
	// refused, and one for each instance is made, as it keeps a release, which has a call for each.
	RemoveBatch = 50
	// StandbyBatch is the maximum number of instances in one EnterStandby.
	StandbyBatch = 19
)

// Termination is an Auto Scaling group whose chosen instances are terminated.
type Termination struct {
	Session *session.Session
	Now     time.Time
	// Group is the group's name.
	Group string
	// Size is the group's current size. Lower lowers it by one with each instance, in the same call; otherwise the group launches a
	// replacement for each instance.
	Size  int
	Lower bool
	// RequestedSize records the size that is requested of the group.
	RequestedSize *cache.RequestedSize
	// Going reads the group again, and reports whether an instance is terminating or gone.
	Going func(ctx context.Context, id string) (bool, error)
	// Took is called for each instance whose termination the service has accepted; nil where that need not be known.
	Took func(id string)
}

// Terminate terminates exactly the given instances. One that is on its way out already is no error: credentials that allow by tags are
// denied what has none any more.
func (t Termination) Terminate(ctx context.Context, targets []pool.InstanceRef) error {
	ids := make([]string, len(targets))
	for k, target := range targets {
		ids[k] = target.ID
	}
	if done, err := t.together(ctx, ids); done {
		return err
	}
	return t.Session.Each(ids, func(id string) error {
		_, err := t.Session.AutoScaling.TerminateInstanceInAutoScalingGroup(ctx, &autoscaling.TerminateInstanceInAutoScalingGroupInput{
			InstanceId: &id, ShouldDecrementDesiredCapacity: &t.Lower,
		})
		return session.Refusal(err, t.Now)
	}, func(id string, err error) error { return t.ended(ctx, id, err) })
}

// together terminates several instances in one call, and reports whether that has answered. A refusal has not where one instance may be
// on its way out already, or the region may not take several: the calls for each tell which.
func (t *Termination) together(ctx context.Context, ids []string) (done bool, err error) {
	if len(ids) < 2 {
		return false, nil
	}
	_, err = t.Session.AutoScaling.TerminateInstanceInAutoScalingGroup(ctx, &autoscaling.TerminateInstanceInAutoScalingGroupInput{
		AutoScalingGroupName: &t.Group, InstanceIds: ids, ShouldDecrementDesiredCapacity: &t.Lower,
	})
	if err = session.Refusal(err, t.Now); t.eachTells(ctx, ids, err) {
		return false, nil
	}
	if t.Lower {
		t.RequestedSize.Note(t.Size-len(ids), t.Now, err)
	}
	if err != nil {
		return true, fmt.Errorf("terminate %d instances: %w", len(ids), err)
	}
	for _, id := range ids {
		if t.Took != nil {
			t.Took(id)
		}
	}
	return true, nil
}

// eachTells reports whether calls for each instance may be answered otherwise than one for all. What denies all denies each.
func (t *Termination) eachTells(ctx context.Context, ids []string, err error) bool {
	switch kind := cloud.KindOf(err); {
	case err == nil:
		return false
	case session.Absent(err), kind == cloud.Invalid, kind == cloud.Conflict:
		return true
	case kind == cloud.Denied:
		return slices.ContainsFunc(ids, func(id string) bool {
			going, readErr := t.Going(ctx, id)
			return readErr == nil && going
		})
	}
	return false
}

// ended notes how a call ended. A call without a reply may have been heard.
func (t *Termination) ended(ctx context.Context, id string, err error) error {
	if t.Lower {
		t.RequestedSize.Note(t.Size-1, t.Now, err)
	}
	if driverkit.MayHaveHappened(err) {
		t.Size--
	}
	if err == nil && t.Took != nil {
		t.Took(id)
	}
	if err == nil || session.Absent(err) {
		return nil
	}
	going, readErr := false, error(nil)
	if kind := cloud.KindOf(err); kind == cloud.Conflict || kind == cloud.Denied {
		going, readErr = t.Going(ctx, id)
	}
	if readErr != nil || !going {
		return fmt.Errorf("terminate instance %s: %w", id, cmp.Or(readErr, err))
	}
	return nil
}

// NoMoreThan refuses a step that names more instances than can be dealt with at once.
func NoMoreThan(limit int, targets []pool.InstanceRef, verb string) error {
	if len(targets) > limit {
		return fmt.Errorf("asked to %s %d instances at once: at most %d", verb, len(targets), limit)
	}
	return nil
}
