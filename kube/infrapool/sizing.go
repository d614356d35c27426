package infrapool

import (
	"context"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/infrapool/stored"
)

// sizing describes the ownership of a group's size.
type sizing struct {
	// external is true if another client than Muster owns it: an external autoscaler by an annotation of the MachinePool, or the cloud's own
	// autoscaler by the specification.
	external bool
	// autoscaler is the value of the annotation cluster.x-k8s.io/replicas-managed-by that stands for the cloud's own autoscaler; empty if the
	// specification asks for none. noted is the value that an earlier pass gave the MachinePool.
	autoscaler, noted string
}

// sizingOf returns who owns the size of a group, by its MachinePool, the autoscaler that its specification asks for, and the values stored
// on the object.
func sizingOf(mp *clusterv1.MachinePool, autoscaler string, values map[string]string) sizing {
	byAnnotation := mp != nil && annotations.ReplicasManagedByExternalAutoscaler(mp)
	return sizing{external: autoscaler != "" || byAnnotation, autoscaler: autoscaler, noted: values[stored.ReplicasManagedBy]}
}

// keep returns what to store on the object before the annotation is written: that the annotation is Muster's. One that a user wrote with
// another value stays the user's.
func (z sizing) keep(mp *clusterv1.MachinePool) map[string]string {
	if z.autoscaler == "" || mp == nil {
		return nil
	}
	if value, ok := mp.Annotations[clusterv1.ReplicasManagedByAnnotation]; ok && value != z.autoscaler {
		return nil
	}
	return map[string]string{stored.ReplicasManagedBy: z.autoscaler}
}

// annotate brings the annotation of a MachinePool in line with the specification. A value of a user's stays.
func (z sizing) annotate(mp *clusterv1.MachinePool) {
	value, ok := mp.Annotations[clusterv1.ReplicasManagedByAnnotation]
	switch {
	case z.autoscaler != "" && !ok:
		mp.Annotations = maps.Clone(mp.Annotations)
		if mp.Annotations == nil {
			mp.Annotations = map[string]string{}
		}
		mp.Annotations[clusterv1.ReplicasManagedByAnnotation] = z.autoscaler
	case z.autoscaler == "" && z.noted != "" && value == z.noted:
		delete(mp.Annotations, clusterv1.ReplicasManagedByAnnotation)
	}
}

// followSize brings a MachinePool in line with who owns the size of its group: the annotation that says so, and spec.replicas as the size
// of the group where that is another client's. It forgets an annotation that it has removed. size is nil if it is unknown.
func (w *writer[O]) followSize(ctx context.Context, s scope[O], z sizing, size *int) error {
	mp := s.machinePool
	if mp == nil || s.deleting() || z == (sizing{}) {
		return nil
	}
	after := mp.DeepCopy()
	z.annotate(after)
	if z.external && size != nil {
		after.Spec.Replicas = ptr.To(int32(*size))
	}
	if !equality.Semantic.DeepEqual(mp, after) {
		if err := w.client.Patch(ctx, after, client.MergeFrom(mp)); err != nil {
			return fmt.Errorf("write the group's size to MachinePool %s: %w", client.ObjectKeyFromObject(mp), err)
		}
	}
	if z.autoscaler == "" && z.noted != "" {
		return w.store(ctx, s.object, nil, stored.ReplicasManagedBy)
	}
	return nil
}
