package crd_test

import (
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const (
	azurePoolKind    = "AzureMachinePool"
	azureMachineKind = "AzureMachinePoolMachine"
	// azureLeast is the least that an AzureMachinePool must say.
	azureLeast = "location: westus2\ntemplate: {vmSize: Standard_D2s_v3, osDisk: {}}"
	guid       = "11111111-2222-3333-4444-555555555555"
)

// template returns a specification whose template has some more fields.
func template(fields string) string {
	return "location: westus2\ntemplate: {vmSize: Standard_D2s_v3, osDisk: {osType: Linux}, " + fields + "}"
}

// disk returns a specification whose OS disk has the given fields, and more fields of the template.
func disk(fields, more string) string {
	return "location: westus2\ntemplate: {vmSize: Standard_D2s_v3, osDisk: {" + fields + "}" + more + "}"
}

// tryAzure tries every case on a new object and, where it is refused, on one that existed before.
func tryAzure(t *testing.T, cases []ruleCase) {
	a := admissionOf(t, azurePoolKind, "v1beta1")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := kindText(azurePoolKind, "v1beta1", c.spec)
			compare(t, c.reason, a.admit(object(t, text), nil), c.refused)
			if c.refused == nil {
				compare(t, "left as it is: "+c.reason, a.admit(object(t, text), object(t, text)), nil)
				return
			}
			compare(t, "on update: "+c.reason, a.admit(object(t, text), object(t, kindText(azurePoolKind, "v1beta1", azureLeast))), c.refused)
		})
	}
}

// TestUndrainableRules holds what a strategy may say about nodes that can't be drained. All kinds whose machines Muster replaces share it.
func TestUndrainableRules(t *testing.T) {
	t.Parallel()
	tryAzure(t, []ruleCase{
		{name: "quarantine", reason: "the maximum is 1 unless it is set", spec: "strategy: {undrainable: {action: Quarantine, after: 2h}}\n" +
			azureLeast},
		{name: "quarantine of many", reason: "of large pools", spec: "strategy: {undrainable: {action: Quarantine, after: 90m, max: 20}}\n" +
			azureLeast},
		{name: "an action alone", reason: "nothing is forced at once", spec: "strategy: {undrainable: {action: Force}}\n" + azureLeast,
			refused: []string{"spec.strategy.undrainable.after", "must be set"}},
		{name: "an action without a name", reason: "it waits, whatever the time is", spec: "strategy: {undrainable: {after: 2h}}\n" + azureLeast},
		{name: "a time of nothing", reason: "no pod would be evicted", spec: "strategy: {undrainable: {action: Force, after: 0s}}\n" + azureLeast,
			refused: []string{"spec.strategy.undrainable.after", "above zero"}},
		{name: "a time that is none", reason: "days are no unit", spec: "strategy: {undrainable: {action: Force, after: 2d}}\n" + azureLeast,
			refused: []string{"spec.strategy.undrainable.after"}},
		{name: "a maximum of what is forced", reason: "all of them are", spec: "strategy: {undrainable: {action: Force, after: 2h, max: 1}}\n" +
			azureLeast, refused: []string{"spec.strategy.undrainable.max", "Quarantine only"}},
	})
}

func TestAzurePoolRules(t *testing.T) {
	t.Parallel()
	tryAzure(t, []ruleCase{
		{name: "the least", reason: "everything else has a default", spec: azureLeast},
		{name: "the seed's manifest", reason: "published manifests apply as they are", spec: `
location: westus2
strategy: {rollingUpdate: {deletePolicy: Oldest, maxSurge: 25%, maxUnavailable: 1}, type: RollingUpdate}
template: {osDisk: {diskSizeGB: 30, managedDisk: {storageAccountType: Premium_LRS}, osType: Linux}, sshPublicKey: c3NoLXJzYSBBQUFB, vmSize: Standard_D2s_v3}`},
		{name: "flexible", reason: "the other mode; the version is nothing that a schema knows",
			spec: "orchestrationMode: Flexible\nplatformFaultDomainCount: 1\nzoneBalance: true\n" + azureLeast},
		{name: "everything about identities", reason: "each kind with what belongs to it",
			spec: "identity: SystemAssigned\nsystemAssignedIdentityRole: {name: " + guid + ", definitionID: /r, scope: /s}\n" + azureLeast},
		{name: "the deprecated name", reason: "older manifests",
			spec: "identity: SystemAssigned\nroleAssignmentName: " + guid + "\n" + azureLeast},
		{name: "identities of the user", reason: "in both modes",
			spec: "orchestrationMode: Flexible\nidentity: UserAssigned\nuserAssignedIdentities: [{providerID: 'azure:///subscriptions/s'}]\n" +
				azureLeast},
		{name: "tags", reason: "names and values as Azure takes them",
			spec: "additionalTags: {team: a, 'cost.center': '', kubernetes.io_x: z}\n" + azureLeast},

		{name: "no location", reason: "where?", spec: "template: {vmSize: S, osDisk: {}}", refused: []string{"spec.location", "Required"}},
		{name: "an empty location", reason: "where?", spec: "location: ''\ntemplate: {vmSize: S, osDisk: {}}",
			refused: []string{"spec.location", "at least 1"}},
		{name: "no template", reason: "of what?", spec: "location: westus2", refused: []string{"spec.template", "Required"}},
		{name: "no size", reason: "of what?", spec: "location: westus2\ntemplate: {osDisk: {}}",
			refused: []string{"spec.template.vmSize", "Required"}},
		{name: "no disk", reason: "upstream wants it too", spec: "location: westus2\ntemplate: {vmSize: S}",
			refused: []string{"spec.template.osDisk", "Required"}},
		{name: "both zero", reason: "nothing could ever be replaced",
			spec: "strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}\n" + azureLeast,
			refused: []string{"spec.strategy.rollingUpdate.maxUnavailable",
				"rolling update strategy MaxUnavailable must not be 0 if MaxSurge is 0"}},
		{name: "zero percent", reason: "the same in other letters",
			spec: "strategy: {rollingUpdate: {maxSurge: 0%, maxUnavailable: 0}}\n" + azureLeast,
			refused: []string{"spec.strategy.rollingUpdate.maxUnavailable",
				"rolling update strategy MaxUnavailable must not be 0 if MaxSurge is 0"}},
		{name: "no surge and the default", reason: "the default is none unavailable",
			spec:    "strategy: {rollingUpdate: {maxSurge: 0}}\n" + azureLeast,
			refused: []string{"spec.strategy.rollingUpdate.maxUnavailable", "MaxUnavailable must not be 0"}},
		{name: "another strategy", reason: "there are two", spec: "strategy: {type: Recreate}\n" + azureLeast,
			refused: []string{"spec.strategy.type", "RollingUpdate", "OnDelete"}},
		{name: "waves", reason: "numbers and percentages may be mixed", spec: "strategy: {waves: [1, '10%']}\n" + azureLeast},
		{name: "a wave of nothing", reason: "it would rest before anything is replaced", spec: "strategy: {waves: [0]}\n" + azureLeast,
			refused: []string{"spec.strategy.waves[0]", "at least 1"}},
		{name: "another policy", reason: "the message lists what is allowed",
			spec:    "strategy: {rollingUpdate: {deletePolicy: First}}\n" + azureLeast,
			refused: []string{"spec.strategy.rollingUpdate.deletePolicy", "Random", "Newest", "Oldest"}},
		{name: "another mode", reason: "the message lists what is allowed", spec: "orchestrationMode: Mixed\n" + azureLeast,
			refused: []string{"spec.orchestrationMode", "Flexible", "Uniform"}},
		{name: "another identity", reason: "the message lists what is allowed", spec: "identity: Both\n" + azureLeast,
			refused: []string{"spec.identity", "None", "SystemAssigned", "UserAssigned"}},
		{name: "identities without the type", reason: "Azure refuses it", spec: "identity: UserAssigned\n" + azureLeast,
			refused: []string{"spec.userAssignedIdentities", "must be specified for the 'UserAssigned' identity type"}},
		{name: "an identity twice", reason: "Azure has one of them",
			spec: "identity: UserAssigned\nuserAssignedIdentities: [{providerID: /subscriptions/s/q}, {providerID: /subscriptions/s/Q}]\n" +
				azureLeast,
			refused: []string{"spec.userAssignedIdentities", "no two may be the same identity"}},
		{name: "identities unused", reason: "they would have no effect", spec: "userAssignedIdentities: [{providerID: x}]\n" + azureLeast,
			refused: []string{"spec.userAssignedIdentities", "only be set"}},
		{name: "system identity of flexible", reason: "Azure refuses it",
			spec:    "orchestrationMode: Flexible\nidentity: SystemAssigned\n" + azureLeast,
			refused: []string{"spec.identity", "Flexible", "UserAssigned"}},
		{name: "a role without an identity", reason: "it would have no effect",
			spec:    "systemAssignedIdentityRole: {definitionID: /r, scope: /s}\n" + azureLeast,
			refused: []string{"spec.systemAssignedIdentityRole", "can only be set when identity is set to SystemAssigned"}},
		{name: "a name without an identity", reason: "it would have no effect", spec: "roleAssignmentName: " + guid + "\n" + azureLeast,
			refused: []string{"spec.roleAssignmentName", "should only be set when using system assigned identity"}},
		{name: "the name twice", reason: "which of the two would hold?",
			spec:    "identity: SystemAssigned\nroleAssignmentName: " + guid + "\nsystemAssignedIdentityRole: {name: " + guid + "}\n" + azureLeast,
			refused: []string{"spec.roleAssignmentName", "cannot set both"}},
		{name: "a name that is none", reason: "Azure refuses it",
			spec:    "identity: SystemAssigned\nsystemAssignedIdentityRole: {name: reader}\n" + azureLeast,
			refused: []string{"spec.systemAssignedIdentityRole.name", "must be a valid GUID"}},
		{name: "a deprecated name that is none", reason: "Azure refuses it",
			spec:    "identity: SystemAssigned\nroleAssignmentName: reader\n" + azureLeast,
			refused: []string{"spec.roleAssignmentName", "must be a valid GUID"}},
		{name: "a role that is none", reason: "it can't be assigned",
			spec:    "identity: SystemAssigned\nsystemAssignedIdentityRole: {definitionID: ''}\n" + azureLeast,
			refused: []string{"spec.systemAssignedIdentityRole.definitionID", "at least 1"}},
		{name: "a scope that is none", reason: "it can't be assigned",
			spec:    "identity: SystemAssigned\nsystemAssignedIdentityRole: {scope: ''}\n" + azureLeast,
			refused: []string{"spec.systemAssignedIdentityRole.scope", "at least 1"}},
		{name: "no fault domain", reason: "Azure has one to five", spec: "platformFaultDomainCount: 0\n" + azureLeast,
			refused: []string{"spec.platformFaultDomainCount", "greater than or equal to 1"}},
		{name: "six fault domains", reason: "Azure has one to five", spec: "platformFaultDomainCount: 6\n" + azureLeast,
			refused: []string{"spec.platformFaultDomainCount", "less than or equal to 5"}},
		{name: "a tag with a slash", reason: "Azure refuses it", spec: "additionalTags: {'a/b': c}\n" + azureLeast,
			refused: []string{"spec.additionalTags", "no name may hold"}},
		{name: "a tag with a backslash", reason: "Azure refuses it", spec: "additionalTags: {'a\\b': c}\n" + azureLeast,
			refused: []string{"spec.additionalTags", "no name may hold"}},
		{name: "a tag of Azure's", reason: "Azure refuses it", spec: "additionalTags: {AzureX: c}\n" + azureLeast,
			refused: []string{"spec.additionalTags", "keeps these for itself"}},
		{name: "a tag of Muster's", reason: "who owns a group is not for people to say",
			spec: "additionalTags: {muster.dev_owner: me}\n" + azureLeast, refused: []string{"spec.additionalTags", "muster.dev_"}},
		{name: "a tag of Muster's as Azure takes it", reason: "Azure does not tell names apart by case",
			spec: "additionalTags: {Muster.DEV_owner: me}\n" + azureLeast, refused: []string{"spec.additionalTags", "muster.dev_"}},
		{name: "a field that is none", reason: "a misspelt field would be lost in silence", spec: "orchestration: Flexible\n" + azureLeast,
			refused: []string{"spec.orchestration", "unknown field"}},
		{name: "a drain timeout", reason: "it is on the MachinePool since long", spec: "nodeDrainTimeout: 5m\n" + azureLeast,
			refused: []string{"spec.nodeDrainTimeout", "unknown field"}},
	})
}

// azureTemplateRulesCases are the cases of TestAzureTemplateRules.
var azureTemplateRulesCases = []ruleCase{
	{name: "image by id", reason: "the shortest way", spec: template("image: {id: /subscriptions/s/x}")},
	{name: "image of the marketplace", reason: "with and without a plan",
		spec: template("image: {marketplace: {" + planOfImage + ", thirdPartyImage: true}}")},
	{name: "image of a gallery", reason: "the community's",
		spec: template("image: {computeGallery: {gallery: g, name: img, version: latest}}")},
	{name: "image of one's own gallery", reason: "with a plan",
		spec: template("image: {computeGallery: {gallery: g, name: img, version: 1.0.0, subscriptionID: s, resourceGroup: r, plan: " +
			"{publisher: p, offer: o, sku: s}}}")},
	{name: "image of a shared gallery", reason: "deprecated and taken",
		spec: template("image: {sharedGallery: {gallery: g, name: img, version: 1.0.0, subscriptionID: s, resourceGroup: r}}")},
	{name: "no image at all", reason: "what shall it boot from?", spec: template("image: {}"),
		refused: []string{"spec.template.image", "You must supply a ID, Marketplace or ComputeGallery image details"}},
	{name: "two images", reason: "which of the two?", spec: template("image: {id: x, marketplace: {" + planOfImage + "}}"),
		refused: []string{"spec.template.image.marketplace", "Marketplace cannot be used as an image ID has been specified"}},
	{name: "two images, one shared", reason: "which of the two?",
		spec:    template("image: {id: x, sharedGallery: {gallery: g, name: img, version: 1.0.0, subscriptionID: s, resourceGroup: r}}"),
		refused: []string{"spec.template.image.sharedGallery", "SharedGallery cannot be used"}},
	{name: "two images, one of a gallery", reason: "which of the two?",
		spec:    template("image: {marketplace: {" + planOfImage + "}, computeGallery: {gallery: g, name: img, version: latest}}"),
		refused: []string{"spec.template.image.computeGallery", "ComputeGallery cannot be used"}},
	{name: "an empty id", reason: "no image has it", spec: template("image: {id: ''}"),
		refused: []string{"spec.template.image.id", "at least 1"}},
	{name: "marketplace in parts", reason: "Azure wants all four",
		spec:    template("image: {marketplace: {publisher: p, offer: o, version: v}}"),
		refused: []string{"spec.template.image.marketplace.sku", "Required"}},
	{name: "gallery in parts", reason: "Azure wants all", spec: template("image: {computeGallery: {gallery: g, name: img}}"),
		refused: []string{"spec.template.image.computeGallery.version", "Required"}},
	{name: "gallery of a subscription", reason: "where in it?",
		spec:    template("image: {computeGallery: {gallery: g, name: img, version: v, subscriptionID: s}}"),
		refused: []string{"spec.template.image.computeGallery.resourceGroup", "ResourceGroup cannot be empty"}},
	{name: "gallery of a group", reason: "of which subscription?",
		spec:    template("image: {computeGallery: {gallery: g, name: img, version: v, resourceGroup: r}}"),
		refused: []string{"spec.template.image.computeGallery.subscriptionID", "SubscriptionID cannot be empty"}},
	{name: "half a plan", reason: "Azure wants all three",
		spec:    template("image: {sharedGallery: {gallery: g, name: img, version: v, subscriptionID: s, resourceGroup: r, publisher: p}}"),
		refused: []string{"spec.template.image.sharedGallery", "all three or none"}},

	{name: "a key that is no base64", reason: "the key itself is a common mistake", spec: template("sshPublicKey: 'ssh-rsa AAAA me@home'"),
		refused: []string{"spec.template.sshPublicKey", "the SSH public key is not properly base64 encoded"}},
	{name: "a key in lines", reason: "as base64 prints it", spec: template("sshPublicKey: \"c3NoLXJz\\nYSBB\\n\"")},

	{name: "interfaces", reason: "each in a subnet of its own",
		spec: template("networkInterfaces: [{subnetName: a, privateIPConfigs: 3, acceleratedNetworking: true}, {subnetName: b, " +
			"acceleratedNetworking: null}]")},
	{name: "the deprecated subnet", reason: "older manifests", spec: template("subnetName: a, acceleratedNetworking: true")},
	{name: "subnet twice", reason: "which of the two would hold?", spec: template("subnetName: a, networkInterfaces: [{subnetName: b}]"),
		refused: []string{"spec.template.networkInterfaces", "cannot set both NetworkInterfaces and machine SubnetName"}},
	{name: "no address", reason: "nothing could reach it", spec: template("networkInterfaces: [{privateIPConfigs: 0}]"),
		refused: []string{"spec.template.networkInterfaces[0].privateIPConfigs", "must be at least 1"}},

	{name: "console in the user's storage", reason: "all of it",
		spec: template("diagnostics: {boot: {storageAccountType: UserManaged, userManaged: {storageAccountURI: " +
			"'https://x.blob.core.windows.net/'}}}")},
	{name: "no console", reason: "as upstream", spec: template("diagnostics: {boot: {storageAccountType: Disabled}}")},
	{name: "console nowhere", reason: "where?", spec: template("diagnostics: {boot: {storageAccountType: UserManaged}}"),
		refused: []string{"spec.template.diagnostics.boot.userManaged",
			"userManaged must be specified when storageAccountType is 'UserManaged'"}},
	{name: "console twice", reason: "which of the two would hold?",
		spec:    template("diagnostics: {boot: {storageAccountType: Managed, userManaged: {storageAccountURI: 'https://x'}}}"),
		refused: []string{"spec.template.diagnostics.boot.userManaged", "StorageAccountURI cannot be set when storageAccountType is 'Managed'"}},
	{name: "console off and on", reason: "which of the two would hold?",
		spec: template("diagnostics: {boot: {storageAccountType: Disabled, userManaged: {storageAccountURI: 'https://x'}}}"),
		refused: []string{"spec.template.diagnostics.boot.userManaged",
			"StorageAccountURI cannot be set when storageAccountType is 'Disabled'"}},
	{name: "console in the clear", reason: "Azure refuses it",
		spec:    template("diagnostics: {boot: {storageAccountType: UserManaged, userManaged: {storageAccountURI: 'http://x'}}}"),
		refused: []string{"spec.template.diagnostics.boot.userManaged.storageAccountURI", "^https://"}},
	{name: "console elsewhere", reason: "the message lists what is allowed",
		spec:    template("diagnostics: {boot: {storageAccountType: Mine}}"),
		refused: []string{"spec.template.diagnostics.boot.storageAccountType", "Managed", "UserManaged", "Disabled"}},

	{name: "a short notice", reason: "Azure's limit", spec: template("terminateNotificationTimeout: 4"),
		refused: []string{"spec.template.terminateNotificationTimeout", "minimum timeout 5 is allowed for TerminateNotificationTimeout"}},
	{name: "a long notice", reason: "Azure's limit", spec: template("terminateNotificationTimeout: 16"),
		refused: []string{"spec.template.terminateNotificationTimeout", "maximum timeout 15 is allowed for TerminateNotificationTimeout"}},
	{name: "a notice", reason: "both ends are in", spec: template("terminateNotificationTimeout: 15")},

	{name: "spot", reason: "with a price in any spelling", spec: template("spotVMOptions: {maxPrice: '0.04', evictionPolicy: Delete}")},
	{name: "spot of any price", reason: "Azure's word for it", spec: template("spotVMOptions: {maxPrice: -1, evictionPolicy: Deallocate}")},
	{name: "spot of any price, quoted", reason: "quantities are strings as well", spec: template("spotVMOptions: {maxPrice: '-1'}")},
	{name: "spot for nothing", reason: "no such price exists", spec: template("spotVMOptions: {maxPrice: 0}"),
		refused: []string{"spec.template.spotVMOptions.maxPrice", "more than 0, or -1"}},
	{name: "spot for less", reason: "no such price exists", spec: template("spotVMOptions: {maxPrice: '-0.5'}"),
		refused: []string{"spec.template.spotVMOptions.maxPrice", "more than 0, or -1"}},
	{name: "spot for something else", reason: "it is no number", spec: template("spotVMOptions: {maxPrice: cheap}"),
		refused: []string{"spec.template.spotVMOptions.maxPrice"}},
	{name: "another eviction", reason: "the message lists what is allowed", spec: template("spotVMOptions: {evictionPolicy: Stop}"),
		refused: []string{"spec.template.spotVMOptions.evictionPolicy", "Deallocate", "Delete"}},

	{name: "extensions", reason: "public and protected settings",
		spec: template("vmExtensions: [{name: a, publisher: p, version: '1.0', settings: {x: z}, protectedSettings: {k: v}}], " +
			"disableVMBootstrapExtension: true")},
	{name: "an extension twice", reason: "Azure refuses it",
		spec:    template("vmExtensions: [{name: a, publisher: p, version: '1'}, {name: a, publisher: q, version: '1'}]"),
		refused: []string{"spec.template.vmExtensions", "no two extensions"}},
	{name: "an extension without a publisher", reason: "Azure refuses it", spec: template("vmExtensions: [{name: a, version: '1'}]"),
		refused: []string{"spec.template.vmExtensions[0].publisher", "Required"}},
}

const planOfImage = "publisher: p, offer: o, sku: s, version: latest"

func TestAzureTemplateRules(t *testing.T) {
	t.Parallel()
	tryAzure(t, azureTemplateRulesCases)
}

// azureDiskRulesCases are the cases of TestAzureDiskRules.
var azureDiskRulesCases = []ruleCase{
	{name: "a disk in full", reason: "everything that can be said",
		spec: disk("osType: Windows, diskSizeGB: 2048, cachingType: ReadWrite, managedDisk: {storageAccountType: StandardSSD_LRS, "+
			"diskEncryptionSet: {id: /x}}", "")},
	{name: "a disk of the host", reason: "as upstream's flavour has it",
		spec: disk("diffDiskSettings: {option: Local, placement: NvmeDisk}, cachingType: ReadOnly", "")},
	{name: "no disk", reason: "the image would not fit", spec: disk("diskSizeGB: 0", ""),
		refused: []string{"spec.template.osDisk.diskSizeGB", "the Disk size should be a value between 1 and 2048"}},
	{name: "a large disk", reason: "Azure's limit", spec: disk("diskSizeGB: 2049", ""),
		refused: []string{"spec.template.osDisk.diskSizeGB", "the Disk size should be a value between 1 and 2048"}},
	{name: "another system", reason: "the message lists what is allowed", spec: disk("osType: BeOS", ""),
		refused: []string{"spec.template.osDisk.osType", "Linux", "Windows"}},
	{name: "kept on nothing", reason: "upstream's rule", spec: disk("managedDisk: {}", ""),
		refused: []string{"spec.template.osDisk.managedDisk.storageAccountType", "the Storage Account Type for Managed Disk cannot be empty"}},
	{name: "kept on something else", reason: "the message lists what is allowed", spec: disk("managedDisk: {storageAccountType: Floppy}", ""),
		refused: []string{"spec.template.osDisk.managedDisk.storageAccountType", "Premium_LRS"}},
	{name: "ultra", reason: "Azure refuses it", spec: disk("managedDisk: {storageAccountType: UltraSSD_LRS}", ""),
		refused: []string{"spec.template.osDisk.managedDisk.storageAccountType",
			"UltraSSD_LRS can only be used with data disks, it cannot be used with OS Disks"}},
	{name: "premium of the second kind", reason: "Azure refuses it", spec: disk("managedDisk: {storageAccountType: PremiumV2_LRS}", ""),
		refused: []string{"spec.template.osDisk.managedDisk.storageAccountType", "PremiumV2_LRS can only be used with data disks"}},
	{name: "encrypted and of the host", reason: "Azure refuses it",
		spec: disk("diffDiskSettings: {option: Local}, managedDisk: {storageAccountType: Standard_LRS, diskEncryptionSet: {id: x}}", ""),
		refused: []string{"spec.template.osDisk.managedDisk.diskEncryptionSet",
			"diskEncryptionSet is not supported when diffDiskSettings.option is 'Local'"}},
	{name: "of the host and cached otherwise", reason: "Azure refuses it",
		spec:    disk("diffDiskSettings: {option: Local}, cachingType: ReadWrite", ""),
		refused: []string{"spec.template.osDisk.cachingType", "ReadOnly"}},
	{name: "of the host and stopped", reason: "Azure refuses it",
		spec:    disk("diffDiskSettings: {option: Local}", ", spotVMOptions: {evictionPolicy: Deallocate}"),
		refused: []string{"spec.template.spotVMOptions.evictionPolicy", "set Delete"}},
	{name: "another option", reason: "there is one", spec: disk("diffDiskSettings: {option: Remote}", ""),
		refused: []string{"spec.template.osDisk.diffDiskSettings.option", "Local"}},
	{name: "another caching", reason: "the message lists what is allowed", spec: disk("cachingType: Some", ""),
		refused: []string{"spec.template.osDisk.cachingType", "None", "ReadOnly", "ReadWrite"}},

	{name: "data disks", reason: "with and without numbers",
		spec: template("dataDisks: [{nameSuffix: a, diskSizeGB: 1, lun: 0, cachingType: ReadOnly}, {nameSuffix: b, diskSizeGB: 65536, lun: " +
			"63, managedDisk: {storageAccountType: UltraSSD_LRS}, cachingType: None}, {nameSuffix: c, diskSizeGB: 2}, {nameSuffix: d, " +
			"diskSizeGB: 2}]")},
	{name: "one name twice", reason: "Azure refuses it",
		spec:    template("dataDisks: [{nameSuffix: a, diskSizeGB: 4, lun: 0}, {nameSuffix: a, diskSizeGB: 4, lun: 1}]"),
		refused: []string{"spec.template.dataDisks", "same nameSuffix"}},
	{name: "one number twice", reason: "Azure refuses it",
		spec:    template("dataDisks: [{nameSuffix: a, diskSizeGB: 4, lun: 1}, {nameSuffix: b, diskSizeGB: 4, lun: 1}]"),
		refused: []string{"spec.template.dataDisks", "same lun"}},
	{name: "number 64", reason: "Azure's limit", spec: template("dataDisks: [{nameSuffix: a, diskSizeGB: 4, lun: 64}]"),
		refused: []string{"spec.template.dataDisks[0].lun", "logical unit number must be between 0 and 63"}},
	{name: "no size of data", reason: "how large?", spec: template("dataDisks: [{nameSuffix: a}]"),
		refused: []string{"spec.template.dataDisks[0].diskSizeGB", "Required"}},
	{name: "nothing of data", reason: "how large?", spec: template("dataDisks: [{nameSuffix: a, diskSizeGB: 0}]"),
		refused: []string{"spec.template.dataDisks[0].diskSizeGB", "greater than or equal to 1"}},
	{name: "no name of data", reason: "disks are told apart by it", spec: template("dataDisks: [{nameSuffix: '', diskSizeGB: 4}]"),
		refused: []string{"spec.template.dataDisks[0].nameSuffix", "at least 1"}},
	{name: "data kept on nothing", reason: "upstream's rule", spec: template("dataDisks: [{nameSuffix: a, diskSizeGB: 4, managedDisk: {}}]"),
		refused: []string{"spec.template.dataDisks[0].managedDisk.storageAccountType", "cannot be empty"}},
	{name: "ultra data cached", reason: "Azure refuses it",
		spec:    template("dataDisks: [{nameSuffix: a, diskSizeGB: 4, cachingType: ReadOnly, managedDisk: {storageAccountType: UltraSSD_LRS}}]"),
		refused: []string{"spec.template.dataDisks[0].cachingType", "None or absent"}},
	{name: "ultra data forbidden", reason: "the two contradict each other",
		spec: template("additionalCapabilities: {ultraSSDEnabled: false}, dataDisks: [{nameSuffix: a, diskSizeGB: 4, managedDisk: " +
			"{storageAccountType: UltraSSD_LRS}}]"),
		refused: []string{"spec.template.additionalCapabilities.ultraSSDEnabled", "must not be false"}},
	{name: "confidential data", reason: "Azure knows that of the first disk alone",
		spec:    template("dataDisks: [{nameSuffix: a, diskSizeGB: 4, managedDisk: {storageAccountType: Premium_LRS, securityProfile: {}}}]"),
		refused: []string{"spec.template.dataDisks[0].managedDisk.securityProfile", "only be set on the OS disk"}},

	{name: "trusted launch", reason: "what made upstream fall over", spec: template("securityProfile: {securityType: TrustedLaunch}")},
	{name: "trusted launch in full", reason: "both settings",
		spec: template("securityProfile: {securityType: TrustedLaunch, encryptionAtHost: true, uefiSettings: {secureBootEnabled: true, " +
			"vTpmEnabled: false}}")},
	{name: "boot settings of nothing", reason: "Azure refuses it",
		spec:    template("securityProfile: {uefiSettings: {secureBootEnabled: true}}"),
		refused: []string{"spec.template.securityProfile.securityType", "must be set to enable uefiSettings"}},
	{name: "another security", reason: "the message lists what is allowed", spec: template("securityProfile: {securityType: Standard}"),
		refused: []string{"spec.template.securityProfile.securityType", "ConfidentialVM", "TrustedLaunch"}},
	{name: "confidential", reason: "with what Azure wants of it",
		spec: disk(confidential+"VMGuestStateOnly}}", ", securityProfile: {securityType: ConfidentialVM, uefiSettings: {vTpmEnabled: true}}")},
	{name: "confidential to the disk", reason: "with a key of one's own",
		spec: disk(confidential+"DiskWithVMGuestState, diskEncryptionSet: {id: x}}}",
			", securityProfile: {securityType: ConfidentialVM, encryptionAtHost: false, uefiSettings: {vTpmEnabled: true, secureBootEnabled: "+
				"true}}")},
	{name: "confidential of nothing", reason: "Azure refuses it",
		spec:    template("securityProfile: {securityType: ConfidentialVM, uefiSettings: {vTpmEnabled: true}}"),
		refused: []string{"spec.template.osDisk.managedDisk.securityProfile", "ConfidentialVM"}},
	{name: "encrypted and not confidential", reason: "Azure refuses it",
		spec: disk(confidential+"VMGuestStateOnly}}", ", securityProfile: {securityType: TrustedLaunch, uefiSettings: {vTpmEnabled: true}}"),
		refused: []string{"spec.template.securityProfile.securityType",
			"SecurityType should be set to 'ConfidentialVM' when securityEncryptionType is defined"}},
	{name: "confidential without its module", reason: "Azure refuses it",
		spec:    disk(confidential+"VMGuestStateOnly}}", ", securityProfile: {securityType: ConfidentialVM}"),
		refused: []string{"spec.template.securityProfile.uefiSettings.vTpmEnabled", "VTpmEnabled should be set to true"}},
	{name: "confidential without secure boot", reason: "Azure refuses it",
		spec: disk(confidential+"DiskWithVMGuestState}}",
			", securityProfile: {securityType: ConfidentialVM, uefiSettings: {vTpmEnabled: true}}"),
		refused: []string{"spec.template.securityProfile.uefiSettings.secureBootEnabled", "SecureBootEnabled should be set to true"}},
	{name: "encrypted twice", reason: "Azure refuses it", spec: disk(confidential+"DiskWithVMGuestState}}",
		", securityProfile: {securityType: ConfidentialVM, encryptionAtHost: true, uefiSettings: {vTpmEnabled: true, secureBootEnabled: true}}"),
		refused: []string{"spec.template.securityProfile.encryptionAtHost", "EncryptionAtHost cannot be set to 'true'"}},
	{name: "a key for the state alone", reason: "Azure refuses it",
		spec: disk(confidential+"VMGuestStateOnly, diskEncryptionSet: {id: x}}}",
			", securityProfile: {securityType: ConfidentialVM, uefiSettings: {vTpmEnabled: true}}"),
		refused: []string{"spec.template.osDisk.managedDisk.securityProfile.diskEncryptionSet", "DiskWithVMGuestState"}},
}

const confidential = "managedDisk: {storageAccountType: Premium_LRS, securityProfile: {securityEncryptionType: "

func TestAzureDiskRules(t *testing.T) {
	t.Parallel()
	tryAzure(t, azureDiskRulesCases)
}

// TestAzureChanges holds what may become of an object that exists.
func TestAzureChanges(t *testing.T) {
	t.Parallel()
	system := func(role string) string { return "identity: SystemAssigned\n" + role + "\n" + azureLeast }
	for name, c := range map[string]struct {
		reason   string
		old, new string
		refused  []string
	}{
		"size":     {"the most common change of all", azureLeast, strings.Replace(azureLeast, "D2s", "D4s", 1), nil},
		"spelling": {"Azure's own spelling of the same place", azureLeast, strings.Replace(azureLeast, "westus2", "West US 2", 1), nil},
		"location": {"a scale set can't move", azureLeast, strings.Replace(azureLeast, "westus2", "westus3", 1),
			[]string{"spec.location", "create another pool"}},
		"mode": {"Azure can't change it", azureLeast, "orchestrationMode: Flexible\n" + azureLeast,
			[]string{"spec.orchestrationMode", "create another pool"}},
		"system": {"Azure can't change it", azureLeast, disk("osType: Windows", ""),
			[]string{"spec.template.osDisk.osType", "create another pool"}},
		"domains": {"Azure can't change it", "platformFaultDomainCount: 1\n" + azureLeast, "platformFaultDomainCount: 2\n" + azureLeast,
			[]string{"spec.platformFaultDomainCount", "create another pool"}},
		"domains +": {"nor set it later", azureLeast, "platformFaultDomainCount: 2\n" + azureLeast,
			[]string{"spec.platformFaultDomainCount", "create another pool"}},
		"role": {"there would be two", system("systemAssignedIdentityRole: {name: " + guid + "}"),
			system("systemAssignedIdentityRole: {name: " + strings.Replace(guid, "1", "2", 1) + "}"),
			[]string{"spec.systemAssignedIdentityRole.name", "should not be modified"}},
		"role -": {"there would be two", system("systemAssignedIdentityRole: {name: " + guid + "}"), system(""),
			[]string{"spec.systemAssignedIdentityRole.name", "should not be modified"}},
		"role to":  {"its new place", system("roleAssignmentName: " + guid), system("systemAssignedIdentityRole: {name: " + guid + "}"), nil},
		"role new": {"with the identity comes its name", azureLeast, system("systemAssignedIdentityRole: {name: " + guid + "}"), nil},
		"extension": {"upstream's rule", template("disableVMBootstrapExtension: true"), template("disableVMBootstrapExtension: false"),
			[]string{"spec.template.disableVMBootstrapExtension", "can't be changed once it is set"}},
		"extension -": {"taken away is changed", template("disableVMBootstrapExtension: true"), azureLeast,
			[]string{"spec.template.disableVMBootstrapExtension", "can't be changed once it is set"}},
		"extension +": {"it may be set later", azureLeast, template("disableVMBootstrapExtension: true"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := admissionOf(t, azurePoolKind, "v1beta1")
			compare(t, c.reason, a.admit(object(t, kindText(azurePoolKind, "v1beta1", c.new)), object(t, kindText(azurePoolKind, "v1beta1", c.old))),
				c.refused)
		})
	}
}

// TestAzureMachineRules holds that an object represents the same virtual machine during its whole life.
func TestAzureMachineRules(t *testing.T) {
	t.Parallel()
	a := admissionOf(t, azureMachineKind, "v1beta1")
	one := kindText(azureMachineKind, "v1beta1", "providerID: azure:///a\ninstanceID: '0'")
	compare(t, "as it is made", a.admit(object(t, one), nil), nil)
	compare(t, "as it stays", a.admit(object(t, one), object(t, one)), nil)
	compare(t, "another machine", a.admit(object(t, strings.Replace(one, "azure:///a", "azure:///b", 1)), object(t, one)),
		[]string{"spec.providerID", "providerID is immutable"})
	compare(t, "no machine", a.admit(object(t, kindText(azureMachineKind, "v1beta1", "instanceID: '0'")), nil),
		[]string{"spec.providerID", "Required"})
}

// TestAzureDefaults holds what an API server fills in.
func TestAzureDefaults(t *testing.T) {
	t.Parallel()
	definition := definitions(t)[azurePoolKind]
	spec := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	at := func(path ...string) string {
		p := spec
		for _, name := range path {
			if p.Items != nil {
				p = *p.Items.Schema
			}
			p = p.Properties[name]
		}
		if p.Default == nil {
			return ""
		}
		return string(p.Default.Raw)
	}
	for path, want := range map[string]string{
		"identity": `"None"`, "orchestrationMode": `"Uniform"`, "template.osDisk.osType": `"Linux"`,
		"strategy":             `{"rollingUpdate":{"deletePolicy":"Oldest","maxSurge":1,"maxUnavailable":0},"type":"RollingUpdate"}`,
		"template.diagnostics": `{"boot":{"storageAccountType":"Managed"}}`, "template.diagnostics.boot": `{"storageAccountType":"Managed"}`,
		"template.networkInterfaces.privateIPConfigs": "1", "template.osDisk.cachingType": "", "template.sshPublicKey": "",
	} {
		if got := at(strings.Split(path, ".")...); got != want {
			t.Errorf("spec.%s: want default %s, got %s", path, want, got)
		}
	}
	names := func(d *apiextensionsv1.CustomResourceDefinition) []string {
		return slices.Concat(d.Spec.Names.ShortNames, d.Spec.Names.Categories)
	}
	if got := names(definition); !slices.Equal(got, []string{"amp", "cluster-api"}) {
		t.Errorf("want short name and category as the ecosystem has them, got %v", got)
	}
	if got := names(definitions(t)[azureMachineKind]); !slices.Equal(got, []string{"ampm", "cluster-api"}) {
		t.Errorf("want short name and category as the ecosystem has them, got %v", got)
	}
}
