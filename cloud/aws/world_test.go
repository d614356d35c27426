package aws_test

import (
	"bytes"
	"context"
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
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/specs"
)

// world is a simulated account with the driver's wire to it.
type world struct {
	t      *testing.T
	server *simaws.Server
	wire   *tap
	driver *aws.Driver
	// byHand and ec2 are other clients of the account.
	byHand *autoscaling.Client
	ec2    *ec2.Client
}

// inWorld runs a test in a fresh world, in virtual time.
func inWorld(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	inWorldOf(t, simaws.DefaultAccount(), test)
}

// inWorldOf runs a test with an account of its own.
func inWorldOf(t *testing.T, account simaws.Account, test func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server, err := simaws.New(simaws.Options{Seed: 1, Accounts: []simaws.Account{account}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := server.Close(); err != nil {
				t.Errorf("close the simulator: %v", err)
			}
		}()
		w := &world{t: t, server: server, wire: &tap{t: t, next: sim.Transport{Handler: server}}}
		w.driver = w.newDriver()
		settings := config(simaws.Region)
		settings.HTTPClient = &http.Client{Transport: sim.Transport{Handler: server}}
		w.byHand, w.ec2 = autoscaling.NewFromConfig(settings), ec2.NewFromConfig(settings)
		test(t, w)
	})
}

func (w *world) newDriver() *aws.Driver {
	d, err := newDriver(w.wire)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

func newDriver(over http.RoundTripper) (*aws.Driver, error) {
	return aws.New(aws.Options{
		Config: func(_ context.Context, region string) (awssdk.Config, error) { return config(region), nil },
		Base:   over,

		BootstrapFormatIgnition: true,
	})
}

func config(region string) awssdk.Config {
	return awssdk.Config{
		Region:       region,
		Credentials:  credentials.NewStaticCredentialsProvider(simaws.AccessKeyID, simaws.SecretAccessKey, ""),
		BaseEndpoint: awssdk.String("http://simulated.aws"),
		Retryer:      func() awssdk.Retryer { return awssdk.NopRetryer{} },
	}
}

// tap notes what goes over the wire, and holds it against what AWS publishes.
type tap struct {
	t     *testing.T
	next  http.RoundTripper
	mu    sync.Mutex
	calls []wire.Call
}

func (t *tap) RoundTrip(req *http.Request) (*http.Response, error) {
	t.mu.Lock()
	t.calls = append(t.calls, wire.CallFrom(req.Context()))
	t.mu.Unlock()
	if err := published(req); err != nil {
		t.t.Errorf("%s: %v", wire.CallFrom(req.Context()).Operation, err)
	}
	return t.next.RoundTrip(req)
}

// published returns what AWS does not publish of a request.
func published(req *http.Request) error {
	var text []byte
	if req.Body != nil {
		var err error
		if text, err = io.ReadAll(req.Body); err != nil {
			return err
		}
		req.Body = io.NopCloser(bytes.NewReader(text))
	}
	return specs.AWS().Request(req, string(text))
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

// network returns the network of the simulated account, as a cluster would show it.
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
		Spec:              poolSource(),
	}
}

// poolSource is the specification of a small pool in the account.
func poolSource() *awsv1.MachinePoolSource {
	return &awsv1.MachinePoolSource{
		Cluster: network(),
		Pool: &awsv1.AWSMachinePoolSpec{
			MinSize: 0, MaxSize: 5,
			AdditionalTags:    awsv1.Tags{"team": "a"},
			AWSLaunchTemplate: awsv1.AWSLaunchTemplate{InstanceType: simaws.InstanceType, SSHKeyName: ptr(simaws.KeyName)},
		},
	}
}

// with is the target with its specification changed.
func with(t aws.Target, change func(*awsv1.AWSMachinePoolSpec)) aws.Target {
	t.Spec = spec(change)(t.Spec)
	return t
}

// spec changes a copy of a specification.
func spec(change func(*awsv1.AWSMachinePoolSpec)) func(*awsv1.MachinePoolSource) *awsv1.MachinePoolSource {
	return func(s *awsv1.MachinePoolSource) *awsv1.MachinePoolSource {
		changed := *s
		changed.Pool = s.Pool.DeepCopy()
		change(changed.Pool)
		return &changed
	}
}

// ptr is a pointer to a copy.
func ptr[T any](v T) *T { return &v }

// settle lets pass what any move of the cloud takes.
func settle() {
	time.Sleep(40 * time.Minute)
	synctest.Wait()
}

// reshape changes every field of a group.
func reshape(s *awsv1.AWSMachinePoolSpec) {
	s.MinSize, s.MaxSize = 1, 6
	s.AvailabilityZones = []string{simaws.Zone}
	s.DefaultCoolDown = &metav1.Duration{Duration: time.Minute}
	s.DefaultInstanceWarmup = &metav1.Duration{Duration: time.Minute}
	s.CapacityRebalance = true
	s.AdditionalTags = awsv1.Tags{"stage": "test"}
	s.MixedInstancesPolicy = &awsv1.MixedInstancesPolicy{Overrides: []awsv1.Overrides{{InstanceType: simaws.InstanceType},
		{InstanceType: "m5.large"}}}
	s.SuspendProcesses = &awsv1.SuspendProcessesTypes{Processes: &awsv1.Processes{AZRebalance: awssdk.Bool(true)}}
	s.AWSLifecycleHooks = []awsv1.AWSLifecycleHook{{
		Name: "bye", LifecycleTransition: awsv1.LifecycleTransitionInstanceTerminating,
		HeartbeatTimeout: &metav1.Duration{Duration: 30 * time.Second},
	}}
}

// search finds all that can be found by its properties so that there are several of each.
func search(s *awsv1.AWSMachinePoolSpec) {
	s.Subnets = []awsv1.AWSResourceReference{{Filters: []awsv1.Filter{{Name: "tag:Name", Values: []string{"muster-private-*"}}}}}
	s.AWSLaunchTemplate.AdditionalSecurityGroups = []awsv1.AWSResourceReference{{Filters: []awsv1.Filter{{Name: "group-name",
		Values: []string{"muster-*"}}}}}
	s.AWSLaunchTemplate.ImageLookupFormat = "capa-ami-{{.BaseOS}}-?1.25.*"
	s.MixedInstancesPolicy = &awsv1.MixedInstancesPolicy{Overrides: []awsv1.Overrides{{InstanceType: simaws.InstanceType},
		{InstanceType: "m5.large"}}}
}

// foreignTemplate is a launch template as another tool would make it.
func foreignTemplate(name, image string) *ec2.CreateLaunchTemplateInput {
	return &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: &name,
		LaunchTemplateData: &ec2types.RequestLaunchTemplateData{InstanceType: ec2types.InstanceType(simaws.InstanceType), ImageId: &image},
	}
}
