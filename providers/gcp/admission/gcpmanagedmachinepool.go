package admission

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
)

type managedValidator struct{ reader client.Reader }

// ValidateCreate refuses a pool whose node pool another object of the cluster describes already.
func (v *managedValidator) ValidateCreate(ctx context.Context, p *gcpv1.GCPManagedMachinePool) (admission.Warnings, error) {
	name := p.Labels[clusterv1.ClusterNameLabel]
	if name == "" {
		return managedWarnings(&p.Spec), nil
	}
	list := &gcpv1.GCPManagedMachinePoolList{}
	if err := v.reader.List(ctx, list, client.InNamespace(p.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: name}); err != nil {
		return nil, fmt.Errorf("find the GCPManagedMachinePools of cluster %s: %w", name, err)
	}
	for i := range list.Items {
		if other := &list.Items[i]; other.Name != p.Name && other.NodePoolName() == p.NodePoolName() {
			return nil, apierrors.NewInvalid(gcpv1.GroupVersion.WithKind(gcpv1.GCPManagedMachinePoolKind).GroupKind(), p.Name, field.ErrorList{
				field.Duplicate(field.NewPath("spec", "nodePoolName"), fmt.Sprintf("%s: GCPManagedMachinePool %s of the same cluster has it",
					p.NodePoolName(), other.Name))})
		}
	}
	return managedWarnings(&p.Spec), nil
}

// ValidateUpdate warns of a change by a user. Controllers are not warned.
func (*managedValidator) ValidateUpdate(_ context.Context, old, p *gcpv1.GCPManagedMachinePool) (admission.Warnings, error) {
	if !p.DeletionTimestamp.IsZero() || equality.Semantic.DeepEqual(managedUserSpec(old), managedUserSpec(p)) {
		return nil, nil
	}
	return append(managedWarnings(&p.Spec), zoneWarnings(old.Spec.NodeLocations, p.Spec.NodeLocations)...), nil
}

// zoneWarnings are of a change of the zones: GKE has no request that goes back to those of the cluster.
func zoneWarnings(old, zones []string) admission.Warnings {
	return active([]warning{{len(zones) == 0 && len(old) > 0, "spec.nodeLocations: removing it has no effect: the node pool keeps its zones"}})
}

// ValidateDelete lets every deletion pass.
func (*managedValidator) ValidateDelete(context.Context, *gcpv1.GCPManagedMachinePool) (admission.Warnings, error) {
	return nil, nil
}

// managedUserSpec returns the specification without the fields that controllers write.
func managedUserSpec(p *gcpv1.GCPManagedMachinePool) *gcpv1.GCPManagedMachinePoolSpec {
	spec := p.Spec.DeepCopy()
	spec.ProviderID, spec.ProviderIDList = "", nil
	return spec
}

// managedWarnings are of what has no effect, or does harm.
func managedWarnings(spec *gcpv1.GCPManagedMachinePoolSpec) admission.Warnings {
	return active([]warning{
		{set(spec.MachineType) && set(spec.InstanceType) && *spec.MachineType != *spec.InstanceType,
			"spec.machineType: has no effect beside spec.instanceType"},
		{spec.DiskSizeGb != nil && spec.DiskSizeGB != nil && int64(*spec.DiskSizeGb) != *spec.DiskSizeGB,
			"spec.diskSizeGb: has no effect beside spec.diskSizeGB"},
		{spec.Preemptible != nil && *spec.Preemptible, "spec.preemptible: nodes are stopped after 24 hours at the latest; use spec.spot"},
	})
}
