package aks

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/local/objects"
)

// pools returns the pools of a Cluster that exist when its managed cluster is created, by the names of their MachinePools: the provider has
// AKS create them all in that request. There are none without a System pool.
func (r *ControlPlanes) pools(ctx context.Context, cluster *clusterv1.Cluster, view aksv1.ManagedClusterView) ([]any, error) {
	list := &clusterv1.MachinePoolList{}
	if err := r.Client.List(ctx, list, client.InNamespace(cluster.Namespace)); err != nil {
		return nil, fmt.Errorf("list the MachinePools of %s: %w", cluster.Name, err)
	}
	slices.SortFunc(list.Items, func(a, b clusterv1.MachinePool) int { return cmp.Compare(a.Name, b.Name) })
	var out []any
	system := false
	for i := range list.Items {
		mp := &list.Items[i]
		ref := mp.Spec.Template.Spec.InfrastructureRef
		if mp.Spec.ClusterName != cluster.Name || ref.Kind != r.Kind.pool.Kind || !mp.DeletionTimestamp.IsZero() {
			continue
		}
		o := objects.New(r.Kind.pool)
		err := r.Client.Get(ctx, client.ObjectKey{Namespace: mp.Namespace, Name: ref.Name}, o)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s %s: %w", ref.Kind, ref.Name, err)
		}
		profile, err := r.Kind.profile(o, view)
		if err != nil {
			return nil, err
		}
		system = system || profile["mode"] == aksv1.ModeSystem
		profile["count"] = float64(ptr.Deref(mp.Spec.Replicas, 1))
		if v := mp.Spec.Template.Spec.Version; v != "" {
			profile["orchestratorVersion"] = kubernetesVersion(v)
		}
		out = append(out, profile)
	}
	if !system {
		return nil, nil
	}
	return out, nil
}
