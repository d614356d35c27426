package model

import (
	"cmp"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/cloud/fields"
)

// table holds the fields of a pool, as a scale set and its machines show them.
type table = fields.Table[*Current, struct{}]

// allMuster marks lists to which Azure adds nothing.
var allMuster = fields.ServiceOwned{None: true}

// machineRows are the fields that a scale set and its machines show alike. Their names and values are in the digests of contents that
// Muster did not write (seenContent), so that they stay as they are. A field whose value Azure spells in several ways is advisory.
var machineRows = caseless(table{
	{Name: "size", Place: "sku.name", Spec: fieldSize, Effect: fields.Rolls,
		Value: func(c *Current) any { return text(deref(c.Set.SKU).Name) }},
	{Name: "image", Place: "imageReference", Spec: fieldImage, Effect: fields.Rolls, Value: imageTexts},
	{Name: "plan", Place: "plan", Spec: fieldImage, Effect: fields.Rolls, Default: "", Value: planText},
	{Name: "osDisk.size", Place: "osDisk.diskSizeGB", Spec: fieldOSDiskSize, Effect: fields.Rolls,
		Value: func(c *Current) any { return text(c.disk().DiskSizeGB) }},
	{Name: "osDisk.caching", Place: "osDisk.caching", Spec: fieldOSCaching, Effect: fields.Rolls,
		Value: func(c *Current) any { return text(c.disk().Caching) }},
	{Name: "osDisk.type", Place: "osDisk.osType", Spec: fieldOSType, Effect: fields.Fixed,
		Value: func(c *Current) any { return text(c.disk().OSType) }},
	{Name: "osDisk.managed", Place: "osDisk.managedDisk", Spec: fieldOSManaged, Effect: fields.Fixed,
		Value: func(c *Current) any { return diskTexts(c.disk().ManagedDisk) }},
	{Name: "osDisk.ephemeral", Place: "osDisk.diffDiskSettings", Spec: fieldEphemeral, Effect: fields.Fixed, Value: ephemeralTexts},
	{Name: "dataDisks", Place: "dataDisks", Spec: fieldDataDisks, Effect: fields.Rolls, Owned: allMuster, Value: dataDiskTexts,
		Doc: "rolls: a disk without a `lun` gets the lowest that is free"},
	{Name: "ssh", Place: "linuxConfiguration.ssh.publicKeys", Spec: fieldSSH, Effect: fields.Rolls, Value: sshText},
	{Name: "security.encryptionAtHost", Place: "securityProfile.encryptionAtHost", Spec: fieldSecurity, Effect: fields.Rolls,
		Default: "false", Value: func(c *Current) any { return text(c.security().EncryptionAtHost) }},
	{Name: "security.type", Place: "securityProfile.securityType", Spec: fieldSecurity, Effect: fields.Rolls,
		Value: func(c *Current) any { return text(c.security().SecurityType) }},
	{Name: "security.secureBoot", Place: "securityProfile.uefiSettings.secureBootEnabled", Spec: fieldSecurity, Effect: fields.Rolls,
		Advisory: true, Value: func(c *Current) any { return text(deref(c.security().UefiSettings).SecureBootEnabled) }},
	{Name: "security.vTPM", Place: "securityProfile.uefiSettings.vTpmEnabled", Spec: fieldSecurity, Effect: fields.Rolls,
		Advisory: true, Value: func(c *Current) any { return text(deref(c.security().UefiSettings).VTpmEnabled) }},
	{Name: "spot.maxPrice", Place: "billingProfile.maxPrice", Spec: fieldSpot, Effect: fields.Rolls, Advisory: true, Value: priceText},
	{Name: "spot.priority", Place: "priority", Spec: fieldSpot, Effect: fields.Fixed,
		Default: string(armcompute.VirtualMachinePriorityTypesRegular), Value: func(c *Current) any { return text(c.profile().Priority) }},
	{Name: "spot.evictionPolicy", Place: "evictionPolicy", Spec: fieldSpot, Effect: fields.Fixed,
		Value: func(c *Current) any { return text(c.profile().EvictionPolicy) }},
	{Name: "identity", Place: "identity.type", Spec: fieldIdentity, Effect: fields.Rolls, Advisory: true,
		Default: string(armcompute.ResourceIdentityTypeNone), Value: func(c *Current) any { return text(deref(c.Set.Identity).Type) }},
	{Name: "identities", Place: "identity.userAssignedIdentities", Spec: fieldIdentities, Effect: fields.Rolls, Owned: allMuster, Default: "",
		Value: identitiesText},
	{Name: "ultra", Place: "additionalCapabilities.ultraSSDEnabled", Spec: fieldUltra, Effect: fields.Rolls, Advisory: true,
		Default: "false", Doc: "rolls: without it, what `dataDisks` need",
		Value: func(c *Current) any { return text(deref(c.properties().AdditionalCapabilities).UltraSSDEnabled) }},
	{Name: "diagnostics", Place: "diagnosticsProfile.bootDiagnostics", Spec: fieldDiagnostics, Effect: fields.Rolls, Advisory: true,
		Value: diagnosticsTexts},
	{Name: "notice", Place: "scheduledEventsProfile.terminateNotificationProfile", Spec: fieldNotice, Effect: fields.Rolls, Advisory: true,
		Default: "", Value: noticeText},
	{Name: "nics", Place: "networkInterfaceConfigurations", Spec: fieldNICs, Effect: fields.Rolls, Owned: allMuster, Value: nicTexts,
		Doc: "rolls: `acceleratedNetworking` is what the VM size can where it is absent"},
	{Name: "subnetName", Place: "networkInterfaceConfigurations", Spec: fieldTemplate + ".subnetName", Effect: fields.Rolls},
	{Name: "accelerated", Place: "networkInterfaceConfigurations", Spec: fieldTemplate + ".acceleratedNetworking", Effect: fields.Rolls},
})

// setRows are the fields that are compared by more than their values: those that Azure changes for some values alone, those of the scale
// set itself, and what it changes in place. One that can't be changed stays as it is where it is part of the content (Copy).
var setRows = table{
	{Name: "imageSource", Place: "imageReference", Spec: fieldImage, Effect: fields.Fixed, Copy: copyImage,
		Doc:     "fixed: an image of another kind of source (below)",
		Differs: func(want, is *Current) bool { return want.namedImage && otherSource(want, is) }},
	{Name: "defaultImageSource", Place: "imageReference", Spec: fieldVersion, Effect: fields.Fixed, Copy: copyImage,
		Doc:     "fixed: a default image of another kind of source (below)",
		Differs: func(want, is *Current) bool { return !want.namedImage && otherSource(want, is) }},
	{Name: "defaultImage", Place: "imageReference", Spec: fieldVersion, Effect: fields.Rolls, Doc: "rolls where `template.image` is absent"},
	{Name: "osDisk.smaller", Place: "osDisk.diskSizeGB", Spec: fieldOSDiskSize, Effect: fields.Fixed, Doc: "fixed: a smaller disk",
		Differs: func(want, is *Current) bool {
			wanted, size := want.disk().DiskSizeGB, is.disk().DiskSizeGB
			return wanted != nil && size != nil && *wanted < *size
		},
		Copy: func(to, from *Current) { to.profile().StorageProfile.OSDisk.DiskSizeGB = from.disk().DiskSizeGB }},
	// What is cached is bound to where the disk is.
	{Name: "osDisk.onHost", Place: "osDisk.diffDiskSettings", Spec: fieldEphemeral, Effect: fields.Fixed,
		Differs: func(want, is *Current) bool { return want.ephemeral() != is.ephemeral() }, Copy: copyCaching},
	{Name: "security.confidential", Place: "securityProfile.securityType", Spec: fieldSecurity + ".securityType", Effect: fields.Fixed,
		Doc:     "fixed: from and to `ConfidentialVM`",
		Differs: func(want, is *Current) bool { return want.confidential() != is.confidential() }, Copy: copySecurity},
	// Azure refuses a price for machines that are not spot machines.
	{Name: "spot", Place: "priority", Spec: fieldSpot, Effect: fields.Fixed,
		Differs: func(want, is *Current) bool { return want.isSpot() != is.isSpot() },
		Copy: func(to, from *Current) {
			to.Set.Properties.VirtualMachineProfile.BillingProfile = from.profile().BillingProfile
		}},
	{Name: "orchestrationMode", Place: "orchestrationMode", Spec: fieldMode, Effect: fields.Fixed,
		Differs: func(want, is *Current) bool { return want.mode() != is.mode() }},
	{Name: "location", Place: "location", Spec: fieldLocation, Effect: fields.Fixed,
		Differs: func(want, is *Current) bool { return !sameLocation(deref(is.Set.Location), deref(want.Set.Location)) }},
	{Name: "platformFaultDomainCount", Place: "platformFaultDomainCount", Spec: fieldFaults, Effect: fields.Fixed,
		Doc: "fixed: 1 for Flexible where it is absent",
		Differs: func(want, is *Current) bool {
			wanted, count := want.properties().PlatformFaultDomainCount, is.properties().PlatformFaultDomainCount
			return wanted != nil && count != nil && *wanted != *count
		}},
	// A scale set whose zones can't be balanced yet (it gets a second one now) has no balance to compare.
	{Name: "zoneBalance", Place: "zoneBalance", Spec: fieldZoneBalance, Effect: fields.Fixed,
		Doc: "fixed: compared where there are two zones or more",
		Differs: func(want, is *Current) bool {
			wanted := want.properties().ZoneBalance
			return wanted != nil && len(is.zones()) > 1 && deref(is.properties().ZoneBalance) != *wanted
		}},
	{Name: "zonesLess", Place: "zones", Spec: fieldZones, Effect: fields.Fixed, Doc: "fixed: zones that are taken out",
		Differs: func(want, is *Current) bool { return !contains(want.zones(), is.zones()) }},

	{Name: "tags", Place: "tags", Spec: FieldTags, Owned: fields.ServiceOwned{Recorded: TagNames}, Differs: tagsDrift},
	{Name: "extensions", Place: "extensionProfile.extensions", Spec: FieldExtensions, Owned: allMuster, Differs: extensionsDrift,
		Doc: "in place: a tag holds five digits of the hash of `protectedSettings`, which shows a change and no value"},
	{Name: "bootstrapExtension", Place: "extensionProfile.extensions", Spec: fieldTemplate + ".disableVMBootstrapExtension",
		Doc: "in place: one more extension when `false` (public cloud)"},
	{Name: "role", Place: "roleAssignments", Spec: "spec.systemAssignedIdentityRole", Alias: "spec.roleAssignmentName", Doc: "role"},
	{Name: "zones", Place: "zones", Spec: fieldZones, Doc: "in place: further zones, in whatever order", Differs: furtherZones},
	// Only Muster replaces machines.
	{Name: "upgradePolicy", Differs: func(_, is *Current) bool {
		return cmp.Or(deref(deref(is.properties().UpgradePolicy).Mode), armcompute.UpgradeModeManual) != armcompute.UpgradeModeManual
	}},
}

// Rows returns the documented parts of all fields, those with other values on machines first.
func Rows() []fields.Row { return slices.Concat(machineRows, setRows).Rows() }

// caseless has the values of rows compared without regard to their letter case: Azure shows many in letters of its own.
func caseless(rows table) table {
	for k := range rows {
		rows[k].Compare = fields.Caseless
	}
	return rows
}

// otherSource reports whether the wanted image is of another kind of source than that of the scale set.
func otherSource(want, is *Current) bool {
	source := sourceOf(is.image())
	return source != "" && source != sourceOf(want.image())
}

// copyImage keeps an image as it was written, without what Azure adds to what it shows. The plan is the image's.
func copyImage(to, from *Current) {
	image := *from.image()
	image.ExactVersion = nil
	to.profile().StorageProfile.ImageReference, to.Set.Plan = &image, from.Set.Plan
}

// copyCaching keeps a kind of caching, in Muster's spelling: Azure shows words in letters of its own.
func copyCaching(to, from *Current) {
	if deref(from.profile().StorageProfile).OSDisk == nil {
		return
	}
	caching := from.disk().Caching
	for _, known := range armcompute.PossibleCachingTypesValues() {
		if caching != nil && strings.EqualFold(string(known), string(*caching)) {
			caching = &known
		}
	}
	to.profile().StorageProfile.OSDisk.Caching = caching
}

func copySecurity(to, from *Current) {
	if from.profile().StorageProfile != nil {
		to.Set.Properties.VirtualMachineProfile.SecurityProfile = from.profile().SecurityProfile
	}
}

// furtherZones reports whether the zones of a scale set are wanted, and others beside them.
func furtherZones(want, is *Current) bool {
	return contains(want.zones(), is.zones()) && !contains(is.zones(), want.zones())
}

// disk returns the disk of the operating system; empty where there is none.
func (c Current) disk() armcompute.VirtualMachineScaleSetOSDisk {
	return deref(deref(c.profile().StorageProfile).OSDisk)
}

func (c Current) image() *armcompute.ImageReference {
	return deref(c.profile().StorageProfile).ImageReference
}

func (c Current) security() armcompute.SecurityProfile { return deref(c.profile().SecurityProfile) }

// mode of a scale set; one that says nothing is Uniform.
func (c Current) mode() armcompute.OrchestrationMode {
	return cmp.Or(deref(c.properties().OrchestrationMode), armcompute.OrchestrationModeUniform)
}

func (c Current) isSpot() bool {
	return strings.EqualFold(string(deref(c.profile().Priority)), string(armcompute.VirtualMachinePriorityTypesSpot))
}

// ephemeral reports whether the disk of the operating system lies on the host.
func (c Current) ephemeral() bool { return deref(deref(c.disk().DiffDiskSettings).Option) != "" }

func (c Current) confidential() bool {
	return strings.EqualFold(string(deref(c.security().SecurityType)), string(armcompute.SecurityTypesConfidentialVM))
}
