package aws_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	asgtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/desired"
	"github.com/muster-project/muster/cloud/aws/lifecycle"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// tagSuspended names on a group the processes that Muster suspended.
const tagSuspended = "muster.dev/suspended-processes"

// groupFor is the group as the cloud would show it, had it been made from the specification.
func groupFor(g desired.Group, size int) (*asgtypes.AutoScalingGroup, []asgtypes.LifecycleHook) {
	made := g.Create("g", size, &asgtypes.LaunchTemplateSpecification{LaunchTemplateName: new("g")})
	is := &asgtypes.AutoScalingGroup{
		MinSize: made.MinSize, MaxSize: made.MaxSize, DesiredCapacity: made.DesiredCapacity, DefaultCooldown: made.DefaultCooldown,
		DefaultInstanceWarmup: made.DefaultInstanceWarmup, CapacityRebalance: made.CapacityRebalance,
		VPCZoneIdentifier: new("subnet-b, subnet-a"), MixedInstancesPolicy: made.MixedInstancesPolicy,
	}
	for _, tag := range made.Tags {
		is.Tags = append(is.Tags, asgtypes.TagDescription{Key: tag.Key, Value: tag.Value, PropagateAtLaunch: tag.PropagateAtLaunch})
	}
	for name := range strings.SplitSeq(asg.Tag(is, tagSuspended), ",") {
		is.SuspendedProcesses = append(is.SuspendedProcesses, asgtypes.SuspendedProcess{ProcessName: new(name)})
	}
	var existing []asgtypes.LifecycleHook
	for _, h := range g.Hooks {
		existing = append(existing, asgtypes.LifecycleHook{
			LifecycleHookName: h.LifecycleHookName, LifecycleTransition: h.LifecycleTransition,
			HeartbeatTimeout: cmp.Or(h.HeartbeatTimeout, new(int32(3600))), DefaultResult: cmp.Or(h.DefaultResult, new("ABANDON")),
			NotificationTargetARN: h.NotificationTargetARN, RoleARN: h.RoleARN, NotificationMetadata: h.NotificationMetadata,
		})
	}
	return is, existing
}

func specWith(change func(*awsv1.AWSMachinePoolSpec)) desired.Group {
	spec := &awsv1.AWSMachinePoolSpec{
		AWSLaunchTemplate: awsv1.AWSLaunchTemplate{InstanceType: "m5.large"}, AdditionalTags: awsv1.Tags{"team": "a"}, MinSize: 1, MaxSize: 10,
		AWSLifecycleHooks: []awsv1.AWSLifecycleHook{{Name: "ours", LifecycleTransition: awsv1.LifecycleTransitionInstanceTerminating}},
		SuspendProcesses:  &awsv1.SuspendProcessesTypes{Processes: &awsv1.Processes{AZRebalance: new(true)}},
	}
	change(spec)
	owner := cloud.Owner{ID: "owner", Cluster: "c", Namespace: "ns", Name: "p", GroupName: "g"}
	g := desired.Of(spec, session.OwnTags(owner, spec.AdditionalTags), session.Names(spec.AdditionalTags))
	g.Subnets = []string{"subnet-a", "subnet-b"}
	return g
}

func same(*awsv1.AWSMachinePoolSpec) {}

func TestDrift(t *testing.T) {
	type spec = awsv1.AWSMachinePoolSpec
	for _, c := range []struct {
		reason string
		before func(*spec)
		after  func(*spec)
		want   []string
	}{
		{"a group that is as asked for has none, whatever the order of its subnets", same, same, nil},
		{"sizes", same, func(s *spec) { s.MinSize, s.MaxSize = 0, 12 }, []string{"spec.minSize", "spec.maxSize"}},
		{"a maximum below the size waits, for the cloud would choose and kill at once", same, func(s *spec) { s.MaxSize = 2 }, nil},
		{"pauses", same, func(s *spec) {
			s.DefaultCoolDown, s.DefaultInstanceWarmup = &metav1.Duration{Duration: time.Minute}, &metav1.Duration{}
		}, []string{"spec.defaultCoolDown", "spec.defaultInstanceWarmup"}},
		{"rebalance", same, func(s *spec) { s.CapacityRebalance = true }, []string{"spec.capacityRebalance"}},
		{"a policy is added", same, func(s *spec) { s.MixedInstancesPolicy = &awsv1.MixedInstancesPolicy{} },
			[]string{"spec.mixedInstancesPolicy"}},
		{"a policy is taken away", func(s *spec) { s.MixedInstancesPolicy = &awsv1.MixedInstancesPolicy{} }, same,
			[]string{"spec.mixedInstancesPolicy"}},
		{"a policy's default said outright is no change", func(s *spec) { s.MixedInstancesPolicy = &awsv1.MixedInstancesPolicy{} },
			func(s *spec) {
				s.MixedInstancesPolicy = &awsv1.MixedInstancesPolicy{
					InstancesDistribution: &awsv1.InstancesDistribution{OnDemandPercentageAboveBaseCapacity: new(int64(100))}}
			}, nil},
		{"a policy's types change", func(s *spec) { s.MixedInstancesPolicy = &awsv1.MixedInstancesPolicy{} }, func(s *spec) {
			s.MixedInstancesPolicy = &awsv1.MixedInstancesPolicy{Overrides: []awsv1.Overrides{{InstanceType: "m6i.large"}}}
		}, []string{"spec.mixedInstancesPolicy"}},
		{"a tag is added", same, func(s *spec) { s.AdditionalTags = awsv1.Tags{"team": "a", "more": "x"} }, []string{"spec.additionalTags"}},
		{"a tag changes", same, func(s *spec) { s.AdditionalTags = awsv1.Tags{"team": "b"} }, []string{"spec.additionalTags"}},
		{"a tag that Muster put there is removed", same, func(s *spec) { s.AdditionalTags = nil }, []string{"spec.additionalTags"}},
		{"a hook is added", same, func(s *spec) {
			s.AWSLifecycleHooks = append(s.AWSLifecycleHooks, awsv1.AWSLifecycleHook{Name: "more",
				LifecycleTransition: awsv1.LifecycleTransitionInstanceLaunching})
		}, []string{"spec.lifecycleHooks"}},
		{"a hook changes", same, func(s *spec) { s.AWSLifecycleHooks[0].HeartbeatTimeout = &metav1.Duration{Duration: time.Minute} },
			[]string{"spec.lifecycleHooks"}},
		{"a hook's default said outright is no change", same,
			func(s *spec) { s.AWSLifecycleHooks[0].HeartbeatTimeout = &metav1.Duration{Duration: time.Hour} }, nil},
		{"a hook is taken away", same, func(s *spec) { s.AWSLifecycleHooks = nil }, []string{"spec.lifecycleHooks"}},
		{"a process more", same, func(s *spec) { s.SuspendProcesses.Processes.Launch = new(true) }, []string{"spec.suspendProcesses"}},
		{"a process less", same, func(s *spec) { s.SuspendProcesses = nil }, []string{"spec.suspendProcesses"}},
	} {
		is, existing := groupFor(specWith(c.before), 3)
		if diff := gocmp.Diff(c.want, specWith(c.after).Drift(is, lifecycle.Existing(existing))); diff != "" {
			t.Errorf("%s: drift (-want +got):\n%s", c.reason, diff)
		}
	}
}

func TestWhatOthersDidIsLeftAlone(t *testing.T) {
	g := specWith(same)
	is, existing := groupFor(g, 3)
	is.Tags = append(is.Tags, asgtypes.TagDescription{Key: new("k8s.io/cluster-autoscaler/enabled"), Value: new("true")})
	is.SuspendedProcesses = append(is.SuspendedProcesses, asgtypes.SuspendedProcess{ProcessName: new("Launch")})
	existing = append(existing, asgtypes.LifecycleHook{LifecycleHookName: new("termination-handler")})
	if got := g.Drift(is, lifecycle.Existing(existing)); got != nil {
		t.Errorf("want no drift by tags, hooks and processes of others, got %v", got)
	}
	none := specWith(func(s *awsv1.AWSMachinePoolSpec) {
		s.AdditionalTags, s.AWSLifecycleHooks, s.SuspendProcesses = nil, nil, nil
	})
	if got := none.SurplusTags(is); !slices.Equal(got, []string{"muster.dev/managed-tags", "team"}) {
		t.Errorf("want only our own tags to go, got %v", got)
	}
	if remove := lifecycle.Existing(existing).Changes(none.Hooks, desired.HookMarks(is)).Remove; !slices.Equal(remove, []string{"ours"}) {
		t.Errorf("want only our own hook to go, got %v", remove)
	}
	if _, resume := none.Processes(is); !slices.Equal(resume, []string{"AZRebalance"}) {
		t.Errorf("want only our own process to be resumed, got %v", resume)
	}
}

// A suspended process is named where the group needs it, and with where it is to be resumed.
func TestSuspendedIssues(t *testing.T) {
	instance := func(state asgtypes.LifecycleState, health string) asgtypes.Instance {
		return asgtypes.Instance{LifecycleState: state, HealthStatus: &health}
	}
	for _, c := range []struct {
		why, process string
		change       func(*asgtypes.AutoScalingGroup)
		roll         *pool.ProviderRollout
		want         string
	}{
		{"an instance is missing", "Launch", func(g *asgtypes.AutoScalingGroup) { g.DesiredCapacity = new(int32(2)) }, nil, "by another client"},
		{"the specification suspends it", "Launch", func(g *asgtypes.AutoScalingGroup) {
			g.DesiredCapacity = new(int32(2))
			g.Tags = []asgtypes.TagDescription{{Key: new(tagSuspended), Value: new("AZRebalance,Launch")}}
		}, nil, "spec.suspendProcesses"},
		{"as many as wanted", "Launch", func(*asgtypes.AutoScalingGroup) {}, nil, ""},
		{"more than wanted", "Terminate", func(g *asgtypes.AutoScalingGroup) { g.DesiredCapacity = new(int32(0)) }, nil,
			"the group terminates no instance"},
		{"an unhealthy one", "Terminate", func(g *asgtypes.AutoScalingGroup) {
			g.Instances = append(g.Instances, instance(asgtypes.LifecycleStateInService, "Unhealthy"))
		}, nil, "the group terminates no instance"},
		{"nothing to terminate", "Terminate", func(*asgtypes.AutoScalingGroup) {}, nil, ""},
		{"a launch behind a load balancer", "AddToLoadBalancer", func(g *asgtypes.AutoScalingGroup) {
			g.TargetGroupARNs = []string{"arn"}
			g.Instances = append(g.Instances, instance(asgtypes.LifecycleStatePending, "Healthy"))
		}, nil, "get no traffic"},
		{"a launch without one", "AddToLoadBalancer", func(g *asgtypes.AutoScalingGroup) {
			g.Instances = append(g.Instances, instance(asgtypes.LifecycleStatePending, "Healthy"))
		}, nil, ""},
		{"a refresh runs", "InstanceRefresh", func(*asgtypes.AutoScalingGroup) {}, &pool.ProviderRollout{State: pool.ProviderRolloutRunning},
			"does not go on"},
		{"none runs", "InstanceRefresh", func(*asgtypes.AutoScalingGroup) {}, nil, ""},
		{"one that nothing waits for", "AZRebalance", func(g *asgtypes.AutoScalingGroup) { g.DesiredCapacity = new(int32(2)) }, nil, ""},
	} {
		g := &asgtypes.AutoScalingGroup{
			DesiredCapacity: new(int32(1)), Instances: []asgtypes.Instance{instance(asgtypes.LifecycleStateInService, "Healthy")},
			SuspendedProcesses: []asgtypes.SuspendedProcess{{ProcessName: &c.process}},
		}
		c.change(g)
		got := desired.SuspendedIssues(g, c.roll)
		if named := len(got) == 1 && got[0].Reason == c.process+"Suspended" &&
			strings.Contains(got[0].Message, c.want); named != (c.want != "") || len(got) > 1 {
			t.Errorf("%s, %s suspended: want %q, got %+v", c.why, c.process, c.want, got)
		}
	}
}

func TestStateOf(t *testing.T) {
	for _, c := range []struct {
		reason, state, health string
		want                  pool.InstanceState
		member                bool
	}{
		{"on its way", "Pending", "Healthy", pool.Pending, true},
		{"held by a hook at launch", "Pending:Wait", "Healthy", pool.Pending, true},
		{"serving", "InService", "Healthy", pool.Running, true},
		{"found to be broken", "InService", "Unhealthy", pool.Failed, true},
		{"broken and on its way out is on its way out", "Terminating", "Unhealthy", pool.Terminating, true},
		{"held by a hook at the end", "Terminating:Wait", "Healthy", pool.Terminating, true},
		{"set aside by hand, still a machine of the pool", "Standby", "Healthy", pool.Running, true},
		{"on its way out of the group, where it runs on", "Detaching", "Healthy", "", false},
		{"no member any more", "Detached", "Healthy", "", false},
		{"kept warm, beside the group's size", "Warmed:Stopped", "Healthy", "", false},
	} {
		got, member := asg.StateOf(asgtypes.Instance{LifecycleState: asgtypes.LifecycleState(c.state), HealthStatus: new(c.health)})
		if got != c.want || member != c.member {
			t.Errorf("%s (%s, %s): want %q %t, got %q %t", c.reason, c.state, c.health, c.want, c.member, got, member)
		}
	}
}

func TestIssues(t *testing.T) {
	at := func(minute int) *time.Time { return new(time.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC)) }
	failed := func(minute int, message string) asgtypes.Activity {
		return asgtypes.Activity{StartTime: at(minute), StatusCode: asgtypes.ScalingActivityStatusCodeFailed,
			Description: new("Launching a new EC2 instance."), StatusMessage: &message}
	}
	noRoom := "Could not launch On-Demand Instances. InsufficientInstanceCapacity - We currently do not have sufficient m5.large capacity " +
		"in the Availability Zone you requested (eu-west-1a). Launching EC2 instance failed."
	for _, c := range []struct {
		reason string
		given  []asgtypes.Activity
		want   []pool.Cause
	}{
		{"nothing happened", nil, nil},
		{"the same refusal again and again is one issue", []asgtypes.Activity{failed(1, noRoom), failed(2, noRoom)},
			[]pool.Cause{{Reason: "Capacity", Message: noRoom}}},
		{"what came before a launch that worked is over", []asgtypes.Activity{
			failed(1, noRoom),
			{StartTime: at(2), StatusCode: asgtypes.ScalingActivityStatusCodeSuccessful,
				Description: new("Launching a new EC2 instance: i-0123456789abcdef0")},
		}, nil},
		{"a termination that worked says nothing about launches", []asgtypes.Activity{
			failed(1, noRoom),
			{StartTime: at(2), StatusCode: asgtypes.ScalingActivityStatusCodeSuccessful,
				Description: new("Terminating EC2 instance: i-0123456789abcdef0")},
		}, []pool.Cause{{Reason: "Capacity", Message: noRoom}}},
		{"instance IDs differ each time", []asgtypes.Activity{
			failed(1, "Instance i-0123456789abcdef0 failed to launch."), failed(2, "Instance i-0fedcba9876543210 failed to launch."),
		}, []pool.Cause{{Reason: "LaunchFailed", Message: "Instance an instance failed to launch."}}},
		{"a quota, and a permission", []asgtypes.Activity{
			failed(2, "You have requested more vCPU capacity than your current vCPU limit of 32 allows"),
			failed(1, "You are not authorized to use launch template: lt-1"),
		}, []pool.Cause{
			{Reason: "Capacity", Message: "You have requested more vCPU capacity than your current vCPU limit of 32 allows"},
			{Reason: "Denied", Message: "You are not authorized to use launch template: lt-1"},
		}},
		{"a condition stays readable", []asgtypes.Activity{failed(1, "a"), failed(2, "b"), failed(3, "c"), failed(4, "d")}, []pool.Cause{
			{Reason: "LaunchFailed", Message: "d"}, {Reason: "LaunchFailed", Message: "c"}, {Reason: "LaunchFailed", Message: "b"},
		}},
	} {
		if diff := gocmp.Diff(c.want, asg.LaunchIssues(c.given)); diff != "" {
			t.Errorf("%s: issues (-want +got):\n%s", c.reason, diff)
		}
	}
}
