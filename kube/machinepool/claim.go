package machinepool

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/kube/control"
)

// claim labels the pool with its Cluster, makes the Cluster its owner and adds the finalizer, so that the pool cannot be deleted before
// what it owns. It is written before anything else is done, and only if something is missing.
func (r *Reconciler) claim(ctx context.Context, f facts, did *progress) control.Result {
	if did.pool.Labels == nil {
		did.pool.Labels = map[string]string{}
	}
	did.pool.Labels[clusterv1.ClusterNameLabel] = did.pool.Spec.ClusterName
	if f.cluster != nil {
		controllerutil.AddFinalizer(did.pool, clusterv1.MachinePoolFinalizer)
		did.pool.SetOwnerReferences(util.EnsureOwnerRef(did.pool.GetOwnerReferences(), metav1.OwnerReference{
			APIVersion: clusterv1.GroupVersion.String(), Kind: clusterKind, Name: f.cluster.Name, UID: f.cluster.UID,
		}))
	}
	if err := writeObject(ctx, r.Client, did); err != nil {
		// Nothing may be taken over for a pool that could be deleted without releasing it.
		return control.Result{Err: err, Stopped: true}
	}
	return control.Continue()
}

const clusterKind = "Cluster"
