package machinepool

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/kube/steps"
)

// claim labels the pool with its Cluster, makes the Cluster its owner and adds the finalizer, so that the pool cannot be deleted before
// what it owns. It is written before anything else is done, and only if something is missing.
func (r *Reconciler) claim(ctx context.Context, p *pass) steps.Result {
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
	if err := writeObject(ctx, r.Client, p); err != nil {
		// Nothing may be taken over for a pool that could be deleted without releasing it.
		return steps.Result{Err: err, Stopped: true}
	}
	return steps.Continue()
}

const clusterKind = "Cluster"
