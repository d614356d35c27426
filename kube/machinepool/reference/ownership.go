package reference

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// NamesPool reports whether an owner reference names the pool.
func NamesPool(ref *metav1.OwnerReference, pool *clusterv1.MachinePool) bool {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	return err == nil && gv.Group == clusterv1.GroupVersion.Group && ref.Kind == "MachinePool" && ref.Name == pool.Name
}

// Controls reports whether the pool is the controller of an object.
func Controls(pool *clusterv1.MachinePool, o metav1.Object) bool {
	owner := metav1.GetControllerOfNoCopy(o)
	return owner != nil && NamesPool(owner, pool)
}

// MayControl reports whether an object has no other controller than the pool.
func MayControl(pool *clusterv1.MachinePool, o metav1.Object) bool {
	owner := metav1.GetControllerOfNoCopy(o)
	return owner == nil || NamesPool(owner, pool)
}

// OtherController returns the controller of an object if that is not the pool, otherwise nil.
func OtherController(pool *clusterv1.MachinePool, o metav1.Object) *metav1.OwnerReference {
	if owner := metav1.GetControllerOf(o); owner != nil && !NamesPool(owner, pool) {
		return owner
	}
	return nil
}

// WithoutOwner returns owner references without those that name the pool.
func WithoutOwner(refs []metav1.OwnerReference, pool *clusterv1.MachinePool) []metav1.OwnerReference {
	return slices.DeleteFunc(slices.Clone(refs), func(ref metav1.OwnerReference) bool { return NamesPool(&ref, pool) })
}

// WithController returns owner references in which the pool is the controller. A reference to the pool before a restore, with another
// UID, is removed: an object has one controller.
func WithController(refs []metav1.OwnerReference, pool *clusterv1.MachinePool) []metav1.OwnerReference {
	current := slices.DeleteFunc(slices.Clone(refs), func(ref metav1.OwnerReference) bool {
		return NamesPool(&ref, pool) && ref.UID != pool.UID
	})
	if slices.ContainsFunc(current, func(ref metav1.OwnerReference) bool {
		return ref.UID == pool.UID && ref.Controller != nil && *ref.Controller
	}) {
		return current
	}
	current = slices.DeleteFunc(current, func(ref metav1.OwnerReference) bool { return ref.UID == pool.UID })
	return append(current, *metav1.NewControllerRef(pool, clusterv1.GroupVersion.WithKind("MachinePool")))
}
