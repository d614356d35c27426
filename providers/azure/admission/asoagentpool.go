package admission

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/cloud/azure/agentpool/body"
	"github.com/muster-project/muster/kube/webhook/checks"
)

// The paths that are served for AzureASOManagedMachinePools and their templates.
const (
	ASOValidatePath = "/validate-infrastructure-cluster-x-k8s-io-v1beta1-azureasomanagedmachinepool"
	ASOTemplatePath = "/validate-infrastructure-cluster-x-k8s-io-v1beta1-azureasomanagedmachinepooltemplate"
)

// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-azureasomanagedmachinepool,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azureasomanagedmachinepools,versions=v1beta1,name=validation.azureasomanagedmachinepool.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:verbs=update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-azureasomanagedmachinepooltemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azureasomanagedmachinepooltemplates,versions=v1beta1,name=validation.azureasomanagedmachinepooltemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

// ASOValidator refuses AzureASOManagedMachinePools whose manifests can't be followed without Azure Service Operator.
func ASOValidator(scheme *runtime.Scheme) *admission.Webhook {
	return admission.WithValidator[*aksv1.AzureASOManagedMachinePool](scheme, asoValidator{})
}

// OfAzureASOManagedMachinePool keeps AzureASOManagedMachinePoolTemplates as they are.
func OfAzureASOManagedMachinePool(scheme *runtime.Scheme) *admission.Webhook {
	return checks.ImmutableTemplate(scheme, aksv1.GroupVersion.WithKind(aksv1.AzureASOManagedMachinePoolTemplateKind).GroupKind(),
		func(t *aksv1.AzureASOManagedMachinePoolTemplate) any { return &t.Spec.Template.Spec })
}

type asoValidator struct{}

// ValidateCreate refuses manifests that can't be followed.
func (asoValidator) ValidateCreate(_ context.Context, p *aksv1.AzureASOManagedMachinePool) (admission.Warnings, error) {
	_, err := manifestOf(p)
	return nil, refusedASO(p, err)
}

// ValidateUpdate refuses manifests that can't be followed, and another agent pool. An object that was admitted before, and one that is
// being deleted, stays changeable.
func (asoValidator) ValidateUpdate(_ context.Context, old, p *aksv1.AzureASOManagedMachinePool) (admission.Warnings, error) {
	before, errBefore := manifestOf(old)
	if !p.DeletionTimestamp.IsZero() || errBefore != nil {
		return nil, nil
	}
	now, err := manifestOf(p)
	if err == nil && now.Name != before.Name {
		return nil, apierrors.NewInvalid(aksv1.GroupVersion.WithKind(aksv1.AzureASOManagedMachinePoolKind).GroupKind(), p.Name, field.ErrorList{
			field.Forbidden(field.NewPath("spec", "resources").Index(now.Index).Child("spec", "azureName"),
				"can't be changed once the pool exists: AKS can't rename an agent pool; create another pool")})
	}
	return nil, refusedASO(p, err)
}

// ValidateDelete lets every deletion pass.
func (asoValidator) ValidateDelete(context.Context, *aksv1.AzureASOManagedMachinePool) (admission.Warnings, error) {
	return nil, nil
}

// manifestOf returns the manifest of the agent pool, or an error that names the unsupported part.
func manifestOf(p *aksv1.AzureASOManagedMachinePool) (*aksv1.AgentPoolManifest, error) {
	m, err := p.Spec.AgentPoolManifest()
	if err == nil {
		err = m.CheckNamespace(p.Namespace)
	}
	if err != nil {
		return nil, err
	}
	_, err = body.OfManifest(m, nil)
	return m, err
}

func refusedASO(p *aksv1.AzureASOManagedMachinePool, err error) error {
	if err == nil {
		return nil
	}
	return apierrors.NewInvalid(aksv1.GroupVersion.WithKind(aksv1.AzureASOManagedMachinePoolKind).GroupKind(), p.Name, field.ErrorList{
		{Type: field.ErrorTypeInvalid, Field: "spec.resources", BadValue: field.OmitValueType{}, Detail: err.Error()}})
}
