package compute

// The troubles that machines come to, in the words of the service.
const (
	codeAllocation      = "AllocationFailed"
	codeZonal           = "ZonalAllocationFailed"
	codeOverconstrained = "OverconstrainedZonalAllocationRequest"
	codeOSTimeout       = "OSProvisioningTimedOut"
	codeExtension       = "VMExtensionProvisioningError"
	wordsAllocation     = "Allocation failed. We do not have sufficient capacity for the requested VM size in this region. " +
		"Read more about improving likelihood of allocation success at https://aka.ms/allocation-guidance"
	wordsZonal = "Allocation failed. We do not have sufficient capacity for the requested VM size in zone '%s'. " +
		"Read more about improving likelihood of allocation success at https://aka.ms/allocation-guidance"
	wordsOverconstrained = "Allocation failed. VM(s) with the following constraints cannot be allocated, because the condition is too " +
		"restrictive. " +
		"Please remove some constraints and try again. Constraints applied are: %s. Zones: %s"
	wordsOSTimeout = "OS Provisioning for VM '%s' did not finish in the allotted time. The VM may still finish provisioning successfully. " +
		"Please check provisioning state later. For details on how to check current provisioning state of Windows VMs, refer to " +
		"https://aka.ms/WindowsVMLifecycle and Linux VMs, refer to https://aka.ms/LinuxVMLifecycle."
	wordsExtension = "VM has reported a failure when processing extension '%s' (publisher '%s' and type '%s'). " +
		"Error message: 'Enable failed: failed to execute command: command terminated with exit status=1'. More information on troubleshooting " +
		"is available at https://aka.ms/VMExtensionTroubleshoot."
)
