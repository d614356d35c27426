package nodegroup

import (
	"context"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/kinds/aws"
)

// forAnother makes a node group, with a launch template where the pool has one.
func (h *outOfBand) forAnother() string {
	p := h.pool
	s := p.World.Scenario
	tags := aws.TheirTags(adoptedName)
	input := &eks.CreateNodegroupInput{
		ClusterName: awssdk.String(eksCluster), NodegroupName: awssdk.String(adoptedName), Subnets: aws.PrivateSubnets(), Tags: tags,
		NodeRole: awssdk.String("arn:aws:iam::" + simaws.AccountID + ":role/" + simaws.NodegroupRole), Labels: map[string]string{"tier": "a"},
		ScalingConfig: &ekstypes.NodegroupScalingConfig{
			MinSize: awssdk.Int32(int32(s.Least)), MaxSize: awssdk.Int32(int32(s.Most)), DesiredSize: awssdk.Int32(int32(s.Replicas)),
		},
	}
	if own(s).Bare {
		input.InstanceTypes = []string{simaws.InstanceType}
	} else {
		input.LaunchTemplate = &ekstypes.LaunchTemplateSpecification{Id: awssdk.String(p.MakeTemplateForAnother(false)),
			Version: awssdk.String("2")}
	}
	arn := ""
	p.World.Must(p.World.RetryAsUser(func(ctx context.Context) error {
		made, err := p.EKS.CreateNodegroup(ctx, input)
		if err == nil {
			arn = *made.Nodegroup.NodegroupArn
		}
		return err
	}), "make a node group for another provider")
	return arn
}

// adoptedName is the name of the node group of another provider that is to be adopted.
const adoptedName = "default_workers"
