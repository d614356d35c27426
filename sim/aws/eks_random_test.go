package aws_test

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws"
)

// Whatever is asked of a node group and done to it, it comes to rest: with as many Ready nodes as it should have, none of them
// closed to pods, and all of what it shows; and nothing is left once it is deleted.
func TestNodegroupsComeToRest(t *testing.T) {
	seeds := uint64(25)
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			inNodeWorld(t, aws.Options{Seed: seed, Limits: aws.Limits{}}, func(t *testing.T, w *nodeWorld) {
				draw := rand.New(rand.NewPCG(seed, seed))
				id := w.source("mine", &types.RequestLaunchTemplateData{InstanceType: "m5.large"})
				w.make("blue", with(id, "1"))
				for range 12 {
					w.stir(draw, id)
					after(time.Duration(draw.IntN(40_000)) * time.Millisecond)
				}
				w.server.Faults().Clear()
				w.nodes.set(func() { w.nodes.silent, w.nodes.stubborn = false, false })
				n := w.until("blue", ekstypes.NodegroupStatusActive, 30*time.Minute)
				after(5 * time.Minute)
				w.wantServing(w.behind(n), int(*w.nodegroup("blue").ScalingConfig.DesiredSize))
				for _, i := range w.read(w.behind(n)).Instances {
					if w.nodes.closed(*i.InstanceId) {
						t.Errorf("want %s open to pods", *i.InstanceId)
					}
				}
				_, err := w.eks.DeleteNodegroup(t.Context(), &eks.DeleteNodegroupInput{ClusterName: n.ClusterName, NodegroupName: n.NodegroupName})
				ok(t, err)
				after(10 * time.Minute)
				if s := w.server.State(aws.AccountID, aws.Region); len(s.Groups)+len(s.Nodegroups)+len(s.Living()) != 0 || len(s.Templates) != 1 {
					t.Errorf("want nothing left but the template of another client, got %+v", s)
				}
			})
		})
	}
}

// stir asks something of the node group or does something to it; what is refused is refused.
func (w *nodeWorld) stir(draw *rand.Rand, template string) {
	w.t.Helper()
	ctx, name, clusterName := w.t.Context(), awssdk.String("blue"), awssdk.String(eksName)
	switch draw.IntN(8) {
	case 0:
		_, _ = w.eks.UpdateNodegroupConfig(ctx, &eks.UpdateNodegroupConfigInput{ClusterName: clusterName, NodegroupName: name,
			ScalingConfig: &ekstypes.NodegroupScalingConfig{
				MinSize: awssdk.Int32(0), MaxSize: awssdk.Int32(5), DesiredSize: awssdk.Int32(draw.Int32N(6)),
			}})
	case 1:
		strategy := ekstypes.NodegroupUpdateStrategies([]string{"DEFAULT", "MINIMAL"}[draw.IntN(2)])
		_, _ = w.eks.UpdateNodegroupConfig(ctx, &eks.UpdateNodegroupConfigInput{ClusterName: clusterName, NodegroupName: name,
			UpdateConfig: &ekstypes.NodegroupUpdateConfig{
				MaxUnavailable: awssdk.Int32(1 + draw.Int32N(3)), UpdateStrategy: strategy,
			}})
	case 2, 3:
		version := strconv.FormatInt(w.version(template,
			&types.RequestLaunchTemplateData{InstanceType: []types.InstanceType{"m5.large", "m5.xlarge"}[draw.IntN(2)]}), 10)
		_, _ = w.eks.UpdateNodegroupVersion(ctx, &eks.UpdateNodegroupVersionInput{
			ClusterName: clusterName, NodegroupName: name, LaunchTemplate: &ekstypes.LaunchTemplateSpecification{Id: &template, Version: &version},
			Force: draw.IntN(2) == 0,
		})
	case 4:
		if living := w.server.State(aws.AccountID, aws.Region).Living(); len(living) > 0 {
			_, _ = w.as.TerminateInstanceInAutoScalingGroup(ctx, &autoscaling.TerminateInstanceInAutoScalingGroupInput{
				InstanceId: &living[draw.IntN(len(living))].ID, ShouldDecrementDesiredCapacity: awssdk.Bool(draw.IntN(2) == 0),
			})
		}
	case 5:
		w.nodes.set(func() { w.nodes.silent, w.nodes.stubborn = draw.IntN(3) == 0, draw.IntN(2) == 0 })
	case 6:
		ok(w.t, w.server.Faults().Add(sim.Fault{Kind: sim.NoCapacity, Times: draw.IntN(5)}))
	case 7:
		w.server.Faults().Clear()
		_ = w.server.FailUpdate(eksName, "blue")
	}
}
