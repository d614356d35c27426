package template

import (
	"regexp"
	"strconv"
	"strings"
)

// fields are the fields of the specification, by the properties of templates and groups that they become. The first one that a property
// begins with counts.
var fields = []struct{ property, field string }{
	{"properties.machineType", "spec.instanceType"},
	{"properties.disks[0].initializeParams.sourceImage", "spec.image"},
	{"properties.disks[0].initializeParams.diskSizeGb", "spec.rootDeviceSize"},
	{"properties.disks[0].initializeParams.diskType", "spec.rootDeviceType"},
	{"properties.disks[0].diskEncryptionKey", "spec.rootDiskEncryptionKey"},
	{"properties.networkInterfaces[0].subnetwork", "spec.subnet"},
	{"properties.networkInterfaces[0].aliasIpRanges", "spec.aliasIPRanges"},
	{"properties.networkInterfaces", "spec.subnet"},
	{"properties.labels", "spec.additionalLabels"},
	{"properties.metadata", "spec.additionalMetadata"},
	{"properties.tags", "spec.additionalNetworkTags"},
	{"properties.resourceManagerTags", "spec.resourceManagerTags"},
	{"properties.serviceAccounts", "spec.serviceAccounts"},
	{"properties.scheduling.provisioningModel", "spec.provisioningModel"},
	{"properties.scheduling.preemptible", "spec.preemptible"},
	{"properties.scheduling.onHostMaintenance", "spec.onHostMaintenance"},
	{"properties.guestAccelerators", "spec.guestAccelerators"},
	{"properties.shieldedInstanceConfig", "spec.shieldedInstanceConfig"},
	{"properties.confidentialInstanceConfig", "spec.confidentialCompute"},
	{"autoHealingPolicies", "spec.autoHealing"},
	{"instanceLifecyclePolicy", "spec.instanceLifecyclePolicy"},
	{"distributionPolicy.targetShape", "spec.distributionPolicy.targetShape"},
	{"distributionPolicy", "spec.distributionPolicy.zones"},
	{"allInstancesConfig.properties.labels", "spec.additionalLabels"},
	{"targetSize", "spec.replicas"},
}

var disk = regexp.MustCompile(`^properties\.disks\[(\d+)\]`)

// FieldOf returns the field of the specification that a property of a request comes from ("resource.properties.machineType"); empty if it
// is none's.
func FieldOf(property string) string {
	property = strings.TrimPrefix(property, "resource.")
	for _, f := range fields {
		if strings.HasPrefix(property, f.property) {
			return f.field
		}
	}
	if found := disk.FindStringSubmatch(property); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil && n > 0 {
			return "spec.additionalDisks[" + strconv.Itoa(n-1) + "]"
		}
	}
	return ""
}
