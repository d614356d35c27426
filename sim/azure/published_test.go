package azure_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/test/specs"
)

// differs are the routes that no client of the SDK requests, with the reason.
var differs = map[string]string{
	"compute.Operations_Get":                "polled at the address in the header Azure-AsyncOperation",
	"containerservice.Operations_Get":       "polled at the address in the header Azure-AsyncOperation",
	"containerservice.OperationResults_Get": "polled at the address in the header Location",
}

// inPath are the parts of a path that a request chooses, whatever they are called.
var inPath = regexp.MustCompile(`\{[^}]*\}`)

func TestRoutesArePublished(t *testing.T) {
	spec, served := specs.Azure(), map[string]bool{}
	for _, r := range azure.Routes() {
		id := r.Service + "." + r.Name
		served[id] = true
		o, why := spec.Operation(id), ""
		switch path := inPath.ReplaceAllString(strings.ToLower(r.Pattern), "{}"); {
		case o == nil:
			why = "is not published"
		case o.Method != r.Method || inPath.ReplaceAllString(strings.ToLower(o.Path), "{}") != path:
			why = "is published as " + o.Method + " " + o.Path
		case !slices.Contains(r.Versions, o.Version):
			why = fmt.Sprintf("is published in version %s, not only in %v", o.Version, r.Versions)
		}
		if _, listed := differs[id]; listed == (why == "") {
			t.Errorf("%s %s, %s %s: listed is %t", id, why, r.Method, r.Pattern, listed)
		}
	}
	for id := range differs {
		if !served[id] {
			t.Errorf("no route has the name %s: take it off the list", id)
		}
	}
	for _, service := range []string{"authorization", "compute", "containerservice", "msi", "network", "resources"} {
		for _, id := range spec.IDs(service) {
			if !served[id] {
				t.Errorf("no route has the name %s: take it out of the table", id)
			}
		}
	}
}

// elsewhere are the parameters of links that the service makes, and of requests for tokens.
var elsewhere = []string{"api-version", "$skiptoken", "monitor", "resource", "client_id", "msi_res_id", "mi_res_id"}

// TestParametersArePublished holds every parameter that the simulator reads against the operations: one of them has it.
func TestParametersArePublished(t *testing.T) {
	spec, known := specs.Azure(), map[string]bool{}
	for _, name := range elsewhere {
		known[name] = true
	}
	for _, r := range azure.Routes() {
		if o := spec.Operation(r.Service + "." + r.Name); o != nil {
			for name := range o.Query {
				known[name] = true
			}
		}
	}
	read := regexp.MustCompile(`Query\.(?:Get|Has)\("([^"]+)"\)`)
	for _, pattern := range []string{"*/*.go", "*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range read.FindAllStringSubmatch(string(text), -1) {
				if !known[m[1]] {
					t.Errorf("%s reads the parameter %s, which no operation has", file, m[1])
				}
			}
		}
	}
}

// TestRequestsThatAreNotPublished shows that the check of requests notices what is wrong with one, and accepts what is right.
func TestRequestsThatAreNotPublished(t *testing.T) {
	const (
		version  = "?api-version=2026-04-01"
		compute  = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/"
		set      = compute + "virtualMachineScaleSets/p" + version
		pools    = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c/agentPools/p?api-version="
		assigned = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Authorization/roleAssignments"
	)
	for _, row := range []struct{ method, path, body, want string }{
		{http.MethodGet, set, "", ""},
		{http.MethodGet, strings.ToLower(set), "", ""},
		{http.MethodGet, compute + "virtualMachineScaleSet/p" + version, "", "no operation is published"},
		{http.MethodPost, set, "{}", "no operation is published"},
		{http.MethodGet, set + "&$filter=x", "", "has no parameter $filter"},
		{http.MethodDelete, set + "&forceDeletion=true", "", ""},
		{http.MethodPut, set, `{"location":"l","sku":{"capacity":1}}`, ""},
		{http.MethodPut, set, `{"sku":{"capacity":1}}`, "the member location is needed"},
		{http.MethodPut, set, `{"location":"l","sku":{"capacity":"1"}}`, "1 at sku.capacity is not of kind int"},
		{http.MethodPut, set, `{"location":"l","sku":{"size":1}}`, "no member sku.size"},
		{http.MethodPatch, set, `{"tags":{"a":"b"}}`, ""},
		{http.MethodPost, compute + "virtualMachineScaleSets/p/delete" + version, `{}`, "the member instanceIds is needed"},
		{http.MethodPut, pools + "2025-08-01", `{"properties":{"upgradeSettings":{"maxUnavailable":"1"}}}`, ""},
		{http.MethodPut, pools + "2025-02-01", `{"properties":{"upgradeSettings":{"maxUnavailable":"1"}}}`, "no member"},
		{http.MethodGet, assigned + "?$filter=x", "", ""},
		{http.MethodGet, assigned + "?filter=x", "", "has no parameter filter"},
	} {
		err := specs.Azure().Request(httptest.NewRequest(row.method, row.path, nil), row.body)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s %s %s: want %q, got %v", row.method, row.path, row.body, row.want, err)
		}
	}
}

// TestAnswersThatAreNotPublished shows that the check of answers notices what is wrong with one.
func TestAnswersThatAreNotPublished(t *testing.T) {
	const path = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/p"
	for _, row := range []struct {
		method, body string
		status       int
		want         string
	}{
		{http.MethodGet, `{"id":"x","location":"l","properties":{"uniqueId":"u"}}`, http.StatusOK, ""},
		{http.MethodGet, `{"size":1}`, http.StatusOK, "no member size is published"},
		{http.MethodGet, `{}`, http.StatusAccepted, "status 202 is not one of [200]"},
		{http.MethodDelete, "", http.StatusAccepted, ""},
		{http.MethodDelete, "", http.StatusCreated, "status 201"},
		{http.MethodGet, `{"error":{"code":"X"}}`, http.StatusConflict, ""},
	} {
		r := httptest.NewRequest(row.method, path, nil)
		err := specs.Azure().Answer(r, "", &http.Response{StatusCode: row.status}, []byte(row.body))
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s %d %s: want %q, got %v", row.method, row.status, row.body, row.want, err)
		}
	}
}
