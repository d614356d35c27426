package model

import "github.com/muster-project/muster/cloud/fields"

// The object's fields that errors, differences and refusals name.
const (
	fieldTemplate    = "spec.template"
	fieldSize        = fieldTemplate + ".vmSize"
	fieldImage       = fieldTemplate + ".image"
	fieldOSDisk      = fieldTemplate + ".osDisk"
	fieldOSType      = fieldOSDisk + ".osType"
	fieldOSDiskSize  = fieldOSDisk + ".diskSizeGB"
	fieldOSCaching   = fieldOSDisk + ".cachingType"
	fieldOSManaged   = fieldOSDisk + ".managedDisk"
	fieldEphemeral   = fieldOSDisk + ".diffDiskSettings"
	fieldDataDisks   = fieldTemplate + ".dataDisks"
	fieldSSH         = fieldTemplate + ".sshPublicKey"
	fieldNICs        = fieldTemplate + ".networkInterfaces"
	fieldUltra       = fieldTemplate + ".additionalCapabilities.ultraSSDEnabled"
	fieldDiagnostics = fieldTemplate + ".diagnostics"
	fieldNotice      = fieldTemplate + ".terminateNotificationTimeout"
	fieldSecurity    = fieldTemplate + ".securityProfile"
	fieldSpot        = fieldTemplate + ".spotVMOptions"
	fieldIdentity    = "spec.identity"
	fieldIdentities  = "spec.userAssignedIdentities"
	fieldMode        = "spec.orchestrationMode"
	fieldLocation    = "spec.location"
	fieldFaults      = "spec.platformFaultDomainCount"
	fieldZoneBalance = "spec.zoneBalance"
	// FieldTags and FieldExtensions are changed in place, on the scale set and then on its machines.
	FieldTags       = "spec.additionalTags"
	FieldExtensions = fieldTemplate + ".vmExtensions"

	// Fields of other objects.
	fieldName      = "metadata.name"
	fieldZones     = "MachinePool spec.failureDomains"
	fieldVersion   = fields.Version
	fieldBootstrap = "MachinePool spec.template.spec.bootstrap"
	fieldVnet      = "AzureCluster spec.networkSpec.vnet"
	fieldSubnets   = "AzureCluster spec.networkSpec.subnets"
	fieldGroup     = "AzureCluster spec.resourceGroup"
)
