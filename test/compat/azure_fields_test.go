package compat

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// leastScaleSet is the specification that every variant changes: what a pool can't be without, and a key, which takes long to make.
const leastScaleSet = "{location: westus2, template: {vmSize: Standard_D2s_v3, osDisk: {osType: Linux}, sshPublicKey: '" +
	sshPublicKey + "'}}"

// A role assignment's name, a role's definition, and a scope.
const (
	assignment = "11111111-2222-3333-4444-555555555555"
	definition = "/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7"
)

// fields are variants of the specification, as merge patches, which between them use every field that there is.
var fields = map[string]string{
	"tags":                   "{additionalTags: {team: a}}",
	"what controllers write": "{providerID: 'azure:///subscriptions/s/x', providerIDList: ['azure:///subscriptions/s/x/virtualMachines/0']}",
	"no identity":            "{identity: None}",
	"Azure's identity": "{identity: SystemAssigned, systemAssignedIdentityRole: {name: " + assignment + ", definitionID: " +
		definition + ", scope: /subscriptions/s}}",
	"Azure's identity alone":   "{identity: SystemAssigned}",
	"the assignment's old way": "{identity: SystemAssigned, roleAssignmentName: " + assignment + "}",
	"identities of one's own": "{identity: UserAssigned, userAssignedIdentities: [{providerID: 'azure:///subscriptions/s/i'}, {providerID: " +
		"/subscriptions/s/j}]}",
	"strategy in percent":      "{strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 10%, deletePolicy: Random}}}",
	"waves":                    "{strategy: {type: OnDelete, waves: [1, 10%], soak: {first: 30m0s, wave: 10m0s, final: 5m0s}}}",
	"nodes that stay":          "{strategy: {undrainable: {action: Quarantine, after: 2h0m0s, max: 2}}}",
	"strategy in numbers":      "{strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1, deletePolicy: Newest}}}",
	"Uniform":                  "{orchestrationMode: Uniform, zoneBalance: true}",
	"Flexible":                 "{orchestrationMode: Flexible, platformFaultDomainCount: 1, zoneBalance: false}",
	"image by ID":              "{template: {image: {id: /subscriptions/s/images/i}}}",
	"image of the marketplace": "{template: {image: {marketplace: {publisher: p, offer: o, sku: s, version: 1.2.3, thirdPartyImage: true}}}}",
	"image of the community":   "{template: {image: {computeGallery: {gallery: g, name: name, version: 1.2.3}}}}",
	"image of one's own": "{template: {image: {computeGallery: {gallery: g, name: name, version: 1.2.3, subscriptionID: s, " +
		"resourceGroup: rg, plan: {publisher: p, offer: o, sku: s}}}}}",
	"image of a shared gallery": "{template: {image: {sharedGallery: {subscriptionID: s, resourceGroup: rg, gallery: g, name: name, " +
		"version: 1.2.3, " +
		"publisher: p, offer: o, sku: s}}}}",
	"system disk": "{template: {osDisk: {osType: Linux, diskSizeGB: 30, cachingType: ReadWrite, managedDisk: {storageAccountType: " +
		"Premium_LRS, diskEncryptionSet: {id: /subscriptions/s/d}}}}}",
	"confidential": "{template: {securityProfile: {securityType: ConfidentialVM, uefiSettings: {vTpmEnabled: true, secureBootEnabled: " +
		"true}}, osDisk: {managedDisk: " +
		"{storageAccountType: Premium_LRS, securityProfile: {securityEncryptionType: DiskWithVMGuestState, diskEncryptionSet: {id: " +
		"/subscriptions/s/d}}}}}}",
	"trusted launch": "{template: {securityProfile: {securityType: TrustedLaunch, encryptionAtHost: true, uefiSettings: " +
		"{vTpmEnabled: true, secureBootEnabled: false}}}}",
	"trusted launch, as short": "{template: {securityProfile: {securityType: TrustedLaunch}}}",
	"the host's own disk": "{template: {osDisk: {cachingType: ReadOnly, diffDiskSettings: {option: Local, placement: CacheDisk}}, " +
		"spotVMOptions: {evictionPolicy: Delete}}}",
	"data disks": "{template: {dataDisks: [{nameSuffix: a, diskSizeGB: 64, lun: 0, cachingType: ReadOnly, managedDisk: " +
		"{storageAccountType: StandardSSD_LRS, diskEncryptionSet: {id: /subscriptions/s/d}}}, {nameSuffix: b, diskSizeGB: 32}]}}",
	"fast data disks": "{template: {additionalCapabilities: {ultraSSDEnabled: true}, dataDisks: [{nameSuffix: a, diskSizeGB: " +
		"64, lun: 63, cachingType: None, managedDisk: {storageAccountType: UltraSSD_LRS}}]}}",
	"no key":                "{template: {sshPublicKey: '-'}}",
	"the network's old way": "{template: {acceleratedNetworking: true, subnetName: nodes}}",
	"interfaces": "{template: {networkInterfaces: [{subnetName: nodes, privateIPConfigs: 2, acceleratedNetworking: " +
		"false}, {subnetName: more}]}}",
	"interfaces, as clients write": "{template: {networkInterfaces: [{acceleratedNetworking: null}]}}",
	"console kept by Azure":        "{template: {diagnostics: {boot: {storageAccountType: Managed}}}}",
	"console kept by oneself": "{template: {diagnostics: {boot: {storageAccountType: UserManaged, userManaged: {storageAccountURI: " +
		"'https://a.blob.core.windows.net/'}}}}}",
	"console that is not kept": "{template: {diagnostics: {boot: {storageAccountType: Disabled}}}}",
	"notification, least":      "{template: {terminateNotificationTimeout: 5}}",
	"notification, most":       "{template: {terminateNotificationTimeout: 15}}",
	"spot":                     "{template: {spotVMOptions: {maxPrice: 200m, evictionPolicy: Deallocate}}}",
	"spot for whatever":        "{template: {spotVMOptions: {maxPrice: -1}}}",
	"spot, as short":           "{template: {spotVMOptions: {}}}",
	"extensions": "{template: {vmExtensions: [{name: name, publisher: p, version: '1.0', settings: {a: b}, " +
		"protectedSettings: {c: d}}]}}",
	"the bootstrap extension": "{template: {disableVMBootstrapExtension: false}}",
	"Windows": "{template: {sshPublicKey: '-', osDisk: {osType: Windows, managedDisk: {storageAccountType: " +
		"Standard_LRS}}}}",
	"disks in several zones": "{template: {osDisk: {managedDisk: {storageAccountType: StandardSSD_ZRS}}, dataDisks: [{nameSuffix: a, " +
		"diskSizeGB: 1, managedDisk: {storageAccountType: Premium_ZRS}}]}}",
	"guest state alone": "{template: {securityProfile: {securityType: ConfidentialVM, uefiSettings: {vTpmEnabled: true}}, " +
		"osDisk: {managedDisk: {storageAccountType: Premium_LRS, securityProfile: {securityEncryptionType: VMGuestStateOnly}}}}}",
	"data disks, newer": "{template: {dataDisks: [{nameSuffix: a, diskSizeGB: 1, managedDisk: {storageAccountType: " +
		"PremiumV2_LRS}}]}}",
	"local disk where Azure wants": "{template: {osDisk: {diffDiskSettings: {option: Local}}}}",
	"local disk on the temporary":  "{template: {osDisk: {diffDiskSettings: {option: Local, placement: ResourceDisk}}}}",
	"local disk on NVMe":           "{template: {osDisk: {diffDiskSettings: {option: Local, placement: NvmeDisk}}}}",
	"strategy by age":              "{strategy: {rollingUpdate: {deletePolicy: Oldest}}}",
	"disks not cached at all": "{template: {osDisk: {cachingType: None}, dataDisks: [{nameSuffix: a, diskSizeGB: 1, cachingType: " +
		"ReadWrite}]}}",
	"a location as the portal says": "{location: West US 2}",
}

// sshPublicKey is a public key whose private half was thrown away, as the field has it.
const sshPublicKey = "c3NoLWVkMjU1MTkgQUFBQUMzTnphQzFsWkRJMU5URTVBQUFBSUZoMndCTUE0cG9VK2JnZEZLK29rRTExd05kTDBCY0RMeFArVmgwNnFXSDAgdXNlcgo="

// scaleSet returns an AzureMachinePool whose specification is the least one with a merge patch on it.
func scaleSet(t *testing.T, namespace, name, patch string) *unstructured.Unstructured {
	t.Helper()
	u := object(t, namespace, "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AzureMachinePool, metadata: {name: "+name+
		"}, spec: "+leastScaleSet+"}")
	change := object(t, "", patch)
	unstructured.RemoveNestedField(change.Object, "metadata")
	merge(u.Object["spec"].(map[string]any), change.Object)
	return u
}

// merge applies a patch to a value; a value of "-" removes a field.
func merge(value, patch map[string]any) {
	for key, change := range patch {
		inner, isMap := change.(map[string]any)
		of, hasMap := value[key].(map[string]any)
		switch {
		case change == "-":
			delete(value, key)
		case isMap && hasMap:
			merge(of, inner)
		default:
			value[key] = change
		}
	}
}

// TestEveryFieldOfScaleSets holds that a pool may use each field that the schema has, and reads back as it was written.
func TestEveryFieldOfScaleSets(t *testing.T) {
	c := client.WithFieldValidation(admin(t), "Strict")
	ns := namespace(t, c)
	used := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		u := scaleSet(t, ns, "dry", fields[name])
		wrote := u.DeepCopy()
		if err := c.Create(t.Context(), u, client.DryRunAll); err != nil {
			t.Errorf("%s: want it taken, got %v", name, err)
			continue
		}
		spec := wrote.Object["spec"]
		if lost := without(spec, u.Object["spec"], "spec"); lost != "" {
			t.Errorf("%s: %s reads back as something else: %v", name, lost, u.Object["spec"])
		}
		note(used, spec, "spec")
	}
	for _, path := range leaves(scaleSetSchema(t), "spec") {
		if !used[path] {
			t.Errorf("no variant uses %s", path)
		}
	}
}

// without returns the path of something in a that b has not, or has otherwise; null is nothing.
func without(a, b any, path string) string {
	switch a := a.(type) {
	case nil:
		return ""
	case map[string]any:
		of, _ := b.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(a)) {
			if lost := without(a[key], of[key], path+"."+key); lost != "" {
				return lost
			}
		}
	case []any:
		of, _ := b.([]any)
		if len(of) != len(a) {
			return path
		}
		for i := range a {
			if lost := without(a[i], of[i], fmt.Sprintf("%s[%d]", path, i)); lost != "" {
				return lost
			}
		}
	default:
		if fmt.Sprint(a) != fmt.Sprint(b) {
			return path
		}
	}
	return ""
}

// note writes down the paths of everything in a value.
func note(used map[string]bool, value any, path string) {
	used[path] = true
	switch value := value.(type) {
	case map[string]any:
		for key, of := range value {
			note(used, of, path+"."+key)
		}
	case []any:
		for _, of := range value {
			note(used, of, path+"[]")
		}
	}
}

// scaleSetSchema returns the schema of the kind's specification.
func scaleSetSchema(t *testing.T) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "api", "crd", "infrastructure.cluster.x-k8s.io_azuremachinepools.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	return crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
}

// leaves returns the paths of what holds nothing else. A data disk has the managedDisk.securityProfile of a system disk in its schema,
// and may not have it.
func leaves(s apiextensionsv1.JSONSchemaProps, path string) []string {
	switch {
	case strings.HasSuffix(path, "dataDisks[].managedDisk.securityProfile"):
		return nil
	case len(s.Properties) > 0:
		var all []string
		for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
			all = append(all, leaves(s.Properties[key], path+"."+key)...)
		}
		return all
	case s.Items != nil:
		return leaves(*s.Items.Schema, path+"[]")
	}
	return []string{path}
}
