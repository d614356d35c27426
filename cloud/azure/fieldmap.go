package azure

import "strings"

// targets maps the parts of a request that Azure names in errors to the object's fields. The longest prefix of an error's target counts,
// letter case aside.
var targets = map[string]string{
	"additionalCapabilities":                 fieldTemplate + ".additionalCapabilities",
	"additionalCapabilities.ultraSSDEnabled": fieldTemplate + ".additionalCapabilities.ultraSSDEnabled",
	"billingProfile.maxPrice":                fieldTemplate + ".spotVMOptions.maxPrice",
	"dataDisk":                               fieldTemplate + ".dataDisks",
	"diagnosticsProfile":                     fieldTemplate + ".diagnostics",
	"encryptionAtHost":                       fieldTemplate + ".securityProfile.encryptionAtHost",
	"evictionPolicy":                         fieldTemplate + ".spotVMOptions.evictionPolicy",
	"extension":                              fieldTemplate + ".vmExtensions",
	"galleryImage":                           fieldImage,
	"hardwareProfile.vmSize":                 fieldSize,
	"identity":                               "spec.identity",
	"imageReference":                         fieldImage,
	"linuxConfiguration.ssh":                 fieldTemplate + ".sshPublicKey",
	"location":                               "spec.location",
	"networkInterface":                       fieldTemplate + ".networkInterfaces",
	"networkProfile":                         fieldTemplate + ".networkInterfaces",
	"orchestrationMode":                      "spec.orchestrationMode",
	"osDisk":                                 fieldTemplate + ".osDisk",
	"osDisk.caching":                         fieldTemplate + ".osDisk.cachingType",
	"osDisk.diffDiskSettings":                fieldTemplate + ".osDisk.diffDiskSettings",
	"osDisk.diskSizeGB":                      fieldTemplate + ".osDisk.diskSizeGB",
	"osDisk.managedDisk":                     fieldTemplate + ".osDisk.managedDisk",
	"osDisk.managedDisk.securityProfile":     fieldTemplate + ".osDisk.managedDisk.securityProfile",
	"osDisk.managedDisk.storageAccountType":  fieldTemplate + ".osDisk.managedDisk.storageAccountType",
	"osDisk.osType":                          fieldTemplate + ".osDisk.osType",
	"plan":                                   fieldImage,
	"platformFaultDomainCount":               "spec.platformFaultDomainCount",
	"priority":                               fieldTemplate + ".spotVMOptions",
	"scheduledEventsProfile":                 fieldTemplate + ".terminateNotificationTimeout",
	"securityProfile":                        fieldTemplate + ".securityProfile",
	"securityProfile.encryptionAtHost":       fieldTemplate + ".securityProfile.encryptionAtHost",
	"securityProfile.securityType":           fieldTemplate + ".securityProfile.securityType",
	"securityProfile.uefiSettings":           fieldTemplate + ".securityProfile.uefiSettings",
	"securityType":                           fieldTemplate + ".securityProfile.securityType",
	"sku.name":                               fieldSize,
	"ssh.publicKeys":                         fieldTemplate + ".sshPublicKey",
	"tags":                                   "spec.additionalTags",
	"uefiSettings":                           fieldTemplate + ".securityProfile.uefiSettings",
	"userAssignedIdentities":                 "spec.userAssignedIdentities",
	"vmSize":                                 fieldSize,
	"zoneBalance":                            "spec.zoneBalance",
}

// fieldOfTarget returns the object's field for the target of an error of Azure; empty if there is none.
func fieldOfTarget(target string) string {
	target = strings.ToLower(target)
	for _, outer := range []string{"properties.", "virtualmachineprofile.", "storageprofile."} {
		target = strings.TrimPrefix(target, outer)
	}
	best, field := "", ""
	for prefix, is := range targets {
		if len(prefix) > len(best) && strings.HasPrefix(target, strings.ToLower(prefix)) {
			best, field = prefix, is
		}
	}
	return field
}
