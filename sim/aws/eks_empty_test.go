package aws_test

import (
	"reflect"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/muster-project/muster/sim/aws"
)

// EKS sends lists and maps that are empty; a member that is missing decodes to nil.
func TestEmptyListsArePresent(t *testing.T) {
	inNodeWorld(t, aws.Options{}, func(t *testing.T, w *nodeWorld) {
		present := func(about string, list any) {
			t.Helper()
			if v := reflect.ValueOf(list); v.IsNil() || v.Len() > 0 {
				t.Errorf("%s: want an empty one, got %#v", about, list)
			}
		}
		cluster := awssdk.String(eksName)
		none, err := w.eks.ListNodegroups(t.Context(), &eks.ListNodegroupsInput{ClusterName: cluster})
		ok(t, err)
		present("nodegroups", none.Nodegroups)
		shown, err := w.eks.DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: cluster})
		ok(t, err)
		present("tags of a cluster", shown.Cluster.Tags)
		tags, err := w.eks.ListTagsForResource(t.Context(), &eks.ListTagsForResourceInput{ResourceArn: shown.Cluster.Arn})
		ok(t, err)
		present("tags of a resource", tags.Tags)
		bare := func(in *eks.CreateNodegroupInput) { in.Labels, in.Tags, in.Taints = nil, nil, nil }
		n := w.make("blue", bare)
		present("labels", n.Labels)
		present("tags of a node group", n.Tags)
		present("health issues", n.Health.Issues)
		if n.Taints != nil {
			t.Errorf("taints: want none named, as EKS does, got %v", n.Taints)
		}
		updates, err := w.eks.ListUpdates(t.Context(), &eks.ListUpdatesInput{Name: cluster, NodegroupName: n.NodegroupName})
		ok(t, err)
		present("updates", updates.UpdateIds)
		changed, err := w.eks.UpdateNodegroupConfig(t.Context(), &eks.UpdateNodegroupConfigInput{
			ClusterName: cluster, NodegroupName: n.NodegroupName, ScalingConfig: &ekstypes.NodegroupScalingConfig{MaxSize: awssdk.Int32(5)},
		})
		ok(t, err)
		present("errors of an update", changed.Update.Errors)
		w.until("blue", ekstypes.NodegroupStatusActive, time.Minute)
	})
}
