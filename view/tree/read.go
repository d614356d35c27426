package tree

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/view"
)

// Reader reads objects of a management cluster: a client, or a watch.
type Reader interface {
	client.Reader
	RESTMapper() meta.RESTMapper
}

// Request selects the part of a management cluster that is shown.
type Request struct {
	// Client of the management cluster.
	Client Reader
	// Namespace that is read; empty for all.
	Namespace string
	// Kind and Name choose a Cluster, a MachinePool or its infrastructure object; empty for all.
	Kind, Name string
}

// Read reads the requested objects. It returns an error if a named object does not exist.
func Read(ctx context.Context, r Request) (Objects, error) {
	o := Objects{Infrastructure: map[string]*unstructured.Unstructured{}}
	var clusters clusterv1.ClusterList
	var pools clusterv1.MachinePoolList
	var machines clusterv1.MachineList
	for _, list := range []client.ObjectList{&clusters, &pools} {
		if err := r.Client.List(ctx, list, client.InNamespace(r.Namespace)); err != nil {
			return o, fmt.Errorf("list clusters and machine pools: %w", err)
		}
	}
	if err := r.Client.List(ctx, &machines, client.InNamespace(r.Namespace), client.HasLabels{clusterv1.MachinePoolNameLabel}); err != nil {
		return o, fmt.Errorf("list the Machines of pools: %w", err)
	}
	o.Machines = machines.Items
	o.Clusters, o.Pools = r.chosen(clusters.Items, pools.Items)
	switch {
	case r.Name == "" || len(o.Clusters) > 0 || len(o.Pools) > 0:
	case !view.KnownKind(r.Kind):
		return o, fmt.Errorf("unknown kind %q: name a Cluster, a MachinePool or its infrastructure object, as in machinepool/workers", r.Kind)
	default:
		return o, fmt.Errorf("%s %s does not exist in namespace %s: name a Cluster, a MachinePool or its infrastructure object", r.Kind,
			r.Name, r.Namespace)
	}
	for i := range o.Pools {
		mp := &o.Pools[i]
		infra, err := view.Infrastructure(ctx, r.Client, r.Client.RESTMapper(), mp)
		if err != nil {
			return o, fmt.Errorf("MachinePool %s/%s: %w", mp.Namespace, mp.Name, err)
		}
		o.Infrastructure[mp.Namespace+"/"+mp.Name] = infra
	}
	return o, nil
}

// chosen returns the requested clusters and pools: a Cluster with all its pools, or a pool with its Cluster.
func (r Request) chosen(clusters []clusterv1.Cluster, pools []clusterv1.MachinePool) ([]clusterv1.Cluster, []clusterv1.MachinePool) {
	if r.Name == "" {
		return clusters, pools
	}
	core := clusterv1.GroupVersion.Group
	isCluster := view.SameKind(r.Kind, schema.GroupKind{Group: core, Kind: "Cluster"})
	pools = slices.DeleteFunc(pools, func(mp clusterv1.MachinePool) bool {
		ref := mp.Spec.Template.Spec.InfrastructureRef
		return (!isCluster || mp.Spec.ClusterName != r.Name) &&
			(!view.SameKind(r.Kind, schema.GroupKind{Group: core, Kind: "MachinePool"}) || mp.Name != r.Name) &&
			(!view.SameKind(r.Kind, schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind}) || ref.Name != r.Name)
	})
	clusters = slices.DeleteFunc(clusters, func(c clusterv1.Cluster) bool {
		return (!isCluster || c.Name != r.Name) && !slices.ContainsFunc(pools, func(mp clusterv1.MachinePool) bool {
			return mp.Namespace == c.Namespace && mp.Spec.ClusterName == c.Name
		})
	})
	return clusters, pools
}
