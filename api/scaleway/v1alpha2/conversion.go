package v1alpha2

import "sigs.k8s.io/controller-runtime/pkg/conversion"

var _ conversion.Hub = &ScalewayManagedMachinePool{}

// Hub marks v1alpha2 as the version that is stored and that all others are converted to.
func (*ScalewayManagedMachinePool) Hub() {}
