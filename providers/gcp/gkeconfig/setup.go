package gkeconfig

import (
	"context"
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gkev1 "github.com/muster-project/muster/api/gcp/bootstrap/v1beta1"
)

// Name of the controller.
const Name = "gkeconfig"

// SetupWithManager adds the reconciler to a manager. A GKEConfig is reconciled when it or its MachinePool changes in what users ask for, or
// in its owner.
func (r *Reconciler) SetupWithManager(_ context.Context, mgr ctrl.Manager, o controller.Options) error {
	err := ctrl.NewControllerManagedBy(mgr).Named(Name).WithOptions(o).
		For(&gkev1.GKEConfig{}).
		Watches(&clusterv1.MachinePool{}, handler.EnqueueRequestsFromMapFunc(requests),
			builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Complete(r)
	if err != nil {
		return fmt.Errorf("controller of GKEConfigs: %w", err)
	}
	return nil
}

// requests are those for the GKEConfig of a MachinePool.
func requests(_ context.Context, o client.Object) []ctrl.Request {
	mp, ok := o.(*clusterv1.MachinePool)
	if !ok {
		return nil
	}
	ref := mp.Spec.Template.Spec.Bootstrap.ConfigRef
	if ref.APIGroup != gkev1.GroupVersion.Group || ref.Kind != gkev1.GKEConfigKind || ref.Name == "" {
		return nil
	}
	return []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: mp.Namespace, Name: ref.Name}}}
}
