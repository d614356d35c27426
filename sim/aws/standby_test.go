package aws_test

import (
	"slices"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/muster-project/muster/sim/aws"
)

func (w *world) standby(ids ...string) error {
	_, err := w.as.EnterStandby(w.t.Context(), &autoscaling.EnterStandbyInput{
		AutoScalingGroupName: awssdk.String(pool), InstanceIds: ids, ShouldDecrementDesiredCapacity: awssdk.Bool(false),
	})
	return err
}

// What is in standby is not counted: another is launched in its place at the group's largest size too. Its health is not checked, not
// even once it has ended. It goes when it is terminated in the group, which leaves the capacity as it is.
func TestStandbyAtTheMaximum(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		w.settled(0, 2, 2)
		ids := w.inState(pool, astypes.LifecycleStateInService)
		ok(t, w.standby(ids[0]))
		after(10 * time.Second)
		if got := w.inState(pool, astypes.LifecycleStateInService); len(got) != 2 {
			t.Errorf("want two in service beside it, got %v", got)
		}
		ok(t, w.server.Fail(ids[0]))
		after(10 * time.Minute)
		if got := w.inState(pool, astypes.LifecycleStateStandby); !slices.Equal(got, ids[:1]) || *w.find1(ids[0]).HealthStatus != "Healthy" {
			t.Errorf("want %s in standby as if nothing had happened, got %v", ids[0], got)
		}
		_, err := w.as.TerminateInstanceInAutoScalingGroup(t.Context(), &autoscaling.TerminateInstanceInAutoScalingGroupInput{
			InstanceId: &ids[0], ShouldDecrementDesiredCapacity: awssdk.Bool(true),
		})
		ok(t, err)
		after(time.Minute)
		w.wantServing(pool, 2)
		if g := w.read(pool); *g.DesiredCapacity != 2 || len(g.Instances) != 2 {
			t.Errorf("want a capacity of 2 and two members, got %d and %d", *g.DesiredCapacity, len(g.Instances))
		}
		wantCode(t, w.standby(slices.Repeat([]string{ids[1]}, 20)...), "ValidationError")
	})
}

// find1 is the pool's member of that name.
func (w *world) find1(id string) astypes.Instance {
	w.t.Helper()
	for _, i := range w.read(pool).Instances {
		if *i.InstanceId == id {
			return i
		}
	}
	w.t.Fatalf("want %s in the group", id)
	return astypes.Instance{}
}

// What is protected can be in standby too, is not chosen in a scale-in, and is terminated by name all the same.
func TestProtection(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		w.settled(0, 3, 5)
		ids := w.inState(pool, astypes.LifecycleStateInService)
		ok(t, w.standby(ids[0]))
		after(10 * time.Second)
		protect := func(ids ...string) error {
			_, err := w.as.SetInstanceProtection(t.Context(), &autoscaling.SetInstanceProtectionInput{
				AutoScalingGroupName: awssdk.String(pool), InstanceIds: ids, ProtectedFromScaleIn: awssdk.Bool(true),
			})
			return err
		}
		ok(t, protect(ids[0], ids[1]))
		wantCode(t, protect(slices.Repeat([]string{ids[1]}, 51)...), "ValidationError")
		w.resize(0)
		after(time.Minute)
		if got := w.inState(pool, astypes.LifecycleStateInService); !slices.Equal(got, ids[1:2]) {
			t.Errorf("want %s left, got %v", ids[1], got)
		}
		_, err := w.as.TerminateInstanceInAutoScalingGroup(t.Context(), &autoscaling.TerminateInstanceInAutoScalingGroupInput{
			InstanceId: &ids[1], ShouldDecrementDesiredCapacity: awssdk.Bool(false),
		})
		ok(t, err)
		after(time.Minute)
		if got := w.inState(pool, astypes.LifecycleStateInService); len(got) > 0 {
			t.Errorf("want none left, got %v", got)
		}
	})
}

// What a refresh decides can't be changed while it runs; the rest of the group can.
func TestUpdateDuringARefresh(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		id := w.settled(0, 2, 5)
		w.version(id, w.data())
		_, err := w.refresh(func(in *autoscaling.StartInstanceRefreshInput) {
			in.DesiredConfiguration = &astypes.DesiredConfiguration{LaunchTemplate: &astypes.LaunchTemplateSpecification{LaunchTemplateId: &id,
				Version: awssdk.String("2")}}
		})
		ok(t, err)
		launchFrom := func(version string) error {
			_, err := w.as.UpdateAutoScalingGroup(t.Context(), &autoscaling.UpdateAutoScalingGroupInput{
				AutoScalingGroupName: awssdk.String(pool), LaunchTemplate: &astypes.LaunchTemplateSpecification{LaunchTemplateId: &id,
					Version: &version},
			})
			return err
		}
		wantCode(t, launchFrom("1"), "ValidationError")
		_, err = w.as.UpdateAutoScalingGroup(t.Context(), &autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: awssdk.String(pool),
			MaxSize: awssdk.Int32(6)})
		ok(t, err)
		after(30 * time.Minute)
		if r := w.refreshed(); r.Status != astypes.InstanceRefreshStatusSuccessful {
			t.Fatalf("want the refresh done, got %s", r.Status)
		}
		ok(t, launchFrom("1"))
	})
}
