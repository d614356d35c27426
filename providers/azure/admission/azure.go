// Package admission admits AzureMachinePools: it makes the key that an object does not name, refuses what no schema can refuse, and
// warns of what is allowed and most likely not meant.
package admission

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
)

// The paths that are served; they are the ecosystem's.
const (
	DefaultPath  = "/mutate-infrastructure-cluster-x-k8s-io-v1beta1-azuremachinepool"
	ValidatePath = "/validate-infrastructure-cluster-x-k8s-io-v1beta1-azuremachinepool"
)

// +kubebuilder:webhook:verbs=create;update,path=/mutate-infrastructure-cluster-x-k8s-io-v1beta1-azuremachinepool,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azuremachinepools,versions=v1beta1,name=default.azuremachinepool.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-azuremachinepool,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azuremachinepools,versions=v1beta1,name=validation.azuremachinepool.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

// Defaulter makes the key that an AzureMachinePool does not name.
func Defaulter(scheme *runtime.Scheme) *admission.Webhook {
	return admission.WithDefaulter[*azurev1.AzureMachinePool](scheme, &defaulter{decoder: admission.NewDecoder(scheme)})
}

// Validator refuses and warns. The reader finds MachinePools.
func Validator(scheme *runtime.Scheme, reader client.Reader) *admission.Webhook {
	return admission.WithValidator[*azurev1.AzureMachinePool](scheme, &validator{reader: reader})
}

type defaulter struct{ decoder admission.Decoder }

// Default makes a key where machines run Linux and the object names none. A key that was there stays: another would replace every
// machine.
func (d *defaulter) Default(ctx context.Context, p *azurev1.AzureMachinePool) error {
	key := &p.Spec.Template.SSHPublicKey
	if *key != "" || p.Spec.Windows() || !p.DeletionTimestamp.IsZero() {
		return nil
	}
	req, err := admission.RequestFromContext(ctx)
	if err != nil {
		return fmt.Errorf("default an AzureMachinePool: %w", err)
	}
	if req.Operation == admissionv1.Update {
		old := &azurev1.AzureMachinePool{}
		if err := d.decoder.DecodeRaw(req.OldObject, old); err != nil {
			return fmt.Errorf("decode the AzureMachinePool as it was: %w", err)
		}
		*key = old.Spec.Template.SSHPublicKey
	}
	if *key == "" {
		*key, err = newKey()
	}
	return err
}

type validator struct{ reader client.Reader }

// ValidateCreate refuses a new pool that breaks a rule.
func (v *validator) ValidateCreate(ctx context.Context, p *azurev1.AzureMachinePool) (admission.Warnings, error) {
	return warnings(p), v.refuse(ctx, p, keyProblems(p.Spec.Template.SSHPublicKey))
}

// ValidateUpdate refuses a change that breaks a rule. The writes of controllers, and those to an object that goes, break none.
func (v *validator) ValidateUpdate(ctx context.Context, old, p *azurev1.AzureMachinePool) (admission.Warnings, error) {
	if !p.DeletionTimestamp.IsZero() || equality.Semantic.DeepEqual(userSpec(old), userSpec(p)) {
		return nil, nil
	}
	var errs field.ErrorList
	if old.Spec.Template.SSHPublicKey != p.Spec.Template.SSHPublicKey {
		errs = keyProblems(p.Spec.Template.SSHPublicKey)
	}
	return warnings(p), v.refuse(ctx, p, errs)
}

// ValidateDelete lets every deletion pass.
func (*validator) ValidateDelete(context.Context, *azurev1.AzureMachinePool) (admission.Warnings, error) {
	return nil, nil
}

// userSpec returns the specification without the fields that controllers write.
func userSpec(p *azurev1.AzureMachinePool) *azurev1.AzureMachinePoolSpec {
	spec := p.Spec.DeepCopy()
	spec.ProviderID, spec.ProviderIDList = "", nil
	return spec
}

func (v *validator) refuse(ctx context.Context, p *azurev1.AzureMachinePool, errs field.ErrorList) error {
	problem, err := v.version(ctx, p)
	if err != nil {
		return err
	}
	if problem != nil {
		errs = append(errs, problem)
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(azurev1.GroupVersion.WithKind(azurev1.AzureMachinePoolKind).GroupKind(), p.Name, errs)
}

// version refuses orchestration mode Flexible where the MachinePool's Kubernetes version is too old for it. A pool whose MachinePool
// does not exist yet is admitted: manifests are applied in any order, and its controller holds it with the same words.
func (v *validator) version(ctx context.Context, p *azurev1.AzureMachinePool) (*field.Error, error) {
	if !p.Spec.Flexible() {
		return nil, nil
	}
	list := &clusterv1.MachinePoolList{}
	if err := v.reader.List(ctx, list, client.InNamespace(p.Namespace)); err != nil {
		return nil, fmt.Errorf("find the MachinePool of AzureMachinePool %s/%s: %w", p.Namespace, p.Name, err)
	}
	for i := range list.Items {
		machine := &list.Items[i].Spec.Template.Spec
		ref := machine.InfrastructureRef
		if ref.Kind != azurev1.AzureMachinePoolKind || ref.APIGroup != azurev1.GroupVersion.Group || ref.Name != p.Name {
			continue
		}
		if err := azurev1.FlexibleVersion(machine.Version); err != nil {
			return field.Invalid(field.NewPath("spec", "orchestrationMode"), p.Spec.OrchestrationMode, err.Error()), nil
		}
	}
	return nil, nil
}
