package compute

import (
	"encoding/base64"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/document"
)

const (
	// maxUniform and maxFlexible bound the capacity of a scale set, maxTogether that in one placement group.
	maxFlexible = 1000
	maxUniform  = 1000
	maxTogether = 100
	// maxCustomData is the largest custom data, in base64.
	maxCustomData = 87380
	profilePath   = "properties.virtualMachineProfile"
)

var (
	setName    = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,62}[A-Za-z0-9_])?$`)
	prefixName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,56}[A-Za-z0-9-])?$`)
	aNotice    = regexp.MustCompile(`^PT([5-9]|1[0-5])M$`)
)

// check refuses a scale set that the service would not have.
func (w *models) check(s *scaleSet, d document.Object) error {
	for _, check := range []func(*scaleSet, document.Object) error{
		w.checkBasics, w.checkSize, w.checkZones, checkTags, w.checkMode, checkPolicies, checkOS, w.checkStorage, checkPriority, checkSecurity,
		w.checkNetwork, w.checkIdentity,
	} {
		if err := check(s, d); err != nil {
			return err
		}
	}
	return nil
}

func (w *models) checkBasics(s *scaleSet, d document.Object) error {
	if !setName.MatchString(s.Name) {
		return arm.Invalid("vmScaleSetName", "The entity name 'vmScaleSetName' is invalid according to its validation rule: %s.",
			setName.String())
	}
	where := document.Text(d, "location")
	if where == "" {
		return arm.Refuse(http.StatusBadRequest, "LocationRequired", "The location property is required for this definition.")
	}
	if arm.LocationOf(where) == nil {
		return arm.Refuse(http.StatusBadRequest, "LocationNotAvailableForResourceType",
			"The provided location '%s' is not available for resource type 'Microsoft.Compute/virtualMachineScaleSets'. "+
				"List of available regions for the resource type is '%s'.", where, strings.Join(arm.LocationNames(), ","))
	}
	if n, _ := document.Number(d, "sku.capacity"); n < 0 || n > maxCapacity(d) {
		return arm.NotAllowed("Unable to create or update Virtual Machine Scale Set '%s' as it exceeds the total limit of '%d' Virtual Machine "+
			"instances.", s.Name, maxCapacity(d))
	}
	if document.Under(d, profilePath) == nil {
		return arm.Missing("virtualMachineProfile")
	}
	return nil
}

// maxCapacity limits the machines of a scale set.
func maxCapacity(d document.Object) int {
	switch {
	case document.Text(d, "properties.orchestrationMode") == modeFlexible:
		return maxFlexible
	case document.Truth(d, "properties.singlePlacementGroup"):
		return maxTogether
	}
	return maxUniform
}

func (w *models) checkSize(_ *scaleSet, d document.Object) error {
	name := document.Text(d, "sku.name")
	if name == "" {
		return arm.Missing("sku.name")
	}
	size := sizeOf(name)
	if size == nil {
		return arm.Invalid("vmSize", "The value %s provided for the VM size is not valid. The valid sizes in the current region are: %s.", name,
			strings.Join(sizeNames(), ","))
	}
	where := arm.LocationOf(document.Text(d, "location"))
	for _, zone := range append(document.Texts(d, "zones"), "") {
		if !size.offered(where, zone) {
			place := "location '" + where.Name + "'"
			if zone != "" {
				place = "zone '" + zone + "' of " + place
			}
			return arm.Refuse(http.StatusConflict, "SkuNotAvailable",
				"The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions: %s' "+
					"is currently not available in %s. Please try another size or deploy to a different location or different zone. See "+
					"https://aka.ms/azureskunotavailable for details.",
				name, place)
		}
	}
	return nil
}

func (w *models) checkZones(_ *scaleSet, d document.Object) error {
	zones := document.Texts(d, "zones")
	where := arm.LocationOf(document.Text(d, "location"))
	for _, z := range zones {
		if where.Zones == 0 {
			return arm.Refuse(http.StatusBadRequest, "AvailabilityZonesNotSupportedInRegion",
				"The zone(s) '%s' for resource is not supported. The supported zones for location '%s' are ''", z, where.Name)
		}
		if !slices.Contains(where.ZoneNames(), z) {
			return arm.Refuse(http.StatusBadRequest, "InvalidAvailabilityZone",
				"The zone(s) '%s' for resource is not supported. The supported zones for location '%s' are '%s'",
				z, where.Name, strings.Join(where.ZoneNames(), ","))
		}
	}
	if document.Truth(d, "properties.zoneBalance") && len(zones) < 2 {
		return arm.Invalid("zoneBalance", "The property 'zoneBalance' can only be set if the zones property of the scale set contains more "+
			"than one zone.")
	}
	if n, ok := document.Number(d, "properties.platformFaultDomainCount"); ok && (n < 1 || n > 5 || len(zones) > 0 && n != 1 && n != 5) {
		return arm.Invalid("platformFaultDomainCount",
			"The specified fault domain count %d must fall in the range 1 to 5; with zones it must be 1 or 5.", n)
	}
	return nil
}

func checkTags(_ *scaleSet, d document.Object) error { return arm.CheckTags(d) }

// checkMode holds what belongs to one orchestration mode alone.
func (w *models) checkMode(_ *scaleSet, d document.Object) error {
	if document.Text(d, "properties.orchestrationMode") == modeUniform {
		if document.Text(d, "properties.upgradePolicy.mode") == "" {
			return arm.Missing("upgradePolicy")
		}
		return nil
	}
	switch {
	case document.Dig(d, "properties.overprovision") != nil:
		return arm.Invalid("overprovision", "The property 'overprovision' is not supported on Virtual Machine Scale Set with orchestration "+
			"mode 'Flexible'.")
	case document.Truth(d, "properties.singlePlacementGroup"):
		return arm.Invalid("singlePlacementGroup",
			"The property 'singlePlacementGroup' must be false on Virtual Machine Scale Set with orchestration mode 'Flexible'.")
	case document.Text(d, profilePath+".networkProfile.networkApiVersion") == "":
		return arm.Missing("networkProfile.networkApiVersion")
	case strings.Contains(document.Text(d, "identity.type"), "SystemAssigned"):
		return arm.Invalid("identity.type", "Identity type 'SystemAssigned' is not supported on Virtual Machine Scale Set with orchestration "+
			"mode 'Flexible'. Only 'UserAssigned' is.")
	}
	return nil
}

func checkOS(_ *scaleSet, d document.Object) error {
	const osProfile = profilePath + ".osProfile"
	prefix := document.Text(d, osProfile+".computerNamePrefix")
	limit := 58
	if document.Text(d, profilePath+".storageProfile.osDisk.osType") == "Windows" {
		limit = 9
	}
	switch {
	case document.Under(d, osProfile) == nil:
		return arm.Missing("osProfile")
	case prefix == "":
		return arm.Missing("osProfile.computerNamePrefix")
	case len(prefix) > limit || !prefixName.MatchString(prefix):
		return arm.Invalid("computerNamePrefix",
			"The value of parameter computerNamePrefix is invalid: '%s' must be 1 to %d letters, digits and hyphens.", prefix, limit)
	case document.Text(d, osProfile+".adminUsername") == "":
		return arm.Missing("osProfile.adminUsername")
	}
	data := document.Text(d, osProfile+".customData")
	if _, err := base64.StdEncoding.DecodeString(data); err != nil {
		return arm.Invalid("customData", "Custom data in OSProfile must be in Base64 encoding and with a maximum length of %d characters.",
			maxCustomData)
	}
	if len(data) > maxCustomData {
		return arm.Invalid("customData", "Custom data in OSProfile must be in Base64 encoding and with a maximum length of %d characters.",
			maxCustomData)
	}
	if document.Truth(d, osProfile+".linuxConfiguration.disablePasswordAuthentication") &&
		len(document.Items(d, osProfile+".linuxConfiguration.ssh.publicKeys")) == 0 {
		return arm.Missing("linuxConfiguration.ssh.publicKeys")
	}
	return nil
}

func (w *models) checkStorage(_ *scaleSet, d document.Object) error {
	const storage = profilePath + ".storageProfile"
	if document.Under(d, storage) == nil {
		return arm.Missing("storageProfile")
	}
	if err := w.checkImage(document.Under(d, storage+".imageReference"), document.Text(d, "location")); err != nil {
		return err
	}
	if document.Dig(d, storage+".osDisk.image") != nil || document.Dig(d, storage+".osDisk.vhdContainers") != nil {
		return arm.Invalid("osDisk.image", "The disks of this scale set are managed: they are made of imageReference, never of the address "+
			"of a VHD.")
	}
	if err := checkDiskSize("osDisk", document.Under(d, storage+".osDisk"), maxOSDisk); err != nil {
		return err
	}
	size := sizeOf(document.Text(d, "sku.name"))
	if document.Text(d, storage+".osDisk.diffDiskSettings.option") != "" && !size.ephemeral {
		return arm.NotAllowed("OS disk of Ephemeral VM with size greater than 0 GB is not allowed for VM size %s when the DiffDiskPlacement is "+
			"CacheDisk.", size.name)
	}
	return checkDataDisks(d, size)
}

// maxOSDisk and maxDataDisk are the largest disks, in GB.
const maxOSDisk, maxDataDisk = 4095, 65536

// checkDiskSize refuses a disk of a size that no disk has.
func checkDiskSize(member string, disk document.Object, most int) error {
	if n, given := document.Number(disk, "diskSizeGB"); given && (n < 1 || n > most) {
		return arm.Invalid(member+".diskSizeGB",
			"The value '%d' of parameter '%s.diskSizeGB' is out of range. The value must be between '1' and '%d', inclusive.", n, member, most)
	}
	return nil
}

func checkDataDisks(d document.Object, size *vmSize) error {
	luns := map[int]bool{}
	for _, disk := range document.Objects(d, profilePath+".storageProfile.dataDisks") {
		lun, given := document.Number(disk, "lun")
		switch {
		case !given:
			return arm.Missing("dataDisk.lun")
		case lun < 0 || lun > 63 || luns[lun]:
			return arm.Invalid("dataDisk.lun", "A disk at LUN %d already exists, or it is not within 0 and 63.", lun)
		case document.Text(disk, "createOption") == "":
			return arm.Missing("dataDisk.createOption")
		case document.Text(disk, "managedDisk.storageAccountType") == "UltraSSD_LRS" &&
			!document.Truth(d, "properties.additionalCapabilities.ultraSSDEnabled"):
			return arm.Invalid("managedDisk.storageAccountType",
				"StorageAccountType UltraSSD_LRS can be used only when additionalCapabilities.ultraSSDEnabled is set.")
		}
		luns[lun] = true
		if err := checkDiskSize("dataDisk", disk, maxDataDisk); err != nil {
			return err
		}
	}
	if len(luns) > size.dataDisks {
		return arm.NotAllowed("The maximum number of data disks allowed to be attached to a VM of this size is %d.", size.dataDisks)
	}
	return nil
}

func checkPriority(_ *scaleSet, d document.Object) error {
	spot := document.Text(d, profilePath+".priority") == "Spot"
	if !spot && (document.Text(d, profilePath+".evictionPolicy") != "" || document.Dig(d, profilePath+".billingProfile.maxPrice") != nil) {
		return arm.Invalid("evictionPolicy", "Eviction policy and max price can be set only on Azure Spot Virtual Machine Scale Sets.")
	}
	if t := document.Text(d, profilePath+".scheduledEventsProfile.terminateNotificationProfile.notBeforeTimeout"); t != "" &&
		!aNotice.MatchString(t) {
		return arm.Invalid("notBeforeTimeout",
			"The value '%s' of parameter 'notBeforeTimeout' is out of range: it must be from PT5M to PT15M.", t)
	}
	return nil
}

func checkSecurity(_ *scaleSet, d document.Object) error {
	size := sizeOf(document.Text(d, "sku.name"))
	security := document.Under(d, profilePath+".securityProfile")
	kind := document.Text(d, profilePath+".securityProfile.securityType")
	confidential := document.Text(d, profilePath+".storageProfile.osDisk.managedDisk.securityProfile.securityEncryptionType") != ""
	switch {
	case document.Truth(security, "encryptionAtHost") && !size.hostEncryption:
		return arm.Invalid("encryptionAtHost",
			"The property 'securityProfile.encryptionAtHost' is not valid because the VM size '%s' does not support it.", size.name)
	case security["uefiSettings"] != nil && (kind == "" || kind == "Standard"):
		return arm.Invalid("securityProfile.uefiSettings", "UEFI settings can be set only with security type TrustedLaunch or ConfidentialVM.")
	case kind == "ConfidentialVM" && !size.confidential:
		return arm.BadRequest("The VM size '%s' is not supported for creation of VMs and Virtual Machine Scale Set with 'ConfidentialVM' "+
			"security type.", size.name)
	case (kind == "ConfidentialVM") != confidential:
		return arm.Invalid("securityEncryptionType",
			"Security type ConfidentialVM and the encryption of the disks of confidential machines must be set together.")
	case kind == "TrustedLaunch" && !size.trusted:
		return arm.BadRequest("The VM size '%s' is not supported for creation of VMs and Virtual Machine Scale Set with 'TrustedLaunch' "+
			"security type.", size.name)
	}
	return nil
}
