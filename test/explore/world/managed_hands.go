package world

import (
	"context"
	"slices"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
)

// theirs is what a user or another tool puts onto a group of the pool's, and that stays there.
const theirs = "theirs"

// What other people attach to a role, and what every node needs of it.
const (
	theirPolicy  = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"
	workerPolicy = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
)

// toManaged changes something of our node group, or of what is behind it.
func (w *World) toManaged(e Event) error {
	n := w.account.nodegroup()
	if n == nil || n.Tags[tagOwner] != w.owner().ID {
		return nil
	}
	switch e.What {
	case HandResize, HandBounds, Autoscaler:
		w.account.moved = time.Now()
	case HandDisown:
		w.account.disowned = time.Now()
	}
	switch e.What {
	case HandTerminate, HandFail, HandInterrupt, HandUnhealthy:
		if g := w.account.behind(n); g != nil {
			return w.strikeDown(g, e)
		}
		return nil
	case HandDropTemplate:
		return w.account.aws.DropTemplate(w.templateName())
	case HandDropVersion, HandDefault:
		w.account.rewritten = time.Now()
		return w.toVersion(e)
	case HandBreak, HandHeal, HandFailUpdate, HandFailMaking, HandFailEnding:
		return w.account.upset(n, e)
	case Autoscaler:
		if !w.external() {
			return nil
		}
	}
	return w.account.hand(func(ctx context.Context) error { return w.account.meddleManaged(ctx, n, e) })
}

// ownManaged gives the node group back that was taken from us.
func (w *World) ownManaged() {
	if n := w.account.nodegroup(); n != nil && n.Tags[tagOwner] == thief {
		_ = w.account.hand(func(ctx context.Context) error { return w.account.meddleManaged(ctx, n, Event{What: HandOwn}) })
		w.account.owned = time.Now()
	}
}

// appease takes back what keeps a node group or its role from being looked after, or from going.
func (w *World) appease() {
	n := w.account.nodegroup()
	if n != nil {
		w.must(w.account.aws.ClearIssues(n.Cluster, n.Name), "heal the node group")
		if w.stuck(n) && n.Tags[tagOwner] == w.owner().ID {
			_ = w.account.hand(func(ctx context.Context) error { return w.account.meddleManaged(ctx, n, Event{What: HandDropGroup}) }) // the user finishes what failed
		}
	}
	for _, r := range w.account.aws.State(simaws.AccountID, simaws.Region).Roles {
		if slices.Contains(r.Attached, theirPolicy) {
			_ = w.account.hand(func(ctx context.Context) error {
				_, err := w.account.byHandIAM.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: &r.Name, PolicyArn: awssdk.String(theirPolicy)})
				return err
			})
		}
	}
}

// stuck reports whether a user has to delete the node group: EKS failed to delete it, or failed to make it although machines of it serve,
// which Muster does not take away.
func (w *World) stuck(n *nodegroup) bool {
	g := w.account.behind(n)
	return n.Status == string(ekstypes.NodegroupStatusDeleteFailed) || n.Status == string(ekstypes.NodegroupStatusCreateFailed) && g != nil && len(g.Members) > 0
}

// meddleManaged is a change by hand that takes a call.
func (a *account) meddleManaged(ctx context.Context, n *nodegroup, e Event) error {
	c, cluster := a.byHandEKS, awssdk.String(eksCluster)
	config := func(in *eks.UpdateNodegroupConfigInput) error {
		in.ClusterName, in.NodegroupName = cluster, &n.Name
		_, err := c.UpdateNodegroupConfig(ctx, in)
		return err
	}
	tag := func(key, value string) error {
		arn, err := a.arn(ctx, n)
		if err != nil {
			return err
		}
		_, err = c.TagResource(ctx, &eks.TagResourceInput{ResourceArn: arn, Tags: map[string]string{key: value}})
		return err
	}
	switch e.What {
	case HandTags:
		key := []string{"team", "stage", "muster.dev/cluster"}[e.N%3]
		if n.Tags[key] == "" {
			key = theirs
		}
		return a.noted("tag "+key, tag(key, "hand"))
	case HandDisown, HandOwn:
		return tag(tagOwner, map[What]string{HandDisown: thief, HandOwn: a.world.owner().ID}[e.What])
	case HandDropGroup:
		a.notes = map[string]string{}
		_, err := c.DeleteNodegroup(ctx, &eks.DeleteNodegroupInput{ClusterName: cluster, NodegroupName: &n.Name})
		return err
	case HandLabels:
		key := otherLabel(n, e)
		return a.noted("label "+key, config(&eks.UpdateNodegroupConfigInput{Labels: &ekstypes.UpdateLabelsPayload{AddOrUpdateLabels: map[string]string{key: "hand"}}}))
	case HandResize, HandBounds:
		return config(&eks.UpdateNodegroupConfigInput{ScalingConfig: resized(n, e)})
	case Autoscaler:
		return a.scaleBehind(ctx, n, e.N)
	case HandRole:
		return a.meddleRole(ctx, n, e)
	}
	return nil
}

// otherLabel is the label that a user changes: one of the pool's, or another.
func otherLabel(n *nodegroup, e Event) string {
	if n.Labels["tier"] == "" || e.N%2 == 0 {
		return theirs
	}
	return "tier"
}

// resized is the size, or the bounds, that a user sets.
func resized(n *nodegroup, e Event) *ekstypes.NodegroupScalingConfig {
	if e.What == HandResize {
		size := int32(min(max(e.N, n.Min), n.Max))
		return &ekstypes.NodegroupScalingConfig{DesiredSize: &size}
	}
	least := int32(min(e.N%3, n.Desired))
	most := max(least+1+int32(e.M), int32(n.Desired))
	return &ekstypes.NodegroupScalingConfig{MinSize: &least, MaxSize: &most}
}

// noted remembers what a user put onto the pool's node group and that has to stay there.
func (a *account) noted(what string, err error) error {
	ignores := func(r sim.PlayedFault) bool { return r.Kind == sim.Ignore } // what the cloud ignores is not there
	if err == nil && strings.HasSuffix(what, " "+theirs) && !slices.ContainsFunc(a.server.Faults().List(), ignores) {
		a.notes[what] = "hand"
	}
	return err
}

// scaleBehind sets the size of the group behind, as the cluster-autoscaler does.
func (a *account) scaleBehind(ctx context.Context, n *nodegroup, size int) error {
	g := a.behind(n)
	if g == nil {
		return nil
	}
	to := int32(min(max(size, g.Min), g.Max))
	_, err := a.byHand.SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: &g.Name, DesiredCapacity: &to})
	return err
}

// meddleRole attaches a policy of another tool to the role, or detaches one that every node needs.
func (a *account) meddleRole(ctx context.Context, n *nodegroup, e Event) error {
	name := n.Role[strings.LastIndex(n.Role, "/")+1:]
	if e.N%2 == 0 {
		_, err := a.byHandIAM.AttachRolePolicy(ctx, &iam.AttachRolePolicyInput{RoleName: &name, PolicyArn: awssdk.String(theirPolicy)})
		return err
	}
	_, err := a.byHandIAM.DetachRolePolicy(ctx, &iam.DetachRolePolicyInput{RoleName: &name, PolicyArn: awssdk.String(workerPolicy)})
	return err
}

// foreignNodegroup has a user make a node group beside the pool's, without machines.
func (w *World) foreignNodegroup() {
	err := w.account.hand(func(ctx context.Context) error {
		_, err := w.account.byHandEKS.CreateNodegroup(ctx, &eks.CreateNodegroupInput{
			ClusterName: awssdk.String(eksCluster), NodegroupName: awssdk.String(theirGroup), Subnets: []string{simaws.SubnetID},
			NodeRole:      awssdk.String("arn:aws:iam::" + simaws.AccountID + ":role/" + simaws.NodegroupRole),
			ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: awssdk.Int32(0), MaxSize: awssdk.Int32(1), DesiredSize: awssdk.Int32(0)},
		})
		return err
	})
	w.must(err, "make a node group by hand")
}

// dropForeignNodegroup takes it away again.
func (w *World) dropForeignNodegroup() {
	_ = w.account.hand(func(ctx context.Context) error {
		_, err := w.account.byHandEKS.DeleteNodegroup(ctx, &eks.DeleteNodegroupInput{ClusterName: awssdk.String(eksCluster), NodegroupName: awssdk.String(theirGroup)})
		return err
	})
}
