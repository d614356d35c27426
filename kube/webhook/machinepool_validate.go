package webhook

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/muster-project/muster/kube/machinepool/contract"
)

// poolValidator rejects MachinePools that could never be reconciled, and warns about settings that are allowed and most likely mistakes.
type poolValidator struct {
	// reader has the index of nodes.AddIndexes over MachinePools, and finds CustomResourceDefinitions; live reads without a
	// cache. A pool is compared with nothing else where they are nil.
	reader, live client.Reader
}

// ValidateCreate refuses a new pool that breaks a rule.
func (v poolValidator) ValidateCreate(ctx context.Context, pool *clusterv1.MachinePool) (admission.Warnings, error) {
	was := previousState(pool)
	related := v.compareRelated(ctx, was, pool)
	return append(warningsOf(was, pool), related.warnings...),
		refuse(pool, append(append(rules(pool), duplicates(was, pool)...), related.refused...))
}

// previousState returns the state to which a created pool is compared; nil for one that is really new. A pool that is created with its
// controller's finalizer existed before: it is moved from another management cluster, or restored from a backup, with its machines
// running. To reject it then would leave them without a controller.
func previousState(pool *clusterv1.MachinePool) *clusterv1.MachinePool {
	if controllerutil.ContainsFinalizer(pool, clusterv1.MachinePoolFinalizer) {
		return pool
	}
	return nil
}

// ValidateUpdate rejects a change that breaks a rule. Violations that existed before are ignored, so that a pool that an older rule let in
// can still be changed. A pool that is being deleted is not validated, so that it can always be deleted.
func (v poolValidator) ValidateUpdate(ctx context.Context, old, pool *clusterv1.MachinePool) (admission.Warnings, error) {
	if !pool.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	before := rules(old)
	errs := slices.DeleteFunc(rules(pool), func(e *field.Error) bool {
		return slices.ContainsFunc(before, func(b *field.Error) bool { return b.Error() == e.Error() })
	})
	related := v.compareRelated(ctx, old, pool)
	errs = append(append(append(errs, immutable(old, pool)...), duplicates(old, pool)...), related.refused...)
	return append(warningsOf(old, pool), related.warnings...), refuse(pool, errs)
}

// ValidateDelete lets every deletion pass.
func (poolValidator) ValidateDelete(context.Context, *clusterv1.MachinePool) (admission.Warnings, error) {
	return nil, nil
}

func refuse(pool *clusterv1.MachinePool, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(clusterv1.GroupVersion.WithKind("MachinePool").GroupKind(), pool.Name, errs)
}

// immutable returns the changes of immutable fields. The pool's machines belong to its cluster and live in its infrastructure object: under
// another one they would be left behind, running and unobserved. The bootstrap reference may change, because that replaces machines, and
// even its kind, because providers succeed one another (EKSConfig and NodeadmConfig). An infrastructure reference that no controller
// follows may be corrected: no machines are behind it.
func immutable(old, pool *clusterv1.MachinePool) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	if old.Spec.ClusterName != pool.Spec.ClusterName {
		errs = append(errs, field.Forbidden(spec.Child("clusterName"),
			fmt.Sprintf("is immutable: it is %q; make a new MachinePool for another cluster", old.Spec.ClusterName)))
	}
	was, is := old.Spec.Template.Spec.InfrastructureRef, pool.Spec.Template.Spec.InfrastructureRef
	if was.IsDefined() && was != is && contract.InfraMachinePool().Names(was.GroupKind()) == nil {
		errs = append(errs, field.Forbidden(spec.Child("template", "spec", "infrastructureRef"),
			fmt.Sprintf("is immutable: it is %s %s, where the pool's machines are; change that object, or make a new MachinePool", was.Kind,
				was.Name)))
	}
	return errs
}
