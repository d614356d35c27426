// Package v1beta1 is the Google Cloud machine pool API, in the shape that the ecosystem knows: GCPMachinePool for managed instance groups,
// GCPMachine for the single instances of a group, and GCPManagedMachinePool for node pools of GKE.
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
	scheme.AddKnownTypes(GroupVersion, &GCPMachinePool{}, &GCPMachinePoolList{}, &GCPMachinePoolTemplate{}, &GCPMachinePoolTemplateList{},
		&GCPMachine{}, &GCPMachineList{},
		&GCPManagedMachinePool{}, &GCPManagedMachinePoolList{}, &GCPManagedMachinePoolTemplate{}, &GCPManagedMachinePoolTemplateList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
