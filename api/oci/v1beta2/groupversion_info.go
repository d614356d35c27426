// Package v1beta2 is the OCI machine pool API, in the shape that the ecosystem knows: OCIMachinePool for instance pools, with
// OCIMachinePoolMachine for each instance, OCIManagedMachinePool for node pools of OKE and OCIVirtualMachinePool for its virtual node
// pools.
// +kubebuilder:object:generate=true
// +groupName=infrastructure.cluster.x-k8s.io
package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of this package.
var GroupVersion = schema.GroupVersion{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta2"}

// schemeBuilder collects what AddToScheme registers.
var schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme registers the kinds of this package with a scheme.
var AddToScheme = schemeBuilder.AddToScheme

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&OCIMachinePool{}, &OCIMachinePoolList{}, &OCIMachinePoolTemplate{}, &OCIMachinePoolTemplateList{},
		&OCIMachinePoolMachine{}, &OCIMachinePoolMachineList{},
		&OCIManagedMachinePool{}, &OCIManagedMachinePoolList{}, &OCIManagedMachinePoolTemplate{}, &OCIManagedMachinePoolTemplateList{},
		&OCIVirtualMachinePool{}, &OCIVirtualMachinePoolList{}, &OCIVirtualMachinePoolTemplate{}, &OCIVirtualMachinePoolTemplateList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
