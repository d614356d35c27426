package aws_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws"
)

// Whatever is done to a group in whatever order, under whatever faults: once all is quiet it has what it was asked for, every
// living instance is a member, every running one has its machine, and the same is found again on disk.
func TestRandomLives(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			inWorld(t, aws.Options{Seed: seed, Dir: dir, Limits: aws.Limits{}}, func(t *testing.T, w *world) {
				rng := rand.New(rand.NewPCG(seed, 1))
				id := w.template(pool)
				w.group(pool, id, 0, int32(rng.IntN(5)), 10)
				for range 40 {
					w.poke(rng, id)
					after(time.Duration(rng.IntN(4000)) * time.Millisecond)
				}
				w.calm()
				w.check(t)
				w.checkDisk(t, dir)
			})
		})
	}
}

// poke does one random thing. Much of it is refused, which is part of it.
func (w *world) poke(rng *rand.Rand, template string) {
	ctx, name := w.t.Context(), awssdk.String(pool)
	instance := awssdk.String("i-0000000000000000f")
	if all := w.read(pool).Instances; len(all) > 0 {
		instance = all[rng.IntN(len(all))].InstanceId
	}
	n, half := int32(rng.IntN(8)), rng.IntN(2) == 0
	results := []string{"CONTINUE", "ABANDON"}
	pokes := []func() error{
		func() error {
			_, err := w.as.SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: name, DesiredCapacity: &n})
			return err
		},
		func() error {
			_, err := w.as.UpdateAutoScalingGroup(ctx, &autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: name,
				MinSize: awssdk.Int32(n / 2), DefaultInstanceWarmup: &n})
			return err
		},
		func() error {
			_, err := w.as.TerminateInstanceInAutoScalingGroup(ctx, &autoscaling.TerminateInstanceInAutoScalingGroupInput{InstanceId: instance,
				ShouldDecrementDesiredCapacity: &half})
			return err
		},
		func() error {
			_, err := w.as.DetachInstances(ctx, &autoscaling.DetachInstancesInput{AutoScalingGroupName: name, InstanceIds: []string{*instance},
				ShouldDecrementDesiredCapacity: &half})
			if err == nil {
				return w.server.Terminate(*instance) // so that nothing is left alone
			}
			return err
		},
		func() error {
			_, err := w.as.EnterStandby(ctx, &autoscaling.EnterStandbyInput{AutoScalingGroupName: name, InstanceIds: []string{*instance},
				ShouldDecrementDesiredCapacity: &half})
			return err
		},
		func() error {
			_, err := w.as.ExitStandby(ctx, &autoscaling.ExitStandbyInput{AutoScalingGroupName: name, InstanceIds: []string{*instance}})
			return err
		},
		func() error {
			_, err := w.as.PutLifecycleHook(ctx, &autoscaling.PutLifecycleHookInput{
				AutoScalingGroupName: name, LifecycleHookName: awssdk.String(fmt.Sprint("h", n%3)), HeartbeatTimeout: awssdk.Int32(30),
				DefaultResult:       &results[n%2],
				LifecycleTransition: awssdk.String([]string{launching, terminating}[rng.IntN(2)]),
			})
			return err
		},
		func() error {
			_, err := w.as.DeleteLifecycleHook(ctx, &autoscaling.DeleteLifecycleHookInput{AutoScalingGroupName: name,
				LifecycleHookName: awssdk.String(fmt.Sprint("h", n%3))})
			return err
		},
		func() error { return w.complete(fmt.Sprint("h", n%3), *instance, results[rng.IntN(2)]) },
		func() error {
			_, err := w.refresh(func(in *autoscaling.StartInstanceRefreshInput) {
				in.Preferences = &astypes.RefreshPreferences{
					MinHealthyPercentage: awssdk.Int32(100 - 10*n), MaxHealthyPercentage: awssdk.Int32(100 + 10*n), SkipMatching: &half,
					InstanceWarmup: &n,
				}
			})
			return err
		},
		func() error {
			_, err := w.as.CancelInstanceRefresh(ctx, &autoscaling.CancelInstanceRefreshInput{AutoScalingGroupName: name})
			return err
		},
		func() error {
			p := []string{"Launch", "Terminate", "ReplaceUnhealthy", "HealthCheck", "AZRebalance", "InstanceRefresh"}[rng.IntN(6)]
			_, err := w.as.SuspendProcesses(ctx, &autoscaling.SuspendProcessesInput{AutoScalingGroupName: name, ScalingProcesses: []string{p}})
			return err
		},
		func() error {
			_, err := w.as.ResumeProcesses(ctx, &autoscaling.ResumeProcessesInput{AutoScalingGroupName: name})
			return err
		},
		func() error { w.version(template, w.data()); return nil },
		func() error { return w.server.Terminate(*instance) },
		func() error { return w.server.Impair(*instance) },
		func() error {
			return w.server.Faults().Add(sim.Fault{Kind: sim.NoCapacity, Zone: []string{"eu-west-1a", "eu-west-1b", ""}[rng.IntN(3)], Times: 5})
		},
		func() error {
			return w.server.Faults().Add(sim.Fault{Kind: sim.Dies, Delay: sim.Duration(time.Duration(n) * time.Second), Times: 1})
		},
	}
	_ = pokes[rng.IntN(len(pokes))]()
}

// calm ends all that is going on: faults, hooks, suspensions, standby, refreshes; and waits.
func (w *world) calm() {
	w.t.Helper()
	ctx, name := w.t.Context(), awssdk.String(pool)
	w.server.Faults().Clear()
	hooks, err := w.as.DescribeLifecycleHooks(ctx, &autoscaling.DescribeLifecycleHooksInput{AutoScalingGroupName: name})
	ok(w.t, err)
	for _, h := range hooks.LifecycleHooks {
		_, err := w.as.DeleteLifecycleHook(ctx, &autoscaling.DeleteLifecycleHookInput{AutoScalingGroupName: name,
			LifecycleHookName: h.LifecycleHookName})
		ok(w.t, err)
	}
	_, err = w.as.ResumeProcesses(ctx, &autoscaling.ResumeProcessesInput{AutoScalingGroupName: name})
	ok(w.t, err)
	_, _ = w.as.CancelInstanceRefresh(ctx, &autoscaling.CancelInstanceRefreshInput{AutoScalingGroupName: name})
	_, err = w.as.UpdateAutoScalingGroup(ctx, &autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: name, MaxSize: awssdk.Int32(30)})
	ok(w.t, err)
	for _, id := range w.inState(pool, "Standby") {
		_, err := w.as.ExitStandby(ctx, &autoscaling.ExitStandbyInput{AutoScalingGroupName: name, InstanceIds: []string{id}})
		ok(w.t, err)
	}
	after(10 * time.Minute)
}

func (w *world) check(t *testing.T) {
	t.Helper()
	g := w.read(pool)
	w.wantServing(pool, int(*g.DesiredCapacity))
	s := w.server.State(aws.AccountID, aws.Region)
	if n := len(s.Living()); n != len(g.Instances) || w.guests.count() != n {
		t.Errorf("want as many living instances and machines as members (%d), got %d and %d", len(g.Instances), n, w.guests.count())
	}
	for _, i := range g.Instances {
		if *i.HealthStatus != "Healthy" {
			t.Errorf("want only healthy ones left, got%s", states(g))
		}
	}
	for _, a := range w.activities() {
		if a.EndTime == nil {
			t.Errorf("want every activity ended, got %s: %s", a.StatusCode, *a.Description)
		}
	}
}

// checkDisk starts another simulator from a copy of the disk, which must hold the same.
func (w *world) checkDisk(t *testing.T, dir string) {
	t.Helper()
	left := t.TempDir()
	log, err := os.ReadFile(filepath.Join(dir, "state.log"))
	ok(t, err)
	ok(t, os.WriteFile(filepath.Join(left, "state.log"), log, 0o600))
	again := newWorld(t, aws.Options{Dir: left})
	defer again.close()
	if a, b := states(w.read(pool)), states(again.read(pool)); a != b {
		t.Errorf("want the same on disk:%s, got%s", a, b)
	}
	if a, b := w.guests.count(), again.guests.count(); a != b {
		t.Errorf("want %d machines powered on again, got %d", a, b)
	}
}
