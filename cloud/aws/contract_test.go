package aws_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
)

// world is a simulated account with the driver's wire to it.
type world struct {
	t      *testing.T
	server *simaws.Server
	wire   *tap
	driver *aws.Driver
	// byHand is another client of the account.
	byHand *autoscaling.Client
	ec2    *ec2.Client
}

// inWorld runs a test in a fresh world, in virtual time.
func inWorld(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server, err := simaws.New(simaws.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := server.Close(); err != nil {
				t.Errorf("close the simulator: %v", err)
			}
		}()
		w := &world{t: t, server: server, wire: &tap{next: sim.Transport{Handler: server}}}
		w.driver = w.newDriver()
		settings := config(simaws.Region)
		settings.HTTPClient = &http.Client{Transport: sim.Transport{Handler: server}}
		w.byHand, w.ec2 = autoscaling.NewFromConfig(settings), ec2.NewFromConfig(settings)
		test(t, w)
	})
}

func (w *world) newDriver() *aws.Driver {
	d, err := aws.New(aws.Options{
		Config: func(_ context.Context, region string) (awssdk.Config, error) { return config(region), nil },
		Base:   w.wire,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

func config(region string) awssdk.Config {
	return awssdk.Config{
		Region:       region,
		Credentials:  credentials.NewStaticCredentialsProvider(simaws.AccessKeyID, simaws.SecretAccessKey, ""),
		BaseEndpoint: awssdk.String("http://simulated.aws"),
		Retryer:      func() awssdk.Retryer { return awssdk.NopRetryer{} },
	}
}

// tap counts what goes over the wire, and loses replies.
type tap struct {
	next  http.RoundTripper
	mu    sync.Mutex
	lose  bool
	calls []wire.Call
}

func (t *tap) RoundTrip(req *http.Request) (*http.Response, error) {
	call := wire.Of(req.Context())
	t.mu.Lock()
	t.calls = append(t.calls, call)
	t.mu.Unlock()
	reply, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lose && isWrite(call) {
		t.lose = false
		_, _ = io.Copy(io.Discard, reply.Body)
		_ = reply.Body.Close()
		return nil, errors.New("connection reset by peer")
	}
	return reply, nil
}

func isWrite(c wire.Call) bool {
	return !strings.HasPrefix(c.Operation, "Describe") && !strings.HasPrefix(c.Operation, "Get")
}

// count is the number of requests so far: writes and reads.
func (t *tap) count() (writes, reads int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.calls {
		if isWrite(c) {
			writes++
		} else {
			reads++
		}
	}
	return writes, reads
}

// since are the operations after the first n.
func (t *tap) since(n int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var names []string
	for _, c := range t.calls[n:] {
		names = append(names, c.Operation)
	}
	return names
}

// network is what the simulated account holds, as a cluster would show it.
func network() awsv1.ClusterView {
	n := simaws.DefaultAccount().Network
	view := awsv1.ClusterView{Name: "c", Region: simaws.Region, VPCID: n.VPCID, NodeSecurityGroups: []string{n.NodeSecurityGroupID}}
	for _, s := range n.Subnets {
		view.Subnets = append(view.Subnets, awsv1.SubnetView{ID: s.ID, AvailabilityZone: s.Zone, IsPublic: s.Public})
	}
	return view
}

const bootstrap = "#cloud-config\nruncmd: [\"kubeadm join\"]\n"

// aTarget is a small pool in the account.
func aTarget() aws.Target {
	return aws.Target{
		Owner:             cloud.Owner{ID: "0f6f8d5e-owner", Cluster: "c", Namespace: "default", Name: "pool"},
		KubernetesVersion: "v1.25.0",
		Bootstrap:         cloud.NewBootstrap([]byte(bootstrap), "cloud-config"),
		Spec: &awsv1.MachinePoolSource{
			Cluster: network(),
			Pool: &awsv1.AWSMachinePoolSpec{
				MinSize: 0, MaxSize: 5,
				AdditionalTags:    awsv1.Tags{"team": "a"},
				AWSLaunchTemplate: awsv1.AWSLaunchTemplate{InstanceType: simaws.InstanceType, SSHKeyName: awssdk.String(simaws.KeyName)},
			},
		},
	}
}

// with is the target with its specification changed.
func with(t aws.Target, change func(*awsv1.AWSMachinePoolSpec)) aws.Target {
	source := *t.Spec
	source.Pool = t.Spec.Pool.DeepCopy()
	change(source.Pool)
	t.Spec = &source
	return t
}

// settle lets pass what any move of the cloud takes.
func settle() {
	time.Sleep(10 * time.Minute)
	synctest.Wait()
}

func TestContract(t *testing.T) {
	cloudtest.Run(t, func(t *testing.T, test func(*testing.T, cloudtest.Harness[*awsv1.MachinePoolSource])) {
		inWorld(t, func(t *testing.T, w *world) { test(t, w.harness()) })
	})
}

func (w *world) harness() cloudtest.Harness[*awsv1.MachinePoolSource] {
	return cloudtest.Harness[*awsv1.MachinePoolSource]{
		Driver: w.driver,
		New:    func() cloud.Driver[*awsv1.MachinePoolSource] { return w.newDriver() },
		Target: aTarget(),
		Changed: func(t aws.Target) aws.Target {
			return with(t, func(s *awsv1.AWSMachinePoolSpec) { s.AWSLaunchTemplate.InstanceType = "m5.large" })
		},
		Reshaped: func(t aws.Target) aws.Target { return with(t, reshape) },
		Broken: func(t aws.Target) aws.Target {
			return with(t, func(s *awsv1.AWSMachinePoolSpec) { s.AWSLaunchTemplate.InstanceType = "m5.nope" })
		},
		Field:        "spec.awsLaunchTemplate.instanceType",
		Settle:       settle,
		LoseReply:    func() { w.wire.mu.Lock(); defer w.wire.mu.Unlock(); w.wire.lose = true },
		MakeForeign:  w.makeForeign,
		DeleteByHand: w.deleteByHand,
		Exists:       w.exists,
		Writes:       func() int { writes, _ := w.wire.count(); return writes },
		Reads:        func() int { _, reads := w.wire.count(); return reads },
		SteadyReads:  3,
	}
}

// reshape changes every field of a group.
func reshape(s *awsv1.AWSMachinePoolSpec) {
	s.MinSize, s.MaxSize = 1, 6
	s.AvailabilityZones = []string{simaws.Zone}
	s.DefaultCoolDown = &metav1.Duration{Duration: time.Minute}
	s.DefaultInstanceWarmup = &metav1.Duration{Duration: time.Minute}
	s.CapacityRebalance = true
	s.AdditionalTags = awsv1.Tags{"stage": "test"}
	s.MixedInstancesPolicy = &awsv1.MixedInstancesPolicy{Overrides: []awsv1.Overrides{{InstanceType: simaws.InstanceType}, {InstanceType: "m5.large"}}}
	s.SuspendProcesses = &awsv1.SuspendProcessesTypes{Processes: &awsv1.Processes{AZRebalance: awssdk.Bool(true)}}
	s.AWSLifecycleHooks = []awsv1.AWSLifecycleHook{{
		Name: "bye", LifecycleTransition: awsv1.LifecycleTransitionInstanceTerminating, HeartbeatTimeout: &metav1.Duration{Duration: 30 * time.Second},
	}}
}

func (w *world) makeForeign(name string) {
	w.t.Helper()
	images, err := w.ec2.DescribeImages(w.t.Context(), &ec2.DescribeImagesInput{Filters: nodeImage})
	if err != nil || len(images.Images) == 0 {
		w.t.Fatalf("find an image: %v, %d found", err, len(images.Images))
	}
	if _, err = w.ec2.CreateLaunchTemplate(w.t.Context(), foreignTemplate("by-hand", *images.Images[0].ImageId)); err == nil {
		_, err = w.byHand.CreateAutoScalingGroup(w.t.Context(), foreignGroup(name))
	}
	if err != nil {
		w.t.Fatalf("make a foreign group: %v", err)
	}
}

func (w *world) deleteByHand(name string) {
	w.t.Helper()
	_, err := w.byHand.DeleteAutoScalingGroup(w.t.Context(), &autoscaling.DeleteAutoScalingGroupInput{AutoScalingGroupName: &name, ForceDelete: awssdk.Bool(true)})
	if err != nil {
		w.t.Fatalf("delete group %s by hand: %v", name, err)
	}
}

func (w *world) exists(name string) bool {
	w.t.Helper()
	found, err := w.byHand.DescribeAutoScalingGroups(w.t.Context(), &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{name}})
	if err != nil {
		w.t.Fatal(err)
	}
	return len(found.AutoScalingGroups) > 0
}
