package machinepool

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/kube/control"
	"github.com/muster-project/muster/kube/machinepool/status"
)

// write writes what the pass has changed, nothing if it has changed nothing, and records the events for it. Both patches fail if another
// client has changed the pool since it was read, so that no pass reverts a change that it has not read. The status is derived last,
// because it contains the generation, which the first patch may have changed.
func (r *Reconciler) write(ctx context.Context, p pass) control.Result {
	did, outcome := p.did, p.did.outcome
	restored := lostStatus(did.stored)
	result := control.Failed(writeObject(ctx, r.Client, did))
	switch err := result.Err; {
	case err != nil && !rejected(did.stored, err):
		return result
	case err != nil:
		// A retry alone changes nothing, so the status has to report it.
		did.infrastructure.Source.Problem = err.Error()
		did.pool.ObjectMeta, did.pool.Spec = did.stored.ObjectMeta, did.stored.Spec
	}
	outcome.Bootstrap, outcome.Infrastructure = did.bootstrap.Source, did.infrastructure.Source
	status.Apply(did.pool, p.facts.status, outcome)
	if !gone(did.pool) && !equality.Semantic.DeepEqual(did.stored.Status, did.pool.Status) {
		before := did.pool.DeepCopy()
		before.Status = did.stored.Status
		patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		if err := r.Client.Status().Patch(ctx, did.pool.DeepCopy(), patch); err != nil {
			return result.Join(control.Failed(fmt.Errorf("write the status of MachinePool %s: %w", client.ObjectKeyFromObject(did.pool), err)))
		}
	}
	status.RecordEvents(r.Recorder, did.pool, status.EventsOf(&did.stored.Status, &did.pool.Status, p.facts.status, outcome, restored))
	return result
}

// lostStatus reports whether a pool listed instances before its status reported any: the status was lost in a move or a restore.
func lostStatus(stored *clusterv1.MachinePool) bool {
	return len(stored.Spec.ProviderIDList) > 0 && !ptr.Deref(stored.Status.Initialization.InfrastructureProvisioned, false)
}

// rejected reports whether admission rejects what the pass wants to write.
func rejected(stored *clusterv1.MachinePool, err error) bool {
	return controllerutil.ContainsFinalizer(stored, clusterv1.MachinePoolFinalizer) && (apierrors.IsInvalid(err) || apierrors.IsForbidden(err))
}

// gone reports whether the finalizer of a pool that is being deleted has been removed, so that the pool may not exist any more.
func gone(pool *clusterv1.MachinePool) bool {
	return !pool.DeletionTimestamp.IsZero() && !controllerutil.ContainsFinalizer(pool, clusterv1.MachinePoolFinalizer)
}

// writeObject writes metadata and spec if they differ from what was last read or written.
func writeObject(ctx context.Context, c client.Client, did *progress) error {
	if equality.Semantic.DeepEqual(did.stored.ObjectMeta, did.pool.ObjectMeta) && equality.Semantic.DeepEqual(did.stored.Spec, did.pool.Spec) {
		return nil
	}
	wanted := did.pool.DeepCopy()
	patch := client.MergeFromWithOptions(did.stored, client.MergeFromWithOptimisticLock{})
	if err := c.Patch(ctx, wanted, patch); err != nil {
		if gone(did.pool) && apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("write MachinePool %s: %w", client.ObjectKeyFromObject(did.pool), err)
	}
	did.pool, did.stored = wanted, wanted.DeepCopy()
	return nil
}
