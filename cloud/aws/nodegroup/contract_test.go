package nodegroup_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/nodegroup"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/cloudtest"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/sim/aws/autoscaling"
	simeks "github.com/muster-project/muster/sim/aws/eks"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/evidence"
	"github.com/muster-project/muster/test/specs"
	"github.com/muster-project/muster/test/testrun"
)

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
			server, err := newCloud(version, on...)
			return managed{Server: server}, err
		},
		Published: specs.AWS(),
		Driver: func(wire http.RoundTripper) (cloud.Driver[source], error) {
			return newDriver(wire, func(o *nodegroup.Options) { o.EnableIAM, o.AllowAddRoles = true, true })
		},
		Switches:          evidence.Switches(core.Beliefs(), autoscaling.Beliefs(), simeks.Beliefs()),
		Pool:              withTemplate,
		KubernetesVersion: version,
		Changed:           spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.AWSLaunchTemplate.InstanceType = "m5.large" }),
		Reshaped:          spec(reshape),
		Searching:         spec(search),
		Needy:             spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.RoleName = "for-this-pool" }),
		Broken: map[string]func(source) source{
			"spec.awsLaunchTemplate.instanceType": spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.AWSLaunchTemplate.InstanceType = "m5.nope" }),
			"spec.subnetIDs[0]": spec(
				func(s *awsv1.AWSManagedMachinePoolSpec) { s.SubnetIDs = []string{"subnet-0123456789abcdef0"} }),
			"spec.additionalTags":       spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.AdditionalTags = manyTags() }),
			"spec.availabilityZones[0]": spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.AvailabilityZones = []string{"eu-west-1z"} }),
		},
		UserTag: "stage", Spelling: session.Spelling,
		Many: 210, SteadyReads: 4,
		GroupID: func(name string) string {
			return "arn:aws:eks:" + simaws.Region + ":" + simaws.AccountID + ":nodegroup/" + clusterName + "/" + name + "/0f6f8d5e"
		},
		Primary:   []string{"DescribeNodegroup", "DescribeAutoScalingGroups", "DescribeLaunchTemplates", "DescribeLaunchTemplateVersions"},
		Secondary: []string{"DescribeInstances", "ListUpdates", "DescribeUpdate", "DescribeScalingActivities"},
	}
}

// reshape changes every field of a node group that can be changed.
func reshape(s *awsv1.AWSManagedMachinePoolSpec) {
	s.Scaling = &awsv1.ManagedMachinePoolScaling{MinSize: new(int32(1)), MaxSize: new(int32(6))}
	s.Labels = awsv1.NodeLabels{"tier": "blue"}
	s.Taints = awsv1.Taints{{Key: "only", Value: "x", Effect: awsv1.TaintEffectNoSchedule}}
	s.UpdateConfig = &awsv1.UpdateConfig{MaxUnavailablePercentage: new(50)}
	s.NodeRepairConfig = &awsv1.NodeRepairConfig{Enabled: new(true)}
	s.AdditionalTags = awsv1.Tags{"stage": "test"}
}

// search finds all that can be found by its properties so that there are several of each.
func search(s *awsv1.AWSManagedMachinePoolSpec) {
	s.AWSLaunchTemplate.AdditionalSecurityGroups = []awsv1.AWSResourceReference{{Filters: []awsv1.Filter{{Name: "group-name",
		Values: []string{"muster-*"}}}}}
	s.AWSLaunchTemplate.ImageLookupFormat = "capa-ami-{{.BaseOS}}-?1.33.*"
}

// managed is the simulator for those whose groups are node groups.
type managed struct {
	*simaws.Server
	// given is true if node groups have no launch template of their own.
	given bool
}

// Capabilities has actions for node groups, and those of the account for everything else.
func (m managed) Capabilities() sim.Capabilities {
	p := m.Server.Capabilities()
	p.Groups = simaws.NodeGroupBehavior()
	settings := config(simaws.Region)
	settings.HTTPClient = &http.Client{Transport: sim.Transport{Handler: m.Server}}
	by := hands{eks.NewFromConfig(settings)}
	for _, d := range []sim.Action{sim.LaunchFrom, sim.ResumeProcesses, sim.RemoveHooks, sim.StartRollout, sim.CancelRollout,
		sim.FailRollout} {
		p.OutOfBand[d] = nil
	}
	for _, d := range []sim.Action{sim.CreateTemplate, sim.DeleteTemplate, sim.CreateVersion, sim.DeleteVersion} {
		if m.given {
			p.OutOfBand[d] = nil
		}
	}
	p.OutOfBand[sim.CreateGroup], p.OutOfBand[sim.DeleteGroup] = by.make, by.drop
	p.OutOfBand[sim.SetSize], p.OutOfBand[sim.SetBounds] = by.size, by.bounds
	p.OutOfBand[sim.RemoveTag], p.OutOfBand[sim.ChangeTag] = by.untag, by.retag
	return p
}

// hands do to node groups what a user does with EKS's own tools.
type hands struct{ eks *eks.Client }

func (h hands) make(on sim.Resource) error {
	_, err := h.eks.CreateNodegroup(context.Background(), &eks.CreateNodegroupInput{
		ClusterName: new(clusterName), NodegroupName: &on.Name,
		NodeRole: new("arn:aws:iam::" + simaws.AccountID + ":role/" + simaws.NodegroupRole),
		Subnets:  []string{simaws.SubnetID}, ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: new(int32(0)), MaxSize: new(int32(1)),
			DesiredSize: new(int32(0))},
	})
	return err
}

func (h hands) drop(on sim.Resource) error {
	_, err := h.eks.DeleteNodegroup(context.Background(), &eks.DeleteNodegroupInput{ClusterName: new(clusterName), NodegroupName: &on.Name})
	return err
}

func (h hands) update(on sim.Resource, scaling ekstypes.NodegroupScalingConfig) error {
	_, err := h.eks.UpdateNodegroupConfig(context.Background(),
		&eks.UpdateNodegroupConfigInput{ClusterName: new(clusterName), NodegroupName: &on.Name, ScalingConfig: &scaling})
	return err
}

func (h hands) size(on sim.Resource) error {
	return h.update(on, ekstypes.NodegroupScalingConfig{DesiredSize: new(int32(on.Size))})
}

func (h hands) bounds(on sim.Resource) error {
	return h.update(on, ekstypes.NodegroupScalingConfig{MaxSize: new(int32(on.Size))})
}

func (h hands) untag(on sim.Resource) error {
	arn, err := h.arn(on)
	if err == nil {
		_, err = h.eks.UntagResource(context.Background(), &eks.UntagResourceInput{ResourceArn: arn, TagKeys: []string{on.Key}})
	}
	return err
}

func (h hands) retag(on sim.Resource) error {
	arn, err := h.arn(on)
	if err == nil {
		_, err = h.eks.TagResource(context.Background(), &eks.TagResourceInput{ResourceArn: arn, Tags: map[string]string{on.Key: on.Value}})
	}
	return err
}

func (h hands) arn(on sim.Resource) (*string, error) {
	found, err := h.eks.DescribeNodegroup(context.Background(),
		&eks.DescribeNodegroupInput{ClusterName: new(clusterName), NodegroupName: &on.Name})
	if err != nil {
		return nil, err
	}
	return found.Nodegroup.NodegroupArn, nil
}

// TestContractWithoutTemplate is the contract for pools that are launched from EKS's own templates.
func TestContractWithoutTemplate(t *testing.T) {
	if testing.Short() {
		t.Skip("the contract a second time")
	}
	s := suite()
	s.Cloud = func(on sim.Switches) (cloudtest.Cloud, error) {
		server, err := newCloud(version, on...)
		return managed{Server: server, given: true}, err
	}
	s.Pool = func() source {
		return spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.AMIVersion = new("1.33.9-20261218") })(withoutTemplate())
	}
	s.Changed = spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.AMIVersion = new("1.33.10-20270118") })
	s.Searching = spec(func(s *awsv1.AWSManagedMachinePoolSpec) {
		s.InstanceTypes = []string{simaws.InstanceType, "m5.large"}
		s.SubnetIDs = []string{simaws.SubnetID}
	})
	s.Broken = map[string]func(source) source{
		"spec.instanceTypes[0]": spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.InstanceTypes = []string{"m5.nope"} }),
		"spec.subnetIDs[0]":     suite().Broken["spec.subnetIDs[0]"],
	}
	s.Run(t)
}

// manyTags are more tags than a cloud object takes beside Muster's.
func manyTags() awsv1.Tags {
	tags := awsv1.Tags{}
	for k := range 45 {
		tags[fmt.Sprintf("tag-%d", k)] = "x"
	}
	return tags
}
