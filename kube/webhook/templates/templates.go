// Package templates keeps the templates as they are that ClusterClasses make pools from. The topology controller changes pools in
// place, in every Cluster of the class at once; a template that can't be changed makes that a step of its own, which can be looked
// at and taken back: another template, which the ClusterClass is brought to name.
package templates

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/cluster-api/util/topology"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
)

// The paths that are served; they are the ecosystem's.
const (
	AWSMachinePoolPath        = "/validate-infrastructure-cluster-x-k8s-io-v1beta2-awsmachinepooltemplate"
	AWSManagedMachinePoolPath = "/validate-infrastructure-cluster-x-k8s-io-v1beta2-awsmanagedmachinepooltemplate"
	AzureMachinePoolPath      = "/validate-infrastructure-cluster-x-k8s-io-v1beta1-azuremachinepooltemplate"
)

// +kubebuilder:webhook:verbs=update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-awsmachinepooltemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=awsmachinepooltemplates,versions=v1beta2,name=validation.awsmachinepooltemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:verbs=update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-awsmanagedmachinepooltemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=awsmanagedmachinepooltemplates,versions=v1beta2,name=validation.awsmanagedmachinepooltemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:verbs=update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-azuremachinepooltemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azuremachinepooltemplates,versions=v1beta1,name=validation.azuremachinepooltemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

// Kind is one kind of templates, and where its objects are asked about.
type Kind struct {
	Version schema.GroupVersion
	// Name of the kind in small letters, and Resource in requests.
	Name, Resource string
	Path           string
}

// Kinds are all kinds of templates.
func Kinds() []Kind {
	return []Kind{
		{Version: awsv1.GroupVersion, Name: "awsmachinepooltemplate", Resource: "awsmachinepooltemplates", Path: AWSMachinePoolPath},
		{Version: awsv1.GroupVersion, Name: "awsmanagedmachinepooltemplate", Resource: "awsmanagedmachinepooltemplates", Path: AWSManagedMachinePoolPath},
		{Version: azurev1.GroupVersion, Name: "azuremachinepooltemplate", Resource: "azuremachinepooltemplates", Path: AzureMachinePoolPath},
	}
}

// OfAWSMachinePool keeps AWSMachinePoolTemplates as they are.
func OfAWSMachinePool(scheme *runtime.Scheme) *admission.Webhook {
	return admission.WithValidator(scheme, &keeper[*awsv1.AWSMachinePoolTemplate]{
		kind: awsv1.GroupVersion.WithKind(awsv1.AWSMachinePoolTemplateKind).GroupKind(),
		spec: func(t *awsv1.AWSMachinePoolTemplate) any { return &t.Spec.Template.Spec },
	})
}

// OfAWSManagedMachinePool keeps AWSManagedMachinePoolTemplates as they are.
func OfAWSManagedMachinePool(scheme *runtime.Scheme) *admission.Webhook {
	return admission.WithValidator(scheme, &keeper[*awsv1.AWSManagedMachinePoolTemplate]{
		kind: awsv1.GroupVersion.WithKind(awsv1.AWSManagedMachinePoolTemplateKind).GroupKind(),
		spec: func(t *awsv1.AWSManagedMachinePoolTemplate) any { return &t.Spec.Template.Spec },
	})
}

// OfAzureMachinePool keeps AzureMachinePoolTemplates as they are.
func OfAzureMachinePool(scheme *runtime.Scheme) *admission.Webhook {
	return admission.WithValidator(scheme, &keeper[*azurev1.AzureMachinePoolTemplate]{
		kind: azurev1.GroupVersion.WithKind(azurev1.AzureMachinePoolTemplateKind).GroupKind(),
		spec: func(t *azurev1.AzureMachinePoolTemplate) any { return &t.Spec.Template.Spec },
	})
}

// keeper refuses changes of what pools are made from.
type keeper[T client.Object] struct {
	kind schema.GroupKind
	spec func(T) any
}

// ValidateCreate has nothing to say: what a pool may be is said by the schema.
func (*keeper[T]) ValidateCreate(context.Context, T) (admission.Warnings, error) { return nil, nil }

// ValidateUpdate refuses a change of the pools' specification. Their labels and annotations may change, and an object that goes
// is let go. The topology controller asks by dry runs what a change would do, and gets its answer.
func (k *keeper[T]) ValidateUpdate(ctx context.Context, old, t T) (admission.Warnings, error) {
	req, err := admission.RequestFromContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("validate a %s: %w", k.kind.Kind, err)
	}
	if topology.IsDryRunRequest(req, t) || t.GetDeletionTimestamp() != nil || equality.Semantic.DeepEqual(k.spec(old), k.spec(t)) {
		return nil, nil
	}
	return nil, apierrors.NewInvalid(k.kind, t.GetName(), field.ErrorList{
		field.Forbidden(field.NewPath("spec", "template", "spec"), "can't be changed: make another "+k.kind.Kind+", and have the ClusterClass name it"),
	})
}

// ValidateDelete lets every deletion pass.
func (*keeper[T]) ValidateDelete(context.Context, T) (admission.Warnings, error) { return nil, nil }
