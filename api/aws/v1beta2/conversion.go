package v1beta2

// Hub marks v1beta2 as the version that every other one is converted to and from.
func (*AWSMachinePool) Hub() {}

// Hub marks v1beta2 as the version that every other one is converted to and from.
func (*AWSManagedMachinePool) Hub() {}
