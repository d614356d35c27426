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

// defaultReplicas returns spec.replicas if it is set. Otherwise the size is left to an autoscaler if the annotations name its bounds: a new
// pool starts at the lower bound, and the size of an existing pool is moved into them.
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
		return bounds.min, nil
	default:
		return min(max(*old.Spec.Replicas, bounds.min), bounds.max), nil
	}
}

// bounds are the inclusive limits of an autoscaler.
type bounds struct {
	min, max int32
}

// autoscalerBounds returns the bounds in a pool's annotations; nil unless both are set.
func autoscalerBounds(pool *clusterv1.MachinePool) (*bounds, *field.Error) {
	minSize, hasMin := pool.Annotations[clusterv1.AutoscalerMinSizeAnnotation]
	maxSize, hasMax := pool.Annotations[clusterv1.AutoscalerMaxSizeAnnotation]
	if !hasMin || !hasMax {
		return nil, nil
	}
	b := &bounds{}
	for _, one := range []struct {
		name, value string
		to          *int32
	}{
		{clusterv1.AutoscalerMinSizeAnnotation, minSize, &b.min},
		{clusterv1.AutoscalerMaxSizeAnnotation, maxSize, &b.max},
	} {
		n, err := strconv.ParseInt(one.value, 10, 32)
		if err != nil || n < 0 {
			return nil, field.Invalid(field.NewPath("metadata", "annotations").Key(one.name), one.value, "must be a whole number from 0 up")
		}
		*one.to = int32(n)
	}
	return b, nil
}
