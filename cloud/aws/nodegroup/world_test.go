package nodegroup_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/nodegroup"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
)

type source = *awsv1.ManagedMachinePoolSource

const (
	// clusterName and version are those of the EKS cluster.
	clusterName = "east"
	version     = "v1.33.2"
)

// newCloud returns an account with an EKS cluster of that version, with some switches on.
func newCloud(version string, on ...sim.Switch) (*simaws.Server, error) {
	server, err := simaws.New(simaws.Options{Seed: 1, Switches: on})
	if err != nil {
		return nil, err
	}
	return server, putCluster(server, version)
}

func putCluster(server *simaws.Server, version string) error {
	return server.PutCluster(simaws.AccountID, simaws.EKSCluster{
		Name: clusterName, Version: version, Endpoint: "https://127.0.0.1:1", CA: []byte("certificates"), Token: "abcdef.0123456789abcdef",
		Subnets: []string{simaws.SubnetID}, SecurityGroup: simaws.NodeSecurityGroupID,
	})
}

func newDriver(over http.RoundTripper, changes ...func(*nodegroup.Options)) (*nodegroup.Driver, error) {
	o := nodegroup.Options{Options: session.Options{
		Config: func(_ context.Context, region string) (awssdk.Config, error) { return config(region), nil },
		Base:   over,
	}}
	for _, change := range changes {
		change(&o)
	}
	return nodegroup.New(o)
}

func config(region string) awssdk.Config {
	return awssdk.Config{
		Region:       region,
		Credentials:  credentials.NewStaticCredentialsProvider(simaws.AccessKeyID, simaws.SecretAccessKey, ""),
		BaseEndpoint: awssdk.String("http://simulated.aws"),
		Retryer:      func() awssdk.Retryer { return awssdk.NopRetryer{} },
	}
}

// network is what the simulated account holds, as a control plane would show it.
func network(version string) awsv1.ClusterView {
	n := simaws.DefaultAccount().Network
	view := awsv1.ClusterView{
		Name: "c", Region: simaws.Region, VPCID: n.VPCID, NodeSecurityGroups: []string{n.NodeSecurityGroupID}, EKS: true,
		EKSClusterName: clusterName, ControlPlaneVersion: version, ControlPlaneReady: true,
	}
	for _, s := range n.Subnets {
		view.Subnets = append(view.Subnets, awsv1.SubnetView{ID: s.ID, AvailabilityZone: s.Zone, IsPublic: s.Public})
	}
	return view
}

// withTemplate is the specification of a small pool with a launch template.
func withTemplate() source {
	return &awsv1.ManagedMachinePoolSource{
		Cluster: network(version),
		Pool: &awsv1.AWSManagedMachinePoolSpec{
			RoleName: simaws.NodegroupRole, AdditionalTags: awsv1.Tags{"team": "a"},
			Scaling:           &awsv1.ManagedMachinePoolScaling{MaxSize: new(int32(300))},
			AWSLaunchTemplate: &awsv1.AWSLaunchTemplate{InstanceType: simaws.InstanceType, SSHKeyName: new(simaws.KeyName)},
		},
	}
}

// spec changes a copy of a specification.
func spec(change func(*awsv1.AWSManagedMachinePoolSpec)) func(source) source {
	return func(s source) source {
		changed := *s
		changed.Pool = s.Pool.DeepCopy()
		change(changed.Pool)
		return &changed
	}
}

// world is a simulated account with the driver's wire to it.
type world struct {
	t      *testing.T
	server *simaws.Server
	driver *nodegroup.Driver
	over   sim.Transport
	eks    *eks.Client
	iam    *iam.Client
}

// inWorld runs a test in a fresh world, in virtual time, with some switches on.
func inWorld(t *testing.T, version string, change func(*nodegroup.Options), test func(*testing.T, *world), on ...sim.Switch) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server, err := newCloud(version, on...)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := server.Close(); err != nil {
				t.Errorf("close the simulator: %v", err)
			}
		}()
		over := sim.Transport{Handler: server}
		driver, err := newDriver(over, change)
		if err != nil {
			t.Fatal(err)
		}
		settings := config(simaws.Region)
		settings.HTTPClient = &http.Client{Transport: over}
		test(t, &world{t: t, server: server, over: over, driver: driver, eks: eks.NewFromConfig(settings), iam: iam.NewFromConfig(settings)})
	})
}

func aTarget(s source) nodegroup.Target {
	return nodegroup.Target{
		Owner:             cloud.Owner{ID: "0f6f8d5e-owner", Cluster: "c", Namespace: "default", Name: "pool"},
		KubernetesVersion: s.Cluster.ControlPlaneVersion, Spec: s,
	}
}

func (w *world) observe(t nodegroup.Target) pool.Observed {
	w.t.Helper()
	o, err := w.driver.Observe(w.t.Context(), t)
	if err != nil {
		w.t.Fatalf("observe: %v", err)
	}
	return o
}

func (w *world) start(t nodegroup.Target, s pool.Step) {
	w.t.Helper()
	if err := w.driver.Start(w.t.Context(), t, s); err != nil {
		w.t.Fatalf("start %s: %v", s.Kind, err)
	}
}
