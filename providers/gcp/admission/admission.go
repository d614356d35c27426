// Package admission admits the kinds of Google Cloud: it warns of what has no effect or does harm, and refuses what one object does not
// show, such as a node pool that another object of the cluster describes. Its webhooks are installed with the controllers of the kinds.
package admission

import (
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/kube/webhook/checks"
)

// The paths that are served; they are the ecosystem's.
const (
	ValidatePath        = "/validate-infrastructure-cluster-x-k8s-io-v1beta1-gcpmachinepool"
	TemplatePath        = "/validate-infrastructure-cluster-x-k8s-io-v1beta1-gcpmachinepooltemplate"
	ManagedValidatePath = "/validate-infrastructure-cluster-x-k8s-io-v1beta1-gcpmanagedmachinepool"
	ManagedTemplatePath = "/validate-infrastructure-cluster-x-k8s-io-v1beta1-gcpmanagedmachinepooltemplate"
)

// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-gcpmachinepool,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=gcpmachinepools,versions=v1beta1,name=validation.gcpmachinepool.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:verbs=update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-gcpmachinepooltemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=gcpmachinepooltemplates,versions=v1beta1,name=validation.gcpmachinepooltemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-gcpmanagedmachinepool,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=gcpmanagedmachinepools,versions=v1beta1,name=validation.gcpmanagedmachinepool.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:verbs=update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-gcpmanagedmachinepooltemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=gcpmanagedmachinepooltemplates,versions=v1beta1,name=validation.gcpmanagedmachinepooltemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

// Validator warns of GCPMachinePools.
func Validator(scheme *runtime.Scheme) *admission.Webhook {
	return admission.WithValidator[*gcpv1.GCPMachinePool](scheme, validator{})
}

// ManagedValidator warns about GCPManagedMachinePools, and rejects those that conflict with others of their cluster. The reader finds
// those.
func ManagedValidator(scheme *runtime.Scheme, reader client.Reader) *admission.Webhook {
	return admission.WithValidator[*gcpv1.GCPManagedMachinePool](scheme, &managedValidator{reader: reader})
}

// OfGCPMachinePool keeps GCPMachinePoolTemplates as they are.
func OfGCPMachinePool(scheme *runtime.Scheme) *admission.Webhook {
	return checks.ImmutableTemplate(scheme, gcpv1.GroupVersion.WithKind(gcpv1.GCPMachinePoolTemplateKind).GroupKind(),
		func(t *gcpv1.GCPMachinePoolTemplate) any { return &t.Spec.Template.Spec })
}

// OfGCPManagedMachinePool keeps GCPManagedMachinePoolTemplates as they are.
func OfGCPManagedMachinePool(scheme *runtime.Scheme) *admission.Webhook {
	return checks.ImmutableTemplate(scheme, gcpv1.GroupVersion.WithKind(gcpv1.GCPManagedMachinePoolTemplateKind).GroupKind(),
		func(t *gcpv1.GCPManagedMachinePoolTemplate) any { return &t.Spec.Template.Spec })
}
