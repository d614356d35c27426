// Package v1alpha1 is Muster's own API, with which an operator of a management cluster configures the manager.
// +kubebuilder:object:generate=true
// +groupName=muster.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of this package.
var GroupVersion = schema.GroupVersion{Group: "muster.dev", Version: "v1alpha1"}

// schemeBuilder collects what AddToScheme registers.
var schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme registers the kinds of this package with a scheme.
var AddToScheme = schemeBuilder.AddToScheme

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &AdoptionGrant{}, &AdoptionGrantList{}, &RolloutPolicy{}, &RolloutPolicyList{},
		&ClusterRolloutPolicy{}, &ClusterRolloutPolicyList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
