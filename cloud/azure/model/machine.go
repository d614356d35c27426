package model

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
)

// uniformMachine returns one machine of a Uniform scale set in the form of its scale set, as far as it shows something.
func uniformMachine(vm armcompute.VirtualMachineScaleSetVM) *Current {
	is := deref(vm.Properties)
	profile := armcompute.VirtualMachineScaleSetVMProfile{
		DiagnosticsProfile: is.DiagnosticsProfile, SecurityProfile: is.SecurityProfile, StorageProfile: storageOf(is.StorageProfile),
		OSProfile: osOf(is.OSProfile),
	}
	if n := is.NetworkProfileConfiguration; n != nil {
		profile.NetworkProfile = &armcompute.VirtualMachineScaleSetNetworkProfile{
			NetworkInterfaceConfigurations: n.NetworkInterfaceConfigurations,
		}
	}
	return machine(vm.SKU, vm.Plan, vm.Identity, is.AdditionalCapabilities, profile)
}

// flexibleMachine returns one machine of a Flexible scale set in the form of its scale set. Its interfaces are objects of their own, of
// which it shows the names alone.
func flexibleMachine(vm armcompute.VirtualMachine) *Current {
	is := deref(vm.Properties)
	var size *armcompute.SKU
	if h := is.HardwareProfile; h != nil {
		size = &armcompute.SKU{Name: (*string)(h.VMSize)}
	}
	return machine(size, vm.Plan, vm.Identity, is.AdditionalCapabilities, armcompute.VirtualMachineScaleSetVMProfile{
		DiagnosticsProfile: is.DiagnosticsProfile, SecurityProfile: is.SecurityProfile, StorageProfile: storageOf(is.StorageProfile),
		OSProfile: osOf(is.OSProfile), Priority: is.Priority, EvictionPolicy: is.EvictionPolicy, BillingProfile: is.BillingProfile,
		ScheduledEventsProfile: is.ScheduledEventsProfile,
	})
}

func machine(size *armcompute.SKU, plan *armcompute.Plan, identity *armcompute.VirtualMachineIdentity,
	capabilities *armcompute.AdditionalCapabilities, profile armcompute.VirtualMachineScaleSetVMProfile) *Current {
	return &Current{Set: armcompute.VirtualMachineScaleSet{
		SKU: size, Plan: plan, Identity: (*armcompute.VirtualMachineScaleSetIdentity)(identity),
		Properties: &armcompute.VirtualMachineScaleSetProperties{AdditionalCapabilities: capabilities, VirtualMachineProfile: &profile},
	}}
}

func osOf(is *armcompute.OSProfile) *armcompute.VirtualMachineScaleSetOSProfile {
	return &armcompute.VirtualMachineScaleSetOSProfile{LinuxConfiguration: deref(is).LinuxConfiguration}
}

// storageOf returns the disks of a machine. A disk that a client attached to the machine alone (a volume of a pod) is none of its model's:
// those that were made with the machine carry the word Empty.
func storageOf(is *armcompute.StorageProfile) *armcompute.VirtualMachineScaleSetStorageProfile {
	if is == nil {
		return nil
	}
	out := &armcompute.VirtualMachineScaleSetStorageProfile{ImageReference: is.ImageReference}
	if d := is.OSDisk; d != nil {
		out.OSDisk = &armcompute.VirtualMachineScaleSetOSDisk{DiskSizeGB: d.DiskSizeGB, Caching: d.Caching, OSType: d.OSType,
			DiffDiskSettings: d.DiffDiskSettings, ManagedDisk: diskOf(d.ManagedDisk)}
	}
	for _, d := range is.DataDisks {
		if deref(d.CreateOption) == armcompute.DiskCreateOptionTypesEmpty {
			out.DataDisks = append(out.DataDisks, &armcompute.VirtualMachineScaleSetDataDisk{Lun: d.Lun, DiskSizeGB: d.DiskSizeGB,
				Caching: d.Caching, ManagedDisk: diskOf(d.ManagedDisk)})
		}
	}
	return out
}

func diskOf(d *armcompute.ManagedDiskParameters) *armcompute.VirtualMachineScaleSetManagedDiskParameters {
	return &armcompute.VirtualMachineScaleSetManagedDiskParameters{StorageAccountType: deref(d).StorageAccountType,
		DiskEncryptionSet: deref(d).DiskEncryptionSet, SecurityProfile: deref(d).SecurityProfile}
}
