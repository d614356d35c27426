package compat

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// refusal is a specification that the API server rejects, because of its own values or as a change of an older one.
type refusal struct {
	// was is the specification of before, as a merge patch on the least one; empty is none.
	was, spec string
	// path is the path of the field, words are words of the error.
	path, words string
}

// refusals are all that is refused whatever else there is, by reason.
var refusals = map[string]refusal{
	// The documented rules of the ecosystem's provider, with its messages where it has any.
	"no surge and none unavailable": {spec: "{strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}}",
		path: "spec.strategy.rollingUpdate.maxUnavailable", words: "both zero"},
	"the same in percent": {spec: "{strategy: {rollingUpdate: {maxSurge: 0%, maxUnavailable: 0%}}}",
		path: "spec.strategy.rollingUpdate.maxUnavailable", words: "both zero"},
	"the same by what is left out": {spec: "{strategy: {rollingUpdate: {maxSurge: 0}}}", path: "spec.strategy.rollingUpdate.maxUnavailable",
		words: "both zero"},
	"a surge that is no number": {spec: "{strategy: {rollingUpdate: {maxSurge: many}}}", path: "spec.strategy.rollingUpdate.maxSurge",
		words: "must be a number of at least 0"},
	"more than all": {spec: "{strategy: {rollingUpdate: {maxUnavailable: 101%}}}",
		path: "spec.strategy.rollingUpdate.maxUnavailable", words: "'0%' to '100%'"},
	"a quarantine at once": {spec: "{strategy: {undrainable: {action: Quarantine}}}", path: "spec.strategy.undrainable.after",
		words: "must be set with the actions Quarantine and Force"},
	"a drain of no time": {spec: "{strategy: {undrainable: {action: Force, after: 0s}}}", path: "spec.strategy.undrainable.after",
		words: "must be a duration above zero"},
	"a maximum without quarantine": {spec: "{strategy: {undrainable: {action: Force, after: 2h, max: 1}}}",
		path: "spec.strategy.undrainable.max", words: "can be set with the action Quarantine only"},
	"a wave of nothing": {spec: "{strategy: {waves: [0]}}", path: "spec.strategy.waves[0]", words: "at least 1"},
	"identities that are missing": {spec: "{identity: UserAssigned}", path: "spec.userAssignedIdentities",
		words: "must be specified for the 'UserAssigned' identity type"},
	"identities that are not used": {spec: "{userAssignedIdentities: [{providerID: i}]}", path: "spec.userAssignedIdentities",
		words: "can only be set when identity is set to UserAssigned"},
	"one identity twice": {spec: "{identity: UserAssigned, userAssignedIdentities: [{providerID: /subscriptions/s/I}, " +
		"{providerID: /subscriptions/s/i}]}", path: "spec.userAssignedIdentities", words: "no two may be the same identity"},
	"a role without an identity": {spec: "{systemAssignedIdentityRole: {scope: s}}", path: "spec.systemAssignedIdentityRole",
		words: "can only be set when identity is set to SystemAssigned"},
	"a role's name without identity": {spec: "{roleAssignmentName: " + assignment + "}", path: "spec.roleAssignmentName",
		words: "Role assignment name should only be set when using system assigned identity."},
	"two names of a role assignment": {spec: "{identity: SystemAssigned, roleAssignmentName: " + assignment +
		", systemAssignedIdentityRole: {name: " + assignment + "}}",
		path: "spec.roleAssignmentName", words: "cannot set both roleAssignmentName and systemAssignedIdentityRole.name"},
	"a role's name that is none": {spec: "{identity: SystemAssigned, systemAssignedIdentityRole: {name: mine}}",
		path: "spec.systemAssignedIdentityRole.name", words: "Role assignment name must be a valid GUID."},
	"the same at the old place": {spec: "{identity: SystemAssigned, roleAssignmentName: mine}", path: "spec.roleAssignmentName",
		words: "Role assignment name must be a valid GUID."},
	"an empty definition": {spec: "{identity: SystemAssigned, systemAssignedIdentityRole: {definitionID: ''}}",
		path: "spec.systemAssignedIdentityRole.definitionID", words: "at least 1"},
	"an empty scope": {spec: "{identity: SystemAssigned, systemAssignedIdentityRole: {scope: ''}}",
		path: "spec.systemAssignedIdentityRole.scope", words: "at least 1"},
	"another role assignment": {was: "{identity: SystemAssigned, systemAssignedIdentityRole: {name: " + assignment + "}}",
		spec: "{identity: SystemAssigned, systemAssignedIdentityRole: {name: 21111111-2222-3333-4444-555555555555}}",
		path: "spec.systemAssignedIdentityRole.name", words: "Role assignment name should not be modified after AzureMachinePool creation."},
	"no size":        {spec: "{template: {vmSize: '-'}}", path: "spec.template.vmSize", words: "Required value"},
	"no location":    {spec: "{location: '-'}", path: "spec.location", words: "Required value"},
	"no system disk": {spec: "{template: {osDisk: '-'}}", path: "spec.template.osDisk", words: "Required value"},
	"an image of nothing": {spec: "{template: {image: {}}}", path: "spec.template.image",
		words: "You must supply a ID, Marketplace or ComputeGallery image details"},
	"an ID and the marketplace": {spec: "{template: {image: {id: i, marketplace: {publisher: p, offer: o, sku: s, version: v}}}}",
		path: "spec.template.image.marketplace", words: "Marketplace cannot be used as an image ID has been specified"},
	"an ID and a shared gallery": {spec: "{template: {image: {id: i, sharedGallery: {subscriptionID: s, resourceGroup: rg, gallery: g, " +
		"name: name, version: v}}}}", path: "spec.template.image.sharedGallery", words: "SharedGallery cannot be used"},
	"an ID and a gallery": {spec: "{template: {image: {id: i, computeGallery: {gallery: g, name: name, version: v}}}}",
		path: "spec.template.image.computeGallery", words: "ComputeGallery cannot be used"},
	"a gallery's subscription alone": {spec: "{template: {image: {computeGallery: {gallery: g, name: name, version: v, subscriptionID: s}}}}",
		path: "spec.template.image.computeGallery.resourceGroup", words: "ResourceGroup cannot be empty"},
	"a gallery's group alone": {spec: "{template: {image: {computeGallery: {gallery: g, name: name, version: v, resourceGroup: rg}}}}",
		path: "spec.template.image.computeGallery.subscriptionID", words: "SubscriptionID cannot be empty"},
	"a plan without a publisher": {spec: "{template: {image: {computeGallery: {gallery: g, name: name, version: v, plan: {offer: o, " +
		"sku: s}}}}}", path: "spec.template.image.computeGallery.plan.publisher", words: "Required value"},
	"half a plan": {spec: "{template: {image: {sharedGallery: {subscriptionID: s, resourceGroup: rg, gallery: g, name: " +
		"name, version: v, offer: o}}}}", path: "spec.template.image.sharedGallery", words: "publisher, offer and sku are a plan"},
	"an offer without a version": {spec: "{template: {image: {marketplace: {publisher: p, offer: o, sku: s}}}}",
		path: "spec.template.image.marketplace.version", words: "Required value"},
	"a system disk of no size": {spec: "{template: {osDisk: {diskSizeGB: 0}}}", path: "spec.template.osDisk.diskSizeGB",
		words: "the Disk size should be a value between 1 and 2048"},
	"a system disk that is too large": {spec: "{template: {osDisk: {diskSizeGB: 2049}}}", path: "spec.template.osDisk.diskSizeGB",
		words: "the Disk size should be a value between 1 and 2048"},
	"a disk kept nowhere": {spec: "{template: {osDisk: {managedDisk: {}}}}",
		path: "spec.template.osDisk.managedDisk.storageAccountType", words: "the Storage Account Type for Managed Disk cannot be empty"},
	"a system disk on ultra storage": {spec: "{template: {osDisk: {managedDisk: {storageAccountType: UltraSSD_LRS}}}}",
		path:  "spec.template.osDisk.managedDisk.storageAccountType",
		words: "UltraSSD_LRS can only be used with data disks, it cannot be used with OS Disks"},
	"a local disk with a key of its own": {spec: "{template: {osDisk: {diffDiskSettings: {option: Local}, managedDisk: {storageAccountType: " +
		"Premium_LRS, diskEncryptionSet: {id: i}}}}}",
		path:  "spec.template.osDisk.managedDisk.diskEncryptionSet",
		words: "diskEncryptionSet is not supported when diffDiskSettings.option is 'Local'"},
	"encryption without confidentiality": {spec: "{template: {osDisk: {managedDisk: {storageAccountType: Premium_LRS, securityProfile: " +
		"{securityEncryptionType: VMGuestStateOnly}}}}}",
		path:  "spec.template.securityProfile.securityType",
		words: "SecurityType should be set to 'ConfidentialVM' when securityEncryptionType is defined"},
	"encryption without a module": {spec: "{template: {securityProfile: {securityType: ConfidentialVM}, osDisk: {managedDisk: " +
		"{storageAccountType: Premium_LRS, securityProfile: {securityEncryptionType: VMGuestStateOnly}}}}}",
		path:  "spec.template.securityProfile.uefiSettings.vTpmEnabled",
		words: "VTpmEnabled should be set to true when securityEncryptionType is defined"},
	"encrypted disks without secure boot": {spec: "{template: {securityProfile: {securityType: ConfidentialVM, uefiSettings: {vTpmEnabled: " +
		"true}}, osDisk: {managedDisk: {storageAccountType: Premium_LRS, securityProfile: {securityEncryptionType: DiskWithVMGuestState}}}}}",
		path: "spec.template.securityProfile.uefiSettings.secureBootEnabled", words: "SecureBootEnabled should be set to true"},
	"disks encrypted twice": {spec: "{template: {securityProfile: {encryptionAtHost: true, securityType: ConfidentialVM, uefiSettings: " +
		"{vTpmEnabled: true, secureBootEnabled: true}}, " +
		"osDisk: {managedDisk: {storageAccountType: Premium_LRS, securityProfile: {securityEncryptionType: DiskWithVMGuestState}}}}}",
		path: "spec.template.securityProfile.encryptionAtHost", words: "EncryptionAtHost cannot be set to 'true'"},
	"boot settings without a type": {spec: "{template: {securityProfile: {uefiSettings: {vTpmEnabled: true}}}}",
		path: "spec.template.securityProfile.securityType", words: "must be set to enable uefiSettings"},
	"a key that is not encoded": {spec: "{template: {sshPublicKey: 'ssh-rsa AAAA user'}}", path: "spec.template.sshPublicKey",
		words: "the SSH public key is not properly base64 encoded"},
	"a key that is none": {spec: "{template: {sshPublicKey: aGVsbG8=}}", path: "spec.template.sshPublicKey",
		words: "the SSH public key is not valid"},
	"a subnet at two places": {spec: "{template: {subnetName: a, networkInterfaces: [{subnetName: b}]}}",
		path: "spec.template.networkInterfaces", words: "cannot set both NetworkInterfaces and machine SubnetName"},
	"an interface without addresses": {spec: "{template: {networkInterfaces: [{privateIPConfigs: 0}]}}",
		path: "spec.template.networkInterfaces[0].privateIPConfigs", words: "number of privateIPConfigs per interface must be at least 1"},
	"an account that is missing": {spec: "{template: {diagnostics: {boot: {storageAccountType: UserManaged}}}}",
		path: "spec.template.diagnostics.boot.userManaged", words: "userManaged must be specified when storageAccountType is 'UserManaged'"},
	"an account where Azure has one": {spec: "{template: {diagnostics: {boot: {storageAccountType: Managed, userManaged: " +
		"{storageAccountURI: 'https://a'}}}}}", path: "spec.template.diagnostics.boot.userManaged",
		words: "StorageAccountURI cannot be set when storageAccountType is 'Managed'"},
	"an account for nothing": {spec: "{template: {diagnostics: {boot: {storageAccountType: Disabled, userManaged: " +
		"{storageAccountURI: 'https://a'}}}}}", path: "spec.template.diagnostics.boot.userManaged",
		words: "StorageAccountURI cannot be set when storageAccountType is 'Disabled'"},
	"an account without encryption": {spec: "{template: {diagnostics: {boot: {storageAccountType: UserManaged, userManaged: " +
		"{storageAccountURI: 'http://a'}}}}}", path: "spec.template.diagnostics.boot.userManaged.storageAccountURI", words: "^https://"},
	"no word where the console goes": {spec: "{template: {diagnostics: {boot: {userManaged: {storageAccountURI: 'https://a'}}}}}",
		path: "spec.template.diagnostics.boot.storageAccountType", words: "Required value"},
	"a notification that is too late": {spec: "{template: {terminateNotificationTimeout: 4}}",
		path: "spec.template.terminateNotificationTimeout", words: "minimum timeout 5 is allowed for TerminateNotificationTimeout"},
	"one that takes too long": {spec: "{template: {terminateNotificationTimeout: 16}}",
		path: "spec.template.terminateNotificationTimeout", words: "maximum timeout 15 is allowed for TerminateNotificationTimeout"},
	"an extension without a publisher": {spec: "{template: {vmExtensions: [{name: name, version: '1'}]}}",
		path: "spec.template.vmExtensions[0].publisher", words: "Required value"},
	"another word on the extension": {was: "{template: {disableVMBootstrapExtension: false}}",
		spec: "{template: {disableVMBootstrapExtension: true}}", path: "spec.template.disableVMBootstrapExtension",
		words: "can't be changed once it is set"},
	"no word on it any more": {was: "{template: {disableVMBootstrapExtension: false}}", spec: "{}",
		path: "spec.template.disableVMBootstrapExtension", words: "can't be changed once it is set"},

	// Specifications that the ecosystem's provider accepts, and Azure rejects.
	"another location": {was: "{}", spec: "{location: eastus}", path: "spec.location", words: "a scale set can't move"},
	"another mode": {was: "{}", spec: "{orchestrationMode: Flexible}", path: "spec.orchestrationMode",
		words: "Azure can't change the orchestration mode"},
	"another system": {was: "{}", spec: "{template: {osDisk: {osType: Windows}}}", path: "spec.template.osDisk.osType",
		words: "Azure can't change the operating system"},
	"other fault domains": {was: "{platformFaultDomainCount: 1}", spec: "{platformFaultDomainCount: 2}",
		path: "spec.platformFaultDomainCount", words: "Azure can't change the fault domains"},
	"Azure's identity in Flexible": {spec: "{identity: SystemAssigned, orchestrationMode: Flexible}", path: "spec.identity",
		words: "user-assigned identities alone"},
	"confidentiality of nothing": {spec: "{template: {securityProfile: {securityType: ConfidentialVM}}}",
		path: "spec.template.osDisk.managedDisk.securityProfile", words: "securityEncryptionType must be set"},
	"a key for guest state alone": {spec: "{template: {securityProfile: {securityType: ConfidentialVM, uefiSettings: {vTpmEnabled: " +
		"true}}, osDisk: {managedDisk: {storageAccountType: Premium_LRS, securityProfile: {securityEncryptionType: VMGuestStateOnly, " +
		"diskEncryptionSet: {id: i}}}}}}", path: "spec.template.osDisk.managedDisk.securityProfile.diskEncryptionSet",
		words: "needs securityEncryptionType to be DiskWithVMGuestState"},
	"a system disk on newer disks": {spec: "{template: {osDisk: {managedDisk: {storageAccountType: PremiumV2_LRS}}}}",
		path: "spec.template.osDisk.managedDisk.storageAccountType", words: "PremiumV2_LRS can only be used with data disks"},
	"a local disk cached otherwise": {spec: "{template: {osDisk: {cachingType: ReadWrite, diffDiskSettings: {option: Local}}}}",
		path: "spec.template.osDisk.cachingType", words: "must be ReadOnly or absent"},
	"a local disk that is kept": {spec: "{template: {osDisk: {diffDiskSettings: {option: Local}}, spotVMOptions: {evictionPolicy: " +
		"Deallocate}}}", path: "spec.template.spotVMOptions.evictionPolicy", words: "can't be stopped and kept"},
	"a price of nothing": {spec: "{template: {spotVMOptions: {maxPrice: 0}}}", path: "spec.template.spotVMOptions.maxPrice",
		words: "must be more than 0"},
	"disks of one name": {spec: "{template: {dataDisks: [{nameSuffix: a, diskSizeGB: 1}, {nameSuffix: a, diskSizeGB: 1}]}}",
		path: "spec.template.dataDisks", words: "the same nameSuffix"},
	"disks of one number": {spec: "{template: {dataDisks: [{nameSuffix: a, diskSizeGB: 1, lun: 1}, {nameSuffix: b, diskSizeGB: 1, " +
		"lun: 1}]}}", path: "spec.template.dataDisks", words: "the same lun"},
	"a disk without a number": {spec: "{template: {dataDisks: [{nameSuffix: a, diskSizeGB: 1, lun: 64}]}}",
		path: "spec.template.dataDisks[0].lun", words: "logical unit number must be between 0 and 63"},
	"a data disk of no size": {spec: "{template: {dataDisks: [{nameSuffix: a, diskSizeGB: 0}]}}",
		path: "spec.template.dataDisks[0].diskSizeGB", words: "greater than or equal to 1"},
	"a data disk without a name": {spec: "{template: {dataDisks: [{diskSizeGB: 1}]}}", path: "spec.template.dataDisks[0].nameSuffix",
		words: "Required value"},
	"a data disk kept nowhere": {spec: "{template: {dataDisks: [{nameSuffix: a, diskSizeGB: 1, managedDisk: {}}]}}",
		path: "spec.template.dataDisks[0].managedDisk.storageAccountType", words: "the Storage Account Type for Managed Disk cannot be empty"},
	"a confidential data disk": {spec: "{template: {dataDisks: [{nameSuffix: a, diskSizeGB: 1, managedDisk: {storageAccountType: " +
		"Premium_LRS, securityProfile: {}}}]}}", path: "spec.template.dataDisks[0].managedDisk.securityProfile",
		words: "can only be set on the OS disk"},
	"a fast disk that is cached": {spec: "{template: {dataDisks: [{nameSuffix: a, diskSizeGB: 1, cachingType: ReadOnly, managedDisk: " +
		"{storageAccountType: UltraSSD_LRS}}]}}", path: "spec.template.dataDisks[0].cachingType", words: "Azure does not cache these"},
	"a fast disk that is forbidden": {spec: "{template: {additionalCapabilities: {ultraSSDEnabled: false}, dataDisks: [{nameSuffix: a, " +
		"diskSizeGB: 1, managedDisk: {storageAccountType: UltraSSD_LRS}}]}}", path: "spec.template.additionalCapabilities.ultraSSDEnabled",
		words: "must not be false"},
	"two extensions of one name": {spec: "{template: {vmExtensions: [{name: name, publisher: p, version: '1'}, {name: name, publisher: q, " +
		"version: '1'}]}}", path: "spec.template.vmExtensions", words: "no two extensions may have the same name"},
	"a tag without a name": {spec: "{additionalTags: {'': a}}", path: "spec.additionalTags",
		words: "every name must have 1 to 512 characters"},
	"a tag that is too long": {spec: "{additionalTags: {a: " + strings.Repeat("a", 257) + "}}", path: "spec.additionalTags",
		words: "every value must have at most 256 characters"},
	"a tag that Azure refuses": {spec: "{additionalTags: {a/b: c}}", path: "spec.additionalTags",
		words: "no name may hold one of the characters"},
	"a tag that is Azure's": {spec: "{additionalTags: {azure-x: c}}", path: "spec.additionalTags",
		words: "no name may begin with microsoft, azure or windows"},
	"a tag that is ours": {spec: "{additionalTags: {muster.dev_owner: c}}", path: "spec.additionalTags",
		words: "no name may begin with muster.dev_"},
	"a field that does not exist": {spec: "{template: {vmsize: a}}", path: "spec.template.vmsize", words: "unknown field"},
}

// refused applies the objects of the refusal and returns the error of the API server.
func (r refusal) refused(t *testing.T, c client.Client, namespace, name string) error {
	t.Helper()
	u := scaleSet(t, namespace, name, r.spec)
	if r.was == "" {
		return c.Create(t.Context(), u, client.DryRunAll)
	}
	was := scaleSet(t, namespace, name, r.was)
	if err := c.Create(t.Context(), was); err != nil {
		t.Fatal(err)
	}
	was.Object["spec"] = u.Object["spec"]
	return c.Update(t.Context(), was)
}

// TestEveryRefusalOfScaleSets holds that invalid specifications are rejected with the field and the words, and that every rule of the
// schema has a case.
func TestEveryRefusalOfScaleSets(t *testing.T) {
	c := client.WithFieldValidation(admin(t), "Strict")
	ns := namespace(t, c)
	var messages strings.Builder
	for i, reason := range slices.Sorted(maps.Keys(refusals)) {
		r := refusals[reason]
		err := r.refused(t, c, ns, fmt.Sprintf("p-%d", i))
		if err == nil || !strings.Contains(err.Error(), r.path) || !strings.Contains(err.Error(), r.words) {
			t.Errorf("%s: want it refused at %s with %q, got %v", reason, r.path, r.words, err)
			continue
		}
		messages.WriteString(err.Error() + "\n")
	}
	for _, rule := range rules(scaleSetSchema(t), "spec") {
		if !strings.Contains(messages.String(), rule.message) {
			t.Errorf("no case breaks the rule of %s: %s", rule.path, rule.message)
		}
	}
}

// TestEveryChoiceOfScaleSets holds that a field with a closed set of values takes no other.
func TestEveryChoiceOfScaleSets(t *testing.T) {
	c := client.WithFieldValidation(admin(t), "Strict")
	ns := namespace(t, c)
	for _, path := range choices(scaleSetSchema(t), "spec") {
		found := false
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			u := scaleSet(t, ns, "dry", fields[name])
			if !misspell(u.Object["spec"], strings.Split(path, ".")[1:]) {
				continue
			}
			found = true
			err := c.Create(t.Context(), u, client.DryRunAll)
			if at := strings.ReplaceAll(path, "[]", "[0]"); err == nil || !strings.Contains(err.Error(), at+`: Unsupported value: "Misspelt"`) {
				t.Errorf("want %s refused, got %v", at, err)
			}
			break
		}
		if !found {
			t.Errorf("no variant uses %s", path)
		}
	}
}

// misspell replaces the value at a path; it reports whether there was one.
func misspell(value any, path []string) bool {
	of, ok := value.(map[string]any)
	if !ok {
		return false
	}
	key, isList := strings.CutSuffix(path[0], "[]")
	is, there := of[key]
	switch {
	case !there:
		return false
	case len(path) == 1:
		of[key] = "Misspelt"
		return true
	case isList:
		return misspell(is.([]any)[0], path[1:])
	}
	return misspell(is, path[1:])
}

type rule struct{ path, message string }

// rules returns the rules of a schema that are expressions. The same rules hold for the disk type that two fields share.
func rules(s apiextensionsv1.JSONSchemaProps, path string) []rule {
	var all []rule
	for _, r := range s.XValidations {
		all = append(all, rule{path + r.FieldPath, r.Message})
	}
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		all = append(all, rules(s.Properties[key], path+"."+key)...)
	}
	if s.Items != nil {
		all = append(all, rules(*s.Items.Schema, path+"[]")...)
	}
	return all
}

// choices returns the paths of the fields with a closed set of values.
func choices(s apiextensionsv1.JSONSchemaProps, path string) []string {
	var all []string
	if len(s.Enum) > 0 && !strings.Contains(path, "dataDisks[].managedDisk.securityProfile") {
		all = append(all, path)
	}
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		all = append(all, choices(s.Properties[key], path+"."+key)...)
	}
	if s.Items != nil {
		all = append(all, choices(*s.Items.Schema, path+"[]")...)
	}
	return all
}
