package eks

import (
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/autoscaling"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
)

// nodeOperator is the name by which a machine's console shows what EKS does to the machine's Node.
const nodeOperator = "eks-node-manager"

const (
	// lifeJoin is how long after its boot a machine is a Ready node without a workload.
	lifeJoin = 30 * time.Second
	// lifeEvict is how long a drain takes without a workload.
	lifeEvict = 10 * time.Second
)

// NodeOf is what a machine of a node group learns from EKS, nil for others.
func (r *Backing) NodeOf(i *ec2.Instance) *sim.Managed {
	m := r.managedMachineOf(i)
	if m == nil {
		return nil
	}
	out := &sim.Managed{
		Operator: nodeOperator,
		Cluster:  m.cluster.name(), Group: m.group.Name(), Server: shapes.Str(m.cluster.Shape.Endpoint), CA: m.cluster.CA, Own: m.spec.Own,
		Labels: m.labels(i.Spot), Taints: taintsOf(m.group.Shape.Taints),
	}
	if r.admits(shapes.Str(m.group.Shape.NodeRole)) {
		out.Token = m.cluster.Token
	}
	return out
}

func taintsOf(taints []eks.Taint) []sim.Taint {
	var out []sim.Taint
	for _, t := range taints {
		out = append(out, sim.Taint{Key: shapes.Str(t.Key), Value: shapes.Str(t.Value), Effect: taintEffects[t.Effect]})
	}
	return out
}

// ready reports a member whose machine is a Ready node.
func (r *Backing) ready(n *Nodegroup, m *autoscaling.Member) bool {
	i := r.EC2.Instances.Rows.Get(m.Instance)
	if i == nil || i.State != ec2.StateRunning || i.Impaired(r.Now) {
		return false
	}
	if w := r.Workload(); w != nil {
		return w.Ready(i.ID)
	}
	return !i.NeverBoots && r.admits(shapes.Str(n.Shape.NodeRole)) && !r.Now.Before(i.Since.Add(r.Life(lifeJoin)))
}

// drained reports a machine that nothing is left on that has to go, and sees to it that it comes to this.
func (r *Backing) drained(id string, since time.Time, force bool) bool {
	if w := r.Workload(); w != nil {
		return w.Drain(id, force)
	}
	return !r.Now.Before(since.Add(r.Life(lifeEvict)))
}

func (r *Backing) cordon(id string, closed bool) {
	if w := r.Workload(); w != nil {
		w.Cordon(id, closed)
	}
}
