package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/policy"
	"github.com/muster-project/muster/view"
	"github.com/muster-project/muster/view/tree"
)

// Pool is the pool whose rollout is shown or controlled.
type Pool struct {
	MachinePool *clusterv1.MachinePool
	// Infra is the infrastructure object, which exists.
	Infra *unstructured.Unstructured
	// Cluster is nil if it does not exist.
	Cluster *clusterv1.Cluster
	// ByInfra is true if the user named the infrastructure object, which is then the one that is changed.
	ByInfra bool
}

// Read reads one pool: a MachinePool or its infrastructure object, by kind and name as users type them.
func Read(ctx context.Context, r tree.Request) (Pool, error) {
	if view.SameKind(r.Kind, schema.GroupKind{Group: clusterv1.GroupVersion.Group, Kind: "Cluster"}) {
		return Pool{}, fmt.Errorf("%s %s has no rollout: name one of its pools, as in machinepool/workers", r.Kind, r.Name)
	}
	o, err := tree.Read(ctx, r)
	if err != nil {
		return Pool{}, err
	}
	p := Pool{MachinePool: &o.Pools[0]}
	p.ByInfra = !view.SameKind(r.Kind, schema.GroupKind{Group: clusterv1.GroupVersion.Group, Kind: "MachinePool"})
	if p.Infra = o.Infrastructure[p.MachinePool.Namespace+"/"+p.MachinePool.Name]; p.Infra == nil {
		ref := p.MachinePool.Spec.Template.Spec.InfrastructureRef
		return p, fmt.Errorf("%s %s/%s of MachinePool %s does not exist, so that there is no rollout", ref.Kind, p.MachinePool.Namespace,
			ref.Name, p.MachinePool.Name)
	}
	if len(o.Clusters) > 0 {
		p.Cluster = &o.Clusters[0]
	}
	return p, nil
}

// Policies returns the effect of the rollout policies that select the pool, as far as the user may read them.
func (p Pool) Policies(ctx context.Context, c client.Reader) (policy.Effective, error) {
	s := policy.Subject{Namespace: p.MachinePool.Namespace, PoolLabels: p.MachinePool.Labels}
	if p.Cluster != nil {
		s.ClusterLabels = p.Cluster.Labels
	}
	e, err := (&policy.Reader{Client: c}).For(ctx, s)
	switch {
	case err != nil:
		return e, fmt.Errorf("read the rollout policies: %w", err)
	case e.Invalid.Reason == policy.ReasonPoliciesForbidden:
		return e, errPoliciesForbidden
	}
	return e, nil
}

// errPoliciesForbidden is the error of a user who may not read the policies.
var errPoliciesForbidden = errors.New("you may not list rolloutpolicies, clusterrolloutpolicies and namespaces")

// Machine is a machine of a pool, as far as it is needed to find its Node.
type Machine struct {
	Cluster client.ObjectKey
	Node    string
}

// FindMachine returns the machine that has a name among the pools of a namespace: the name of its Node, of its Machine, or of its instance.
// With the name of a cluster it is one of that cluster, and the name may be that of a Node that no pool lists.
func FindMachine(o tree.Objects, namespace, cluster, name string) (Machine, error) {
	found := machinesNamed(o, name)
	if cluster != "" {
		of := client.ObjectKey{Namespace: namespace, Name: cluster}
		found = slices.DeleteFunc(found, func(m Machine) bool { return m.Cluster != of })
		if len(found) == 0 {
			return Machine{of, name}, nil
		}
	}
	switch {
	case len(found) == 0:
		return Machine{}, fmt.Errorf("no pool of namespace %s lists a Node, Machine or instance %s: name the cluster of the Node with --cluster",
			namespace, name)
	case len(found) > 1:
		return Machine{}, fmt.Errorf("%s is in Cluster %s and in Cluster %s: choose one with --cluster", name, found[0].Cluster, found[1].Cluster)
	case found[0].Node == "":
		return Machine{}, fmt.Errorf("%s has no Node yet, so that there is nothing to hold: wait until it has joined", name)
	}
	return found[0], nil
}

// machinesNamed returns the machines that have a name, each once.
func machinesNamed(o tree.Objects, name string) (found []Machine) {
	add := func(namespace, cluster, node string) {
		m := Machine{client.ObjectKey{Namespace: namespace, Name: cluster}, node}
		if !slices.Contains(found, m) {
			found = append(found, m)
		}
	}
	for k := range o.Pools {
		mp := &o.Pools[k]
		for _, i := range view.Instances(mp, o.Infrastructure[mp.Namespace+"/"+mp.Name]) {
			if i.Node != view.NodeNotReported && slices.Contains([]string{i.Node, i.InstanceID, i.InstanceName}, name) {
				add(mp.Namespace, mp.Spec.ClusterName, i.Node)
			}
		}
	}
	for k := range o.Machines {
		if m := &o.Machines[k]; m.Name == name || m.Status.NodeRef.Name == name {
			add(m.Namespace, m.Spec.ClusterName, m.Status.NodeRef.Name)
		}
	}
	return found
}
