package v1beta2

import "sigs.k8s.io/controller-runtime/pkg/conversion"

var (
	_ conversion.Hub = &OCIMachinePool{}
	_ conversion.Hub = &OCIManagedMachinePool{}
	_ conversion.Hub = &OCIManagedMachinePoolTemplate{}
)

// Hub marks v1beta2 as the version that is stored and that all others are converted to.
func (*OCIMachinePool) Hub() {}

// Hub marks v1beta2 as the version that is stored and that all others are converted to.
func (*OCIManagedMachinePool) Hub() {}

// Hub marks v1beta2 as the version that is stored and that all others are converted to.
func (*OCIManagedMachinePoolTemplate) Hub() {}
