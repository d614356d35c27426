package webhook

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// defaultNodeDeletionSeconds bounds the removal of Nodes, so that a workload cluster out of reach does not keep a pool.
const defaultNodeDeletionSeconds = 10

// poolDefaulter sets what MachinePools leave open.
type poolDefaulter struct {
	decoder admission.Decoder
}

// Default sets the cluster label, the number of replicas, the time for the removal of Nodes, and the v of the version.
func (d *poolDefaulter) Default(ctx context.Context, pool *clusterv1.MachinePool) error {
	req, err := admission.RequestFromContext(ctx)
	if err != nil {
		return fmt.Errorf("default a MachinePool: %w", err)
	}
	var old *clusterv1.MachinePool
	if req.Operation == admissionv1.Update {
		old = &clusterv1.MachinePool{}
		if err := d.decoder.DecodeRaw(req.OldObject, old); err != nil {
			return fmt.Errorf("decode the MachinePool as it was: %w", err)
		}
	}
	return setDefaults(old, pool)
}

// olderPoolDefaulter brings what is written in the older version into the form in which that version is read. A server-side apply replaces
// references and durations as a whole with what the manifest says: compared with what is read, each would be a new generation.
type olderPoolDefaulter struct{}

// Default sets the namespace of the references. Durations get their form by being encoded again.
func (olderPoolDefaulter) Default(_ context.Context, pool *clusterv1beta1.MachinePool) error {
	for _, ref := range poolReferences(pool) {
		if ref != nil && ref.Namespace == "" && ref.Name != "" {
			ref.Namespace = pool.Namespace
		}
	}
	return nil
}

func setDefaults(old, pool *clusterv1.MachinePool) error {
	if pool.Labels == nil {
		pool.Labels = map[string]string{}
	}
	pool.Labels[clusterv1.ClusterNameLabel] = pool.Spec.ClusterName
	replicas, problem := defaultReplicas(old, pool)
	if problem != nil {
		return refuse(pool, field.ErrorList{problem})
	}
	pool.Spec.Replicas = &replicas
	machine := &pool.Spec.Template.Spec
	if machine.Deletion.NodeDeletionTimeoutSeconds == nil {
		seconds := int32(defaultNodeDeletionSeconds)
		machine.Deletion.NodeDeletionTimeoutSeconds = &seconds
	}
	if machine.Version != "" && !strings.HasPrefix(machine.Version, "v") {
		machine.Version = "v" + machine.Version
	}
	return nil
}

// defaultReplicas keeps a number that is set. Where it is not, the pool's size is handed to an autoscaler that names its
// bounds: a new pool begins at the lower one, and an existing pool is brought into them.
func defaultReplicas(old, pool *clusterv1.MachinePool) (int32, *field.Error) {
	if pool.Spec.Replicas != nil {
		return *pool.Spec.Replicas, nil
	}
	bounds, problem := autoscalerBounds(pool)
	switch {
	case problem != nil:
		return 0, problem
	case bounds == nil:
		return 1, nil
	case old == nil || old.Spec.Replicas == nil:
		return bounds.least, nil
	default:
		return min(max(*old.Spec.Replicas, bounds.least), bounds.most), nil
	}
}

// bounds are what an autoscaler keeps a pool's size in, both inclusive.
type bounds struct {
	least, most int32
}

// autoscalerBounds are the bounds that a pool's annotations name; nil unless both do.
func autoscalerBounds(pool *clusterv1.MachinePool) (*bounds, *field.Error) {
	least, hasLeast := pool.Annotations[clusterv1.AutoscalerMinSizeAnnotation]
	most, hasMost := pool.Annotations[clusterv1.AutoscalerMaxSizeAnnotation]
	if !hasLeast || !hasMost {
		return nil, nil
	}
	b := &bounds{}
	for _, one := range []struct {
		name, value string
		to          *int32
	}{
		{clusterv1.AutoscalerMinSizeAnnotation, least, &b.least},
		{clusterv1.AutoscalerMaxSizeAnnotation, most, &b.most},
	} {
		n, err := strconv.ParseInt(one.value, 10, 32)
		if err != nil || n < 0 {
			return nil, field.Invalid(field.NewPath("metadata", "annotations").Key(one.name), one.value, "must be a whole number from 0 up")
		}
		*one.to = int32(n)
	}
	return b, nil
}
