package aws_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/specs"
)

// world is a simulator with the SDK's own clients, in one process and without sockets.
type world struct {
	t      *testing.T
	server *aws.Server
	guests *guests
	as     *autoscaling.Client
	ec2    *ec2.Client
	ssm    *ssm.Client
	sts    *sts.Client
}

// host notes which machines run.
type guests struct {
	mu      sync.Mutex
	running map[string]sim.Machine
	started int
}

func (g *guests) PowerOn(m sim.Machine) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.started++
	g.running[m.ID] = m
}

func (g *guests) PowerOff(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.running, id)
}

func (g *guests) Console(id string) []byte { return []byte("console of " + id + "\n") }

func (g *guests) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.running)
}

// inWorld runs a test in virtual time with a simulator of its own.
func inWorld(t *testing.T, o aws.Options, f func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, o)
		defer w.close()
		f(t, w)
	})
}

// inWorldOf runs a test in virtual time with guests of its own.
func inWorldOf(t *testing.T, o aws.Options, g sim.MachineHost, f func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.MachineHost = g
		w := worldOf(t, o)
		defer w.close()
		f(t, w)
	})
}

func newWorld(t *testing.T, o aws.Options) *world {
	t.Helper()
	g := &guests{running: map[string]sim.Machine{}}
	o.MachineHost = g
	w := worldOf(t, o)
	w.guests = g
	return w
}

func worldOf(t *testing.T, o aws.Options) *world {
	t.Helper()
	s, err := aws.New(o)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	w := &world{t: t, server: s}
	w.as, w.ec2, w.ssm, w.sts = clients(checked{s, t}, aws.DefaultAccount(), aws.Region)
	return w
}

func (w *world) close() {
	if err := w.server.Close(); err != nil {
		w.t.Errorf("Close: %v", err)
	}
}

// clients are the SDK's clients of an account, without retries so that each call is one request.
func clients(h http.Handler, a aws.Account, region string) (*autoscaling.Client, *ec2.Client, *ssm.Client, *sts.Client) {
	return clientsOf(config(h, a.AccessKeyID, a.SecretAccessKey, "", region))
}

func clientsOf(c awssdk.Config) (*autoscaling.Client, *ec2.Client, *ssm.Client, *sts.Client) {
	return autoscaling.NewFromConfig(c), ec2.NewFromConfig(c), ssm.NewFromConfig(c), sts.NewFromConfig(c)
}

func config(h http.Handler, key, secret, token, region string) awssdk.Config {
	return awssdk.Config{
		Region: region, BaseEndpoint: awssdk.String("http://simulated.aws"),
		Credentials: credentials.NewStaticCredentialsProvider(key, secret, token),
		HTTPClient:  &http.Client{Transport: transport(h)}, Retryer: func() awssdk.Retryer { return awssdk.NopRetryer{} },
	}
}

// checked is a handler whose answers are held against what AWS publishes.
type checked struct {
	http.Handler
	t *testing.T
}

func transport(h http.Handler) http.RoundTripper {
	next := sim.Transport{Handler: h}
	if c, is := h.(checked); is {
		return specs.AWS().Watch(next, func(err error) { c.t.Errorf("want answers as published: %v", err) })
	}
	return next
}

// after lets virtual time pass.
func after(d time.Duration) { time.Sleep(d) }

// image is the image of a Kubernetes version, looked up as Cluster API's AWS provider does.
func (w *world) image(version string) string {
	w.t.Helper()
	out, err := w.ec2.DescribeImages(w.t.Context(), &ec2.DescribeImagesInput{
		Owners: []string{"819546954734"}, Filters: nameFilter("capa-ami-ubuntu-24.04-?" + version + "-*"),
	})
	if err != nil || len(out.Images) != 1 {
		w.t.Fatalf("DescribeImages(%s): want one image, got %v, %v", version, out, err)
	}
	return *out.Images[0].ImageId
}

// template makes a launch template that can be launched, and returns its ID.
func (w *world) template(name string) string {
	w.t.Helper()
	out, err := w.ec2.CreateLaunchTemplate(w.t.Context(), &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: &name, LaunchTemplateData: w.data(),
	})
	if err != nil {
		w.t.Fatalf("CreateLaunchTemplate: %v", err)
	}
	if out.Warning != nil {
		w.t.Fatalf("CreateLaunchTemplate: warned of %v", *out.Warning.Errors[0].Message)
	}
	return *out.LaunchTemplate.LaunchTemplateId
}

func (w *world) data() *types.RequestLaunchTemplateData { return w.dataOf(w.image("1.34.1")) }

func nameFilter(pattern string) []types.Filter {
	return []types.Filter{{Name: awssdk.String("name"), Values: []string{pattern}},
		{Name: awssdk.String("architecture"), Values: []string{"x86_64"}}}
}

func (w *world) dataOf(image string) *types.RequestLaunchTemplateData {
	return &types.RequestLaunchTemplateData{
		ImageId: &image, InstanceType: aws.InstanceType, KeyName: awssdk.String(aws.KeyName),
		SecurityGroupIds: []string{aws.NodeSecurityGroupID},
		UserData:         awssdk.String(base64.StdEncoding.EncodeToString([]byte("#cloud-config\n"))),
	}
}

// version adds a version to a template and returns its number.
func (w *world) version(id string, data *types.RequestLaunchTemplateData) int64 {
	w.t.Helper()
	out, err := w.ec2.CreateLaunchTemplateVersion(w.t.Context(),
		&ec2.CreateLaunchTemplateVersionInput{LaunchTemplateId: &id, LaunchTemplateData: data})
	if err != nil {
		w.t.Fatalf("CreateLaunchTemplateVersion: %v", err)
	}
	return *out.LaunchTemplateVersion.VersionNumber
}

// group makes a group of a size from the template, in the subnets of all zones.
func (w *world) group(name, template string, low, desired, high int32, change ...func(*autoscaling.CreateAutoScalingGroupInput)) {
	w.t.Helper()
	in := w.groupInput(name, template, low, desired, high)
	for _, f := range change {
		f(in)
	}
	if _, err := w.as.CreateAutoScalingGroup(w.t.Context(), in); err != nil {
		w.t.Fatalf("CreateAutoScalingGroup: %v", err)
	}
}

func (w *world) groupInput(name, template string, low, desired, high int32) *autoscaling.CreateAutoScalingGroupInput {
	n := aws.DefaultAccount().Network
	return &autoscaling.CreateAutoScalingGroupInput{
		AutoScalingGroupName: &name, MinSize: &low, DesiredCapacity: &desired, MaxSize: &high,
		LaunchTemplate:    &astypes.LaunchTemplateSpecification{LaunchTemplateId: &template, Version: awssdk.String("$Latest")},
		VPCZoneIdentifier: awssdk.String(n.Subnets[0].ID + "," + n.Subnets[1].ID + "," + n.Subnets[2].ID),
	}
}

// read describes one group, which must exist.
func (w *world) read(name string) astypes.AutoScalingGroup {
	w.t.Helper()
	g, ok := w.find(name)
	if !ok {
		w.t.Fatalf("group %s does not exist", name)
	}
	return g
}

func (w *world) find(name string) (astypes.AutoScalingGroup, bool) {
	w.t.Helper()
	out, err := w.as.DescribeAutoScalingGroups(w.t.Context(),
		&autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{name}})
	if err != nil {
		w.t.Fatalf("DescribeAutoScalingGroups: %v", err)
	}
	if len(out.AutoScalingGroups) == 0 {
		return astypes.AutoScalingGroup{}, false
	}
	return out.AutoScalingGroups[0], true
}

// inState are the IDs of a group's instances in that lifecycle state.
func (w *world) inState(name string, state astypes.LifecycleState) []string {
	w.t.Helper()
	var out []string
	for _, i := range w.read(name).Instances {
		if i.LifecycleState == state {
			out = append(out, *i.InstanceId)
		}
	}
	return out
}

// wantServing checks how many instances of a group are in service, and that no others are there.
func (w *world) wantServing(name string, want int) {
	w.t.Helper()
	g := w.read(name)
	got := len(w.inState(name, astypes.LifecycleStateInService))
	if got != want || len(g.Instances) != want {
		w.t.Fatalf("group %s: want %d instances, all in service; got %d of %d: %s", name, want, got, len(g.Instances), states(g))
	}
}

func states(g astypes.AutoScalingGroup) string {
	s := ""
	for _, i := range g.Instances {
		s += " " + *i.InstanceId + "=" + string(i.LifecycleState) + "/" + *i.HealthStatus
	}
	return s
}

// wantCode checks that an error carries the service's code.
func wantCode(t *testing.T, err error, want string) {
	t.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) {
		t.Fatalf("want the error %s, got %v", want, err)
	}
	if api.ErrorCode() != want {
		t.Fatalf("want the error %s, got %s: %s", want, api.ErrorCode(), api.ErrorMessage())
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("want no error, got %v", err)
	}
}
