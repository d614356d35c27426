package aws_test

import (
	"net/http"
	"testing"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
)

func TestContract(t *testing.T) { suite().Run(t) }

func TestContractCanFail(t *testing.T) { suite().RunMistakes(t) }

func suite() cloudtest.Suite[*awsv1.MachinePoolSource] {
	return cloudtest.Suite[*awsv1.MachinePoolSource]{
		Cloud:  func() (cloudtest.Cloud, error) { return simaws.New(simaws.Options{Seed: 1}) },
		Driver: func(wire http.RoundTripper) (cloud.Driver[*awsv1.MachinePoolSource], error) { return newDriver(wire) },
		Hands:  hands,
		Pool: func() *awsv1.MachinePoolSource {
			return spec(func(s *awsv1.AWSMachinePoolSpec) { s.MaxSize = 300 })(poolSource())
		},
		KubernetesVersion: "v1.25.0",
		Changed:           spec(func(s *awsv1.AWSMachinePoolSpec) { s.AWSLaunchTemplate.InstanceType = "m5.large" }),
		Reshaped:          spec(reshape),
		Searching:         spec(search),
		Broken: map[string]func(*awsv1.MachinePoolSource) *awsv1.MachinePoolSource{
			"spec.awsLaunchTemplate.instanceType": spec(func(s *awsv1.AWSMachinePoolSpec) { s.AWSLaunchTemplate.InstanceType = "m5.nope" }),
			"spec.awsLaunchTemplate.sshKeyName":   spec(func(s *awsv1.AWSMachinePoolSpec) { s.AWSLaunchTemplate.SSHKeyName = ptr("nope") }),
			"spec.subnets[0].id": spec(func(s *awsv1.AWSMachinePoolSpec) {
				s.Subnets = []awsv1.AWSResourceReference{{ID: ptr("subnet-0123456789abcdef0")}}
			}),
		},
		Denied:     sim.Fault{Code: "AccessDenied", Message: "User: arn:aws:iam::123456789012:user/muster is not authorized to do this", Status: 403},
		NoCapacity: "We currently do not have sufficient",
		Many:       210, SteadyReads: 3,
	}
}
