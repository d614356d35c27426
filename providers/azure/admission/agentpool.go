package admission

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/cloud/azure/agentpool/body"
	"github.com/muster-project/muster/kube/webhook/checks"
)

// The paths that are served for AzureManagedMachinePools and their templates; they are the ecosystem's.
const (
	ManagedDefaultPath  = "/mutate-infrastructure-cluster-x-k8s-io-v1beta1-azuremanagedmachinepool"
	ManagedValidatePath = "/validate-infrastructure-cluster-x-k8s-io-v1beta1-azuremanagedmachinepool"
	ManagedTemplatePath = "/validate-infrastructure-cluster-x-k8s-io-v1beta1-azuremanagedmachinepooltemplate"
)

// +kubebuilder:webhook:verbs=create;update,path=/mutate-infrastructure-cluster-x-k8s-io-v1beta1-azuremanagedmachinepool,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedmachinepools,versions=v1beta1,name=default.azuremanagedmachinepool.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:verbs=create;update;delete,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-azuremanagedmachinepool,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedmachinepools,versions=v1beta1,name=validation.azuremanagedmachinepool.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1
// +kubebuilder:webhook:verbs=update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-azuremanagedmachinepooltemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedmachinepooltemplates,versions=v1beta1,name=validation.azuremanagedmachinepooltemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

// ManagedDefaulter gives AzureManagedMachinePools their name in AKS and the label of their mode.
func ManagedDefaulter(scheme *runtime.Scheme) *admission.Webhook {
	return admission.WithDefaulter[*aksv1.AzureManagedMachinePool](scheme, managedDefaulter{})
}

// ManagedValidator rejects AzureManagedMachinePools that conflict with others of their cluster. The reader finds those.
func ManagedValidator(scheme *runtime.Scheme, reader client.Reader) *admission.Webhook {
	return admission.WithValidator[*aksv1.AzureManagedMachinePool](scheme, &managedValidator{reader: reader})
}

// OfAzureManagedMachinePool keeps AzureManagedMachinePoolTemplates as they are.
func OfAzureManagedMachinePool(scheme *runtime.Scheme) *admission.Webhook {
	return checks.ImmutableTemplate(scheme, aksv1.GroupVersion.WithKind(aksv1.AzureManagedMachinePoolTemplateKind).GroupKind(),
		func(t *aksv1.AzureManagedMachinePoolTemplate) any { return &t.Spec.Template.Spec })
}

type managedDefaulter struct{}

// Default sets the label by which the ecosystem finds System pools, and the name. A name that AKS can't have is refused by the schema,
// which names spec.name: the object's own name is no name of an agent pool then, and the user sets one.
func (managedDefaulter) Default(_ context.Context, p *aksv1.AzureManagedMachinePool) error {
	if !p.DeletionTimestamp.IsZero() {
		return nil
	}
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	p.Labels[aksv1.ModeLabel] = p.Spec.Mode
	if p.Spec.Name == nil || *p.Spec.Name == "" {
		p.Spec.Name = &p.Name
	}
	return nil
}

type managedValidator struct{ reader client.Reader }

// ValidateCreate refuses a pool whose agent pool another object of the cluster describes already.
func (v *managedValidator) ValidateCreate(ctx context.Context, p *aksv1.AzureManagedMachinePool) (admission.Warnings, error) {
	if err := checkPatches(p); err != nil {
		return nil, err
	}
	others, err := v.others(ctx, p)
	if err != nil {
		return nil, err
	}
	for i := range others {
		if others[i].AgentPoolName() == p.AgentPoolName() {
			return nil, refusedManaged(p, field.Duplicate(field.NewPath("spec", "name"),
				fmt.Sprintf("%s: AzureManagedMachinePool %s of the same cluster has it", p.AgentPoolName(), others[i].Name)))
		}
	}
	return nil, nil
}

// checkPatches refuses patches that can't be followed, or that set what other fields set.
func checkPatches(p *aksv1.AzureManagedMachinePool) error {
	spec := aksv1.AzureManagedMachinePoolSpec{Mode: p.Spec.Mode, SKU: p.Spec.SKU,
		ASOManagedClustersAgentPoolPatches: p.Spec.ASOManagedClustersAgentPoolPatches}
	if _, err := body.OfManaged(&spec, "", nil); err != nil {
		return refusedManaged(p, &field.Error{Type: field.ErrorTypeInvalid, Field: "spec.asoManagedClustersAgentPoolPatches",
			BadValue: field.OmitValueType{}, Detail: err.Error()})
	}
	return nil
}

// ValidateUpdate refuses changed patches as those of a new pool, and to take the mode System from the last pool that has it. The writes of
// controllers, and those to an object that is being deleted, change neither.
func (v *managedValidator) ValidateUpdate(ctx context.Context, old, p *aksv1.AzureManagedMachinePool) (admission.Warnings, error) {
	if !p.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	if checkPatches(old) == nil {
		if err := checkPatches(p); err != nil {
			return nil, err
		}
	}
	if old.Spec.Mode != aksv1.ModeSystem || p.Spec.Mode == aksv1.ModeSystem {
		return nil, nil
	}
	last, err := v.lastSystem(ctx, p)
	if err != nil || !last {
		return nil, err
	}
	return nil, refusedManaged(p, field.Forbidden(field.NewPath("spec", "mode"),
		"Cannot change node pool mode to User, you must have at least one System node pool in your cluster: set the mode of another pool to "+
			"System first"))
}

// ValidateDelete refuses the deletion of the last System pool of a cluster that stays: AKS refuses it too, and the object would be deleting
// for ever.
func (v *managedValidator) ValidateDelete(ctx context.Context, p *aksv1.AzureManagedMachinePool) (admission.Warnings, error) {
	if p.Spec.Mode != aksv1.ModeSystem {
		return nil, nil
	}
	stays, err := v.clusterStays(ctx, p)
	if err != nil || !stays {
		return nil, err
	}
	last, err := v.lastSystem(ctx, p)
	if err != nil || !last {
		return nil, err
	}
	return nil, apierrors.NewForbidden(aksv1.GroupVersion.WithResource("azuremanagedmachinepools").GroupResource(), p.Name,
		fmt.Errorf("AKS Cluster must have at least one system pool: add another one first, or delete the Cluster"))
}

// clusterStays reports whether the pool's Cluster exists, is not being deleted and is not paused: clusterctl move deletes the objects of a
// paused one.
func (v *managedValidator) clusterStays(ctx context.Context, p *aksv1.AzureManagedMachinePool) (bool, error) {
	name := p.Labels[clusterv1.ClusterNameLabel]
	if name == "" {
		return false, nil
	}
	cluster := &clusterv1.Cluster{}
	err := v.reader.Get(ctx, client.ObjectKey{Namespace: p.Namespace, Name: name}, cluster)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("find Cluster %s/%s: %w", p.Namespace, name, err)
	}
	return cluster.DeletionTimestamp.IsZero() && (cluster.Spec.Paused == nil || !*cluster.Spec.Paused), nil
}

// lastSystem reports whether no other System pool of the cluster is there to stay.
func (v *managedValidator) lastSystem(ctx context.Context, p *aksv1.AzureManagedMachinePool) (bool, error) {
	others, err := v.others(ctx, p)
	if err != nil {
		return false, err
	}
	for i := range others {
		if others[i].Spec.Mode == aksv1.ModeSystem && others[i].DeletionTimestamp.IsZero() {
			return false, nil
		}
	}
	return true, nil
}

// others returns the other AzureManagedMachinePools of the cluster; none for a pool that names no cluster yet.
func (v *managedValidator) others(ctx context.Context, p *aksv1.AzureManagedMachinePool) ([]aksv1.AzureManagedMachinePool, error) {
	name := p.Labels[clusterv1.ClusterNameLabel]
	if name == "" {
		return nil, nil
	}
	list := &aksv1.AzureManagedMachinePoolList{}
	if err := v.reader.List(ctx, list, client.InNamespace(p.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: name}); err != nil {
		return nil, fmt.Errorf("find the AzureManagedMachinePools of cluster %s: %w", name, err)
	}
	var others []aksv1.AzureManagedMachinePool
	for i := range list.Items {
		if !strings.EqualFold(list.Items[i].Name, p.Name) {
			others = append(others, list.Items[i])
		}
	}
	return others, nil
}

func refusedManaged(p *aksv1.AzureManagedMachinePool, errs ...*field.Error) error {
	return apierrors.NewInvalid(aksv1.GroupVersion.WithKind(aksv1.AzureManagedMachinePoolKind).GroupKind(), p.Name, errs)
}
