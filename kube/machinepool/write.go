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

	"github.com/muster-project/muster/kube/machinepool/poolevents"
	"github.com/muster-project/muster/kube/machinepool/status"
	"github.com/muster-project/muster/kube/steps"
)

// write writes what the pass has changed, nothing if it has changed nothing, and records the events for it. Both patches fail if another
// client has changed the pool since it was read, so that no pass reverts a change that it has not read. The status is derived last,
// because it contains the generation, which the first patch may have changed.
func (r *Reconciler) write(ctx context.Context, p *pass) steps.Result {
	restored := lostStatus(p.stored)
	outcome := steps.Failed(writeObject(ctx, r.Client, p))
	switch err := outcome.Err; {
	case err != nil && !rejected(p.stored, err):
		return outcome
	case err != nil:
		// A retry alone changes nothing, so the status has to report it.
		p.facts.Infrastructure.Problem = err.Error()
		p.pool.ObjectMeta, p.pool.Spec = p.stored.ObjectMeta, p.stored.Spec
	}
	status.Apply(p.pool, &p.facts)
	if !gone(p.pool) && !equality.Semantic.DeepEqual(p.stored.Status, p.pool.Status) {
		before := p.pool.DeepCopy()
		before.Status = p.stored.Status
		patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		if err := r.Client.Status().Patch(ctx, p.pool.DeepCopy(), patch); err != nil {
			return outcome.Join(steps.Failed(fmt.Errorf("write the status of MachinePool %s: %w", client.ObjectKeyFromObject(p.pool), err)))
		}
	}
	poolevents.Record(r.Recorder, p.pool, poolevents.Changes(&p.stored.Status, &p.pool.Status, &p.facts, restored))
	return outcome
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
func writeObject(ctx context.Context, c client.Client, p *pass) error {
	if equality.Semantic.DeepEqual(p.stored.ObjectMeta, p.pool.ObjectMeta) && equality.Semantic.DeepEqual(p.stored.Spec, p.pool.Spec) {
		return nil
	}
	wanted := p.pool.DeepCopy()
	patch := client.MergeFromWithOptions(p.stored, client.MergeFromWithOptimisticLock{})
	if err := c.Patch(ctx, wanted, patch); err != nil {
		if gone(p.pool) && apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("write MachinePool %s: %w", client.ObjectKeyFromObject(p.pool), err)
	}
	p.pool, p.stored = wanted, wanted.DeepCopy()
	return nil
}
