package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: "controlplane.cluster.x-k8s.io", Version: "v1beta1"}

// AddToScheme makes a scheme know the kinds in this package.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &LocalControlPlane{}, &LocalControlPlaneList{}, &LocalControlPlaneTemplate{},
		&LocalControlPlaneTemplateList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
