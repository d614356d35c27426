package aws_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws"
)

const pool = "workers"

// settled makes a template and a group of that size, and waits until all are in service.
func (w *world) settled(low, desired, high int32, change ...func(*autoscaling.CreateAutoScalingGroupInput)) string {
	w.t.Helper()
	id := w.template(pool)
	w.group(pool, id, low, desired, high, change...)
	after(10 * time.Second)
	w.wantServing(pool, int(desired))
	return id
}

// activities are a group's activities, the newest first.
func (w *world) activities() []astypes.Activity {
	w.t.Helper()
	out, err := w.as.DescribeScalingActivities(w.t.Context(),
		&autoscaling.DescribeScalingActivitiesInput{AutoScalingGroupName: awssdk.String(pool)})
	ok(w.t, err)
	return out.Activities
}

// An account's own quota of groups takes the place of AWS's default.
func TestGroupQuota(t *testing.T) {
	account := aws.DefaultAccount()
	account.Groups = 1
	inWorld(t, aws.Options{Accounts: []aws.Account{account}}, func(t *testing.T, w *world) {
		lt := w.template(pool)
		_, err := w.as.CreateAutoScalingGroup(t.Context(), w.groupInput("a", lt, 0, 0, 1))
		ok(t, err)
		_, err = w.as.CreateAutoScalingGroup(t.Context(), w.groupInput("b", lt, 0, 0, 1))
		wantCode(t, err, "LimitExceeded")
	})
}

func TestCreateGroupRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*autoscaling.CreateAutoScalingGroupInput)
		code   string
		text   string
	}{
		{"name taken", func(in *autoscaling.CreateAutoScalingGroupInput) { in.AutoScalingGroupName = awssdk.String("taken") }, "AlreadyExists",
			"already exists"},
		{"desired above max", func(in *autoscaling.CreateAutoScalingGroupInput) { in.DesiredCapacity = awssdk.Int32(9) },
			"ValidationError", "Desired capacity:9 must be between the specified min size:1 and max size:5"},
		{"min above max", func(in *autoscaling.CreateAutoScalingGroupInput) { in.MinSize = awssdk.Int32(7) },
			"ValidationError", "Max bound, 5, must be greater than or equal to min bound, 7"},
		{"negative", func(in *autoscaling.CreateAutoScalingGroupInput) { in.MinSize = awssdk.Int32(-1) }, "ValidationError", "must be between 0"},
		{"negative grace", func(in *autoscaling.CreateAutoScalingGroupInput) { in.HealthCheckGracePeriod = awssdk.Int32(-1) }, "ValidationError",
			"grace period"},
		{"negative warmup", func(in *autoscaling.CreateAutoScalingGroupInput) { in.DefaultInstanceWarmup = awssdk.Int32(-2) }, "ValidationError",
			"warmup"},
		{"a life of a minute", func(in *autoscaling.CreateAutoScalingGroupInput) { in.MaxInstanceLifetime = awssdk.Int32(60) }, "ValidationError",
			"86400 and 31536000"},
		{"a base below nothing", func(in *autoscaling.CreateAutoScalingGroupInput) {
			in.MixedInstancesPolicy = mixed(in, &astypes.InstancesDistribution{OnDemandBaseCapacity: awssdk.Int32(-1)})
			in.LaunchTemplate = nil
		}, "ValidationError", "OnDemandBaseCapacity"},
		{"no such subnet", func(in *autoscaling.CreateAutoScalingGroupInput) {
			in.VPCZoneIdentifier = awssdk.String("subnet-0000000000000000f")
		}, "ValidationError", "The subnet ID 'subnet-0000000000000000f' does not exist"},
		{"no subnet", func(in *autoscaling.CreateAutoScalingGroupInput) { in.VPCZoneIdentifier = nil }, "ValidationError",
			"At least one Availability Zone or VPC Subnet is required."},
		{"no template", func(in *autoscaling.CreateAutoScalingGroupInput) { in.LaunchTemplate = nil }, "ValidationError",
			"must contain either LaunchTemplate"},
		{"template that is not there", func(in *autoscaling.CreateAutoScalingGroupInput) {
			in.LaunchTemplate.LaunchTemplateId = awssdk.String("lt-0000000000000000f")
		}, "ValidationError", "You must use a valid fully-formed launch template. The specified launch template, with template ID " +
			"lt-0000000000000000f, does not exist."},
		{"version that is not there", func(in *autoscaling.CreateAutoScalingGroupInput) { in.LaunchTemplate.Version = awssdk.String("7") },
			"ValidationError", "Could not find the specified version 7"},
		{"zone without subnet", func(in *autoscaling.CreateAutoScalingGroupInput) { in.AvailabilityZones = []string{"eu-west-1d"} },
			"ValidationError", "do not match"},
		{"unknown policy", func(in *autoscaling.CreateAutoScalingGroupInput) { in.TerminationPolicies = []string{"Youngest"} }, "ValidationError",
			"Youngest"},
		{"spot strategy", func(in *autoscaling.CreateAutoScalingGroupInput) {
			in.MixedInstancesPolicy = mixed(in, &astypes.InstancesDistribution{SpotAllocationStrategy: awssdk.String("cheapest")})
			in.LaunchTemplate = nil
		}, "ValidationError", "cheapest"},
		{"template and mix", func(in *autoscaling.CreateAutoScalingGroupInput) { in.MixedInstancesPolicy = mixed(in, nil) }, "ValidationError",
			"only one of"},
		{"type of the mix", func(in *autoscaling.CreateAutoScalingGroupInput) {
			in.MixedInstancesPolicy = mixed(in, nil, "t3.huge")
			in.LaunchTemplate = nil
		}, "ValidationError", "Invalid value 't3.huge' for InstanceType."},
		{"hook too short", func(in *autoscaling.CreateAutoScalingGroupInput) {
			in.LifecycleHookSpecificationList = []astypes.LifecycleHookSpecification{{
				LifecycleHookName: awssdk.String("h"), LifecycleTransition: awssdk.String("autoscaling:EC2_INSTANCE_LAUNCHING"),
				HeartbeatTimeout: awssdk.Int32(5),
			}}
		}, "ValidationError", "30 and 7200"},
		{"tag of AWS", func(in *autoscaling.CreateAutoScalingGroupInput) {
			in.Tags = []astypes.Tag{{Key: awssdk.String("aws:x"), Value: awssdk.String("y")}}
		}, "ValidationError", "reserved"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
				id := w.template(pool)
				w.group("taken", id, 0, 0, 1)
				in := w.groupInput(pool, id, 1, 2, 5)
				c.change(in)
				_, err := w.as.CreateAutoScalingGroup(t.Context(), in)
				wantCode(t, err, c.code)
				if !strings.Contains(err.Error(), c.text) {
					t.Errorf("want %q in the message, got %v", c.text, err)
				}
				if _, there := w.find(pool); there {
					t.Errorf("want no group after a refusal")
				}
			})
		})
	}
}

// mixed is a mix over the input's own template.
func mixed(in *autoscaling.CreateAutoScalingGroupInput, d *astypes.InstancesDistribution, kinds ...string) *astypes.MixedInstancesPolicy {
	p := &astypes.MixedInstancesPolicy{InstancesDistribution: d,
		LaunchTemplate: &astypes.LaunchTemplate{LaunchTemplateSpecification: in.LaunchTemplate}}
	for _, k := range kinds {
		p.LaunchTemplate.Overrides = append(p.LaunchTemplate.Overrides, astypes.LaunchTemplateOverrides{InstanceType: &k})
	}
	return p
}

// What a launch cannot work with is refused when the group is made, in EC2's words.
func TestGroupWithTemplateThatCannotLaunch(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		data := w.data()
		data.ImageId = awssdk.String("ami-0000000000000000f")
		lt, err := w.ec2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: awssdk.String(pool),
			LaunchTemplateData: data})
		ok(t, err)
		_, err = w.as.CreateAutoScalingGroup(t.Context(), w.groupInput(pool, *lt.LaunchTemplate.LaunchTemplateId, 1, 1, 1))
		wantCode(t, err, "ValidationError")
		if want := "You must use a valid fully-formed launch template. The image id '[ami-0000000000000000f]' does not exist"; !strings.Contains(
			err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	})
}

// Everything that a group can be given comes back as it was given.
func TestGroupRoundTrip(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		in := w.groupInput(pool, w.template(pool), 0, 0, 5)
		in.CapacityRebalance, in.DefaultCooldown, in.DefaultInstanceWarmup = awssdk.Bool(true), awssdk.Int32(17), awssdk.Int32(33)
		in.HealthCheckType, in.HealthCheckGracePeriod, in.MaxInstanceLifetime = awssdk.String("ELB"), awssdk.Int32(60), awssdk.Int32(86400)
		in.NewInstancesProtectedFromScaleIn, in.TerminationPolicies = awssdk.Bool(true), []string{"OldestInstance", "Default"}
		in.InstanceMaintenancePolicy = &astypes.InstanceMaintenancePolicy{MinHealthyPercentage: awssdk.Int32(90),
			MaxHealthyPercentage: awssdk.Int32(120)}
		in.TargetGroupARNs, in.LoadBalancerNames = []string{"arn:x"}, []string{"lb"}
		in.AvailabilityZoneDistribution = &astypes.AvailabilityZoneDistribution{CapacityDistributionStrategy: "balanced-only"}
		in.DeletionProtection, in.Context, in.DesiredCapacityType = "prevent-force-deletion", awssdk.String("c"), awssdk.String("units")
		in.Operator = &astypes.Operator{Principal: awssdk.String("muster")}
		in.MixedInstancesPolicy = mixed(in, &astypes.InstancesDistribution{
			OnDemandAllocationStrategy: awssdk.String("prioritized"), OnDemandBaseCapacity: awssdk.Int32(1),
			OnDemandPercentageAboveBaseCapacity: awssdk.Int32(50),
			SpotAllocationStrategy:              awssdk.String("capacity-optimized"), SpotMaxPrice: awssdk.String("0.5"),
		}, "t3.large", "t3a.large")
		in.LaunchTemplate = nil
		in.Tags = []astypes.Tag{{Key: awssdk.String("k"), Value: awssdk.String("v"), PropagateAtLaunch: awssdk.Bool(true)}}
		_, err := w.as.CreateAutoScalingGroup(t.Context(), in)
		ok(t, err)
		g := w.read(pool)
		want, got := asMap(t, in).(map[string]any), asMap(t, g).(map[string]any)
		want["Tags"] = []any{map[string]any{"Key": "k", "Value": "v", "PropagateAtLaunch": true, "ResourceId": pool,
			"ResourceType": "auto-scaling-group"}}
		spec := want["MixedInstancesPolicy"].(map[string]any)["LaunchTemplate"].(map[string]any)["LaunchTemplateSpecification"].(map[string]any)
		spec["LaunchTemplateName"] = pool
		for k := range want {
			if diff := cmp.Diff(want[k], got[k]); diff != "" {
				t.Errorf("%s: what was sent (-) and what came back (+) differ:\n%s", k, diff)
			}
		}
		if !slices.Equal(g.AvailabilityZones, aws.DefaultAccount().Network.Zones) {
			t.Errorf("want the subnets' zones, got %v", g.AvailabilityZones)
		}
		if !strings.HasPrefix(*g.AutoScalingGroupARN, "arn:aws:autoscaling:eu-west-1:123456789012:autoScalingGroup:") {
			t.Errorf("ARN: got %s", *g.AutoScalingGroupARN)
		}
		_, err = w.as.DeleteAutoScalingGroup(t.Context(), &autoscaling.DeleteAutoScalingGroupInput{AutoScalingGroupName: awssdk.String(pool),
			ForceDelete: awssdk.Bool(true)})
		wantCode(t, err, "ResourceInUse")
	})
}

func TestUpdateGroup(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		ctx := t.Context()
		id := w.settled(1, 2, 5)
		update := func(change func(*autoscaling.UpdateAutoScalingGroupInput)) error {
			in := &autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: awssdk.String(pool)}
			change(in)
			_, err := w.as.UpdateAutoScalingGroup(ctx, in)
			return err
		}
		for _, c := range []struct {
			why    string
			change func(*autoscaling.UpdateAutoScalingGroupInput)
		}{
			{"desired above max", func(in *autoscaling.UpdateAutoScalingGroupInput) { in.DesiredCapacity = awssdk.Int32(9) }},
			{"no such subnet", func(in *autoscaling.UpdateAutoScalingGroupInput) {
				in.VPCZoneIdentifier = awssdk.String("subnet-0000000000000000f")
			}},
			{"min above max", func(in *autoscaling.UpdateAutoScalingGroupInput) { in.MinSize = awssdk.Int32(6) }},
		} {
			wantCode(t, update(c.change), "ValidationError")
			if g := w.read(pool); *g.DesiredCapacity != 2 || *g.MinSize != 1 || !strings.Contains(*g.VPCZoneIdentifier, aws.SubnetID) {
				t.Errorf("%s: want no trace of what was refused, got %+v", c.why, g)
			}
		}
		ok(t, update(func(in *autoscaling.UpdateAutoScalingGroupInput) {
			in.MinSize, in.MaxSize, in.DefaultCooldown = awssdk.Int32(3), awssdk.Int32(4), awssdk.Int32(5)
			in.VPCZoneIdentifier = awssdk.String(aws.SubnetID)
		}))
		after(10 * time.Second)
		w.wantServing(pool, 3)
		g := w.read(pool)
		if *g.DesiredCapacity != 3 || *g.DefaultCooldown != 5 || !slices.Equal(g.AvailabilityZones, []string{aws.Zone}) {
			t.Errorf("want desired raised to min, cooldown 5, one zone; got %d, %d, %v", *g.DesiredCapacity, *g.DefaultCooldown, g.AvailabilityZones)
		}
		if cause := *w.activities()[0].Cause; !strings.Contains(cause,
			"constraints to min: 3, max: 4, desired: 3 changing the desired capacity from 2 to 3") {
			t.Errorf("want the cause to tell of the update, got %q", cause)
		}
		// A new version reaches what is launched from now on, and nothing else.
		w.version(id, w.data())
		ok(t, update(func(in *autoscaling.UpdateAutoScalingGroupInput) { in.DesiredCapacity = awssdk.Int32(4) }))
		after(10 * time.Second)
		var versions []string
		for _, i := range w.read(pool).Instances {
			versions = append(versions, *i.LaunchTemplate.Version)
		}
		if want := []string{"1", "1", "1", "2"}; !slices.Equal(versions, want) {
			t.Errorf("versions: want %v, got %v", want, versions)
		}
		_, err := w.as.UpdateAutoScalingGroup(ctx, &autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: awssdk.String("nothing")})
		wantCode(t, err, "ValidationError")
	})
}

func TestDescribeGroupsByTagAndPage(t *testing.T) {
	inWorld(t, aws.Options{Limits: aws.Limits{}}, func(t *testing.T, w *world) {
		ctx := t.Context()
		id := w.template(pool)
		for i := range 7 {
			w.group(fmt.Sprintf("g%d", i), id, 0, 0, 1, func(in *autoscaling.CreateAutoScalingGroupInput) {
				in.Tags = []astypes.Tag{{Key: awssdk.String("parity"), Value: awssdk.String(fmt.Sprint(i % 2))}}
			})
		}
		var names []string
		p := autoscaling.NewDescribeAutoScalingGroupsPaginator(w.as, &autoscaling.DescribeAutoScalingGroupsInput{
			MaxRecords: awssdk.Int32(2), Filters: []astypes.Filter{{Name: awssdk.String("tag:parity"), Values: []string{"0"}}},
		})
		for p.HasMorePages() {
			page, err := p.NextPage(ctx)
			ok(t, err)
			for _, g := range page.AutoScalingGroups {
				names = append(names, *g.AutoScalingGroupName)
			}
		}
		if want := []string{"g0", "g2", "g4", "g6"}; !slices.Equal(names, want) {
			t.Errorf("want %v, got %v", want, names)
		}
		tags, err := w.as.DescribeTags(ctx, &autoscaling.DescribeTagsInput{Filters: []astypes.Filter{{Name: awssdk.String("value"),
			Values: []string{"1"}}}})
		ok(t, err)
		if len(tags.Tags) != 3 {
			t.Errorf("want 3 tags of that value, got %d", len(tags.Tags))
		}
		_, err = w.as.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{MaxRecords: awssdk.Int32(101)})
		wantCode(t, err, "ValidationError")
		unknown, err := w.as.DescribeAutoScalingGroups(ctx,
			&autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{"nothing"}})
		ok(t, err) // a group that is not there is no error, but no group either
		if len(unknown.AutoScalingGroups) != 0 {
			t.Errorf("want none, got %d", len(unknown.AutoScalingGroups))
		}
	})
}

// Tags of the group reach its instances at launch where they are to be propagated, beside the template's own and AWS's.
func TestTagsReachInstances(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		ctx := t.Context()
		data := w.data()
		data.TagSpecifications = []types.LaunchTemplateTagSpecificationRequest{{ResourceType: "instance", Tags: []types.Tag{
			{Key: awssdk.String("from"), Value: awssdk.String("template")}, {Key: awssdk.String("both"), Value: awssdk.String("template")},
		}}}
		lt, err := w.ec2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{LaunchTemplateName: awssdk.String(pool),
			LaunchTemplateData: data})
		ok(t, err)
		w.group(pool, *lt.LaunchTemplate.LaunchTemplateId, 1, 1, 1, func(in *autoscaling.CreateAutoScalingGroupInput) {
			in.Tags = []astypes.Tag{
				{Key: awssdk.String("both"), Value: awssdk.String("group"), PropagateAtLaunch: awssdk.Bool(true)},
				{Key: awssdk.String("kept"), Value: awssdk.String("back"), PropagateAtLaunch: awssdk.Bool(false)},
			}
		})
		_, err = w.as.CreateOrUpdateTags(ctx, &autoscaling.CreateOrUpdateTagsInput{Tags: []astypes.Tag{{
			ResourceId: awssdk.String(pool), ResourceType: awssdk.String("auto-scaling-group"), Key: awssdk.String("later"),
			Value: awssdk.String("x"), PropagateAtLaunch: awssdk.Bool(true),
		}}})
		ok(t, err)
		_, err = w.as.DeleteTags(ctx, &autoscaling.DeleteTagsInput{Tags: []astypes.Tag{{ResourceId: awssdk.String(pool),
			ResourceType: awssdk.String("auto-scaling-group"), Key: awssdk.String("kept")}}})
		ok(t, err)
		after(5 * time.Second)
		got := map[string]string{}
		for _, tag := range w.instance(*w.read(pool).Instances[0].InstanceId).Tags {
			got[*tag.Key] = *tag.Value
		}
		want := map[string]string{
			"from": "template", "both": "group", "later": "x", "aws:autoscaling:groupName": pool,
			"aws:ec2launchtemplate:id": *lt.LaunchTemplate.LaunchTemplateId, "aws:ec2launchtemplate:version": "1",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("tags (-want +got):\n%s", diff)
		}
		if n := len(w.read(pool).Tags); n != 2 {
			t.Errorf("want 2 tags left on the group, got %d", n)
		}
	})
}

// A zone without capacity costs a failed activity in AWS's words; the group fills up in the others.
func TestNoCapacityInOneZone(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		ok(t, w.server.Faults().Add(sim.Fault{Kind: sim.NoCapacity, Zone: "eu-west-1a"}))
		w.group(pool, w.template(pool), 0, 4, 5)
		after(15 * time.Second)
		w.wantServing(pool, 4)
		for _, i := range w.read(pool).Instances {
			if *i.AvailabilityZone == "eu-west-1a" {
				t.Errorf("want no instance in the zone without capacity")
			}
		}
		var failed []string
		for _, a := range w.activities() {
			if a.StatusCode == "Failed" {
				failed = append(failed, *a.StatusMessage)
			}
		}
		if len(failed) == 0 || !strings.HasPrefix(failed[0],
			"Could not launch On-Demand Instances. InsufficientInstanceCapacity - We currently do not have sufficient t3.large capacity") {
			t.Errorf("want a failed activity that says so, got %q", failed)
		}
	})
}

// Where no zone has capacity the launch is tried again ever more slowly, and succeeds once there is some.
func TestNoCapacityAnywhere(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		ok(t, w.server.Faults().Add(sim.Fault{Kind: sim.NoCapacity}))
		w.group(pool, w.template(pool), 0, 1, 5)
		after(5 * time.Minute)
		if n := len(w.activities()); n < 8 || n > 40 {
			t.Errorf("want some tries with growing pauses, got %d", n)
		}
		w.server.Faults().Clear()
		after(time.Minute)
		w.wantServing(pool, 1)
	})
}

// A launch that fails for what it asks says why, and goes on once that is put right.
func TestLaunchFailsUntilPutRight(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		id := w.settled(0, 1, 5)
		data := w.data()
		data.KeyName = awssdk.String("lost")
		w.version(id, data)
		_, err := w.as.SetDesiredCapacity(t.Context(), &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: awssdk.String(pool),
			DesiredCapacity: awssdk.Int32(2)})
		ok(t, err)
		after(5 * time.Second)
		if a := w.activities()[0]; a.StatusCode != "Failed" ||
			*a.StatusMessage != "The key pair 'lost' does not exist Launching EC2 instance failed." {
			t.Errorf("want a failure that names the key, got %s: %v", a.StatusCode, awssdk.ToString(a.StatusMessage))
		}
		ok(t, w.server.AddKeyPair("lost"))
		after(time.Minute)
		w.wantServing(pool, 2)
	})
}

func TestSuspendedProcesses(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.settled(0, 2, 5)
		suspend := func(p ...string) {
			_, err := w.as.SuspendProcesses(ctx, &autoscaling.SuspendProcessesInput{AutoScalingGroupName: awssdk.String(pool), ScalingProcesses: p})
			ok(t, err)
		}
		resume := func(p ...string) {
			_, err := w.as.ResumeProcesses(ctx, &autoscaling.ResumeProcessesInput{AutoScalingGroupName: awssdk.String(pool), ScalingProcesses: p})
			ok(t, err)
		}
		suspend("Launch")
		w.resize(4)
		w.wantServing(pool, 2)
		resume("Launch")
		after(10 * time.Second)
		w.wantServing(pool, 4)
		suspend("Terminate")
		w.resize(3)
		w.wantServing(pool, 4)
		resume()
		after(10 * time.Second)
		w.wantServing(pool, 3)
		suspend("ReplaceUnhealthy", "HealthCheck")
		ok(t, w.server.Terminate(w.inState(pool, "InService")[0]))
		after(10 * time.Second)
		w.wantServing(pool, 3)
		suspend()
		if n := len(w.read(pool).SuspendedProcesses); n != 9 {
			t.Errorf("want all nine suspended, got %d", n)
		}
		resume()
		after(10 * time.Second)
		w.wantServing(pool, 3)
		if n := len(w.read(pool).SuspendedProcesses); n != 0 {
			t.Errorf("want none suspended, got %d", n)
		}
		_, err := w.as.SuspendProcesses(ctx, &autoscaling.SuspendProcessesInput{AutoScalingGroupName: awssdk.String(pool),
			ScalingProcesses: []string{"Sleep"}})
		wantCode(t, err, "ValidationError")
	})
}

// A mix takes its types in order, passes over one without capacity, and keeps the share of spot.
func TestMixedInstances(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		ok(t, w.server.Faults().Add(sim.Fault{Kind: sim.NoCapacity, Type: "m5.large"}))
		w.settled(0, 6, 10, func(in *autoscaling.CreateAutoScalingGroupInput) {
			in.MixedInstancesPolicy = mixed(in, &astypes.InstancesDistribution{
				OnDemandBaseCapacity: awssdk.Int32(2), OnDemandPercentageAboveBaseCapacity: awssdk.Int32(25),
				SpotAllocationStrategy: awssdk.String("price-capacity-optimized"),
			}, "m5.large", "c5.large", "t3.large")
			in.LaunchTemplate = nil
		})
		spot, kinds := 0, map[string]int{}
		for _, i := range w.read(pool).Instances {
			kinds[*i.InstanceType]++
			if w.instance(*i.InstanceId).InstanceLifecycle == "spot" {
				spot++
			}
		}
		if spot != 3 || kinds["m5.large"] != 0 || kinds["c5.large"] == 0 {
			t.Errorf("want 3 spot of 6 (2 and a quarter of 4 on demand) and no m5.large, got %d spot of %v", spot, kinds)
		}
	})
}

// Weights count towards the desired capacity, and requirements stand for the types that fulfil them.
func TestWeightsAndRequirements(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		in := w.groupInput(pool, w.template(pool), 0, 8, 10)
		in.MixedInstancesPolicy = mixed(in, nil)
		in.MixedInstancesPolicy.LaunchTemplate.Overrides = []astypes.LaunchTemplateOverrides{{
			WeightedCapacity: awssdk.String("4"), InstanceRequirements: &astypes.InstanceRequirements{
				VCpuCount:             &astypes.VCpuCountRequest{Min: awssdk.Int32(4), Max: awssdk.Int32(8)},
				MemoryMiB:             &astypes.MemoryMiBRequest{Min: awssdk.Int32(16384)},
				ExcludedInstanceTypes: []string{"m6g.*", "m7g.*", "c6g.*", "c7g.*", "r6g.*", "r7g.*"},
			},
		}}
		in.LaunchTemplate = nil
		_, err := w.as.CreateAutoScalingGroup(t.Context(), in)
		ok(t, err)
		after(10 * time.Second)
		w.wantServing(pool, 2)
		for _, i := range w.read(pool).Instances {
			if *i.WeightedCapacity != "4" || !strings.HasSuffix(*i.InstanceType, ".xlarge") {
				t.Errorf("want an xlarge of weight 4, got %s of %s", *i.InstanceType, *i.WeightedCapacity)
			}
		}
	})
}

// A spot instance is taken away with notice, whatever the group does about it. A group that rebalances has its replacement serve
// before one goes that is recommended to be replaced, and begins to replace one that is noticed at once.
func TestSpotInterruption(t *testing.T) {
	for _, c := range []struct {
		name      string
		deed      sim.Action
		rebalance bool
		// replaced by another, which came before it was gone; least in service.
		replaced, before bool
		least            int
	}{
		{"interrupted, without a hook", sim.InterruptInstance, false, true, false, 0},
		{"interrupted, with rebalancing", sim.InterruptInstance, true, true, true, 0},
		{"recommended, without a hook", sim.RecommendReplacement, false, false, false, 1},
		{"recommended, with rebalancing", sim.RecommendReplacement, true, true, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
				w.settled(1, 1, 2, func(in *autoscaling.CreateAutoScalingGroupInput) {
					in.CapacityRebalance = &c.rebalance
					in.MixedInstancesPolicy = mixed(in, &astypes.InstancesDistribution{OnDemandPercentageAboveBaseCapacity: awssdk.Int32(0)}, "t3.large")
					in.LaunchTemplate = nil
				})
				w.hook("bye", terminating, "CONTINUE", 600)
				id := w.inState(pool, "InService")[0]
				if has, err := w.server.Capabilities().OutOfBand.Do(c.deed, sim.Resource{Instance: id}); !has || err != nil {
					t.Fatalf("want it done, got %t, %v", has, err)
				}
				noticed, err := w.ec2.DescribeSpotInstanceRequests(t.Context(), &ec2.DescribeSpotInstanceRequestsInput{Filters: []types.Filter{
					{Name: awssdk.String("status-code"), Values: []string{"marked-for-termination"}},
				}})
				ok(t, err)
				if n := len(noticed.SpotInstanceRequests); n != map[bool]int{true: 1}[c.deed == sim.InterruptInstance] {
					t.Errorf("want a mark on the request of what is interrupted and of nothing else, got %d", n)
				}
				least, before := 2, false
				for range 180 {
					after(time.Second)
					serving := w.inState(pool, "InService")
					least = min(least, len(serving))
					before = before || len(serving) > 0 && serving[0] != id && w.instance(id).State.Name == types.InstanceStateNameRunning
				}
				if got := w.inState(pool, "InService")[0] != id; got != c.replaced || before != c.before || least != c.least {
					t.Errorf("want replaced %t, with the other first %t, at least %d in service; got %t, %t, %d", c.replaced, c.before, c.least, got,
						before, least)
				}
				after(2 * time.Minute)
				if running := w.instance(id).State.Name == types.InstanceStateNameRunning; running != (c.deed == sim.RecommendReplacement) {
					t.Errorf("want it taken whatever waits for a hook, if it was interrupted: got running %t", running)
				}
			})
		})
	}
}

// An instance that outlives its limit is replaced, its replacement first.
func TestMaxInstanceLifetime(t *testing.T) {
	inWorld(t, aws.Options{Speed: 1000}, func(t *testing.T, w *world) {
		id := w.template(pool)
		w.group(pool, id, 1, 1, 2, func(in *autoscaling.CreateAutoScalingGroupInput) { in.MaxInstanceLifetime = awssdk.Int32(86400) })
		after(80 * time.Second)
		first := w.inState(pool, "InService")[0]
		after(10 * time.Second)
		w.wantServing(pool, 1)
		if w.inState(pool, "InService")[0] == first {
			t.Errorf("want %s replaced after a day of life", first)
		}
	})
}

// A group whose template is gone can still be resized: what is not given is not looked at.
func TestResizeWithoutTemplate(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		w.settled(0, 2, 3)
		ok(t, w.server.DropTemplate(pool))
		_, err := w.as.UpdateAutoScalingGroup(t.Context(), &autoscaling.UpdateAutoScalingGroupInput{AutoScalingGroupName: awssdk.String(pool),
			DesiredCapacity: awssdk.Int32(1)})
		ok(t, err)
		after(10 * time.Second)
		w.wantServing(pool, 1)
	})
}
