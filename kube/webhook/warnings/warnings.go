// Package warnings tells people at admission of what is allowed in infrastructure objects and most likely not meant: fields
// that are on their way out, that have no effect, or that do harm. It refuses nothing. What may not be is said by the
// schemas, and an API server that can't ask for warnings goes on without them.
package warnings

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
)

// The paths that are served.
const (
	AWSMachinePoolPath        = "/validate-infrastructure-cluster-x-k8s-io-v1beta2-awsmachinepool"
	AWSManagedMachinePoolPath = "/validate-infrastructure-cluster-x-k8s-io-v1beta2-awsmanagedmachinepool"
)

// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-awsmachinepool,mutating=false,failurePolicy=ignore,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=awsmachinepools,versions=v1beta2,name=warnings.awsmachinepool.infrastructure.cluster.x-k8s.io,sideEffects=None,timeoutSeconds=5,admissionReviewVersions=v1
// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-awsmanagedmachinepool,mutating=false,failurePolicy=ignore,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=awsmanagedmachinepools,versions=v1beta2,name=warnings.awsmanagedmachinepool.infrastructure.cluster.x-k8s.io,sideEffects=None,timeoutSeconds=5,admissionReviewVersions=v1

// OfAWSMachinePool warns of AWSMachinePools.
func OfAWSMachinePool(scheme *runtime.Scheme) *admission.Webhook {
	return admission.WithValidator(scheme, &warner[*awsv1.AWSMachinePool]{says: machinePool, asked: func(p *awsv1.AWSMachinePool) any {
		spec := p.Spec.DeepCopy()
		spec.ProviderID, spec.ProviderIDList = "", nil
		return spec
	}})
}

// OfAWSManagedMachinePool warns of AWSManagedMachinePools.
func OfAWSManagedMachinePool(scheme *runtime.Scheme) *admission.Webhook {
	return admission.WithValidator(scheme, &warner[*awsv1.AWSManagedMachinePool]{says: managed, asked: func(p *awsv1.AWSManagedMachinePool) any {
		spec := p.Spec.DeepCopy()
		spec.ProviderID, spec.ProviderIDList = "", nil
		return spec
	}})
}

// warner is a validator that finds nothing wrong.
type warner[O runtime.Object] struct {
	says func(O) admission.Warnings
	// asked is what people ask for: the specification without what controllers write there.
	asked func(O) any
}

// ValidateCreate warns of a new object.
func (w *warner[O]) ValidateCreate(_ context.Context, o O) (admission.Warnings, error) {
	return w.says(o), nil
}

// ValidateUpdate warns whoever changes what is asked for. The writes of controllers are no occasion.
func (w *warner[O]) ValidateUpdate(_ context.Context, old, o O) (admission.Warnings, error) {
	if equality.Semantic.DeepEqual(w.asked(old), w.asked(o)) {
		return nil, nil
	}
	return w.says(o), nil
}

// ValidateDelete has nothing to say.
func (w *warner[O]) ValidateDelete(context.Context, O) (admission.Warnings, error) { return nil, nil }

// collected puts warnings together whose condition holds.
type collected admission.Warnings

func (c *collected) when(holds bool, format string, args ...any) {
	if holds {
		*c = append(*c, fmt.Sprintf(format, args...))
	}
}
