package aws_test

import (
	"fmt"
	"net/http"
	"testing"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/sim/aws/autoscaling"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/evidence"
	"github.com/muster-project/muster/test/specs"
	"github.com/muster-project/muster/test/testrun"
)

type source = *awsv1.MachinePoolSource

func TestContract(t *testing.T) { suite().Run(t) }

func TestLongContractCanFail(t *testing.T) {
	testrun.LongOnly(t)
	suite().RunMistakes(t)
}

func TestLongContractWithEachSwitch(t *testing.T) {
	testrun.LongOnly(t)
	suite().RunEachSwitch(t)
}

func suite() cloudtest.Suite[source] {
	return cloudtest.Suite[source]{
		Cloud: func(on sim.Switches) (cloudtest.Cloud, error) {
			return simaws.New(simaws.Options{Seed: 1, Switches: on})
		},
		Switches:          evidence.Switches(core.Beliefs(), autoscaling.Beliefs()),
		Published:         specs.AWS(),
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
			"spec.subnets[0].filters": spec(func(s *awsv1.AWSMachinePoolSpec) {
				s.Subnets = []awsv1.AWSResourceReference{{Filters: []awsv1.Filter{{Name: "tag:team", Values: []string{"nope"}}}}}
			}),
			"spec.additionalTags":       spec(func(s *awsv1.AWSMachinePoolSpec) { s.AdditionalTags = manyTags() }),
			"spec.availabilityZones[0]": spec(func(s *awsv1.AWSMachinePoolSpec) { s.AvailabilityZones = []string{"eu-west-1z"} }),
			"spec.lifecycleHooks[0].name": spec(func(s *awsv1.AWSMachinePoolSpec) {
				s.AWSLifecycleHooks = []awsv1.AWSLifecycleHook{{Name: "muster-drain", LifecycleTransition: "autoscaling:EC2_INSTANCE_TERMINATING"}}
			}),
		},
		UserTag: "stage", Spelling: session.Spelling,
		Many: 210, SteadyReads: 3,
		GroupID: func(name string) string {
			return "arn:aws:autoscaling:" + simaws.Region + ":" + simaws.AccountID + ":autoScalingGroup:0f6f8d5e:autoScalingGroupName/" + name
		},
		Primary:   []string{"DescribeAutoScalingGroups", "DescribeLaunchTemplates", "DescribeLaunchTemplateVersions"},
		Secondary: []string{"DescribeInstances", "DescribeLifecycleHooks", "DescribeInstanceRefreshes", "DescribeScalingActivities"},
	}
}

// manyTags are more tags than a cloud object takes beside Muster's.
func manyTags() awsv1.Tags {
	tags := awsv1.Tags{}
	for k := range 45 {
		tags[fmt.Sprintf("tag-%d", k)] = "x"
	}
	return tags
}
