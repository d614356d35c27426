package aws

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

const (
	// drainHook is the termination hook that every group of a pool has: whatever takes an instance (a scale-in by another hand,
	// the group's own refresh, rebalancing or health check), it is held until its node has been drained.
	drainHook = "muster-drain"
	// drainHeartbeat is how long the hook holds without a word from us: longer than a restart, an upgrade or a short outage of
	// Muster takes. The service lets a hook hold for a hundred times as long, and 48 hours at the most.
	drainHeartbeat = 30 * time.Minute
	// activitiesPage is the largest page of activities.
	activitiesPage = 100
)

// ourHook is the hook as it is sent. Without a request the termination goes on: an instance must not be kept, and paid
// for, by a Muster that is gone.
func ourHook() asgtypes.LifecycleHookSpecification {
	return asgtypes.LifecycleHookSpecification{
		LifecycleHookName:   new(drainHook),
		LifecycleTransition: new(string(awsv1.LifecycleTransitionInstanceTerminating)),
		DefaultResult:       new(string(awsv1.LifecycleHookDefaultResultContinue)),
		HeartbeatTimeout:    new(int32(drainHeartbeat.Seconds())),
	}
}

// hookNameFree refuses a hook in the specification that has the name of Muster's.
func hookNameFree(t target) error {
	for k, h := range t.pool.AWSLifecycleHooks {
		if h.Name == drainHook {
			return cloud.Invalidf(fmt.Sprintf("%s[%d].name", fieldHooks, k), "the name %s is that of the hook by which nodes are drained: choose another", drainHook)
		}
	}
	return nil
}

// holdRead is what is known about an instance that our hook holds.
type holdRead struct {
	// since is when it began to be held, until when the hook stops to hold it by itself.
	since, until time.Time
	// over is true if Muster's hook holds it no more; another may.
	over bool
	// why is why the group takes it, nil when it was asked to.
	why *pool.Cause
}

// held reports whether an instance may be held by our hook. Where the hooks may not be listed the group's own tags tell whether it has
// ours: to take a held instance for one that goes by itself would leave its node undrained until the heartbeat ends.
func (p *pass) held(is *asgtypes.AutoScalingGroup, i asgtypes.Instance) bool {
	if i.LifecycleState != asgtypes.LifecycleStateTerminatingWait {
		return false
	}
	if p.memory.hooks.refused != nil {
		return session.Marked(tagOf(is, tagOurHooks), drainHook)
	}
	return slices.ContainsFunc(p.memory.hooks.list, func(h asgtypes.LifecycleHook) bool {
		return session.Deref(h.LifecycleHookName) == drainHook
	})
}

// readHolds asks since when and why instances are held of which that is not known. The group does not tell, its activities do.
// Those that no activity tells about are held since now.
func (p *pass) readHolds(ctx context.Context, is *asgtypes.AutoScalingGroup) error {
	current, unknown := p.knownHolds(is)
	p.memory.holds = current
	if len(unknown) == 0 {
		return nil
	}
	found, err := p.c.AutoScaling.DescribeScalingActivities(ctx, &autoscaling.DescribeScalingActivitiesInput{
		AutoScalingGroupName: &p.t.group, MaxRecords: new(int32(activitiesPage)),
	})
	if err = session.Refusal(err, p.now); err != nil && !session.Absent(err) && cloud.KindOf(err) != cloud.Denied {
		return err
	}
	if err != nil || found == nil {
		found = &autoscaling.DescribeScalingActivitiesOutput{}
	}
	for _, id := range unknown {
		current[id] = p.holdFrom(found.Activities, id)
	}
	return nil
}

// knownHolds returns what is known of the instances that are held, and the IDs of the others. What is known of instances that the group
// has no more is forgotten.
func (p *pass) knownHolds(is *asgtypes.AutoScalingGroup) (current map[string]holdRead, unknown []string) {
	current = map[string]holdRead{}
	takes := map[string]time.Time{}
	for _, i := range is.Instances {
		id := session.Deref(i.InstanceId)
		taken, ours := p.memory.takes[id]
		if ours {
			takes[id] = taken
		}
		if !p.held(is, i) {
			continue
		}
		read, known := p.memory.holds[id]
		switch {
		case known:
			current[id] = read
		case ours:
			current[id] = holdRead{since: taken, until: taken.Add(drainHeartbeat)}
		default:
			unknown = append(unknown, id)
		}
	}
	p.memory.takes = takes
	return current, unknown
}

// holdFrom is how an instance is held, by the activity that terminates it.
func (p *pass) holdFrom(activities []asgtypes.Activity, id string) holdRead {
	read := holdRead{since: p.now}
	for _, a := range activities {
		if strings.HasPrefix(session.Deref(a.Description), "Terminating") && strings.HasSuffix(session.Deref(a.Description), id) && a.StartTime != nil {
			read.since, read.why = *a.StartTime, takenFor(session.Deref(a.Cause))
		}
	}
	read.until = read.since.Add(drainHeartbeat)
	return read
}

// holdOf is how our hook holds an instance, or nil.
func (p *pass) holdOf(id string) *pool.LifecycleHook {
	read, ok := p.memory.holds[id]
	if !ok || read.over {
		return nil
	}
	return &pool.LifecycleHook{Since: read.since, Until: read.until, Heartbeat: drainHeartbeat}
}

// release lets the terminations go on.
func (p *pass) release(ctx context.Context, s pool.Step) error {
	return p.eachHeld(ctx, s, func(id string) error {
		_, err := p.c.AutoScaling.CompleteLifecycleAction(ctx, &autoscaling.CompleteLifecycleActionInput{
			AutoScalingGroupName: &p.t.group, LifecycleHookName: new(drainHook), InstanceId: &id, LifecycleActionResult: new(string(awsv1.LifecycleHookDefaultResultContinue)),
		})
		return err
	}, p.memory.released)
}

// renew has the hook hold for another heartbeat.
func (p *pass) renew(ctx context.Context, s pool.Step) error {
	return p.eachHeld(ctx, s, func(id string) error {
		_, err := p.c.AutoScaling.RecordLifecycleActionHeartbeat(ctx, &autoscaling.RecordLifecycleActionHeartbeatInput{
			AutoScalingGroupName: &p.t.group, LifecycleHookName: new(drainHook), InstanceId: &id,
		})
		return err
	}, func(id string) {
		if read, ok := p.memory.holds[id]; ok {
			read.until = p.now.Add(drainHeartbeat)
			p.memory.holds[id] = read
		}
	})
}

// eachHeld does something about the hook for each target, several at a time, and notes which of it was done. Where the hook holds no more
// there is nothing to do.
func (p *pass) eachHeld(ctx context.Context, s pool.Step, do func(id string) error, done func(id string)) error {
	if err := p.known(ctx); err != nil {
		return err
	}
	p.memory.touchedMembers()
	ids := make([]string, len(s.Targets))
	for k, target := range s.Targets {
		ids[k] = target.ID
	}
	return p.c.Each(ids, func(id string) error { return session.Refusal(do(id), p.now) }, func(id string, err error) error {
		switch {
		case err == nil:
			done(id)
		case notHeld(err) || session.Absent(err) || beingDeleted(err):
			p.memory.released(id)
		default:
			return fmt.Errorf("instance %s, held by %s: %w", id, drainHook, err)
		}
		return nil
	})
}

// released notes that our hook holds an instance no more.
func (m *memory) released(id string) {
	if read, ok := m.holds[id]; ok {
		read.over = true
		m.holds[id] = read
	}
}

// beingDeleted reports whether the service does not answer because the group is being deleted.
func beingDeleted(err error) bool {
	return cloud.CodeOf(err) == "ValidationError" && strings.Contains(err.Error(), "pending delete")
}

// notHeld reports whether the service has no hook waiting for the instance.
func notHeld(err error) bool {
	return cloud.CodeOf(err) == "ValidationError" && strings.Contains(err.Error(), "No active Lifecycle Action found")
}
