package machines

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/labels/format"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/pool"
)

// deleteMachine deletes a Machine of the pool, with the cause in an annotation. It skips one that is being deleted or paused.
func (d *Doer) deleteMachine(ctx context.Context, m *Machine, cause pool.Cause) error {
	if m.Deleting || m.Paused {
		return nil
	}
	o := m.Object.DeepCopy()
	o.Annotations = maps.Clone(o.Annotations)
	if o.Annotations == nil {
		o.Annotations = map[string]string{}
	}
	o.Annotations[CauseAnnotation] = cause.Reason + ": " + cause.Message
	if err := d.patch(ctx, m.Object, o, client.MergeFromWithOptions(m.Object, client.MergeFromWithOptimisticLock{})); err != nil {
		return err
	}
	if err := d.delete(ctx, o); err != nil {
		return err
	}
	d.reportDeleted(o, cause)
	return nil
}

// reportDeleted records why a Machine was deleted.
func (d *Doer) reportDeleted(m *clusterv1.Machine, cause pool.Cause) {
	d.Recorder.Eventf(m, d.Pool, corev1.EventTypeNormal, cause.Reason, eventAction, "Deleted by %s %s: %s", d.PoolKind, d.Pool.GetName(),
		cause.Message)
}

// current returns an error unless the cache shows all Machines of the pool that are being deleted. A deletion cannot be taken back: without
// knowing of the last one, another would be selected in addition.
func (d *Doer) current(ctx context.Context, known map[types.UID]bool) error {
	if d.Live == nil {
		return nil
	}
	list := &clusterv1.MachineList{}
	err := d.Live.List(ctx, list, client.InNamespace(d.Pool.GetNamespace()),
		client.MatchingLabels{clusterv1.ClusterNameLabel: d.Cluster, clusterv1.MachinePoolNameLabel: format.MustFormatValue(d.MachinePool)})
	if err != nil {
		return fmt.Errorf("read the Machines of MachinePool %s before one is deleted: %w", d.MachinePool, err)
	}
	for i := range list.Items {
		m := &list.Items[i]
		if going(m) && d.Kind.is(m.Spec.InfrastructureRef) && !known[m.UID] {
			return apierrors.NewConflict(clusterv1.GroupVersion.WithResource("machines").GroupResource(), m.Name,
				fmt.Errorf("it is being deleted, which the cache does not show yet; the next pass looks again"))
		}
	}
	return nil
}
