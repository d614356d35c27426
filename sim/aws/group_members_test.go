package aws_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws"
)

func TestScaleInChoice(t *testing.T) {
	for _, c := range []struct {
		name     string
		policies []string
		want     func(ids []string) string
	}{
		{"oldest instance", []string{"OldestInstance"}, func(ids []string) string { return ids[0] }},
		{"newest instance", []string{"NewestInstance"}, func(ids []string) string { return ids[3] }},
		{"oldest version by default", nil, func(ids []string) string { return ids[0] }},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
				id := w.settled(0, 1, 5, func(in *autoscaling.CreateAutoScalingGroupInput) {
					in.VPCZoneIdentifier, in.TerminationPolicies = awssdk.String(aws.SubnetID), c.policies
				})
				for n := int32(2); n <= 4; n++ {
					w.version(id, w.data())
					w.resize(n)
				}
				ids := w.inState(pool, "InService")
				w.resize(3)
				left := w.inState(pool, "InService")
				if slices.Contains(left, c.want(ids)) || len(left) != 3 {
					t.Errorf("want %s gone of %v, left are %v", c.want(ids), ids, left)
				}
			})
		})
	}
}

func (w *world) resize(n int32) {
	w.t.Helper()
	_, err := w.as.SetDesiredCapacity(w.t.Context(), &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: awssdk.String(pool),
		DesiredCapacity: &n})
	ok(w.t, err)
	after(10 * time.Second)
}

// Scale-in keeps the zones even and passes over protected instances.
func TestScaleInBalancesAndSpares(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		w.settled(0, 6, 6)
		ids := w.inState(pool, "InService")
		_, err := w.as.SetInstanceProtection(t.Context(), &autoscaling.SetInstanceProtectionInput{AutoScalingGroupName: awssdk.String(pool),
			InstanceIds: ids[:2], ProtectedFromScaleIn: awssdk.Bool(true)})
		ok(t, err)
		w.resize(3)
		zones := map[string]int{}
		for _, i := range w.read(pool).Instances {
			zones[*i.AvailabilityZone]++
		}
		if len(zones) != 3 {
			t.Errorf("want one in each zone, got %v", zones)
		}
		w.resize(0)
		if left := w.inState(pool, "InService"); !slices.Equal(left, ids[:2]) {
			t.Errorf("want the two protected ones left, got %v", left)
		}
		// What is protected from scale-in can still be terminated by name.
		_, err = w.as.TerminateInstanceInAutoScalingGroup(t.Context(),
			&autoscaling.TerminateInstanceInAutoScalingGroupInput{InstanceId: &ids[0], ShouldDecrementDesiredCapacity: awssdk.Bool(false)})
		ok(t, err)
		after(10 * time.Second)
		w.wantServing(pool, 1)
	})
}

func TestTerminateInGroup(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.settled(2, 3, 5)
		ids := w.inState(pool, "InService")
		terminate := func(lower bool, ids ...string) error {
			_, err := w.as.TerminateInstanceInAutoScalingGroup(ctx, &autoscaling.TerminateInstanceInAutoScalingGroupInput{InstanceIds: ids,
				ShouldDecrementDesiredCapacity: &lower})
			return err
		}
		err := terminate(true, ids[0], ids[1])
		wantCode(t, err, "ValidationError")
		if !strings.Contains(err.Error(), "will violate group's min size constraint") {
			t.Errorf("want AWS's words about the minimum, got %v", err)
		}
		ok(t, terminate(true, ids[0]))
		wantCode(t, terminate(true, ids[0]), "ScalingActivityInProgress")
		wantCode(t, terminate(true, ids[1]), "ValidationError")
		ok(t, terminate(false, ids[1]))
		after(10 * time.Second)
		w.wantServing(pool, 2)
		if left := w.inState(pool, "InService"); slices.Contains(left, ids[0]) || slices.Contains(left, ids[1]) ||
			!slices.Contains(left, ids[2]) {
			t.Errorf("want the two gone and one replaced, got %v of %v", left, ids)
		}
		wantCode(t, terminate(true, "i-0000000000000000f"), "ValidationError")
	})
}

// What dies is replaced, with a cause that says what happened.
func TestReplacement(t *testing.T) {
	for _, c := range []struct {
		name  string
		hurt  func(*world, string) error
		cause string
	}{
		{"terminated by hand", func(w *world, id string) error { return w.server.Terminate(id) },
			"EC2 health check indicating it has been terminated or stopped"},
		{"hardware failed", func(w *world, id string) error { return w.server.Fail(id) },
			"EC2 health check indicating it has been terminated or stopped"},
		{"status checks fail", func(w *world, id string) error { return w.server.Impair(id) }, "EC2 instance status checks failure"},
		{"marked unhealthy", func(w *world, id string) error {
			_, err := w.as.SetInstanceHealth(w.t.Context(), &autoscaling.SetInstanceHealthInput{InstanceId: &id,
				HealthStatus: awssdk.String("Unhealthy")})
			return err
		}, "a user health-check"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
				w.settled(2, 2, 2)
				id := w.inState(pool, "InService")[0]
				ok(t, c.hurt(w, id))
				after(10 * time.Second)
				w.wantServing(pool, 2)
				if slices.Contains(w.inState(pool, "InService"), id) {
					t.Errorf("want %s replaced", id)
				}
				var causes string
				for _, a := range w.activities() {
					causes += *a.Cause + "\n"
				}
				if !strings.Contains(causes, c.cause) {
					t.Errorf("want a cause with %q, got\n%s", c.cause, causes)
				}
			})
		})
	}
}

func TestAttachDetachStandby(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.settled(1, 2, 4)
		// In the zone that has none yet, so that the group has no reason to even its zones out.
		alone := w.run(1, func(in *ec2.RunInstancesInput) { in.SubnetId = &aws.DefaultAccount().Network.Subnets[2].ID })
		_, err := w.as.AttachInstances(ctx, &autoscaling.AttachInstancesInput{AutoScalingGroupName: awssdk.String(pool), InstanceIds: alone})
		wantCode(t, err, "ValidationError") // it does not run yet
		after(3 * time.Second)
		_, err = w.as.AttachInstances(ctx, &autoscaling.AttachInstancesInput{AutoScalingGroupName: awssdk.String(pool), InstanceIds: alone})
		ok(t, err)
		after(time.Second)
		w.wantServing(pool, 3)
		_, err = w.as.DetachInstances(ctx, &autoscaling.DetachInstancesInput{AutoScalingGroupName: awssdk.String(pool), InstanceIds: alone,
			ShouldDecrementDesiredCapacity: awssdk.Bool(true)})
		ok(t, err)
		after(5 * time.Second)
		w.wantServing(pool, 2)
		if s := w.instance(alone[0]).State.Name; s != "running" {
			t.Errorf("want the detached instance left running, got %s", s)
		}

		id := w.inState(pool, "InService")[0]
		_, err = w.as.EnterStandby(ctx, &autoscaling.EnterStandbyInput{AutoScalingGroupName: awssdk.String(pool), InstanceIds: []string{id},
			ShouldDecrementDesiredCapacity: awssdk.Bool(true)})
		ok(t, err)
		after(5 * time.Second)
		if s, all := w.inState(pool, "Standby"), len(w.read(pool).Instances); len(s) != 1 || all != 2 {
			t.Errorf("want one in standby and none launched for it, got %v of %d", s, all)
		}
		_, err = w.as.EnterStandby(ctx, &autoscaling.EnterStandbyInput{AutoScalingGroupName: awssdk.String(pool),
			InstanceIds: w.inState(pool, "InService"), ShouldDecrementDesiredCapacity: awssdk.Bool(true)})
		wantCode(t, err, "ValidationError") // below the minimum
		_, err = w.as.ExitStandby(ctx, &autoscaling.ExitStandbyInput{AutoScalingGroupName: awssdk.String(pool), InstanceIds: []string{id}})
		ok(t, err)
		after(5 * time.Second)
		w.wantServing(pool, 2)
		details, err := w.as.DescribeAutoScalingInstances(ctx, &autoscaling.DescribeAutoScalingInstancesInput{InstanceIds: []string{id}})
		ok(t, err)
		if d := details.AutoScalingInstances; len(d) != 1 || *d[0].AutoScalingGroupName != pool || *d[0].LifecycleState != "InService" {
			t.Errorf("want the instance with its group, got %+v", d)
		}
	})
}

// Once a zone has capacity again the group evens out by itself, the new one serving before the old one goes; with the process
// suspended it stays as it is.
func TestZonesAreEvened(t *testing.T) {
	for _, suspended := range []bool{false, true} {
		inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
			ok(t, w.server.Faults().Add(sim.Fault{Kind: sim.NoCapacity, Zone: "eu-west-1a"}))
			id := w.template(pool)
			w.group(pool, id, 0, 6, 10)
			if suspended {
				_, err := w.as.SuspendProcesses(t.Context(), &autoscaling.SuspendProcessesInput{AutoScalingGroupName: awssdk.String(pool),
					ScalingProcesses: []string{"AZRebalance"}})
				ok(t, err)
			}
			after(30 * time.Second)
			w.wantServing(pool, 6)
			w.server.Faults().Clear()
			least := 10
			for range 180 {
				after(time.Second)
				least = min(least, len(w.inState(pool, "InService")))
			}
			w.wantServing(pool, 6)
			zones := map[string]int{}
			for _, i := range w.read(pool).Instances {
				zones[*i.AvailabilityZone]++
			}
			want := map[string]int{"eu-west-1a": 2, "eu-west-1b": 2, "eu-west-1c": 2}
			if suspended {
				want = map[string]int{"eu-west-1b": 3, "eu-west-1c": 3}
			}
			if !cmp.Equal(zones, want) || least < 6 {
				t.Errorf("suspended %v: want %v and never fewer than 6, got %v and %d", suspended, want, zones, least)
			}
		})
	}
}
