package aws_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
)

func (w *world) observe(target aws.Target) pool.Observed {
	w.t.Helper()
	o, err := w.driver.Observe(w.t.Context(), target)
	if err != nil {
		w.t.Fatalf("observe: %v", err)
	}
	return o
}

func (w *world) start(target aws.Target, s pool.Step) {
	w.t.Helper()
	if err := w.driver.Start(w.t.Context(), target, s); err != nil {
		w.t.Fatalf("start %s: %v", s.Kind, err)
	}
}

// create makes the pool, remembers its look-ups as the object would, and gives both.
func (w *world) create(target aws.Target, size int) (aws.Target, pool.Observed) {
	w.t.Helper()
	target.Remembered = w.observe(target).ResolvedLookups
	w.start(target, pool.Step{Kind: pool.PutTemplate})
	w.start(target, pool.Step{Kind: pool.CreateGroup, Size: size, Template: w.observe(target).Latest().Ref})
	settle()
	return target, w.observe(target)
}

// operations returns the operations that the given work sends.
func (w *world) operations(work func()) []string {
	before := len(w.wire.since(0))
	work()
	return w.wire.since(before)
}

func TestCallsOfALife(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target := aTarget()
		check := func(what string, want []string, work func()) {
			t.Helper()
			if diff := cmp.Diff(want, w.operations(work)); diff != "" {
				t.Errorf("%s sends (-want +got):\n%s", what, diff)
			}
		}
		var o pool.Observed
		check("the first look", []string{"DescribeAutoScalingGroups", "DescribeLaunchTemplates", "DescribeInstanceTypes", "DescribeImages"},
			func() {
				target.Remembered = w.observe(target).ResolvedLookups
			})
		check("a new template", []string{"CreateLaunchTemplate"}, func() {
			w.start(target, pool.Step{Kind: pool.PutTemplate})
			o = w.observe(target)
		})
		check("a new group", []string{"CreateAutoScalingGroup", "DescribeAutoScalingGroups"}, func() {
			w.start(target, pool.Step{Kind: pool.CreateGroup, Size: 2, Template: o.Latest().Ref})
			o = w.observe(target)
		})
		time.Sleep(9 * time.Minute)
		check("new instances", []string{"DescribeAutoScalingGroups", "DescribeLaunchTemplates", "DescribeInstances"},
			func() { o = w.observe(target) })
		check("a steady pool", []string{"DescribeAutoScalingGroups"}, func() { o = w.observe(target) })
		check("a larger size", []string{"SetDesiredCapacity", "DescribeAutoScalingGroups"}, func() {
			w.start(target, pool.Step{Kind: pool.Resize, Size: 3})
			o = w.observe(target)
		})
		time.Sleep(5 * time.Minute)
		check("one more instance, and what is read once in a while",
			[]string{"DescribeAutoScalingGroups", "DescribeLaunchTemplates", "DescribeInstances"}, func() { o = w.observe(target) })
		check("a chosen instance", []string{"TerminateInstanceInAutoScalingGroup", "DescribeAutoScalingGroups"}, func() {
			w.start(target, pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}})
			o = w.observe(target)
		})
		check("the end", []string{"DeleteAutoScalingGroup", "DescribeAutoScalingGroups", "DescribeLaunchTemplates", "DeleteLaunchTemplate"},
			func() {
				w.start(target, pool.Step{Kind: pool.DeleteGroup})
				time.Sleep(4 * time.Minute)
				w.observe(target)
				w.start(target, pool.Step{Kind: pool.DeleteTemplates})
				if o = w.observe(target); o.Group != nil || len(o.Versions) > 0 {
					t.Errorf("want nothing left, got %+v", o)
				}
			})
	})
}

func TestBadInput(t *testing.T) {
	type spec = awsv1.AWSMachinePoolSpec
	for _, c := range []struct {
		reason, field, words string
		change               func(*spec)
	}{
		{"an instance type that does not exist", "spec.awsLaunchTemplate.instanceType", "no instance type m5.nope",
			func(s *spec) { s.AWSLaunchTemplate.InstanceType = "m5.nope" }},
		{"no instance type at all", "spec.awsLaunchTemplate.instanceType", "no instance type is named",
			func(s *spec) { s.AWSLaunchTemplate.InstanceType = "" }},
		{"an override that does not exist", "spec.mixedInstancesPolicy.overrides[1].instanceType", "no instance type m9.nope", func(s *spec) {
			s.MixedInstancesPolicy = &awsv1.MixedInstancesPolicy{Overrides: []awsv1.Overrides{{InstanceType: "m5.large"}, {InstanceType: "m9.nope"}}}
		}},
		{"overrides for another architecture than the image's", "spec.mixedInstancesPolicy.overrides[0].instanceType", "one architecture",
			func(s *spec) {
				s.MixedInstancesPolicy = &awsv1.MixedInstancesPolicy{Overrides: []awsv1.Overrides{{InstanceType: "m6g.large"}}}
			}},
		{"a subnet that does not exist", "spec.subnets[1].id", "does not exist", func(s *spec) {
			s.Subnets = []awsv1.AWSResourceReference{{ID: awssdk.String(simaws.SubnetID)}, {ID: awssdk.String("subnet-0123456789abcdef0")}}
		}},
		{"filters that match no subnet", "spec.subnets[0].filters", "nothing in region eu-west-1 matches", func(s *spec) {
			s.Subnets = []awsv1.AWSResourceReference{{Filters: []awsv1.Filter{{Name: "tag:Name", Values: []string{"nope"}}}}}
		}},
		{"a security group that does not exist", "spec.awsLaunchTemplate.additionalSecurityGroups[0].id", "does not exist", func(s *spec) {
			s.AWSLaunchTemplate.AdditionalSecurityGroups = []awsv1.AWSResourceReference{{ID: awssdk.String("sg-0123456789abcdef0")}}
		}},
		{"an image that does not exist", "spec.awsLaunchTemplate.ami.id", "ami-0123456789abcdef0", func(s *spec) {
			s.AWSLaunchTemplate.AMI.ID = awssdk.String("ami-0123456789abcdef0")
		}},
		{"a name that no image has", "spec.awsLaunchTemplate.ami", "has no image named",
			func(s *spec) { s.AWSLaunchTemplate.ImageLookupBaseOS = "plan9" }},
		{"a format that is none", "spec.awsLaunchTemplate.imageLookupFormat", "is no pattern",
			func(s *spec) { s.AWSLaunchTemplate.ImageLookupFormat = "{{.Nope}}" }},
		{"a zone that the cluster has no subnet in", "spec.availabilityZones[0]", "its zones are eu-west-1a, eu-west-1b, eu-west-1c",
			func(s *spec) { s.AvailabilityZones = []string{"eu-west-1z"} }},
	} {
		t.Run(c.reason, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				target := with(aTarget(), c.change)
				_, err := w.driver.Observe(t.Context(), target)
				var refused *cloud.Error
				if !errors.As(err, &refused) || refused.Kind != cloud.Invalid || refused.Field != c.field ||
					!strings.Contains(refused.Message, c.words) {
					t.Fatalf("want an invalid %s with the words %q, got %#v", c.field, c.words, err)
				}
				if o := w.observe(aTarget()); o.Wanted.Content == "" {
					t.Errorf("want it to recover once it is put right, got %+v", o)
				}
				if writes, _ := w.wire.count(); writes != 0 {
					t.Errorf("want no writes, got %d", writes)
				}
			})
		})
	}
}

func TestBadInputThatOnlyTheGroupFinds(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		bad := with(aTarget(), func(s *awsv1.AWSMachinePoolSpec) { s.AWSLaunchTemplate.SSHKeyName = awssdk.String("nope") })
		w.observe(bad)
		w.start(bad, pool.Step{Kind: pool.PutTemplate})
		err := w.driver.Start(t.Context(), bad, pool.Step{Kind: pool.CreateGroup, Size: 2, Template: w.observe(bad).Latest().Ref})
		var refused *cloud.Error
		if !errors.As(err, &refused) || refused.Kind != cloud.Invalid || refused.Field != "spec.awsLaunchTemplate.sshKeyName" {
			t.Fatalf("want an invalid key name, got %#v", err)
		}
		good := aTarget()
		o := w.observe(good)
		w.start(good, pool.Step{Kind: pool.PutTemplate, Base: o.Latest().Ref})
		w.start(good, pool.Step{Kind: pool.CreateGroup, Size: 2, Template: w.observe(good).Latest().Ref})
		settle()
		if o = w.observe(good); len(o.Instances) != 2 || len(o.Versions) != 2 {
			t.Errorf("want two instances of the second version once the name is put right, got %+v", o)
		}
	})
}

func TestOnlyTheRegionIsAskedFor(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target := aTarget()
		target.Spec = &awsv1.MachinePoolSource{Pool: target.Spec.Pool, Cluster: awsv1.ClusterView{}}
		_, err := w.driver.Observe(t.Context(), target)
		var refused *cloud.Error
		if !errors.As(err, &refused) || refused.Field != "spec.region" {
			t.Errorf("want the missing region named, got %v", err)
		}
	})
}

func TestUserDataArrivesAndGoesNowhereElse(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, o := w.create(aTarget(), 1)
		id, _, _ := strings.Cut(o.Latest().Ref, ":")
		found, err := w.ec2.DescribeLaunchTemplateVersions(t.Context(), &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: &id})
		if err != nil {
			t.Fatal(err)
		}
		v := found.LaunchTemplateVersions[0]
		sent, err := base64.StdEncoding.DecodeString(*v.LaunchTemplateData.UserData)
		if err != nil || string(sent) != bootstrap {
			t.Errorf("want the bootstrap data as user data, got %q, %v", sent, err)
		}
		want := fmt.Sprintf("muster content=%s data=%s %s", o.Wanted.Content, target.Bootstrap.Hash(), o.Latest().Description)
		if got := *v.VersionDescription; got != want || !strings.Contains(got, "first version: ami "+*v.LaunchTemplateData.ImageId) {
			t.Errorf("want the description %q, with what the version launches, got %q", want, got)
		}
		if text := fmt.Sprintf("%+v", o); strings.Contains(text, "kubeadm join") {
			t.Errorf("want no bootstrap data in an observation, got %s", text)
		}
	})
}

func TestMissingInstancesAreExplained(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		if err := w.server.Faults().Add(sim.Fault{Kind: sim.NoCapacity, Type: simaws.InstanceType}); err != nil {
			t.Fatal(err)
		}
		target := aTarget()
		target.Remembered = w.observe(target).ResolvedLookups
		w.start(target, pool.Step{Kind: pool.PutTemplate})
		w.start(target, pool.Step{Kind: pool.CreateGroup, Size: 2, Template: w.observe(target).Latest().Ref})
		if got := w.operations(func() { w.observe(target) }); !slices.Equal(got, []string{"DescribeAutoScalingGroups"}) {
			t.Errorf("want a new group to be given time before it is asked, got %v", got)
		}
		settle()
		o := w.observe(target)
		if len(o.Issues) == 0 || o.Issues[0].Reason != "Capacity" || !strings.Contains(o.Issues[0].Message, simaws.InstanceType) {
			t.Fatalf("want the cloud's words on its capacity, got %+v", o.Issues)
		}
		again := w.observe(target)
		if diff := cmp.Diff(o.Issues, again.Issues); diff != "" {
			t.Errorf("want the same words on the next look (-want +got):\n%s", diff)
		}
		settle()
		if diff := cmp.Diff(o.Issues, w.observe(target).Issues); diff != "" {
			t.Errorf("want the same words after further tries (-want +got):\n%s", diff)
		}
	})
}

// A zone may be without capacity for hours, and all groups of an account share the calls: the longer the answer stays the same, the less
// often it is asked for.
func TestMissingInstancesAreAskedAboutLessAndLess(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		if err := w.server.Faults().Add(sim.Fault{Kind: sim.NoCapacity}); err != nil {
			t.Fatal(err)
		}
		target, _ := w.create(aTarget(), 2)
		before := w.calls("DescribeScalingActivities")
		for range 180 {
			time.Sleep(20 * time.Second)
			w.observe(target)
		}
		if n := w.calls("DescribeScalingActivities") - before; n < 20 || n > 30 {
			t.Errorf("want some 24 questions in an hour, got %d", n)
		}
	})
}

// A process that another client has suspended is named while the group needs it, with what does not happen.
func TestSuspendedProcessesAreNamed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target := aTarget()
		target.Remembered = w.observe(target).ResolvedLookups
		w.start(target, pool.Step{Kind: pool.PutTemplate})
		w.start(target, pool.Step{Kind: pool.CreateGroup, Size: 2, Template: w.observe(target).Latest().Ref})
		settle()
		name := target.Owner.ResourceName()
		processes := []string{"Launch", "Terminate", "AddToLoadBalancer", "InstanceRefresh"}
		if _, err := w.byHand.SuspendProcesses(t.Context(), &autoscaling.SuspendProcessesInput{AutoScalingGroupName: &name,
			ScalingProcesses: processes}); err != nil {
			t.Fatal(err)
		}
		if o := w.observe(target); len(o.Issues) > 0 {
			t.Errorf("want nothing said while nothing needs the processes, got %+v", o.Issues)
		}
		w.start(target, pool.Step{Kind: pool.Resize, Size: 3})
		settle()
		want := []pool.Cause{{
			Reason:  "LaunchSuspended",
			Message: "process Launch of Auto Scaling group " + name + " is suspended (by another client): no instance is launched. Resume it",
		}}
		if o := w.observe(target); !slices.Equal(o.Issues, want) || len(o.Instances) != 2 {
			t.Errorf("want %+v and two instances, got %+v and %d", want, o.Issues, len(o.Instances))
		}
		if _, err := w.byHand.ResumeProcesses(t.Context(), &autoscaling.ResumeProcessesInput{AutoScalingGroupName: &name,
			ScalingProcesses: processes}); err != nil {
			t.Fatal(err)
		}
		settle()
		if o := w.observe(target); len(o.Issues) > 0 || len(o.Instances) != 3 {
			t.Errorf("want the third instance and nothing said, got %d and %+v", len(o.Instances), o.Issues)
		}
	})
}

func TestErrorsOfTheCloud(t *testing.T) {
	for _, c := range []struct {
		reason string
		fault  sim.Fault
		want   cloud.ErrorKind
	}{
		{"throttled", sim.Fault{Kind: sim.Throttle, Service: "autoscaling"}, cloud.Throttled},
		{"broken inside", sim.Fault{Kind: sim.ErrorBefore, Service: "autoscaling"}, cloud.Unavailable},
		{"no reply", sim.Fault{Kind: sim.DropBefore, Service: "autoscaling"}, cloud.Unavailable},
		{"not allowed", sim.Fault{Kind: sim.ErrorBefore, Service: "autoscaling", Code: "AccessDenied",
			Message: "User: arn:aws:iam::1:user/x is not authorized", Status: 403}, cloud.Denied},
		{"something else is going on", sim.Fault{Kind: sim.ErrorBefore, Service: "autoscaling", Code: "ScalingActivityInProgress", Message: "x",
			Status: 400}, cloud.Conflict},
	} {
		t.Run(c.reason, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				c.fault.Times = 1
				if err := w.server.Faults().Add(c.fault); err != nil {
					t.Fatal(err)
				}
				_, err := w.driver.Observe(t.Context(), aTarget())
				if got := cloud.KindOf(err); err == nil || got != c.want {
					t.Errorf("want an error of kind %s, got %s: %v", c.want, got, err)
				}
				if got := len(w.wire.since(0)); got != 1 {
					t.Errorf("want one try, got %d", got)
				}
				settle() // a refusal empties the rate budget
				w.observe(aTarget())
			})
		})
	}
}

func TestMinimumForbidsARemoval(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, o := w.create(with(aTarget(), func(s *awsv1.AWSMachinePoolSpec) { s.MinSize = 2 }), 2)
		err := w.driver.Start(t.Context(), target, pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}})
		var refused *cloud.Error
		if !errors.As(err, &refused) || refused.Kind != cloud.Invalid || refused.Field != "spec.minSize" {
			t.Errorf("want the minimum named, got %#v", err)
		}
		if o = w.observe(target); len(o.Instances) != 2 || o.Group.Size != 2 {
			t.Errorf("want both instances kept, got %+v", o)
		}
	})
}

func TestMaximumWaitsForTheSurplusToGo(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, _ := w.create(aTarget(), 3)
		smaller := with(target, func(s *awsv1.AWSMachinePoolSpec) { s.MaxSize = 2 })
		o := w.observe(smaller)
		if o.Group.Drift != nil {
			t.Fatalf("want a maximum below the size not to be set, got drift %v", o.Group.Drift)
		}
		w.start(smaller, pool.Step{Kind: pool.UpdateGroup, Fields: []string{"spec.maxSize", "spec.minSize"}})
		if o = w.observe(smaller); o.Group.Size != 3 || o.Group.Max != 5 {
			t.Errorf("want the group to keep its size and maximum even when asked, got %+v", o.Group)
		}
		w.start(smaller, pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}})
		if o = w.observe(smaller); !slices.Equal(o.Group.Drift, []string{"spec.maxSize"}) {
			t.Errorf("want the maximum to drift once the surplus is gone, got %v", o.Group.Drift)
		}
	})
}

func TestEKSImage(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target := aTarget()
		target.KubernetesVersion = "v1.31.0"
		cluster := network()
		cluster.EKS = true
		target.Spec = &awsv1.MachinePoolSource{Pool: target.Spec.Pool, Cluster: cluster}
		operations := w.operations(func() {
			if o := w.observe(target); o.Wanted.Content == "" {
				t.Errorf("want a template with the image that EKS publishes, got %+v", o)
			}
		})
		if !slices.Contains(operations, "GetParameter") {
			t.Errorf("want EKS's parameter asked for, got %v", operations)
		}
	})
}

func TestFilteredSubnetsAreNotMixedUp(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		zone := func(z string) awsv1.AWSResourceReference {
			return awsv1.AWSResourceReference{Filters: []awsv1.Filter{{Name: "availability-zone", Values: []string{z}}}}
		}
		target := with(aTarget(), func(s *awsv1.AWSMachinePoolSpec) {
			s.Subnets = []awsv1.AWSResourceReference{zone("eu-west-1a"), zone("eu-west-1b")}
		})
		_, o := w.create(target, 4)
		zones := map[string]int{}
		for _, i := range o.Instances {
			zones[i.Zone]++
		}
		if zones["eu-west-1a"] != 2 || zones["eu-west-1b"] != 2 {
			t.Errorf("want machines in both zones of two references, got %v", zones)
		}
	})
}

func TestManyPoolsAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				target := aTarget()
				target.Owner.ID, target.Owner.Name = fmt.Sprint("owner-", n), fmt.Sprint("pool-", n)
				for range 2 {
					o, err := w.driver.Observe(t.Context(), target)
					if err != nil {
						t.Errorf("pool %d: %v", n, err)
						return
					}
					if len(o.Versions) == 0 {
						err = w.driver.Start(t.Context(), target, pool.Step{Kind: pool.PutTemplate})
					} else {
						err = w.driver.Start(t.Context(), target, pool.Step{Kind: pool.CreateGroup, Size: 1, Template: o.Latest().Ref})
					}
					if err != nil {
						t.Errorf("pool %d: %v", n, err)
					}
				}
			})
		}
		all.Wait()
		settle()
		for n := range 8 {
			target := aTarget()
			target.Owner.ID, target.Owner.Name = fmt.Sprint("owner-", n), fmt.Sprint("pool-", n)
			if o := w.observe(target); len(o.Instances) != 1 {
				t.Errorf("pool %d: want one instance, got %+v", n, o)
			}
		}
	})
}
