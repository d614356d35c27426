package azure

import (
	"encoding/base64"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

const (
	// maxUniform and maxFlexible bound the capacity of a scale set, maxTogether that in one placement group.
	maxFlexible = 1000
	maxUniform  = 1000
	maxTogether = 100
	// maxCustomData is the largest custom data, in base64.
	maxCustomData = 87380
	// maxTags, maxTagName and maxTagValue bound tags.
	maxTags, maxTagName, maxTagValue = 50, 512, 256
	profilePath                      = "properties.virtualMachineProfile"
)

var (
	setName    = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,62}[A-Za-z0-9_])?$`)
	prefixName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,56}[A-Za-z0-9-])?$`)
	aNotice    = regexp.MustCompile(`^PT([5-9]|1[0-5])M$`)
)

// check refuses a scale set that the service would not have.
func (w *models) check(s *scaleSet, d document) error {
	for _, check := range []func(*scaleSet, document) error{
		w.checkBasics, w.checkSize, w.checkZones, checkTags, w.checkMode, checkPolicies, checkOS, w.checkStorage, checkPriority, checkSecurity, w.checkNetwork, w.checkIdentity,
	} {
		if err := check(s, d); err != nil {
			return err
		}
	}
	return nil
}

func (w *models) checkBasics(s *scaleSet, d document) error {
	if !setName.MatchString(s.Name) {
		return invalid("vmScaleSetName", "The entity name 'vmScaleSetName' is invalid according to its validation rule: %s.", setName.String())
	}
	where := text(d, "location")
	if where == "" {
		return refuse(http.StatusBadRequest, "LocationRequired", "The location property is required for this definition.")
	}
	if locationOf(where) == nil {
		return refuse(http.StatusBadRequest, "LocationNotAvailableForResourceType",
			"The provided location '%s' is not available for resource type 'Microsoft.Compute/virtualMachineScaleSets'. "+
				"List of available regions for the resource type is '%s'.", where, strings.Join(locationNames(), ","))
	}
	if n, _ := number(d, "sku.capacity"); n < 0 || n > maxCapacity(d) {
		return notAllowed("Unable to create or update Virtual Machine Scale Set '%s' as it exceeds the total limit of '%d' Virtual Machine instances.", s.Name, maxCapacity(d))
	}
	if under(d, profilePath) == nil {
		return missing("virtualMachineProfile")
	}
	return nil
}

// maxCapacity is how many machines a scale set may have.
func maxCapacity(d document) int {
	switch {
	case text(d, "properties.orchestrationMode") == modeFlexible:
		return maxFlexible
	case truth(d, "properties.singlePlacementGroup"):
		return maxTogether
	}
	return maxUniform
}

func (w *models) checkSize(_ *scaleSet, d document) error {
	name := text(d, "sku.name")
	if name == "" {
		return missing("sku.name")
	}
	size := sizeOf(name)
	if size == nil {
		return invalid("vmSize", "The value %s provided for the VM size is not valid. The valid sizes in the current region are: %s.", name, strings.Join(sizeNames(), ","))
	}
	where := locationOf(text(d, "location"))
	for _, zone := range append(texts(d, "zones"), "") {
		if !size.offered(where, zone) {
			place := "location '" + where.name + "'"
			if zone != "" {
				place = "zone '" + zone + "' of " + place
			}
			return refuse(http.StatusConflict, "SkuNotAvailable", "The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions: %s' "+
				"is currently not available in %s. Please try another size or deploy to a different location or different zone. See https://aka.ms/azureskunotavailable for details.",
				name, place)
		}
	}
	return nil
}

func (w *models) checkZones(_ *scaleSet, d document) error {
	zones := texts(d, "zones")
	where := locationOf(text(d, "location"))
	for _, z := range zones {
		if where.zones == 0 {
			return refuse(http.StatusBadRequest, "AvailabilityZonesNotSupportedInRegion",
				"The zone(s) '%s' for resource is not supported. The supported zones for location '%s' are ''", z, where.name)
		}
		if !slices.Contains(zoneNames[:where.zones], z) {
			return refuse(http.StatusBadRequest, "InvalidAvailabilityZone", "The zone(s) '%s' for resource is not supported. The supported zones for location '%s' are '%s'",
				z, where.name, strings.Join(zoneNames[:where.zones], ","))
		}
	}
	if truth(d, "properties.zoneBalance") && len(zones) < 2 {
		return invalid("zoneBalance", "The property 'zoneBalance' can only be set if the zones property of the scale set contains more than one zone.")
	}
	if n, ok := number(d, "properties.platformFaultDomainCount"); ok && (n < 1 || n > 5 || len(zones) > 0 && n != 1 && n != 5) {
		return invalid("platformFaultDomainCount", "The specified fault domain count %d must fall in the range 1 to 5; with zones it must be 1 or 5.", n)
	}
	return nil
}

func checkTags(_ *scaleSet, d document) error {
	tags := under(d, "tags")
	if len(tags) > maxTags {
		return refuse(http.StatusBadRequest, "InvalidNumberOfTags", "The number of tags '%d' is more than the maximum allowed '%d'.", len(tags), maxTags)
	}
	for k, v := range tags {
		s, _ := v.(string)
		if k == "" || len(k) > maxTagName || strings.ContainsAny(k, `<>%&\?/`) {
			return refuse(http.StatusBadRequest, "InvalidTagNameCharacters",
				"The tag names '%s' have reserved characters '<,>,%%,&,\\,?,/' or control characters.", k)
		}
		if len(s) > maxTagValue {
			return refuse(http.StatusBadRequest, "InvalidTagValueLength", "Tag value too large. Following tag value '%s' exceeded the maximum length. Maximum allowed length for tag value - '%d' characters.", s, maxTagValue)
		}
	}
	return nil
}

// checkMode holds what belongs to one orchestration mode alone.
func (w *models) checkMode(_ *scaleSet, d document) error {
	if text(d, "properties.orchestrationMode") == modeUniform {
		if text(d, "properties.upgradePolicy.mode") == "" {
			return missing("upgradePolicy")
		}
		return nil
	}
	switch {
	case dig(d, "properties.overprovision") != nil:
		return invalid("overprovision", "The property 'overprovision' is not supported on Virtual Machine Scale Set with orchestration mode 'Flexible'.")
	case truth(d, "properties.singlePlacementGroup"):
		return invalid("singlePlacementGroup", "The property 'singlePlacementGroup' must be false on Virtual Machine Scale Set with orchestration mode 'Flexible'.")
	case text(d, profilePath+".networkProfile.networkApiVersion") == "":
		return missing("networkProfile.networkApiVersion")
	case strings.Contains(text(d, "identity.type"), "SystemAssigned"):
		return invalid("identity.type", "Identity type 'SystemAssigned' is not supported on Virtual Machine Scale Set with orchestration mode 'Flexible'. Only 'UserAssigned' is.")
	}
	return nil
}

func checkOS(_ *scaleSet, d document) error {
	const osProfile = profilePath + ".osProfile"
	prefix := text(d, osProfile+".computerNamePrefix")
	limit := 58
	if text(d, profilePath+".storageProfile.osDisk.osType") == "Windows" {
		limit = 9
	}
	switch {
	case under(d, osProfile) == nil:
		return missing("osProfile")
	case prefix == "":
		return missing("osProfile.computerNamePrefix")
	case len(prefix) > limit || !prefixName.MatchString(prefix):
		return invalid("computerNamePrefix", "The value of parameter computerNamePrefix is invalid: '%s' must be 1 to %d letters, digits and hyphens.", prefix, limit)
	case text(d, osProfile+".adminUsername") == "":
		return missing("osProfile.adminUsername")
	}
	data := text(d, osProfile+".customData")
	if _, err := base64.StdEncoding.DecodeString(data); err != nil {
		return invalid("customData", "Custom data in OSProfile must be in Base64 encoding and with a maximum length of %d characters.", maxCustomData)
	}
	if len(data) > maxCustomData {
		return invalid("customData", "Custom data in OSProfile must be in Base64 encoding and with a maximum length of %d characters.", maxCustomData)
	}
	if truth(d, osProfile+".linuxConfiguration.disablePasswordAuthentication") && len(items(d, osProfile+".linuxConfiguration.ssh.publicKeys")) == 0 {
		return missing("linuxConfiguration.ssh.publicKeys")
	}
	return nil
}

func (w *models) checkStorage(_ *scaleSet, d document) error {
	const storage = profilePath + ".storageProfile"
	if under(d, storage) == nil {
		return missing("storageProfile")
	}
	if err := w.checkImage(under(d, storage+".imageReference"), text(d, "location")); err != nil {
		return err
	}
	size := sizeOf(text(d, "sku.name"))
	if text(d, storage+".osDisk.diffDiskSettings.option") != "" && !size.ephemeral {
		return notAllowed("OS disk of Ephemeral VM with size greater than 0 GB is not allowed for VM size %s when the DiffDiskPlacement is CacheDisk.", size.name)
	}
	return checkDataDisks(d, size)
}

func checkDataDisks(d document, size *vmSize) error {
	luns := map[int]bool{}
	for _, disk := range objects(d, profilePath+".storageProfile.dataDisks") {
		lun, given := number(disk, "lun")
		switch {
		case !given:
			return missing("dataDisk.lun")
		case lun < 0 || lun > 63 || luns[lun]:
			return invalid("dataDisk.lun", "A disk at LUN %d already exists, or it is not within 0 and 63.", lun)
		case text(disk, "createOption") == "":
			return missing("dataDisk.createOption")
		case text(disk, "managedDisk.storageAccountType") == "UltraSSD_LRS" && !truth(d, "properties.additionalCapabilities.ultraSSDEnabled"):
			return invalid("managedDisk.storageAccountType", "StorageAccountType UltraSSD_LRS can be used only when additionalCapabilities.ultraSSDEnabled is set.")
		}
		luns[lun] = true
	}
	if len(luns) > size.dataDisks {
		return notAllowed("The maximum number of data disks allowed to be attached to a VM of this size is %d.", size.dataDisks)
	}
	return nil
}

func checkPriority(_ *scaleSet, d document) error {
	spot := text(d, profilePath+".priority") == "Spot"
	if !spot && (text(d, profilePath+".evictionPolicy") != "" || dig(d, profilePath+".billingProfile.maxPrice") != nil) {
		return invalid("evictionPolicy", "Eviction policy and max price can be set only on Azure Spot Virtual Machine Scale Sets.")
	}
	if t := text(d, profilePath+".scheduledEventsProfile.terminateNotificationProfile.notBeforeTimeout"); t != "" && !aNotice.MatchString(t) {
		return invalid("notBeforeTimeout", "The value '%s' of parameter 'notBeforeTimeout' is out of range: it must be from PT5M to PT15M.", t)
	}
	return nil
}

func checkSecurity(_ *scaleSet, d document) error {
	size := sizeOf(text(d, "sku.name"))
	security := under(d, profilePath+".securityProfile")
	kind := text(d, profilePath+".securityProfile.securityType")
	confidential := text(d, profilePath+".storageProfile.osDisk.managedDisk.securityProfile.securityEncryptionType") != ""
	switch {
	case truth(security, "encryptionAtHost") && !size.hostEncryption:
		return invalid("encryptionAtHost", "The property 'securityProfile.encryptionAtHost' is not valid because the VM size '%s' does not support it.", size.name)
	case security["uefiSettings"] != nil && (kind == "" || kind == "Standard"):
		return invalid("securityProfile.uefiSettings", "UEFI settings can be set only with security type TrustedLaunch or ConfidentialVM.")
	case kind == "ConfidentialVM" && !size.confidential:
		return badRequest("The VM size '%s' is not supported for creation of VMs and Virtual Machine Scale Set with 'ConfidentialVM' security type.", size.name)
	case (kind == "ConfidentialVM") != confidential:
		return invalid("securityEncryptionType", "Security type ConfidentialVM and the encryption of the disks of confidential machines must be set together.")
	case kind == "TrustedLaunch" && !size.trusted:
		return badRequest("The VM size '%s' is not supported for creation of VMs and Virtual Machine Scale Set with 'TrustedLaunch' security type.", size.name)
	}
	return nil
}
