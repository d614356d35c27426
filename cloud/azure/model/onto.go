package model

import "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

// Onto is the model as it can be put on a scale set of ours that exists: what Azure refuses to change there stays as it is, so that
// everything else of the specification is done all the same. It also gives the object's fields that stay behind.
func (m *Model) Onto(cur Current) (*Model, []string) {
	fields := m.fixed(cur)
	is := deref(deref(cur.Set.Properties).VirtualMachineProfile)
	// Everything else that can't be changed is no part of the content, and is sent with no change. These are part of both.
	profile := *m.Set.Properties.VirtualMachineProfile
	sealed, smaller := is.StorageProfile != nil && confidential(seenOf(cur.Set)) != confidential(seenOf(m.Set)), m.smaller(cur)
	if !sealed && !smaller {
		return m, fields
	}
	if sealed {
		profile.SecurityProfile = is.SecurityProfile
	}
	if smaller {
		storage, disk := *profile.StorageProfile, *profile.StorageProfile.OSDisk
		disk.DiskSizeGB = is.StorageProfile.OSDisk.DiskSizeGB
		storage.OSDisk, profile.StorageProfile = &disk, &storage
	}
	return m.with(profile), fields
}

// with is the model with another profile of machines, and the content that follows from it.
func (m *Model) with(profile armcompute.VirtualMachineScaleSetVMProfile) *Model {
	out, properties := *m, *m.Set.Properties
	properties.VirtualMachineProfile = &profile
	out.Set.Properties = &properties
	content, err := out.content()
	if err != nil {
		return m
	}
	out.Content = content
	out.Set.Tags = cloned(m.Set.Tags)
	out.Set.Tags[TagContent] = &content
	return &out
}

// smaller says whether the disk of the operating system is to shrink, which Azure does not do.
func (m *Model) smaller(cur Current) bool {
	is := deref(deref(deref(cur.Set.Properties).VirtualMachineProfile).StorageProfile).OSDisk
	wanted := m.Set.Properties.VirtualMachineProfile.StorageProfile.OSDisk
	return is != nil && is.DiskSizeGB != nil && wanted.DiskSizeGB != nil && *wanted.DiskSizeGB < *is.DiskSizeGB
}

func cloned(tags map[string]*string) map[string]*string {
	out := make(map[string]*string, len(tags))
	for name, value := range tags {
		out[name] = value
	}
	return out
}
