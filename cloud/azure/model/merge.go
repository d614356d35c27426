package model

import (
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"k8s.io/utils/ptr"
)

// Onto is the model as it can be put on the pool's existing scale set: what Azure refuses to change there stays as it is, so that
// everything else of the specification is done all the same. It also gives the object's fields that stay behind.
func (m *Model) Onto(cur Current) (*Model, []string) {
	fields := m.fixed(cur)
	// Everything else that can't be changed is no part of the content, and is sent with no change. These are part of both.
	profile, is := *m.Set.Properties.VirtualMachineProfile, cur.profile()
	there, wanted := seenOf(cur.Set), seenOf(m.Set)
	kept := false
	if is.StorageProfile != nil && confidential(there) != confidential(wanted) {
		profile.SecurityProfile, kept = is.SecurityProfile, true
	}
	if isSpot(there) != isSpot(wanted) {
		// Azure refuses a price for machines that are not spot machines.
		profile.BillingProfile, kept = is.BillingProfile, true
	}
	if storage := m.storageOnto(is.StorageProfile, there, wanted); storage != nil {
		profile.StorageProfile, kept = storage, true
	}
	if m.otherSource(cur) {
		storage := *profile.StorageProfile
		storage.ImageReference = sent(is.StorageProfile.ImageReference)
		profile.StorageProfile, kept = &storage, true
	}
	if !kept {
		return m, fields
	}
	out := m.with(profile, m.Set.Plan)
	if m.otherSource(cur) {
		out = m.with(profile, cur.Set.Plan) // the plan is the image's
	}
	return out, fields
}

// storageOnto is the storage with what stays of the disk of the operating system, nil where nothing has to: a disk does not shrink, and
// what is cached is bound to where the disk lies.
func (m *Model) storageOnto(is *armcompute.VirtualMachineScaleSetStorageProfile, there,
	wanted seen) *armcompute.VirtualMachineScaleSetStorageProfile {
	if is == nil || is.OSDisk == nil {
		return nil
	}
	smaller, moves := m.smaller(is), ephemeral(there) != ephemeral(wanted)
	if !smaller && !moves {
		return nil
	}
	storage := *m.Set.Properties.VirtualMachineProfile.StorageProfile
	disk := *storage.OSDisk
	if smaller {
		disk.DiskSizeGB = is.OSDisk.DiskSizeGB
	}
	if moves {
		disk.Caching = spelled(is.OSDisk.Caching)
	}
	storage.OSDisk = &disk
	return &storage
}

// spelled is a kind of caching as we write it: Azure shows words in letters of its own.
func spelled(is *armcompute.CachingTypes) *armcompute.CachingTypes {
	for _, known := range armcompute.PossibleCachingTypesValues() {
		if is != nil && strings.EqualFold(string(known), string(*is)) {
			return &known
		}
	}
	return is
}

// with is the model with another profile of machines and plan, and the content that follows from it.
func (m *Model) with(profile armcompute.VirtualMachineScaleSetVMProfile, plan *armcompute.Plan) *Model {
	out, properties := *m, *m.Set.Properties
	properties.VirtualMachineProfile = &profile
	out.Set.Properties, out.Set.Plan = &properties, plan
	content, err := out.content()
	if err != nil {
		return m
	}
	out.Content = content
	out.Set.Tags = cloned(m.Set.Tags)
	out.Set.Tags[TagContent] = &content
	return &out
}

// smaller reports whether the disk of the operating system is to shrink, which Azure does not do.
func (m *Model) smaller(storage *armcompute.VirtualMachineScaleSetStorageProfile) bool {
	wanted := m.Set.Properties.VirtualMachineProfile.StorageProfile.OSDisk
	is := ptr.Deref(storage, armcompute.VirtualMachineScaleSetStorageProfile{}).OSDisk
	return is != nil && is.DiskSizeGB != nil && wanted.DiskSizeGB != nil && *wanted.DiskSizeGB < *is.DiskSizeGB
}

func cloned(tags map[string]*string) map[string]*string {
	out := make(map[string]*string, len(tags))
	for name, value := range tags {
		out[name] = value
	}
	return out
}
