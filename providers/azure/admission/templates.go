package admission

import (
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/kube/webhook/checks"
)

// TemplatePath is the path of the webhook that validates changes of AzureMachinePoolTemplates.
const TemplatePath = "/validate-infrastructure-cluster-x-k8s-io-v1beta1-azuremachinepooltemplate"

// +kubebuilder:webhook:verbs=update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-azuremachinepooltemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azuremachinepooltemplates,versions=v1beta1,name=validation.azuremachinepooltemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

// OfAzureMachinePool keeps AzureMachinePoolTemplates as they are.
func OfAzureMachinePool(scheme *runtime.Scheme) *admission.Webhook {
	return checks.ImmutableTemplate(scheme, azurev1.GroupVersion.WithKind(azurev1.AzureMachinePoolTemplateKind).GroupKind(),
		func(t *azurev1.AzureMachinePoolTemplate) any { return &t.Spec.Template.Spec })
}
