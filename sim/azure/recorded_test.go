package azure_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/document"
)

// set1 is the path of a scale set.
const set1 = "/subscriptions/" + azure.SubscriptionID + "/resourceGroups/capz/providers/Microsoft.Compute/virtualMachineScaleSets/set1"

// recorder sends requests as they were recorded and keeps the header of the last reply.
type recorder struct {
	*inventory
	header http.Header
	// at is the address of the operation that was looked at last.
	at string
}

func (r *recorder) ask(method, path, body string) (int, document.Object) {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), method, "http://arm.sim"+path, strings.NewReader(body))
	r.must(err)
	req.Header.Set("Authorization", "Bearer anybody")
	reply, err := r.Do(req)
	r.must(err)
	r.header = reply.Header
	var d document.Object
	_ = json.NewDecoder(reply.Body).Decode(&d) // an empty body is no document
	return reply.StatusCode, d
}

// TestScaleSetsAsRecorded holds what clients of Azure have recorded of a Uniform scale set: it is scaled by a PUT that names its size
// alone, two machines are deleted, and then the scale set.
func TestScaleSetsAsRecorded(t *testing.T) {
	inBubble(t, azure.Options{}, func(w *inventory) {
		r := &recorder{inventory: w}
		set := azure.Example(azure.SubscriptionID, group(), "Uniform", "set1", 5)
		status, d := r.ask(http.MethodPut, set1+version, written(t, set))
		check(t, "created", 201, status)
		check(t, "state", "Creating", document.Text(d, "properties.provisioningState"))
		time.Sleep(40 * time.Minute)

		status, d = r.ask(http.MethodPut, set1+version, `{"location":"`+document.Text(set, "location")+`","sku":{"name":"`+
			document.Text(set, "sku.name")+`","tier":"Standard","capacity":4}}`)
		check(t, "scaled", 200, status)
		check(t, "state while it is scaled", "Updating", document.Text(d, "properties.provisioningState"))
		check(t, "what the request leaves out stays", document.Text(set, "properties.virtualMachineProfile.osProfile.computerNamePrefix"),
			document.Text(d, "properties.virtualMachineProfile.osProfile.computerNamePrefix"))
		r.operation(t, "", false)
		time.Sleep(40 * time.Minute)

		r.machines(t, 4)
		status, _ = r.ask(http.MethodPost, set1+"/delete"+version, `{"instanceIds":["0","1"]}`)
		check(t, "two are deleted", 202, status)
		r.operation(t, "InProgress", true)
		time.Sleep(40 * time.Minute)
		_, d = r.ask(http.MethodGet, set1+"/instanceView"+version, "")
		check(t, "the view", `{"statuses":["ProvisioningState/succeeded"],"virtualMachine":{"ProvisioningState/succeeded":2}}`, summary(t, d))
		_, d = r.ask(http.MethodGet, set1+version, "")
		n, _ := document.Number(d, "sku.capacity")
		check(t, "the capacity", 2, n)

		status, d = r.ask(http.MethodDelete, set1+version, "")
		check(t, "the scale set is deleted", 202, status)
		check(t, "the body", 0, len(d))
		r.operation(t, "InProgress", true)
		time.Sleep(40 * time.Minute)
		_, d = r.ask(http.MethodGet, set1+version, "")
		check(t, "not found", "ResourceNotFound", document.Text(d, "error.code"))
	})
}

// TestProtectionAsRecorded holds what clients of Azure have recorded of machines of a Uniform scale set in mode Manual: after a change of
// the scale set they lack its model, a PUT changes their protection and neither their model nor their tags, and a request upgrades them.
func TestProtectionAsRecorded(t *testing.T) {
	inBubble(t, azure.Options{}, func(w *inventory) {
		r := &recorder{inventory: w}
		set := azure.Example(azure.SubscriptionID, group(), "Uniform", "set1", 1)
		document.Place(set, "tags", document.Object{"team": "a"})
		r.ask(http.MethodPut, set1+version, written(t, set))
		time.Sleep(40 * time.Minute)
		_, d := r.ask(http.MethodPatch, set1+version, `{"properties":{"virtualMachineProfile":{"licenseType":"RHEL_BYOS"}}}`)
		check(t, "the model that is wanted", "RHEL_BYOS", document.Text(d, "properties.virtualMachineProfile.licenseType"))
		time.Sleep(40 * time.Minute)

		machine := set1 + "/virtualMachines/0"
		status, d := r.ask(http.MethodPut, machine+version,
			`{"tags":{"team":"b"},"properties":{"protectionPolicy":{"protectFromScaleIn":true,"protectFromScaleSetActions":true}}}`)
		check(t, "protected", 200, status)
		check(t, "state", "Updating", document.Text(d, "properties.provisioningState"))
		check(t, "shown at once", true, document.Truth(d, "properties.protectionPolicy.protectFromScaleIn"))
		check(t, "an address of the result", "", r.header.Get("Location"))
		check(t, "the operation", true, r.header.Get("Azure-AsyncOperation") != "")
		time.Sleep(40 * time.Minute)
		_, d = r.ask(http.MethodGet, machine+version, "")
		check(t, "state afterwards", "Succeeded", document.Text(d, "properties.provisioningState"))
		check(t, "the tag", "a", document.Text(d, "tags.team"))
		check(t, "has the model", false, document.Truth(d, "properties.latestModelApplied"))
		check(t, "whose model", "VirtualMachineScaleSet", document.Text(d, "properties.modelDefinitionApplied"))

		status, d = r.ask(http.MethodPost, set1+"/manualupgrade"+version, `{"instanceIds":["*"]}`)
		check(t, "upgraded", 202, status)
		check(t, "the body", 0, len(d))
		r.operation(t, "InProgress", true)
		result := strings.Replace(strings.TrimPrefix(r.at, "http://arm.sim"), "?", "?monitor=true&", 1)
		time.Sleep(40 * time.Minute)
		status, d = r.ask(http.MethodGet, result, "")
		check(t, "the result", 200, status)
		check(t, "its body", 0, len(d))
		check(t, "when to ask again after the end", "", r.header.Get("Retry-After"))
	})
}

// operation checks the headers of a request that takes time, and the operation's address: it is signed, and replies say when to ask again.
func (r *recorder) operation(t *testing.T, status string, location bool) {
	t.Helper()
	at := r.header.Get("Azure-AsyncOperation")
	r.at = at
	if len(at) < 3000 || !strings.Contains(at, "&t=") || !strings.Contains(at, "&s=") {
		t.Errorf("want a signed address, got %s", at)
	}
	check(t, "notification", "Enabled", r.header.Get("Azure-AsyncNotification"))
	check(t, "an address of the result", location, strings.Contains(r.header.Get("Location"), "&monitor=true"))
	check(t, "when to ask again", "10", r.header.Get("Retry-After"))
	if status == "" {
		return
	}
	_, d := r.ask(http.MethodGet, strings.TrimPrefix(at, "http://arm.sim"), "")
	check(t, "the operation", status, document.Text(d, "status"))
	check(t, "its end is not shown", true, d["endTime"] == nil)
	check(t, "when to ask for it again", "30", r.header.Get("Retry-After"))
}

// machines checks what the list of machines shows.
func (r *recorder) machines(t *testing.T, want int) {
	t.Helper()
	_, d := r.ask(http.MethodGet, set1+"/virtualMachines"+version, "")
	all := document.Objects(d, "value")
	check(t, "machines", want, len(all))
	for _, m := range all {
		id := document.Text(m, "instanceId")
		check(t, "name", "set1_"+id, document.Text(m, "name"))
		check(t, "size", document.Text(m, "sku.name"), document.Text(m, "properties.hardwareProfile.vmSize"))
		check(t, "model", "VirtualMachineScaleSet", document.Text(m, "properties.modelDefinitionApplied"))
		check(t, "computer", true, strings.HasSuffix(document.Text(m, "properties.osProfile.computerName"), "00000"+id))
		check(t, "disk", true, strings.HasPrefix(document.Text(m, "properties.storageProfile.osDisk.name"), "set1_set1_"+id+"_OsDisk_1_"))
	}
}

// summary writes the codes of an instance view.
func summary(t *testing.T, d document.Object) string {
	t.Helper()
	counts, codes := document.Object{}, []any{}
	for _, s := range document.Objects(d, "virtualMachine.statusesSummary") {
		counts[document.Text(s, "code")] = s["count"]
	}
	for _, s := range document.Objects(d, "statuses") {
		codes = append(codes, s["code"])
	}
	out := document.Object{"virtualMachine": counts, "statuses": codes}
	for name := range d {
		if out[name] == nil {
			out[name] = true
		}
	}
	return written(t, out)
}
