package aws_test

import (
	"net/http"
	"testing"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cloudtest"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/long"
)

type source = *awsv1.MachinePoolSource

func TestContract(t *testing.T) { suite().Run(t) }

func TestLongContractCanFail(t *testing.T) {
	long.Only(t)
	suite().RunMistakes(t)
}

func suite() cloudtest.Suite[source] {
	return cloudtest.Suite[source]{
		Cloud:             func() (cloudtest.Cloud, error) { return simaws.New(simaws.Options{Seed: 1}) },
		Driver:            func(wire http.RoundTripper) (cloud.Driver[source], error) { return newDriver(wire) },
		Pool:              func() source { return spec(func(s *awsv1.AWSMachinePoolSpec) { s.MaxSize = 300 })(poolSource()) },
		KubernetesVersion: "v1.25.0",
		Changed:           spec(func(s *awsv1.AWSMachinePoolSpec) { s.AWSLaunchTemplate.InstanceType = "m5.large" }),
		Reshaped:          spec(reshape),
		Searching:         spec(search),
		Broken: map[string]func(source) source{
			"spec.awsLaunchTemplate.instanceType": spec(func(s *awsv1.AWSMachinePoolSpec) { s.AWSLaunchTemplate.InstanceType = "m5.nope" }),
			"spec.awsLaunchTemplate.sshKeyName":   spec(func(s *awsv1.AWSMachinePoolSpec) { s.AWSLaunchTemplate.SSHKeyName = ptr("nope") }),
			"spec.subnets[0].id": spec(func(s *awsv1.AWSMachinePoolSpec) {
				s.Subnets = []awsv1.AWSResourceReference{{ID: ptr("subnet-0123456789abcdef0")}}
			}),
		},
		AskedTag: "stage", FixedTag: "muster.dev/cluster",
		Many: 210, SteadyReads: 3,
		GroupID: func(name string) string {
			return "arn:aws:autoscaling:" + simaws.Region + ":" + simaws.AccountID + ":autoScalingGroup:0f6f8d5e:autoScalingGroupName/" + name
		},
		Secondary: []string{"DescribeInstances", "DescribeLifecycleHooks", "DescribeInstanceRefreshes", "DescribeScalingActivities"},
	}
}
