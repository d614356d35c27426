package model

import (
	"cmp"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
)

// mostLuns is how many numbers Azure has for data disks.
const mostLuns = 64

func osDisk(d azurev1.OSDisk) *armcompute.VirtualMachineScaleSetOSDisk {
	out := &armcompute.VirtualMachineScaleSetOSDisk{
		OSType:       new(armcompute.OperatingSystemTypes(osName(d.OSType))),
		CreateOption: new(armcompute.DiskCreateOptionTypesFromImage),
		DiskSizeGB:   d.DiskSizeGB,
		ManagedDisk:  managedDisk(d.ManagedDisk),
	}
	caching := d.CachingType
	if s := d.DiffDiskSettings; s != nil {
		out.DiffDiskSettings = &armcompute.DiffDiskSettings{Option: new(armcompute.DiffDiskOptions(s.Option))}
		if s.Placement != nil {
			out.DiffDiskSettings.Placement = new(armcompute.DiffDiskPlacement(*s.Placement))
		}
		// Azure caches a disk that is the host's own in no other way.
		caching = azurev1.CachingReadOnly
	}
	out.Caching = new(armcompute.CachingTypes(cmp.Or(caching, azurev1.CachingNone)))
	return out
}

// managedDisk is sent as far as the specification says something.
func managedDisk(d *azurev1.ManagedDiskParameters) *armcompute.VirtualMachineScaleSetManagedDiskParameters {
	if d == nil {
		return nil
	}
	out := armcompute.VirtualMachineScaleSetManagedDiskParameters{DiskEncryptionSet: encryptionSet(d.DiskEncryptionSet)}
	if d.StorageAccountType != "" {
		out.StorageAccountType = new(armcompute.StorageAccountTypes(d.StorageAccountType))
	}
	if s := d.SecurityProfile; s != nil {
		out.SecurityProfile = &armcompute.VMDiskSecurityProfile{DiskEncryptionSet: encryptionSet(s.DiskEncryptionSet)}
		if s.SecurityEncryptionType != "" {
			out.SecurityProfile.SecurityEncryptionType = new(armcompute.SecurityEncryptionTypes(s.SecurityEncryptionType))
		}
	}
	if out == (armcompute.VirtualMachineScaleSetManagedDiskParameters{}) {
		return nil
	}
	return &out
}

func encryptionSet(s *azurev1.DiskEncryptionSetParameters) *armcompute.DiskEncryptionSetParameters {
	if s == nil || s.ID == "" {
		return nil
	}
	return &armcompute.DiskEncryptionSetParameters{ID: &s.ID}
}

// dataDisks are in the order of their numbers. One without a number gets the lowest that is free, as Azure would give it, so that it can
// be told from others.
func dataDisks(name string, spec *azurev1.AzureMachinePoolSpec) ([]*armcompute.VirtualMachineScaleSetDataDisk, error) {
	disks, used := spec.Template.DataDisks, map[int32]bool{}
	for _, d := range disks {
		if d.Lun != nil {
			used[*d.Lun] = true
		}
	}
	var out []*armcompute.VirtualMachineScaleSetDataDisk
	var free int32
	for k, d := range disks {
		lun := d.Lun
		if lun == nil {
			for used[free] {
				free++
			}
			used[free] = true
			lun = new(free)
		}
		if *lun >= mostLuns {
			return nil, cloud.Invalidf(indexed(fieldDataDisks, k)+".lun", "want a number from 0 to %d, found %d", mostLuns-1, *lun)
		}
		disk := &armcompute.VirtualMachineScaleSetDataDisk{
			CreateOption: new(armcompute.DiskCreateOptionTypesEmpty),
			DiskSizeGB:   &d.DiskSizeGB, Lun: lun,
			Caching:     new(armcompute.CachingTypes(cmp.Or(d.CachingType, azurev1.CachingNone))),
			ManagedDisk: managedDisk(d.ManagedDisk),
		}
		// The disks of a Flexible scale set are disks like any other, of which no two can have one name.
		if !spec.Flexible() {
			disk.Name = new(name + "_" + d.NameSuffix)
		}
		out = append(out, disk)
	}
	slices.SortFunc(out, func(a, b *armcompute.VirtualMachineScaleSetDataDisk) int { return cmp.Compare(*a.Lun, *b.Lun) })
	return out, nil
}
