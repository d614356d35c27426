package machinepool

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// claim ties the pool to its Cluster and makes sure that it can't go before what it owns. It is written before anything
// else is done, and only when something is missing.
func (r *Reconciler) claim(ctx context.Context, p *pass) result {
	if p.pool.Labels == nil {
		p.pool.Labels = map[string]string{}
	}
	p.pool.Labels[clusterv1.ClusterNameLabel] = p.pool.Spec.ClusterName
	if p.cluster != nil {
		controllerutil.AddFinalizer(p.pool, clusterv1.MachinePoolFinalizer)
		p.pool.SetOwnerReferences(util.EnsureOwnerRef(p.pool.GetOwnerReferences(), metav1.OwnerReference{
			APIVersion: clusterv1.GroupVersion.String(), Kind: clusterKind, Name: p.cluster.Name, UID: p.cluster.UID,
		}))
	}
	if err := r.writeObject(ctx, p); err != nil {
		// Nothing may be taken over for a pool that could vanish without giving it back.
		return result{err: err, stop: true}
	}
	return goOn()
}

const clusterKind = "Cluster"
