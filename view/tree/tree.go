// Package tree shows clusters with their pools, infrastructure pools, instances, Machines and nodes, as the management cluster has them.
package tree

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/view"
)

// Item is an object of the tree, or an instance of the cloud. Its JSON form is part of Tree's.
type Item struct {
	// Kind is the object's; Instance for an instance of the cloud.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// State is the state in one word; empty if it is unknown.
	State string `json:"state,omitempty"`
	// Ready is True, False or Unknown; empty where an object has no such condition.
	Ready string `json:"ready,omitempty"`
	// Replicas holds the numbers of Ready and desired machines, as in 2/3. Node is the Node of an instance.
	Replicas string `json:"replicas,omitempty"`
	Node     string `json:"node,omitempty"`
	Zone     string `json:"zone,omitempty"`
	// Reason and Message explain why it is not Ready; empty if it is.
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"message,omitempty"`
	Children []Item `json:"children,omitempty"`
}

// APIVersion and Kind begin the JSON form. Fields are added to it, never renamed or removed.
const (
	APIVersion = "tree.muster.dev/v1"
	Kind       = "Tree"
)

// Tree is the output of "muster tree -o json".
type Tree struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Clusters   []Item `json:"clusters"`
}

// Objects holds the input for a tree.
type Objects struct {
	Clusters []clusterv1.Cluster
	Pools    []clusterv1.MachinePool
	// Infrastructure holds each pool's infrastructure object by NAMESPACE/NAME of the pool; nil if it does not exist.
	Infrastructure map[string]*unstructured.Unstructured
	// Machines holds the Machines of pools.
	Machines []clusterv1.Machine
}

// instanceKind is the kind of items that are instances of the cloud.
const instanceKind = "Instance"

// Build makes the tree, ordered by namespace and name. A pool whose Cluster does not exist gets one without a state.
func Build(o Objects) Tree {
	t := Tree{APIVersion: APIVersion, Kind: Kind, Clusters: []Item{}}
	clusters := map[string]*Item{}
	for i := range o.Clusters {
		c := cluster(&o.Clusters[i])
		clusters[c.Namespace+"/"+c.Name] = &c
	}
	slices.SortFunc(o.Pools, func(a, b clusterv1.MachinePool) int { return cmp.Compare(a.Name, b.Name) })
	for i := range o.Pools {
		mp := &o.Pools[i]
		key := mp.Namespace + "/" + mp.Spec.ClusterName
		if clusters[key] == nil {
			clusters[key] = &Item{Kind: "Cluster", Namespace: mp.Namespace, Name: mp.Spec.ClusterName, Ready: "Unknown",
				Reason: "ClusterDoesNotExist", Message: "the Cluster does not exist"}
		}
		clusters[key].Children = append(clusters[key].Children, o.pool(mp))
	}
	for _, c := range clusters {
		t.Clusters = append(t.Clusters, *c)
	}
	slices.SortFunc(t.Clusters, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return t
}

func cluster(c *clusterv1.Cluster) Item {
	i := Item{Kind: "Cluster", Namespace: c.Namespace, Name: c.Name, State: c.Status.Phase}
	if ptr.Deref(c.Spec.Paused, false) {
		i.State = "Paused"
	}
	return i.withCondition(meta.FindStatusCondition(c.Status.Conditions, clusterv1.AvailableCondition))
}

// withCondition returns the item with a condition as its readiness, and the reason where it is not True.
func (i Item) withCondition(c *metav1.Condition) Item {
	if c == nil {
		return i
	}
	i.Ready = string(c.Status)
	if c.Status != metav1.ConditionTrue {
		i.Reason, i.Message = c.Reason, view.OneLine(c.Message)
	}
	return i
}

// pool returns a MachinePool with what stands below it.
func (o Objects) pool(mp *clusterv1.MachinePool) Item {
	infra := o.Infrastructure[mp.Namespace+"/"+mp.Name]
	of := view.PoolOf(mp, infra)
	i := Item{Kind: "MachinePool", Namespace: mp.Namespace, Name: mp.Name, State: mp.Status.Phase, Replicas: of.Readiness()}
	i = i.withCondition(meta.FindStatusCondition(mp.Status.Conditions, clusterv1.AvailableCondition))
	if infra == nil {
		ref := mp.Spec.Template.Spec.InfrastructureRef
		i.Children = []Item{{Kind: ref.Kind, Namespace: mp.Namespace, Name: ref.Name, Ready: "Unknown", Reason: "NotFound",
			Message: "does not exist"}}
		return i
	}
	i.Children = []Item{o.infrastructure(mp, infra, of.State)}
	return i
}

// infrastructure returns a pool's infrastructure object with the instances below it.
func (o Objects) infrastructure(mp *clusterv1.MachinePool, infra *unstructured.Unstructured, state string) Item {
	i := Item{Kind: infra.GetKind(), Namespace: infra.GetNamespace(), Name: infra.GetName(), State: state}
	ready := meta.FindStatusCondition(view.Conditions(infra), "Ready")
	i = i.withCondition(cmp.Or(view.Cause(infra), ready))
	machines := map[string]*clusterv1.Machine{}
	for k := range o.Machines {
		if m := &o.Machines[k]; m.Namespace == mp.Namespace && m.Labels[clusterv1.MachinePoolNameLabel] == mp.Name {
			machines[cmp.Or(m.Spec.ProviderID, m.Name)] = m
		}
	}
	for _, is := range view.Instances(mp, infra) {
		i.Children = append(i.Children, instance(is, machines[is.ProviderID]))
		delete(machines, is.ProviderID)
	}
	for _, m := range machines { // whose instances are not known yet, or not any more
		i.Children = append(i.Children, machine(m))
	}
	slices.SortStableFunc(i.Children, func(a, b Item) int { return cmp.Compare(a.Name, b.Name) })
	return i
}

// instance returns an instance of the cloud with its Machine, if it has one, and its node.
func instance(is common.InstanceStatus, m *clusterv1.Machine) Item {
	i := Item{Kind: instanceKind, Name: cmp.Or(is.InstanceID, is.InstanceName, is.ProviderID), State: is.State, Node: is.Node,
		Zone: is.Zone}
	switch {
	case is.Node == view.NodeNotReported: // another provider's, which says nothing of it
		i.Node = ""
	case is.Ready:
		i.Ready = string(metav1.ConditionTrue)
	case is.Node == "":
		i.Ready, i.Reason, i.Message = string(metav1.ConditionFalse), "NodeMissing", "no node has joined"
	default:
		i.Ready, i.Reason, i.Message = string(metav1.ConditionFalse), "NodeNotReady", "the node is not Ready"
	}
	if m != nil {
		i.Children = []Item{machine(m)}
	}
	return i
}

func machine(m *clusterv1.Machine) Item {
	i := Item{Kind: "Machine", Namespace: m.Namespace, Name: m.Name, State: m.Status.Phase, Node: m.Status.NodeRef.Name}
	return i.withCondition(meta.FindStatusCondition(m.Status.Conditions, clusterv1.ReadyCondition))
}

// Label returns the label of an item in a line.
func (i Item) Label() string {
	if i.Kind == "Cluster" {
		return fmt.Sprintf("Cluster %s/%s", i.Namespace, i.Name)
	}
	return i.Kind + " " + i.Name
}
