package nodegroup

import (
	"context"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/kinds/aws"
	"github.com/muster-project/muster/test/explore/world"
)

// What is done to node groups alone: HandLabels changes labels, HandRole the role's policies; HandBreak has EKS find the group's health
// wanting; HandFail... let the next update, creation or deletion of a group fail.
const (
	HandLabels     world.What = "hand changes labels"
	HandRole       world.What = "hand changes the role"
	HandBreak      world.What = "hand breaks the health"
	HandFailUpdate world.What = "the next update fails"
	HandFailMaking world.What = "the next creation fails"
	HandFailEnding world.What = "the next deletion fails"
)

// hands are what people do to the pool in the account.
type hands struct{ pool *pool }

// change changes something of our node group, or of what is behind it.
func (h *hands) change(e world.Event) error {
	p := h.pool
	n := p.nodegroup()
	if n == nil || n.Tags[aws.TagOwner] != p.World.Objects.Owner().ID {
		return nil
	}
	switch e.What {
	case world.HandResize, world.HandBounds, world.Autoscaler:
		p.World.Notes.Moved()
	case world.HandDisown:
		p.World.Notes.Disowned()
	}
	switch e.What {
	case world.HandTerminate, world.HandFail, world.HandInterrupt, world.HandUnhealthy:
		if g := p.behind(n); g != nil {
			return p.StrikeDown(g, e)
		}
		return nil
	case world.HandDropTemplate:
		return p.Server.DropTemplate(p.TemplateName())
	case world.HandDropVersion, world.HandDefault:
		p.World.Notes.Rewritten()
		return p.ToVersion(e)
	case HandBreak, world.HandHeal, HandFailUpdate, HandFailMaking, HandFailEnding:
		return p.upset(n, e)
	case world.Autoscaler:
		if !p.World.Objects.External() {
			return nil
		}
	}
	return p.World.Hand(func(ctx context.Context) error { return h.meddle(ctx, n, e) })
}

// own gives the node group back that was taken from us.
func (h *hands) own() {
	p := h.pool
	if n := p.nodegroup(); n != nil && n.Tags[aws.TagOwner] == world.Thief {
		_ = p.World.Hand(func(ctx context.Context) error { return h.meddle(ctx, n, world.Event{What: world.HandOwn}) })
		p.World.Notes.Owned()
	}
}

// appease takes back what keeps a node group or its role from being looked after, or from going.
func (h *hands) appease() {
	p := h.pool
	n := p.nodegroup()
	if n != nil {
		p.World.Must(p.Server.ClearIssues(n.Cluster, n.Name), "heal the node group")
		if h.stuck(n) && n.Tags[aws.TagOwner] == p.World.Objects.Owner().ID {
			_ = p.World.Hand(func(ctx context.Context) error {
				return h.meddle(ctx, n,
					world.Event{What: world.HandDropGroup})
			}) // the user finishes what failed
		}
	}
	for _, r := range p.State().Roles {
		if slices.Contains(r.Attached, aws.TheirPolicy) {
			_ = p.World.Hand(func(ctx context.Context) error {
				_, err := p.IAM.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: &r.Name, PolicyArn: awssdk.String(aws.TheirPolicy)})
				return err
			})
		}
	}
}

// stuck reports whether a user has to delete the node group: EKS failed to delete it, or failed to make it although machines of it serve,
// which Muster does not take away.
func (h *hands) stuck(n *nodegroup) bool {
	g := h.pool.behind(n)
	return n.Status == string(ekstypes.NodegroupStatusDeleteFailed) || n.Status == string(ekstypes.NodegroupStatusCreateFailed) && g != nil &&
		len(g.Members) > 0
}

// meddle is a change by hand that takes a call.
func (h *hands) meddle(ctx context.Context, n *nodegroup, e world.Event) error {
	p := h.pool
	c, cluster := p.EKS, awssdk.String(eksCluster)
	config := func(in *eks.UpdateNodegroupConfigInput) error {
		in.ClusterName, in.NodegroupName = cluster, &n.Name
		_, err := c.UpdateNodegroupConfig(ctx, in)
		return err
	}
	tag := func(key, value string) error {
		arn, err := p.arn(ctx, n)
		if err != nil {
			return err
		}
		_, err = c.TagResource(ctx, &eks.TagResourceInput{ResourceArn: arn, Tags: map[string]string{key: value}})
		return err
	}
	switch e.What {
	case world.HandTags:
		key := []string{"team", "stage", "muster.dev/cluster"}[e.N%3]
		if n.Tags[key] == "" {
			key = world.Theirs
		}
		return p.World.Notes.Kept("tag "+key, tag(key, "hand"))
	case world.HandDisown, world.HandOwn:
		return tag(aws.TagOwner, map[world.What]string{world.HandDisown: world.Thief, world.HandOwn: p.World.Objects.Owner().ID}[e.What])
	case world.HandDropGroup:
		p.World.Notes.Dropped()
		_, err := c.DeleteNodegroup(ctx, &eks.DeleteNodegroupInput{ClusterName: cluster, NodegroupName: &n.Name})
		return err
	case HandLabels:
		key := otherLabel(n, e)
		return p.World.Notes.Kept("label "+key, config(
			&eks.UpdateNodegroupConfigInput{Labels: &ekstypes.UpdateLabelsPayload{AddOrUpdateLabels: map[string]string{key: "hand"}}}))
	case world.HandResize, world.HandBounds:
		return config(&eks.UpdateNodegroupConfigInput{ScalingConfig: resized(n, e)})
	case world.Autoscaler:
		return h.scaleBehind(ctx, n, e.N)
	case HandRole:
		return h.meddleRole(ctx, n, e)
	}
	return nil
}

// otherLabel is the label that a user changes: one of the pool's, or another.
func otherLabel(n *nodegroup, e world.Event) string {
	if n.Labels["tier"] == "" || e.N%2 == 0 {
		return world.Theirs
	}
	return "tier"
}

// resized is the size, or the bounds, that a user sets.
func resized(n *nodegroup, e world.Event) *ekstypes.NodegroupScalingConfig {
	if e.What == world.HandResize {
		size := int32(min(max(e.N, n.Min), n.Max))
		return &ekstypes.NodegroupScalingConfig{DesiredSize: &size}
	}
	least := int32(min(e.N%3, n.Desired))
	most := max(least+1+int32(e.M), int32(n.Desired))
	return &ekstypes.NodegroupScalingConfig{MinSize: &least, MaxSize: &most}
}

// scaleBehind sets the size of the group behind, as the cluster-autoscaler does.
func (h *hands) scaleBehind(ctx context.Context, n *nodegroup, size int) error {
	g := h.pool.behind(n)
	if g == nil {
		return nil
	}
	to := int32(min(max(size, g.Min), g.Max))
	_, err := h.pool.Groups.SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: &g.Name, DesiredCapacity: &to})
	return err
}

// meddleRole attaches a policy of another tool to the role, or detaches one that every node needs.
func (h *hands) meddleRole(ctx context.Context, n *nodegroup, e world.Event) error {
	name := n.Role[strings.LastIndex(n.Role, "/")+1:]
	if e.N%2 == 0 {
		_, err := h.pool.IAM.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: &name, PolicyArn: awssdk.String(aws.TheirPolicy)})
		return err
	}
	_, err := h.pool.IAM.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: &name, PolicyArn: awssdk.String(workerPolicy)})
	return err
}

// foreign has a user make a node group beside the pool's, without machines.
func (h *hands) foreign(int) {
	p := h.pool
	err := p.World.Hand(func(ctx context.Context) error {
		_, err := p.EKS.CreateNodegroup(ctx, &eks.CreateNodegroupInput{
			ClusterName: awssdk.String(eksCluster), NodegroupName: awssdk.String(world.TheirGroup), Subnets: []string{simaws.SubnetID},
			NodeRole:      awssdk.String("arn:aws:iam::" + simaws.AccountID + ":role/" + simaws.NodegroupRole),
			ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: awssdk.Int32(0), MaxSize: awssdk.Int32(1), DesiredSize: awssdk.Int32(0)},
		})
		return err
	})
	p.World.Must(err, "make a node group by hand")
}

// dropForeign takes it away again.
func (h *hands) dropForeign() {
	_ = h.pool.World.Hand(func(ctx context.Context) error {
		_, err := h.pool.EKS.DeleteNodegroup(ctx, &eks.DeleteNodegroupInput{ClusterName: awssdk.String(eksCluster),
			NodegroupName: awssdk.String(world.TheirGroup)})
		return err
	})
}

// workerPolicy is what every node needs of its role.
const workerPolicy = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
