// Package v1alpha2 is the Scaleway machine pool API, in the shape that the ecosystem knows: ScalewayManagedMachinePool for pools of Kapsule
// and Kosmos clusters.
// +kubebuilder:object:generate=true
// +groupName=infrastructure.cluster.x-k8s.io
package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of this package.
var GroupVersion = schema.GroupVersion{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha2"}

// schemeBuilder collects what AddToScheme registers.
var schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme registers the kinds of this package with a scheme.
var AddToScheme = schemeBuilder.AddToScheme

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &ScalewayManagedMachinePool{}, &ScalewayManagedMachinePoolList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
