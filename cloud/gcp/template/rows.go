package template

import (
	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/gcp/session"
)

// document is the properties of a template of a project.
type document struct {
	*compute.InstanceProperties
	project string
}

// allMuster marks lists to which Compute Engine adds nothing.
var allMuster = fields.ServiceOwned{None: true}

// Rows are the fields of the specification that machines get from a template. The names and values of those that have a value are in the
// hashes of contents, so that they stay as they are; their form is one that what is sent and what Compute Engine answers have in common.
// The places are properties of requests: the first row whose place a property begins with is that of its field.
var Rows = fields.Table[document, struct{}]{
	{Name: "instanceType", Place: "properties.machineType", Spec: "spec.instanceType", Effect: fields.Rolls,
		Value: func(d document) any { return session.LastName(d.MachineType) }},
	{Name: partImage, Place: "properties.disks[0].initializeParams.sourceImage", Spec: "spec.image", Alias: "spec.imageFamily",
		Effect: fields.Rolls, Value: ofBoot(func(d document, b disk) any { return imagePath(b.image, d.project) })},
	{Name: partRootSize, Place: "properties.disks[0].initializeParams.diskSizeGb", Spec: "spec.rootDeviceSize", Effect: fields.Rolls,
		Value: ofBoot(func(_ document, b disk) any { return b.Size })},
	{Name: "rootDeviceType", Place: "properties.disks[0].initializeParams.diskType", Spec: "spec.rootDeviceType", Effect: fields.Rolls,
		Value: ofBoot(func(_ document, b disk) any { return b.Type })},
	{Name: "rootDiskEncryptionKey", Place: "properties.disks[0].diskEncryptionKey", Spec: "spec.rootDiskEncryptionKey", Effect: fields.Rolls,
		Owned: allMuster, Value: ofBoot(func(_ document, b disk) any { return written([]string{b.Key, b.Account}) })},
	{Name: "additionalDisks", Spec: "spec.additionalDisks", Effect: fields.Rolls, Owned: allMuster, Value: additionalDisks},
	{Name: "aliasIPRanges", Place: "properties.networkInterfaces[0].aliasIpRanges", Spec: "spec.aliasIPRanges", Effect: fields.Rolls,
		Owned: allMuster, Value: func(d document) any { return written(d.aliasRanges()) }},
	{Name: "subnet", Place: "properties.networkInterfaces", Spec: "spec.subnet", Effect: fields.Rolls,
		Value: func(d document) any { return written(d.networks()) }},
	{Name: "publicIP", Spec: "spec.publicIP", Effect: fields.Rolls, Value: func(d document) any { return d.public() }},
	{Name: "ipForwarding", Spec: "spec.ipForwarding", Effect: fields.Rolls, Value: func(d document) any { return d.CanIpForward }},
	{Name: "additionalMetadata", Place: "properties.metadata", Spec: "spec.additionalMetadata", Effect: fields.Rolls, Owned: allMuster,
		Value: func(d document) any { return written(metadataOf(d.InstanceProperties)) }},
	{Name: "additionalNetworkTags", Place: "properties.tags", Spec: "spec.additionalNetworkTags", Effect: fields.Rolls, Owned: allMuster,
		Value: func(d document) any { return written(tagsOf(d.InstanceProperties)) }},
	{Name: "resourceManagerTags", Place: "properties.resourceManagerTags", Spec: "spec.resourceManagerTags", Effect: fields.Rolls,
		Owned: allMuster, Value: func(d document) any {
			if len(d.ResourceManagerTags) == 0 {
				return nil
			}
			return written(d.ResourceManagerTags)
		}},
	{Name: "serviceAccounts", Place: "properties.serviceAccounts", Spec: "spec.serviceAccounts", Effect: fields.Rolls,
		Owned: allMuster, Value: func(d document) any { return written(d.ServiceAccounts) }},
	{Name: "provisioningModel", Place: "properties.scheduling.provisioningModel", Spec: "spec.provisioningModel", Effect: fields.Rolls,
		Value: provisioningModel},
	{Name: "preemptible", Place: "properties.scheduling.preemptible", Spec: "spec.preemptible", Effect: fields.Rolls},
	{Name: "onHostMaintenance", Place: "properties.scheduling.onHostMaintenance", Spec: "spec.onHostMaintenance", Effect: fields.Rolls,
		Value: func(d document) any {
			if d.Scheduling == nil || d.Scheduling.OnHostMaintenance == "" {
				return migrate
			}
			return d.Scheduling.OnHostMaintenance
		}},
	{Name: "guestAccelerators", Place: "properties.guestAccelerators", Spec: "spec.guestAccelerators", Effect: fields.Rolls,
		Owned: allMuster, Value: func(d document) any { return written(acceleratorsOf(d.InstanceProperties)) }},
	{Name: "shieldedInstanceConfig", Place: "properties.shieldedInstanceConfig", Spec: "spec.shieldedInstanceConfig", Effect: fields.Rolls,
		Value: func(d document) any {
			if d.ShieldedInstanceConfig == nil {
				return nil
			}
			is := d.ShieldedInstanceConfig
			return written([]bool{is.EnableSecureBoot, is.EnableVtpm, is.EnableIntegrityMonitoring})
		}},
	{Name: "confidentialCompute", Place: "properties.confidentialInstanceConfig", Spec: "spec.confidentialCompute", Effect: fields.Rolls,
		Value: func(d document) any { return written(d.ConfidentialInstanceConfig) }},
	{Name: "version", Spec: fields.Version, Effect: fields.Rolls,
		Doc: "looks up the image of the version where the specification names none, and replaces instances by `strategy`"},
}
