// Package admission admits the templates of pools on AWS.
package admission

import (
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/webhook/checks"
)

// The paths that are served; they are the ecosystem's.
const (
	AWSMachinePoolTemplatePath        = "/validate-infrastructure-cluster-x-k8s-io-v1beta2-awsmachinepooltemplate"
	AWSManagedMachinePoolTemplatePath = "/validate-infrastructure-cluster-x-k8s-io-v1beta2-awsmanagedmachinepooltemplate"
)

// +kubebuilder:webhook:verbs=update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-awsmachinepooltemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=awsmachinepooltemplates,versions=v1beta2,name=validation.awsmachinepooltemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:verbs=update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-awsmanagedmachinepooltemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=awsmanagedmachinepooltemplates,versions=v1beta2,name=validation.awsmanagedmachinepooltemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

// OfAWSMachinePool keeps AWSMachinePoolTemplates as they are.
func OfAWSMachinePool(scheme *runtime.Scheme) *admission.Webhook {
	return checks.ImmutableTemplate(scheme, awsv1.GroupVersion.WithKind(awsv1.AWSMachinePoolTemplateKind).GroupKind(),
		func(t *awsv1.AWSMachinePoolTemplate) any { return &t.Spec.Template.Spec })
}

// OfAWSManagedMachinePool keeps AWSManagedMachinePoolTemplates as they are.
func OfAWSManagedMachinePool(scheme *runtime.Scheme) *admission.Webhook {
	return checks.ImmutableTemplate(scheme, awsv1.GroupVersion.WithKind(awsv1.AWSManagedMachinePoolTemplateKind).GroupKind(),
		func(t *awsv1.AWSManagedMachinePoolTemplate) any { return &t.Spec.Template.Spec })
}
