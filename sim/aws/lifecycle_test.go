package aws_test

import (
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/muster-project/muster/sim/aws"
)

// The whole life of a group: created, filled, grown, shrunk by choice, deleted with nothing left.
func TestGroupLifecycle(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		ctx := t.Context()
		id := w.template("workers")
		w.group("workers", id, 1, 2, 5)
		if n := len(w.read("workers").Instances); n != 0 {
			t.Fatalf("right after creation: want no instance yet, got %d", n)
		}
		after(time.Second)
		if n := len(w.inState("workers", astypes.LifecycleStatePending)); n != 2 {
			t.Fatalf("a second later: want 2 pending, got %d", n)
		}
		after(5 * time.Second)
		w.wantServing("workers", 2)
		if n := w.guests.count(); n != 2 {
			t.Fatalf("want 2 machines powered on, got %d", n)
		}
		g := w.read("workers")
		if g.Instances[0].LaunchTemplate == nil || *g.Instances[0].LaunchTemplate.Version != "1" {
			t.Fatalf("want the version that the instance was launched from, got %+v", g.Instances[0].LaunchTemplate)
		}
		if *g.Instances[0].AvailabilityZone == *g.Instances[1].AvailabilityZone {
			t.Fatalf("want instances spread over zones, got both in %s", *g.Instances[0].AvailabilityZone)
		}

		_, err := w.as.SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: awssdk.String("workers"),
			DesiredCapacity: awssdk.Int32(4)})
		ok(t, err)
		after(10 * time.Second)
		w.wantServing("workers", 4)

		victim := *w.read("workers").Instances[1].InstanceId
		term, err := w.as.TerminateInstanceInAutoScalingGroup(ctx, &autoscaling.TerminateInstanceInAutoScalingGroupInput{
			InstanceId: &victim, ShouldDecrementDesiredCapacity: awssdk.Bool(true),
		})
		ok(t, err)
		if !strings.Contains(*term.Activity.Cause, "shrinking the capacity from 4 to 3") {
			t.Errorf("want the cause to tell of 4 to 3, got %q", *term.Activity.Cause)
		}
		after(10 * time.Second)
		w.wantServing("workers", 3)
		for _, i := range w.read("workers").Instances {
			if *i.InstanceId == victim {
				t.Errorf("want %s gone, it is still there", victim)
			}
		}

		_, err = w.as.DeleteAutoScalingGroup(ctx, &autoscaling.DeleteAutoScalingGroupInput{AutoScalingGroupName: awssdk.String("workers")})
		wantCode(t, err, "ResourceInUse")
		_, err = w.as.DeleteAutoScalingGroup(ctx, &autoscaling.DeleteAutoScalingGroupInput{AutoScalingGroupName: awssdk.String("workers"),
			ForceDelete: awssdk.Bool(true)})
		ok(t, err)
		if s := awssdk.ToString(w.read("workers").Status); s != "Delete in progress" {
			t.Errorf("want the status of a deletion, got %q", s)
		}
		after(10 * time.Second)
		if _, ok := w.find("workers"); ok {
			t.Errorf("want the group gone")
		}
		_, err = w.ec2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: &id})
		ok(t, err)
		if s := w.server.State(aws.AccountID, aws.Region); len(s.Living())+len(s.Groups)+len(s.Templates) != 0 || w.guests.count() != 0 {
			t.Errorf("want nothing left, got %+v and %d machines", s, w.guests.count())
		}
	})
}
