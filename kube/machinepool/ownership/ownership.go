// Package ownership decides which objects belong to a MachinePool by their owner references. The UID of an owner reference does not
// count, because a restore from a backup gives the pool another one.
package ownership

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Names reports whether an owner reference names the pool.
func Names(ref *metav1.OwnerReference, pool *clusterv1.MachinePool) bool {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	return err == nil && gv.Group == clusterv1.GroupVersion.Group && ref.Kind == "MachinePool" && ref.Name == pool.Name
}

// Controls reports whether the pool is the controller of an object.
func Controls(pool *clusterv1.MachinePool, o metav1.Object) bool {
	owner := metav1.GetControllerOfNoCopy(o)
	return owner != nil && Names(owner, pool)
}

// MayControl reports whether an object has no other controller than the pool.
func MayControl(pool *clusterv1.MachinePool, o metav1.Object) bool {
	owner := metav1.GetControllerOfNoCopy(o)
	return owner == nil || Names(owner, pool)
}

// Other returns the controller of an object if that is not the pool, otherwise nil.
func Other(pool *clusterv1.MachinePool, o metav1.Object) *metav1.OwnerReference {
	if owner := metav1.GetControllerOf(o); owner != nil && !Names(owner, pool) {
		return owner
	}
	return nil
}

// Without returns owner references without those that name the pool.
func Without(refs []metav1.OwnerReference, pool *clusterv1.MachinePool) []metav1.OwnerReference {
	return slices.DeleteFunc(slices.Clone(refs), func(ref metav1.OwnerReference) bool { return Names(&ref, pool) })
}

// WithController returns owner references in which the pool is the controller. A reference to the pool before a restore, with another
// UID, is removed: an object has one controller.
func WithController(refs []metav1.OwnerReference, pool *clusterv1.MachinePool) []metav1.OwnerReference {
	current := slices.DeleteFunc(slices.Clone(refs), func(ref metav1.OwnerReference) bool {
		return Names(&ref, pool) && ref.UID != pool.UID
	})
	if slices.ContainsFunc(current, func(ref metav1.OwnerReference) bool {
		return ref.UID == pool.UID && ref.Controller != nil && *ref.Controller
	}) {
		return current
	}
	current = slices.DeleteFunc(current, func(ref metav1.OwnerReference) bool { return ref.UID == pool.UID })
	return append(current, *metav1.NewControllerRef(pool, clusterv1.GroupVersion.WithKind("MachinePool")))
}
