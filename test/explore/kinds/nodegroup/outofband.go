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

	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/kinds/aws"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// The out-of-band actions that exist only for node groups: HandLabels changes labels, HandRole the role's policies; HandBreak makes EKS
// report a health issue of the group; HandFail... makes the next update, creation or deletion of a group fail.
const (
	HandLabels     script.What = "hand changes labels"
	HandRole       script.What = "hand changes the role"
	HandBreak      script.What = "hand breaks the health"
	HandFailUpdate script.What = "the next update fails"
	HandFailMaking script.What = "the next creation fails"
	HandFailEnding script.What = "the next deletion fails"
)

// outOfBand holds the out-of-band changes of the pool in the account.
type outOfBand struct{ pool *pool }

// change changes the node group, or the resources behind it.
func (h *outOfBand) change(e script.Event) error {
	p := h.pool
	n := p.nodegroup()
	if n == nil || n.Tags[aws.TagOwner] != p.World.Objects.Owner().ID {
		return nil
	}
	g := p.World.Group.Now()
	switch e.What {
	case script.HandTerminate, script.HandFail, script.HandInterrupt, script.HandUnhealthy:
		return p.StrikeDown(g.Members, e)
	case script.HandDropTemplate:
		return p.Server.DropTemplate(p.TemplateName())
	case script.HandDropVersion, script.HandDefault:
		p.World.Notes.Rewritten()
		return p.ToVersion(e)
	case HandBreak, script.HandHeal, HandFailUpdate, HandFailMaking, HandFailEnding:
		return p.upset(n, e)
	case script.HandBounds, script.HandResize:
		p.World.Notes.Moved()
		return p.World.RetryAsUser(func(ctx context.Context) error {
			return h.config(ctx, n, &eks.UpdateNodegroupConfigInput{ScalingConfig: resized(n, e)})
		})
	case script.Autoscaler:
		p.World.Notes.Moved()
		if !p.World.Objects.External() {
			return nil
		}
		return p.World.RetryAsUser(func(ctx context.Context) error { return h.scaleBehind(ctx, n, e.N) })
	case HandLabels:
		return p.World.RetryAsUser(func(ctx context.Context) error { return h.label(ctx, n, otherLabel(n, e)) })
	case HandRole:
		return p.World.RetryAsUser(func(ctx context.Context) error { return h.meddleRole(ctx, n, e) })
	}
	return p.World.Group.Change(g, e)
}

// clearBlockers takes back what keeps a node group or its role from being looked after, or from going.
func (h *outOfBand) clearBlockers() {
	p := h.pool
	n := p.nodegroup()
	if n != nil {
		p.World.Must(p.Server.ClearIssues(n.Cluster, n.Name), "heal the node group")
		if g := p.World.Group.Now(); h.stuck(n) && p.World.Group.Ours(g) {
			_ = p.World.Group.Change(g, script.Event{What: script.HandDropGroup}) // the user finishes what failed
		}
	}
	for _, r := range p.World.Cloud.Snapshot().Roles {
		if slices.Contains(r.Attached, aws.TheirPolicy) {
			_ = p.World.RetryAsUser(func(ctx context.Context) error {
				_, err := p.IAM.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: &r.Name, PolicyArn: awssdk.String(aws.TheirPolicy)})
				return err
			})
		}
	}
}

// stuck reports whether a user has to delete the node group: EKS failed to delete it, or failed to create it although machines of it serve,
// which Muster does not remove.
func (h *outOfBand) stuck(n *nodegroup) bool {
	g := h.pool.behind(n)
	return n.Status == string(ekstypes.NodegroupStatusDeleteFailed) || n.Status == string(ekstypes.NodegroupStatusCreateFailed) && g != nil &&
		len(g.Members) > 0
}

// config changes how EKS runs a node group.
func (h *outOfBand) config(ctx context.Context, n *nodegroup, in *eks.UpdateNodegroupConfigInput) error {
	in.ClusterName, in.NodegroupName = &n.Cluster, &n.Name
	_, err := h.pool.EKS.UpdateNodegroupConfig(ctx, in)
	return err
}

func (h *outOfBand) tag(ctx context.Context, g *sim.Group, key, value string) error {
	found, err := h.pool.EKS.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: &g.Cluster, NodegroupName: &g.Name})
	if err != nil {
		return err
	}
	_, err = h.pool.EKS.TagResource(ctx, &eks.TagResourceInput{ResourceArn: found.Nodegroup.NodegroupArn, Tags: map[string]string{key: value}})
	return err
}

func (h *outOfBand) drop(ctx context.Context, g *sim.Group) error {
	_, err := h.pool.EKS.DeleteNodegroup(ctx, &eks.DeleteNodegroupInput{ClusterName: &g.Cluster, NodegroupName: &g.Name})
	return err
}

func (h *outOfBand) label(ctx context.Context, n *nodegroup, key string) error {
	return h.pool.World.Notes.Kept("label "+key, h.config(ctx, n,
		&eks.UpdateNodegroupConfigInput{Labels: &ekstypes.UpdateLabelsPayload{AddOrUpdateLabels: map[string]string{key: "hand"}}}))
}

// otherLabel returns the label that a user changes: one of the pool's, or another.
func otherLabel(n *nodegroup, e script.Event) string {
	if n.Labels["tier"] == "" || e.N%2 == 0 {
		return world.Theirs
	}
	return "tier"
}

// resized returns the size, or the bounds, that a user sets.
func resized(n *nodegroup, e script.Event) *ekstypes.NodegroupScalingConfig {
	if e.What == script.HandResize {
		size := int32(min(max(e.N, n.Min), n.Max))
		return &ekstypes.NodegroupScalingConfig{DesiredSize: &size}
	}
	least := int32(min(e.N%3, n.Desired))
	most := max(least+1+int32(e.M), int32(n.Desired))
	return &ekstypes.NodegroupScalingConfig{MinSize: &least, MaxSize: &most}
}

// scaleBehind sets the size of the group behind, as the cluster-autoscaler does.
func (h *outOfBand) scaleBehind(ctx context.Context, n *nodegroup, size int) error {
	g := h.pool.behind(n)
	if g == nil {
		return nil
	}
	to := int32(min(max(size, g.Min), g.Max))
	_, err := h.pool.Groups.SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: &g.Name, DesiredCapacity: &to})
	return err
}

// meddleRole attaches a policy of another tool to the role, or detaches one that every node needs.
func (h *outOfBand) meddleRole(ctx context.Context, n *nodegroup, e script.Event) error {
	name := n.Role[strings.LastIndex(n.Role, "/")+1:]
	if e.N%2 == 0 {
		_, err := h.pool.IAM.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: &name, PolicyArn: awssdk.String(aws.TheirPolicy)})
		return err
	}
	_, err := h.pool.IAM.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: &name, PolicyArn: awssdk.String(workerPolicy)})
	return err
}

// foreign has a user create an additional node group without machines.
func (h *outOfBand) foreign(int) {
	p := h.pool
	err := p.World.RetryAsUser(func(ctx context.Context) error {
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
func (h *outOfBand) dropForeign() {
	_ = h.pool.World.RetryAsUser(func(ctx context.Context) error {
		_, err := h.pool.EKS.DeleteNodegroup(ctx, &eks.DeleteNodegroupInput{ClusterName: awssdk.String(eksCluster),
			NodegroupName: awssdk.String(world.TheirGroup)})
		return err
	})
}

// workerPolicy is the ARN of the policy that the role of nodes must have attached.
const workerPolicy = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
