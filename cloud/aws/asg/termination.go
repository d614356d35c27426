package asg

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// RemoveBatch keeps a removal, which takes one call for each instance, within a few seconds.
const RemoveBatch = 10

// Termination is what is known of an Auto Scaling group whose instances are terminated one by one.
type Termination struct {
	Session *session.Session
	Now     time.Time
	// Size that the group shows. Lower lowers it by one with each instance, in the same call; otherwise the group launches another in
	// the place of each.
	Size  int
	Lower bool
	// Asked notes what the group was asked for.
	Asked *cache.RequestedSize
	// Going reads the group again, and says whether an instance is on its way out of it already, or gone.
	Going func(ctx context.Context, id string) (bool, error)
	// Took is called for each instance whose termination the service has accepted; nil where that need not be known.
	Took func(id string)
}

// Terminate terminates exactly the given instances, several at a time. One that is on its way out already is no error: credentials that
// allow by tags are denied what has none any more.
func (t Termination) Terminate(ctx context.Context, targets []pool.InstanceRef) error {
	ids := make([]string, len(targets))
	for k, target := range targets {
		ids[k] = target.ID
	}
	return t.Session.Each(ids, func(id string) error {
		_, err := t.Session.AutoScaling.TerminateInstanceInAutoScalingGroup(ctx, &autoscaling.TerminateInstanceInAutoScalingGroupInput{
			InstanceId: &id, ShouldDecrementDesiredCapacity: &t.Lower,
		})
		return session.Refusal(err, t.Now)
	}, func(id string, err error) error { return t.ended(ctx, id, err) })
}

// ended notes how a call ended. A call without a reply may have been heard.
func (t *Termination) ended(ctx context.Context, id string, err error) error {
	if t.Lower {
		t.Asked.Note(t.Size-1, t.Now, err)
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
func NoMoreThan(targets []pool.InstanceRef, verb string) error {
	if len(targets) > RemoveBatch {
		return fmt.Errorf("asked to %s %d instances at once: at most %d", verb, len(targets), RemoveBatch)
	}
	return nil
}
