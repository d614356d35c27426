package eks

import (
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/autoscaling"
	"github.com/muster-project/muster/sim/aws/ec2"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
	"github.com/muster-project/muster/sim/managed"
)

// nodeOperator is the name by which a machine's console shows what EKS does to the machine's Node.
const nodeOperator = "eks-node-manager"

// NodeOf returns what a machine of a node group reads from EKS, nil for other machines.
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
	i := r.instances.Rows.Get(m.Instance)
	if i == nil {
		return false
	}
	machine := machineOf(m)
	machine.Up = i.State == ec2.StateRunning && !i.Impaired(r.Now)
	if !i.NeverBoots && r.admits(shapes.Str(n.Shape.NodeRole)) {
		machine.Booted = i.Since
	}
	return r.nodes.Ready(machine)
}

// machineOf describes a member by its name alone.
func machineOf(m *autoscaling.Member) managed.Machine {
	return managed.Machine{Key: m.Instance, UID: m.Instance}
}
