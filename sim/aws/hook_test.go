package aws_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws"
)

const (
	launching   = "autoscaling:EC2_INSTANCE_LAUNCHING"
	terminating = "autoscaling:EC2_INSTANCE_TERMINATING"
)

func (w *world) hook(name, transition, result string, beat int32) {
	w.t.Helper()
	_, err := w.as.PutLifecycleHook(w.t.Context(), &autoscaling.PutLifecycleHookInput{
		AutoScalingGroupName: awssdk.String(pool), LifecycleHookName: &name, LifecycleTransition: &transition, DefaultResult: &result,
		HeartbeatTimeout: &beat,
	})
	ok(w.t, err)
}

func (w *world) complete(hook, instance, result string) error {
	_, err := w.as.CompleteLifecycleAction(w.t.Context(), &autoscaling.CompleteLifecycleActionInput{
		AutoScalingGroupName: awssdk.String(pool), LifecycleHookName: &hook, InstanceId: &instance, LifecycleActionResult: &result,
	})
	return err
}

// Launching hooks hold an instance until it is completed, its time runs out, or it is given up.
func TestLaunchingHooks(t *testing.T) {
	for _, c := range []struct {
		name   string
		result string // "" waits for the timeout
		dflt   string
		wait   time.Duration
		stays  bool
	}{
		{"completed", "CONTINUE", "ABANDON", time.Second, true},
		{"given up", "ABANDON", "CONTINUE", time.Second, false},
		{"timed out to continue", "", "CONTINUE", 61 * time.Second, true},
		{"timed out to abandon", "", "ABANDON", 61 * time.Second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
				w.group(pool, w.template(pool), 0, 0, 1)
				w.hook("ready", launching, c.dflt, 60)
				w.resize(1)
				held := w.inState(pool, "Pending:Wait")
				if len(held) != 1 {
					t.Fatalf("want one waiting, got%s", states(w.read(pool)))
				}
				if a := w.activities()[0]; a.StatusCode != "MidLifecycleAction" {
					t.Errorf("want the activity in the middle of a lifecycle action, got %s", a.StatusCode)
				}
				if c.result != "" {
					ok(t, w.complete("ready", held[0], c.result))
					wantCode(t, w.complete("ready", held[0], c.result), "ValidationError")
				}
				after(c.wait)
				serving := w.inState(pool, "InService")
				if stays := len(serving) == 1 && serving[0] == held[0]; stays != c.stays {
					t.Errorf("want it in service: %v, got%s", c.stays, states(w.read(pool)))
				}
			})
		})
	}
}

// Terminating hooks hold an instance that serves no more but still runs; heartbeats prolong the wait.
func TestTerminatingHooks(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.settled(0, 2, 2)
		w.hook("drain", terminating, "CONTINUE", 60)
		id := w.inState(pool, "InService")[0]
		_, err := w.as.TerminateInstanceInAutoScalingGroup(ctx, &autoscaling.TerminateInstanceInAutoScalingGroupInput{InstanceId: &id,
			ShouldDecrementDesiredCapacity: awssdk.Bool(true)})
		ok(t, err)
		for range 3 {
			after(50 * time.Second)
			_, err := w.as.RecordLifecycleActionHeartbeat(ctx, &autoscaling.RecordLifecycleActionHeartbeatInput{
				AutoScalingGroupName: awssdk.String(pool), LifecycleHookName: awssdk.String("drain"), InstanceId: &id,
			})
			ok(t, err)
		}
		if s := w.inState(pool, "Terminating:Wait"); len(s) != 1 || w.instance(id).State.Name != "running" || w.guests.count() != 2 {
			t.Fatalf("after 150 s with heartbeats: want it waiting and running, got%s", states(w.read(pool)))
		}
		ok(t, w.complete("drain", id, "CONTINUE"))
		if s := w.inState(pool, "Terminating"); len(s) != 1 || w.instance(id).State.Name != "shutting-down" {
			t.Errorf("once completed: want it terminating, got%s", states(w.read(pool)))
		}
		after(5 * time.Second)
		w.wantServing(pool, 1)

		// Without a heartbeat the default result comes after the timeout.
		w.resize(0)
		after(45 * time.Second)
		if s := w.inState(pool, "Terminating:Wait"); len(s) != 1 {
			t.Errorf("before its timeout: want it waiting, got%s", states(w.read(pool)))
		}
		after(20 * time.Second)
		w.wantServing(pool, 0)

		// A forced deletion does not wait for hooks, be they waited for already or not.
		w.resize(2)
		w.resize(1)
		if s := w.inState(pool, "Terminating:Wait"); len(s) != 1 {
			t.Errorf("want one waiting, got%s", states(w.read(pool)))
		}
		_, err = w.as.DeleteAutoScalingGroup(ctx, &autoscaling.DeleteAutoScalingGroupInput{AutoScalingGroupName: awssdk.String(pool),
			ForceDelete: awssdk.Bool(true)})
		ok(t, err)
		after(5 * time.Second)
		if _, there := w.find(pool); there {
			t.Errorf("want the group gone at once")
		}
	})
}

func TestHooksAreKept(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.group(pool, w.template(pool), 0, 0, 1, func(in *autoscaling.CreateAutoScalingGroupInput) {
			in.LifecycleHookSpecificationList = []astypes.LifecycleHookSpecification{{LifecycleHookName: awssdk.String("first"),
				LifecycleTransition: awssdk.String(launching)}}
		})
		w.hook("second", terminating, "CONTINUE", 120)
		out, err := w.as.DescribeLifecycleHooks(ctx, &autoscaling.DescribeLifecycleHooksInput{AutoScalingGroupName: awssdk.String(pool)})
		ok(t, err)
		if len(out.LifecycleHooks) != 2 {
			t.Fatalf("want two hooks, got %d", len(out.LifecycleHooks))
		}
		first, second := out.LifecycleHooks[0], out.LifecycleHooks[1]
		if *first.HeartbeatTimeout != 3600 || *first.DefaultResult != "ABANDON" || *first.GlobalTimeout != 172800 {
			t.Errorf("want AWS's defaults, got %d, %s, %d", *first.HeartbeatTimeout, *first.DefaultResult, *first.GlobalTimeout)
		}
		if *second.HeartbeatTimeout != 120 || *second.DefaultResult != "CONTINUE" || *second.GlobalTimeout != 12000 {
			t.Errorf("want what was asked for, got %d, %s, %d", *second.HeartbeatTimeout, *second.DefaultResult, *second.GlobalTimeout)
		}
		_, err = w.as.DeleteLifecycleHook(ctx, &autoscaling.DeleteLifecycleHookInput{AutoScalingGroupName: awssdk.String(pool),
			LifecycleHookName: awssdk.String("first")})
		ok(t, err)
		_, err = w.as.DeleteLifecycleHook(ctx, &autoscaling.DeleteLifecycleHookInput{AutoScalingGroupName: awssdk.String(pool),
			LifecycleHookName: awssdk.String("first")})
		wantCode(t, err, "ValidationError")
		w.resize(1)
		w.wantServing(pool, 1)
	})
}

func (w *world) refresh(change ...func(*autoscaling.StartInstanceRefreshInput)) (string, error) {
	in := &autoscaling.StartInstanceRefreshInput{AutoScalingGroupName: awssdk.String(pool)}
	for _, f := range change {
		f(in)
	}
	out, err := w.as.StartInstanceRefresh(w.t.Context(), in)
	if err != nil {
		return "", err
	}
	return *out.InstanceRefreshId, nil
}

func (w *world) refreshed() astypes.InstanceRefresh {
	w.t.Helper()
	out, err := w.as.DescribeInstanceRefreshes(w.t.Context(),
		&autoscaling.DescribeInstanceRefreshesInput{AutoScalingGroupName: awssdk.String(pool)})
	ok(w.t, err)
	return out.InstanceRefreshes[0]
}

// versionsOf counts the instances in service by the version of their template.
func (w *world) versionsOf() map[string]int {
	w.t.Helper()
	out := map[string]int{}
	for _, i := range w.read(pool).Instances {
		if i.LifecycleState == "InService" {
			out[*i.LaunchTemplate.Version]++
		}
	}
	return out
}

// A refresh replaces all, and never goes below its minimum nor above its maximum.
func TestInstanceRefresh(t *testing.T) {
	for _, c := range []struct {
		name        string
		low, high   int32
		least, most int
	}{
		{"launch first", 100, 150, 4, 6},
		{"terminate first", 50, 100, 2, 4},
		{"one at a time", 90, 0, 3, 4},
		{"one at a time, never one more", 75, 100, 3, 4},
		{"a maximum, and no room below: launch first", 90, 100, 4, 5},
		{"all at once", 0, 100, 0, 4},
	} {
		if testing.Short() && c.name != "launch first" && c.name != "terminate first" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, aws.Options{Limits: aws.Limits{}}, func(t *testing.T, w *world) {
				id := w.settled(0, 4, 10)
				w.version(id, w.data())
				_, err := w.refresh(func(in *autoscaling.StartInstanceRefreshInput) {
					in.Preferences = &astypes.RefreshPreferences{MinHealthyPercentage: &c.low, InstanceWarmup: awssdk.Int32(20)}
					if c.high > 0 {
						in.Preferences.MaxHealthyPercentage = &c.high
					}
				})
				ok(t, err)
				_, err = w.refresh()
				wantCode(t, err, "InstanceRefreshInProgress")
				least, most := 100, 0
				for range 600 {
					after(100 * time.Millisecond)
					serving, all := 0, 0
					for _, i := range w.read(pool).Instances {
						if i.LifecycleState == "InService" {
							serving++
						}
						if !strings.HasPrefix(string(i.LifecycleState), "Terminating") {
							all++
						}
					}
					least, most = min(least, serving), max(most, all)
				}
				if r := w.refreshed(); r.Status != "Successful" || *r.PercentageComplete != 100 || *r.InstancesToUpdate != 0 || r.EndTime == nil {
					t.Fatalf("want it successful, got %s, %d%%, %d left, %v", r.Status, *r.PercentageComplete, *r.InstancesToUpdate,
						awssdk.ToString(r.StatusReason))
				}
				if v := w.versionsOf(); v["2"] != 4 || len(v) != 1 {
					t.Errorf("want all four of version 2, got %v", v)
				}
				if least < c.least || most > c.most {
					t.Errorf("want %d at least in service and %d at most in all, got %d and %d", c.least, c.most, least, most)
				}
			})
		})
	}
}

// With matching ones skipped a refresh replaces only what differs, and one that has nothing to do is done at once.
func TestRefreshSkipsMatching(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		id := w.settled(0, 2, 10)
		w.version(id, w.data())
		w.resize(3)
		skip := func(in *autoscaling.StartInstanceRefreshInput) {
			in.Preferences = &astypes.RefreshPreferences{SkipMatching: awssdk.Bool(true), MinHealthyPercentage: awssdk.Int32(50)}
		}
		kept := ""
		for _, i := range w.read(pool).Instances {
			if *i.LaunchTemplate.Version == "2" {
				kept = *i.InstanceId
			}
		}
		_, err := w.refresh(skip)
		ok(t, err)
		if r := w.refreshed(); *r.InstancesToUpdate != 2 {
			t.Errorf("want two to update, got %d", *r.InstancesToUpdate)
		}
		after(30 * time.Second)
		if r := w.refreshed(); r.Status != "Successful" {
			t.Fatalf("want it successful, got %s", r.Status)
		}
		found := false
		for _, id := range w.inState(pool, "InService") {
			found = found || id == kept
		}
		if v := w.versionsOf(); v["2"] != 3 || !found {
			t.Errorf("want three of version 2, among them %s, got %v", kept, v)
		}
		_, err = w.refresh(skip)
		ok(t, err)
		after(time.Second)
		if r := w.refreshed(); r.Status != "Successful" {
			t.Errorf("with nothing to do: want it successful, got %s", r.Status)
		}
	})
}

// The wanted configuration is the group's own only once the refresh has succeeded; a rollback brings back the one from before.
func TestRefreshDesiredConfigurationAndRollback(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		ctx := t.Context()
		id := w.settled(0, 3, 10, func(in *autoscaling.CreateAutoScalingGroupInput) { in.LaunchTemplate.Version = awssdk.String("1") })
		w.version(id, w.data())
		to := func(version string) func(*autoscaling.StartInstanceRefreshInput) {
			return func(in *autoscaling.StartInstanceRefreshInput) {
				in.DesiredConfiguration = &astypes.DesiredConfiguration{LaunchTemplate: &astypes.LaunchTemplateSpecification{LaunchTemplateId: &id,
					Version: &version}}
				in.Preferences = &astypes.RefreshPreferences{MinHealthyPercentage: awssdk.Int32(66)}
			}
		}
		_, err := w.refresh(to("9"))
		wantCode(t, err, "ValidationError")
		_, err = w.refresh(to("2"))
		ok(t, err)
		after(5 * time.Second)
		if v := *w.read(pool).LaunchTemplate.Version; v != "1" {
			t.Errorf("in the middle: want the group at version 1, got %s", v)
		}
		_, err = w.as.RollbackInstanceRefresh(ctx, &autoscaling.RollbackInstanceRefreshInput{AutoScalingGroupName: awssdk.String(pool)})
		ok(t, err)
		if s := w.refreshed().Status; s != "RollbackInProgress" {
			t.Errorf("want it rolling back, got %s", s)
		}
		after(30 * time.Second)
		if s, v := w.refreshed().Status, w.versionsOf(); s != "RollbackSuccessful" || v["1"] != 3 || len(v) != 1 {
			t.Errorf("want it rolled back to version 1, got %s, %v", s, v)
		}
		_, err = w.refresh(to("2"))
		ok(t, err)
		after(30 * time.Second)
		if v := w.versionsOf(); w.refreshed().Status != "Successful" || v["2"] != 3 || *w.read(pool).LaunchTemplate.Version != "2" {
			t.Errorf("want the group and its instances at version 2, got %s, %v, %s", w.refreshed().Status, v, *w.read(pool).LaunchTemplate.Version)
		}
		_, err = w.as.RollbackInstanceRefresh(ctx, &autoscaling.RollbackInstanceRefreshInput{AutoScalingGroupName: awssdk.String(pool)})
		wantCode(t, err, "ActiveInstanceRefreshNotFound")
	})
}

func TestRefreshCancelled(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		ctx := t.Context()
		id := w.settled(0, 4, 10)
		w.version(id, w.data())
		_, err := w.refresh(func(in *autoscaling.StartInstanceRefreshInput) {
			in.Preferences = &astypes.RefreshPreferences{MinHealthyPercentage: awssdk.Int32(75)}
		})
		ok(t, err)
		after(3 * time.Second)
		_, err = w.as.CancelInstanceRefresh(ctx, &autoscaling.CancelInstanceRefreshInput{AutoScalingGroupName: awssdk.String(pool)})
		ok(t, err)
		after(20 * time.Second)
		w.wantServing(pool, 4)
		if s, v := w.refreshed().Status, w.versionsOf(); s != "Cancelled" || v["1"] == 0 || v["2"] == 0 {
			t.Errorf("want it cancelled half way, got %s, %v", s, v)
		}
		_, err = w.as.CancelInstanceRefresh(ctx, &autoscaling.CancelInstanceRefreshInput{AutoScalingGroupName: awssdk.String(pool)})
		wantCode(t, err, "ActiveInstanceRefreshNotFound")
	})
}

// A refresh pauses at its checkpoints, and bakes before it is done.
func TestRefreshCheckpointsAndBake(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		id := w.settled(0, 4, 10)
		w.version(id, w.data())
		_, err := w.refresh(func(in *autoscaling.StartInstanceRefreshInput) {
			in.Preferences = &astypes.RefreshPreferences{
				MinHealthyPercentage: awssdk.Int32(75), CheckpointPercentages: []int32{25, 100}, CheckpointDelay: awssdk.Int32(600),
				BakeTime: awssdk.Int32(600),
			}
		})
		ok(t, err)
		after(30 * time.Second)
		if r := w.refreshed(); r.Status != "InProgress" || *r.PercentageComplete != 25 {
			t.Errorf("at the checkpoint: want 25%%, got %s at %d%%", r.Status, *r.PercentageComplete)
		}
		if n := w.versionsOf()["2"]; n != 1 {
			t.Errorf("at the checkpoint: want 1 of 4 instances replaced, got %d", n)
		}
		after(80 * time.Second)
		if r := w.refreshed(); r.Status != "Baking" {
			t.Errorf("want it baking, got %s at %d%%", r.Status, *r.PercentageComplete)
		}
		after(60 * time.Second)
		if r := w.refreshed(); r.Status != "Successful" {
			t.Errorf("want it successful, got %s", r.Status)
		}
	})
}

// A refresh that cannot go on fails after an hour of life, and turns back by itself where it was asked to.
func TestRefreshFails(t *testing.T) {
	for _, rollback := range []bool{false, true} {
		inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
			id := w.settled(0, 2, 10, func(in *autoscaling.CreateAutoScalingGroupInput) { in.LaunchTemplate.Version = awssdk.String("1") })
			w.version(id, w.data())
			w.hook("never", launching, "CONTINUE", 7200)
			_, err := w.refresh(func(in *autoscaling.StartInstanceRefreshInput) {
				in.DesiredConfiguration = &astypes.DesiredConfiguration{LaunchTemplate: &astypes.LaunchTemplateSpecification{LaunchTemplateId: &id,
					Version: awssdk.String("2")}}
				in.Preferences = &astypes.RefreshPreferences{MinHealthyPercentage: awssdk.Int32(50), AutoRollback: &rollback}
			})
			ok(t, err)
			after(7 * time.Minute)
			want := map[bool]astypes.InstanceRefreshStatus{false: "Failed", true: "RollbackInProgress"}[rollback]
			if r := w.refreshed(); r.Status != want {
				t.Errorf("rollback %v: want %s, got %s", rollback, want, r.Status)
			}
		})
	}
}

func TestRefreshRefusals(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		w.settled(0, 1, 2)
		for _, c := range []struct {
			why    string
			change func(*autoscaling.StartInstanceRefreshInput)
		}{
			{"a strategy that is not simulated", func(in *autoscaling.StartInstanceRefreshInput) { in.Strategy = "ReplaceRootVolume" }},
			{"a minimum above 100", func(in *autoscaling.StartInstanceRefreshInput) {
				in.Preferences = &astypes.RefreshPreferences{MinHealthyPercentage: awssdk.Int32(101)}
			}},
			{"a maximum below 100", func(in *autoscaling.StartInstanceRefreshInput) {
				in.Preferences = &astypes.RefreshPreferences{MaxHealthyPercentage: awssdk.Int32(90)}
			}},
			{"too far apart", func(in *autoscaling.StartInstanceRefreshInput) {
				in.Preferences = &astypes.RefreshPreferences{MinHealthyPercentage: awssdk.Int32(50), MaxHealthyPercentage: awssdk.Int32(200)}
			}},
			{"rollback to nothing", func(in *autoscaling.StartInstanceRefreshInput) {
				in.Preferences = &astypes.RefreshPreferences{AutoRollback: awssdk.Bool(true)}
			}},
			{"checkpoints in disorder", func(in *autoscaling.StartInstanceRefreshInput) {
				in.Preferences = &astypes.RefreshPreferences{CheckpointPercentages: []int32{50, 20}}
			}},
		} {
			_, err := w.refresh(c.change)
			t.Log(c.why)
			wantCode(t, err, "ValidationError")
		}
	})
}

// Time passes by itself: a world that is observed ten times a second ends as one that is not observed.
func TestLookingChangesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("a world that is observed ten times a second")
	}
	run := func(look bool) string {
		var out string
		inWorld(t, aws.Options{Limits: aws.Limits{}}, func(t *testing.T, w *world) {
			pass := func(d time.Duration) {
				if !look {
					after(d)
					return
				}
				for range int(d / (100 * time.Millisecond)) {
					after(100 * time.Millisecond)
					w.read(pool)
				}
			}
			ok(t, w.server.Faults().Add(
				sim.Fault{Kind: sim.NoCapacity, Zone: "eu-west-1a", Times: 4},
				sim.Fault{Kind: sim.Impaired, Delay: sim.Duration(20 * time.Second), Times: 1},
				sim.Fault{Kind: sim.SpotInterruption, Delay: sim.Duration(25 * time.Second), Times: 1},
			))
			id := w.template(pool)
			w.group(pool, id, 0, 5, 10, func(in *autoscaling.CreateAutoScalingGroupInput) {
				in.DefaultInstanceWarmup, in.HealthCheckGracePeriod, in.CapacityRebalance = awssdk.Int32(30), awssdk.Int32(60), awssdk.Bool(true)
				in.MixedInstancesPolicy = mixed(in, &astypes.InstancesDistribution{OnDemandPercentageAboveBaseCapacity: awssdk.Int32(50)}, "t3.large",
					"c5.large")
				in.LaunchTemplate = nil
			})
			pass(time.Minute)
			w.hook("drain", terminating, "CONTINUE", 30)
			w.version(id, w.data())
			_, err := w.refresh(func(in *autoscaling.StartInstanceRefreshInput) {
				in.Preferences = &astypes.RefreshPreferences{
					MinHealthyPercentage: awssdk.Int32(100), MaxHealthyPercentage: awssdk.Int32(140), InstanceWarmup: awssdk.Int32(50),
					CheckpointPercentages: []int32{50}, CheckpointDelay: awssdk.Int32(300), BakeTime: awssdk.Int32(100),
				}
			})
			ok(t, err)
			pass(10 * time.Minute)
			if r := w.refreshed(); r.Status != "Successful" {
				t.Errorf("looking %v: want the refresh successful, got %s", look, r.Status)
			}
			w.wantServing(pool, 5)
			var b strings.Builder
			for _, a := range w.activities() {
				fmt.Fprintln(&b, a.StatusCode, *a.Description, a.StartTime.Format(time.TimeOnly), a.EndTime.Format(time.TimeOnly))
			}
			out = b.String()
		})
		return out
	}
	if diff := cmp.Diff(run(false), run(true)); diff != "" {
		t.Errorf("unseen (-) and looked at (+):\n%s", diff)
	}
}
