package admission

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/kube/webhook/checks"
)

type virtualValidator struct{ reader client.Reader }

// ValidateCreate warns about a new pool.
func (v *virtualValidator) ValidateCreate(ctx context.Context, p *ociv1.OCIVirtualMachinePool) (admission.Warnings, error) {
	pools, err := checks.MachinePools(ctx, v.reader, p.Namespace, ociv1.OCIVirtualMachinePoolKind, p.Name)
	return sizeWarnings(pools), err
}

// ValidateUpdate warns of a change by a user. Controllers are not warned.
func (v *virtualValidator) ValidateUpdate(ctx context.Context, old, p *ociv1.OCIVirtualMachinePool) (admission.Warnings, error) {
	if !p.DeletionTimestamp.IsZero() || equality.Semantic.DeepEqual(virtualUserSpec(old), virtualUserSpec(p)) {
		return nil, nil
	}
	return v.ValidateCreate(ctx, p)
}

// ValidateDelete lets every deletion pass.
func (*virtualValidator) ValidateDelete(context.Context, *ociv1.OCIVirtualMachinePool) (admission.Warnings, error) {
	return nil, nil
}

// virtualUserSpec returns the specification without the fields that controllers write.
func virtualUserSpec(p *ociv1.OCIVirtualMachinePool) *ociv1.OCIVirtualMachinePoolSpec {
	spec := p.Spec.DeepCopy()
	spec.ProviderID, spec.ID, spec.ProviderIDList = nil, nil, nil
	return spec
}
