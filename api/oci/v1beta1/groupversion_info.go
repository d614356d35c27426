// Package v1beta1 is the older version of the OCI machine pool API. It is served for manifests that were written for it; objects are
// stored as v1beta2. Kinds that have the same fields in both versions have no types here.
// +kubebuilder:object:generate=true
// +groupName=infrastructure.cluster.x-k8s.io
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of this package.
var GroupVersion = schema.GroupVersion{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta1"}

// schemeBuilder collects what AddToScheme registers.
var schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme registers the kinds of this package with a scheme.
var AddToScheme = schemeBuilder.AddToScheme

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &OCIMachinePool{}, &OCIMachinePoolList{}, &OCIManagedMachinePool{}, &OCIManagedMachinePoolList{},
		&OCIManagedMachinePoolTemplate{}, &OCIManagedMachinePoolTemplateList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
