package azure_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/compute"
)

// ask sends a request as it is and returns the status, ARM's code and the body.
func ask(t testing.TB, c *azure.Cloud, method, path, body string, headers ...string) (status int, code, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://arm.sim"+path, strings.NewReader(body))
	if err != nil {
		t.Skipf("no request: %v", err)
	}
	r.Header.Set("Authorization", "Bearer anybody")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	resp, err := checked(t, c).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var said struct{ Error struct{ Code string } }
	_ = json.Unmarshal(b, &said) // a body that is no error has no code
	return resp.StatusCode, said.Error.Code, string(b)
}

const (
	inGroup = "/subscriptions/" + azure.SubscriptionID + "/resourceGroups/capz/providers/Microsoft.Compute/"
	version = "?api-version=2026-04-01"
)

func TestRefusals(t *testing.T) {
	w := newInventory(t, azure.Options{})
	defer func() { w.must(w.cloud.Close()) }()
	set := inGroup + "virtualMachineScaleSets/new"
	for _, c := range []struct {
		reason, method, path, body string
		headers                    []string
		status                     int
		code, words                string
	}{
		{reason: "no token", method: "GET", path: set + version, headers: []string{"Authorization", ""}, status: 401,
			code: "AuthenticationFailed"},
		{reason: "a token is a bearer's", method: "GET", path: set + version, headers: []string{"Authorization", "Basic x"}, status: 401,
			code: "AuthenticationFailedInvalidHeader"},
		{reason: "a version is wanted", method: "GET", path: set, status: 400, code: "MissingApiVersionParameter"},
		{reason: "a version that is spoken", method: "GET", path: set + "?api-version=1999-01-01", status: 400, code: "NoRegisteredProviderFound",
			words: "for type 'virtualMachineScaleSets'. The supported api-versions are '2022-03-01, "},
		{reason: "a version that is spoken, of a type of the subscription", method: "GET",
			path: "/subscriptions/" + azure.SubscriptionID + "/providers/Microsoft.Compute/skus?api-version=1999-01-01", status: 404,
			code: "InvalidResourceType", words: "'skus' could not be found in the namespace 'Microsoft.Compute' for api version '1999-01-01'"},
		{reason: "a version that Resource Manager speaks itself", method: "GET",
			path: "/subscriptions/" + azure.SubscriptionID + "/resourceGroups/capz?api-version=1999-01-01", status: 400,
			code: "InvalidApiVersionParameter"},
		{reason: "an action that is known", method: "POST", path: set + "/reimageAll" + version, status: 404, code: "NotFound",
			words: "has no action 'reimageAll'"},
		{reason: "an action on a machine that is known", method: "POST", path: set + "/virtualMachines/0/redeploy" + version, status: 404,
			code: "NotFound", words: "'Microsoft.Compute/virtualMachineScaleSets/virtualMachines' has no action 'redeploy'"},
		{reason: "a list below a resource that is known", method: "GET", path: set + "/extensions" + version, status: 404,
			code: "InvalidResourceType", words: "'virtualMachineScaleSets/extensions'"},
		{reason: "a type below one that is known", method: "PUT", path: set + "/extensions/x" + version, status: 404, code: "InvalidResourceType",
			words: "'virtualMachineScaleSets/extensions'"},
		{reason: "a method on a list", method: "DELETE", path: inGroup + "virtualMachineScaleSets" + version, status: 405,
			code: "HttpMethodNotAllowed"},
		{reason: "a method that is known", method: "POST", path: set + version, status: 405, code: "HttpMethodNotAllowed"},
		{reason: "a type that is known", method: "GET", path: inGroup + "galleries" + version, status: 404, code: "InvalidResourceType",
			words: "'galleries'"},
		{reason: "a namespace that is known", method: "GET", path: "/subscriptions/x/providers/Microsoft.Moon/rocks" + version, status: 404,
			code: "InvalidResourceNamespace"},
		{reason: "a path that is one", method: "GET", path: "/somewhere" + version, status: 404, code: "NotFound"},
		{reason: "a subscription that is there", method: "GET", path: strings.Replace(set, azure.SubscriptionID, "none", 1) + version,
			status: 404, code: "SubscriptionNotFound"},
		{reason: "a group that is there", method: "GET", path: strings.Replace(set, "/capz/", "/none/", 1) + version, status: 404,
			code: "ResourceGroupNotFound", words: "'none' could not be found"},
		{reason: "a scale set that is there", method: "PATCH", path: set + version, body: "{}", status: 404, code: "ResourceNotFound"},
		{reason: "a scale set that is deleted is gone already", method: "DELETE", path: set + version, status: 204},
		{reason: "a body of JSON", method: "PUT", path: set + version, body: "{", status: 400, code: "InvalidRequestContent"},
		{reason: "an object", method: "PUT", path: set + version, body: "null", status: 400, code: "InvalidRequestContent"},
		{reason: "members that are known", method: "PUT", path: set + version, body: `{"location":"westus2","properties":{"scaleInPolicies":{}}}`,
			status: 400, code: "BadRequest", words: "Could not find member 'scaleInPolicies'"},
		{reason: "values of the right type", method: "PUT", path: set + version, body: `{"sku":{"capacity":"two"}}`, status: 400,
			code: "BadRequest", words: "sku.capacity"},
		{reason: "values that are allowed", method: "PUT", path: set + version, body: `{"properties":{"orchestrationMode":"Elastic"}}`,
			status: 400, code: "InvalidParameter", words: "'Elastic'"},
		{reason: "an expansion that is known", method: "GET", path: set + "/virtualMachines" + version + "&$expand=everything", status: 404,
			code: "ResourceNotFound"},
		{reason: "views of all virtual machines need the filter", method: "GET",
			path: inGroup + "virtualMachines" + version + "&$expand=instanceView", status: 400, code: "BadRequest", words: "$filter"},
		{reason: "another filter", method: "GET", path: inGroup + "virtualMachines" + version + "&$filter=name%20eq%20'a'", status: 400,
			code: "BadRequest"},
		{reason: "an operation that is known", method: "GET",
			path: "/subscriptions/" + azure.SubscriptionID + "/providers/Microsoft.Compute/locations/westus2/operations/x" + version, status: 404,
			code: "NotFound"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			status, code, body := ask(t, w.cloud, c.method, c.path, c.body, c.headers...)
			if status != c.status || code != c.code || !strings.Contains(body, c.words) {
				t.Errorf("want %d %s with %q, got %d %s: %s", c.status, c.code, c.words, status, code, body)
			}
		})
	}
}

// edit changes the document of a scale set at a path.
func edit(d map[string]any, path string, v any) {
	parts := strings.Split(path, ".")
	for _, p := range parts[:len(parts)-1] {
		next, isObject := d[p].(map[string]any)
		if !isObject {
			next = map[string]any{}
			d[p] = next
		}
		d = next
	}
	if v == nil {
		delete(d, parts[len(parts)-1])
		return
	}
	d[parts[len(parts)-1]] = v
}

const profile = "properties.virtualMachineProfile."

// invalidScaleSetsCases are the cases of TestInvalidScaleSets.
var invalidScaleSetsCases = []struct {
	reason, mode, path string
	value              any
	status             int
	code, words        string
}{
	{reason: "no location", path: "location", status: 400, code: "LocationRequired"},
	{reason: "a location that is not there", path: "location", value: "moon", status: 400, code: "LocationNotAvailableForResourceType"},
	{reason: "no size", path: "sku.name", status: 400, code: "InvalidParameter", words: "sku.name"},
	{reason: "a size that does not exist", path: "sku.name", value: "Standard_Z9", status: 400, code: "InvalidParameter",
		words: "Standard_Z9 provided for the VM size is not valid"},
	{reason: "more machines than a scale set holds", path: "sku.capacity", value: 1001, status: 409, code: "OperationNotAllowed",
		words: "1000"},
	{reason: "no profile", path: "properties.virtualMachineProfile", status: 400, code: "InvalidParameter"},
	{reason: "a zone that is not there", path: "zones", value: []any{"4"}, status: 400, code: "InvalidAvailabilityZone"},
	{reason: "zones where there are none", path: "zones", value: []any{"1"}, mode: "northcentralus", status: 400,
		code: "AvailabilityZonesNotSupportedInRegion"},
	{reason: "balance without zones", path: "properties.zoneBalance", value: true, status: 400, code: "InvalidParameter"},
	{reason: "six fault domains", path: "properties.platformFaultDomainCount", value: 6, status: 400, code: "InvalidParameter"},
	{reason: "a slash in a tag", path: "tags", value: map[string]any{"a/b": "c"}, status: 400, code: "InvalidTagNameCharacters"},
	{reason: "too many tags", path: "tags", value: tags(51), status: 400, code: "InvalidNumberOfTags"},
	{reason: "a value of a tag that is too long", path: "tags", value: map[string]any{"a": strings.Repeat("v", 257)}, status: 400,
		code: "InvalidTagValueLength"},
	{reason: "uniform without an upgrade policy", path: "properties.upgradePolicy", status: 400, code: "InvalidParameter",
		words: "upgradePolicy"},
	{reason: "flexible without a version of its network", mode: "Flexible", path: profile + "networkProfile.networkApiVersion", status: 400,
		code: "InvalidParameter"},
	{reason: "flexible that makes too many", mode: "Flexible", path: "properties.overprovision", value: false, status: 400,
		code: "InvalidParameter"},
	{reason: "flexible with an identity of its own", mode: "Flexible", path: "identity.type", value: "SystemAssigned", status: 400,
		code: "InvalidParameter", words: "SystemAssigned"},
	{reason: "no name of computers", path: profile + "osProfile.computerNamePrefix", status: 400, code: "InvalidParameter"},
	{reason: "a name of computers that is none", path: profile + "osProfile.computerNamePrefix", value: "a_b", status: 400,
		code: "InvalidParameter"},
	{reason: "a name that is too long for Windows", path: profile + "storageProfile.osDisk.osType", value: "Windows", status: 400,
		code: "InvalidParameter"},
	{reason: "no user", path: profile + "osProfile.adminUsername", status: 400, code: "InvalidParameter"},
	{reason: "custom data that is no base64", path: profile + "osProfile.customData", value: "#cloud-config", status: 400,
		code: "InvalidParameter", words: "Base64"},
	{reason: "custom data that is too large", path: profile + "osProfile.customData", value: strings.Repeat("AAAA", 21846), status: 400,
		code: "InvalidParameter", words: "87380"},
	{reason: "no key and no password", path: profile + "osProfile.linuxConfiguration.ssh", status: 400, code: "InvalidParameter"},
	{reason: "no image", path: profile + "storageProfile.imageReference", status: 400, code: "InvalidParameter"},
	{reason: "an image that was not published", path: profile + "storageProfile.imageReference.communityGalleryImageId",
		value: "/CommunityGalleries/" + compute.CommunityGallery + "/Images/capi-ubun2-2404/Versions/1.99.0", status: 404,
		code: "GalleryImageNotFound"},
	{reason: "an ID that is no image's", path: profile + "storageProfile.imageReference.communityGalleryImageId", value: "x", status: 400,
		code: "InvalidParameter"},
	{reason: "an image of a gallery that is not there", path: profile + "storageProfile.imageReference.communityGalleryImageId",
		value: "/CommunityGalleries/unknown-0/Images/capi-ubun2-2404/Versions/1.33.1", status: 404, code: "GalleryImageNotFound"},
	{reason: "an image at an address", path: profile + "storageProfile.osDisk.image",
		value: map[string]any{"uri": "http://169.254.169.254/noble.vhd"}, status: 400, code: "InvalidParameter", words: "imageReference"},
	{reason: "a disk that is too large", path: profile + "storageProfile.osDisk.diskSizeGB", value: 4096, status: 400,
		code: "InvalidParameter", words: "'1' and '4095'"},
	{reason: "a data disk of no size", path: profile + "storageProfile.dataDisks",
		value: []any{map[string]any{"lun": 1, "createOption": "Empty", "diskSizeGB": -1}}, status: 400, code: "InvalidParameter",
		words: "dataDisk.diskSizeGB"},
	{reason: "an image of one's own that is not there", path: profile + "storageProfile.imageReference", value: map[string]any{"id": "/x"},
		status: 404, code: "NotFound"},
	{reason: "half an offer", path: profile + "storageProfile.imageReference", value: map[string]any{"publisher": "x"}, status: 400,
		code: "InvalidParameter"},
	{reason: "an offer without Kubernetes of that version", path: profile + "storageProfile.imageReference",
		value:  map[string]any{"publisher": "cncf-upstream", "offer": "capi", "sku": "ubuntu-2204-gen1", "version": "199.1.20230101"},
		status: 404, code: "PlatformImageNotFound"},
	{reason: "two disks at one place", path: profile + "storageProfile.dataDisks", value: disks, status: 400, code: "InvalidParameter"},
	{reason: "an ultra disk that was not enabled", path: profile + "storageProfile.dataDisks",
		value:  []any{map[string]any{"lun": 1, "createOption": "Empty", "managedDisk": map[string]any{"storageAccountType": "UltraSSD_LRS"}}},
		status: 400, code: "InvalidParameter"},
	{reason: "eviction without spot", path: profile + "evictionPolicy", value: "Delete", status: 400, code: "InvalidParameter"},
	{reason: "a notice that is too long", path: profile + "scheduledEventsProfile.terminateNotificationProfile",
		value: map[string]any{"enable": true, "notBeforeTimeout": "PT20M"}, status: 400, code: "InvalidParameter"},
	{reason: "firmware settings without a security type", path: profile + "securityProfile.uefiSettings",
		value: map[string]any{"secureBootEnabled": true}, status: 400, code: "InvalidParameter"},
	{reason: "confidential machines of a common size", path: profile + "securityProfile.securityType", value: "ConfidentialVM", status: 400,
		code: "BadRequest"},
	{reason: "a subnet that is not there", path: profile + "networkProfile.networkInterfaceConfigurations",
		value: []any{map[string]any{"name": "n", "properties": map[string]any{"primary": true,
			"ipConfigurations": []any{map[string]any{"name": "i", "properties": map[string]any{"subnet": map[string]any{"id": "/gone"}}}}}}},
		status: 400, code: "InvalidResourceReference", words: "/gone"},
	{reason: "no network", path: profile + "networkProfile.networkInterfaceConfigurations", status: 400, code: "InvalidParameter"},
	{reason: "an identity that is not there", path: "identity",
		value: map[string]any{"type": "UserAssigned", "userAssignedIdentities": map[string]any{"/gone": map[string]any{}}}, status: 400,
		code: "FailedIdentityOperation"},
	{reason: "no identity named", path: "identity", value: map[string]any{"type": "UserAssigned"}, status: 400,
		code: "InvalidIdentityValues"},
}

// tags are as many tags.
func tags(n int) map[string]any {
	out := map[string]any{}
	for i := range n {
		out["t"+strings.Repeat("x", i)] = "v"
	}
	return out
}

var disks = []any{map[string]any{"lun": 1, "createOption": "Empty"}, map[string]any{"lun": 1, "createOption": "Empty"}}

func TestInvalidScaleSets(t *testing.T) {
	w := newInventory(t, azure.Options{})
	defer func() { w.must(w.cloud.Close()) }()
	for _, c := range invalidScaleSetsCases {
		t.Run(c.reason, func(t *testing.T) {
			mode := "Uniform"
			if c.mode == "Flexible" {
				mode = c.mode
			}
			d := azure.Example(azure.SubscriptionID, group(), mode, "longer-than-nine", 1)
			if c.mode == "northcentralus" {
				d["location"] = c.mode
			}
			edit(d, c.path, c.value)
			status, code, body := ask(t, w.cloud, "PUT", inGroup+"virtualMachineScaleSets/x"+version, written(t, d))
			if status != c.status || code != c.code || !strings.Contains(body, c.words) {
				t.Errorf("want %d %s with %q, got %d %s: %s", c.status, c.code, c.words, status, code, body)
			}
			check(t, "scale sets made", 0, len(w.cloud.State().Sets))
		})
	}
}

func TestUnchangeable(t *testing.T) {
	inBubble(t, azure.Options{}, func(w *inventory) {
		w.create("Uniform", "mp", 1)
		for path, value := range map[string]any{
			"properties.orchestrationMode": "Flexible", "properties.platformFaultDomainCount": 5, profile + "osProfile.computerNamePrefix": "other",
			profile + "osProfile.adminUsername": "root", profile + "priority": "Spot",
			profile + "storageProfile.osDisk.managedDisk.storageAccountType": "StandardSSD_LRS",
		} {
			d := azure.Example(azure.SubscriptionID, group(), "Uniform", "mp", 1)
			edit(d, path, value)
			if path == "properties.orchestrationMode" {
				edit(d, "properties.overprovision", nil)
				edit(d, profile+"networkProfile.networkApiVersion", "2020-11-01")
			}
			status, code, body := ask(w.T, w.cloud, "PUT", inGroup+"virtualMachineScaleSets/mp"+version, written(w.T, d))
			if status != 409 || code != "PropertyChangeNotAllowed" {
				w.Errorf("%s: want it refused to be changed, got %d %s", path, status, body)
			}
		}
		d := azure.Example(azure.SubscriptionID, group(), "Uniform", "mp", 1)
		edit(d, profile+"storageProfile.osDisk.diskSizeGB", 20)
		if status, code, _ := ask(w.T, w.cloud, "PUT", inGroup+"virtualMachineScaleSets/mp"+version, written(w.T, d)); status != 409 ||
			code != "OperationNotAllowed" {
			w.Errorf("want no smaller disk, got %d %s", status, code)
		}
		edit(d, profile+"storageProfile.osDisk.diskSizeGB", 30)
		d["location"] = "eastus"
		if status, code, _ := ask(w.T, w.cloud, "PUT", inGroup+"virtualMachineScaleSets/mp"+version, written(w.T, d)); status != 409 ||
			code != "InvalidResourceLocation" {
			w.Errorf("want no other location, got %d %s", status, code)
		}
	})
}
