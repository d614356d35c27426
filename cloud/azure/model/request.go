package model

import (
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"k8s.io/utils/ptr"
)

// Create is the body of the request that makes the scale set with so many machines.
func (m *Model) Create(capacity int) armcompute.VirtualMachineScaleSet {
	set := m.Set
	set.SKU = &armcompute.SKU{Name: m.Set.SKU.Name, Tier: m.Set.SKU.Tier, Capacity: new(int64(capacity))}
	return set
}

// Change is the body of the request that puts the model on a scale set that exists, with what is changed in place. What it does not name
// stays as it is: the capacity, what can't be changed, tags and backend pools of others. What was once asked for and is not any more is
// named with the value that it has without. Where the VM size changes the capacity has to be named beside it, as it was seen: the
// request is to be sent with the scale set's ETag.
func (m *Model) Change(cur Current) armcompute.VirtualMachineScaleSetUpdate {
	update := m.inPlace(cur)
	is, wanted := cur.profile(), *m.Set.Properties.VirtualMachineProfile
	if cur.Set.SKU == nil || !strings.EqualFold(ptr.Deref(cur.Set.SKU.Name, ""), *m.Set.SKU.Name) {
		update.SKU = &armcompute.SKU{Name: m.Set.SKU.Name, Tier: m.Set.SKU.Tier, Capacity: new(int64(cur.Capacity()))}
	}
	update.Plan = over(cur.Set.Plan, m.Set.Plan)
	update.Identity = m.identityOver(cur)
	update.Properties.AdditionalCapabilities = m.Set.Properties.AdditionalCapabilities
	if was := cur.properties().AdditionalCapabilities; was != nil && ptr.Deref(was.UltraSSDEnabled, false) &&
		update.Properties.AdditionalCapabilities == nil {
		update.Properties.AdditionalCapabilities = &armcompute.AdditionalCapabilities{UltraSSDEnabled: new(false)}
	}
	profile := update.Properties.VirtualMachineProfile
	profile.DiagnosticsProfile = diagnosticsOver(is.DiagnosticsProfile, wanted.DiagnosticsProfile)
	profile.SecurityProfile = securityOver(is.SecurityProfile, wanted.SecurityProfile)
	profile.BillingProfile = wanted.BillingProfile
	if is.BillingProfile != nil && wanted.BillingProfile == nil && wanted.Priority != nil {
		profile.BillingProfile = &armcompute.BillingProfile{MaxPrice: new(-1.0)}
	}
	profile.ScheduledEventsProfile = wanted.ScheduledEventsProfile
	if notice := noticeText(&cur); notice != nil && notice != "" && wanted.ScheduledEventsProfile == nil {
		profile.ScheduledEventsProfile = &armcompute.ScheduledEventsProfile{
			TerminateNotificationProfile: &armcompute.TerminateNotificationProfile{Enable: new(false)}}
	}
	profile.OSProfile = &armcompute.VirtualMachineScaleSetUpdateOSProfile{
		CustomData: wanted.OSProfile.CustomData, LinuxConfiguration: wanted.OSProfile.LinuxConfiguration,
		WindowsConfiguration: wanted.OSProfile.WindowsConfiguration,
	}
	storage := ptr.Deref(is.StorageProfile, armcompute.VirtualMachineScaleSetStorageProfile{})
	profile.StorageProfile = &armcompute.VirtualMachineScaleSetUpdateStorageProfile{
		ImageReference: imageOver(storage.ImageReference, wanted.StorageProfile.ImageReference),
		OSDisk: &armcompute.VirtualMachineScaleSetUpdateOSDisk{Caching: wanted.StorageProfile.OSDisk.Caching,
			DiskSizeGB: wanted.StorageProfile.OSDisk.DiskSizeGB},
		DataDisks: append([]*armcompute.VirtualMachineScaleSetDataDisk{}, wanted.StorageProfile.DataDisks...),
	}
	profile.NetworkProfile = m.networkOver(cur)
	return update
}

// inPlace is what both kinds of change have in common.
func (m *Model) inPlace(cur Current) armcompute.VirtualMachineScaleSetUpdate {
	update := armcompute.VirtualMachineScaleSetUpdate{
		Tags: m.tagsOver(cur.Set.Tags),
		Properties: &armcompute.VirtualMachineScaleSetUpdateProperties{
			UpgradePolicy: m.Set.Properties.UpgradePolicy,
			VirtualMachineProfile: &armcompute.VirtualMachineScaleSetUpdateVMProfile{
				ExtensionProfile: m.Set.Properties.VirtualMachineProfile.ExtensionProfile,
			},
		},
	}
	if furtherZones(m.current(), &cur) {
		update.Zones = m.Set.Zones
	}
	return update
}

// InPlaceChange is the body of the request that changes what Azure changes without making other machines: tags, extensions, further zones.
// The tags that tell what the scale set's model was made of stay as they are.
func (m *Model) InPlaceChange(cur Current) armcompute.VirtualMachineScaleSetUpdate {
	update := m.inPlace(cur)
	for _, name := range []string{TagContent, TagData} {
		delete(update.Tags, name)
		if there, ok := nameLike(cur.Set.Tags, name); ok {
			update.Tags[name] = cur.Set.Tags[there]
		}
	}
	return update
}

// Resize is the body of the request that gives a scale set another size, and tags beside those that it has; without any, tags are not
// named at all. It is to be sent with the scale set's ETag.
func Resize(cur Current, capacity int, tags map[string]string) armcompute.VirtualMachineScaleSetUpdate {
	update := armcompute.VirtualMachineScaleSetUpdate{SKU: &armcompute.SKU{Capacity: new(int64(capacity))}}
	if cur.Set.SKU != nil {
		update.SKU.Name, update.SKU.Tier = cur.Set.SKU.Name, cur.Set.SKU.Tier
	}
	if len(tags) > 0 {
		update.Tags = cloned(cur.Set.Tags)
		for name, value := range tags {
			if there, ok := nameLike(update.Tags, name); ok {
				delete(update.Tags, there)
			}
			update.Tags[name] = &value
		}
	}
	return update
}

// over takes away what is there and not wanted, in a request in which what is not named stays as it is.
func over[T any](is, wanted *T) *T {
	if is != nil && wanted == nil {
		return azcore.NullValue[*T]()
	}
	return wanted
}

// imageOver takes away what named an image of another kind.
func imageOver(is, wanted *armcompute.ImageReference) *armcompute.ImageReference {
	if is == nil {
		return wanted
	}
	return &armcompute.ImageReference{
		ID: over(is.ID, wanted.ID), CommunityGalleryImageID: over(is.CommunityGalleryImageID, wanted.CommunityGalleryImageID),
		SharedGalleryImageID: over(is.SharedGalleryImageID, wanted.SharedGalleryImageID),
		Publisher:            over(is.Publisher, wanted.Publisher), Offer: over(is.Offer, wanted.Offer), SKU: over(is.SKU, wanted.SKU),
		Version: over(is.Version, wanted.Version),
	}
}

// diagnosticsOver takes away the name of a storage account.
func diagnosticsOver(is, wanted *armcompute.DiagnosticsProfile) *armcompute.DiagnosticsProfile {
	if is == nil || is.BootDiagnostics == nil {
		return wanted
	}
	boot := *wanted.BootDiagnostics
	boot.StorageURI = over(is.BootDiagnostics.StorageURI, boot.StorageURI)
	return &armcompute.DiagnosticsProfile{BootDiagnostics: &boot}
}

// securityOver takes back what was asked for once. The type stays where none is asked for: Azure gives machines one by itself, and never
// has it be sent that they shall have none.
func securityOver(is, wanted *armcompute.SecurityProfile) *armcompute.SecurityProfile {
	if is == nil {
		return wanted
	}
	out := ptr.Deref(wanted, armcompute.SecurityProfile{})
	if ptr.Deref(is.EncryptionAtHost, false) && out.EncryptionAtHost == nil {
		out.EncryptionAtHost = new(false)
	}
	if out == (armcompute.SecurityProfile{}) {
		return nil
	}
	return &out
}

// identityOver names identities that are to be taken away with nothing for a value.
func (m *Model) identityOver(cur Current) *armcompute.VirtualMachineScaleSetIdentity {
	is, wanted := ptr.Deref(cur.Set.Identity, armcompute.VirtualMachineScaleSetIdentity{}), m.Set.Identity
	if wanted == nil {
		if is.Type == nil || *is.Type == armcompute.ResourceIdentityTypeNone {
			return nil
		}
		return &armcompute.VirtualMachineScaleSetIdentity{Type: new(armcompute.ResourceIdentityTypeNone)}
	}
	out := armcompute.VirtualMachineScaleSetIdentity{Type: wanted.Type}
	if *wanted.Type != armcompute.ResourceIdentityTypeUserAssigned {
		return &out
	}
	out.UserAssignedIdentities = map[string]*armcompute.UserAssignedIdentitiesValue{}
	for id := range is.UserAssignedIdentities {
		if _, kept := nameLike(wanted.UserAssignedIdentities, id); !kept {
			out.UserAssignedIdentities[id] = nil
		}
	}
	for id, value := range wanted.UserAssignedIdentities {
		// One that is there is named as it is spelled there, so that it is not there twice.
		if there, ok := nameLike(is.UserAssignedIdentities, id); ok {
			id = there
		}
		out.UserAssignedIdentities[id] = value
	}
	return &out
}

// networkOver names the network interfaces only where they differ, with the backend pools that others have put them into: the cloud
// provider does that for services.
func (m *Model) networkOver(cur Current) *armcompute.VirtualMachineScaleSetUpdateNetworkProfile {
	is := cur.profile().NetworkProfile
	wanted := m.Set.Properties.VirtualMachineProfile.NetworkProfile
	if is != nil && !m.networkDiffers(cur) {
		return nil
	}
	out := &armcompute.VirtualMachineScaleSetUpdateNetworkProfile{NetworkAPIVersion: wanted.NetworkAPIVersion}
	for _, nic := range wanted.NetworkInterfaceConfigurations {
		p := nic.Properties
		of := &armcompute.VirtualMachineScaleSetUpdateNetworkConfigurationProperties{
			Primary: p.Primary, EnableAcceleratedNetworking: p.EnableAcceleratedNetworking, EnableIPForwarding: p.EnableIPForwarding,
			DeleteOption: p.DeleteOption,
		}
		for _, a := range p.IPConfigurations {
			of.IPConfigurations = append(of.IPConfigurations, &armcompute.VirtualMachineScaleSetUpdateIPConfiguration{
				Name: a.Name, Properties: &armcompute.VirtualMachineScaleSetUpdateIPConfigurationProperties{
					Primary: a.Properties.Primary, PrivateIPAddressVersion: a.Properties.PrivateIPAddressVersion, Subnet: a.Properties.Subnet,
					LoadBalancerBackendAddressPools: poolsOver(
						poolsOf(is, ptr.Deref(nic.Name, ""), ptr.Deref(a.Name, "")), a.Properties.LoadBalancerBackendAddressPools),
				},
			})
		}
		out.NetworkInterfaceConfigurations = append(out.NetworkInterfaceConfigurations,
			&armcompute.VirtualMachineScaleSetUpdateNetworkConfiguration{Name: nic.Name, Properties: of})
	}
	return out
}

// networkDiffers reports whether the interfaces are others than the scale set has, or lack the pool through which nodes reach the world.
func (m *Model) networkDiffers(cur Current) bool {
	if slices.ContainsFunc(rolling(machineRows.Describe(&cur), machineRows.Describe(m.current())), func(name string) bool {
		return machineRows.Whole(name).Spec == fieldNICs
	}) {
		return true
	}
	first := m.Set.Properties.VirtualMachineProfile.NetworkProfile.NetworkInterfaceConfigurations[0]
	address := first.Properties.IPConfigurations[0]
	is := poolsOf(cur.profile().NetworkProfile, ptr.Deref(first.Name, ""), ptr.Deref(address.Name, ""))
	return len(poolsOver(is, address.Properties.LoadBalancerBackendAddressPools)) != len(is)
}

// poolsOf are the backend pools of one address, by the names of interface and address.
func poolsOf(p *armcompute.VirtualMachineScaleSetNetworkProfile, nic, address string) []*armcompute.SubResource {
	if p == nil {
		return nil
	}
	for _, n := range p.NetworkInterfaceConfigurations {
		if n == nil || n.Properties == nil || !strings.EqualFold(ptr.Deref(n.Name, ""), nic) {
			continue
		}
		for _, a := range n.Properties.IPConfigurations {
			if a != nil && a.Properties != nil && strings.EqualFold(ptr.Deref(a.Name, ""), address) {
				return a.Properties.LoadBalancerBackendAddressPools
			}
		}
	}
	return nil
}

// poolsOver are those that are there, and ours.
func poolsOver(is, wanted []*armcompute.SubResource) []*armcompute.SubResource {
	out := slices.Clone(is)
	for _, pool := range wanted {
		if !slices.ContainsFunc(is, func(other *armcompute.SubResource) bool {
			return other != nil && strings.EqualFold(ptr.Deref(other.ID, ""), ptr.Deref(pool.ID, ""))
		}) {
			out = append(out, pool)
		}
	}
	return out
}
