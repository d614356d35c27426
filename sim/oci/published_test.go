package oci

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/muster-project/muster/sim/oci/compute"
	"github.com/muster-project/muster/sim/oci/containerengine"
	"github.com/muster-project/muster/sim/oci/identity"
	"github.com/muster-project/muster/sim/oci/workrequests"
	"github.com/muster-project/muster/test/specs"
)

// statuses are the codes of accepted requests by service and method, exceptions those of operations that have another.
var (
	statuses = map[string]map[string]int{
		containerengine.Name: {http.MethodGet: http.StatusOK, http.MethodPost: http.StatusAccepted, http.MethodPut: http.StatusAccepted,
			http.MethodDelete: http.StatusAccepted},
		compute.Name: {http.MethodGet: http.StatusOK, http.MethodPost: http.StatusOK, http.MethodPut: http.StatusOK,
			http.MethodDelete: http.StatusNoContent},
		workrequests.Name: {http.MethodGet: http.StatusOK}, identity.Name: {http.MethodGet: http.StatusOK},
	}
	exceptions = map[string]int{"DeleteWorkRequest": http.StatusNoContent, "AttachInstancePoolInstance": http.StatusCreated,
		"DetachInstancePoolInstance": http.StatusAccepted, "TerminationProceedInstancePoolInstance": http.StatusAccepted}
)

// publishedOf returns what is published of an operation, nil for nothing.
func publishedOf(service, name string) *specs.Operation {
	if o := specs.OCI().Operation(service + "." + name); o != nil {
		return o
	}
	return specs.OCI().Operation(name)
}

// TestRoutesArePublished holds the routes against the published documents: names, methods, paths, and the codes of accepted requests.
func TestRoutesArePublished(t *testing.T) {
	t.Parallel()
	for _, r := range routes {
		o, status := publishedOf(r.Service, r.Name), statuses[r.Service][r.Method]
		if other, is := exceptions[r.Name]; is {
			status = other
		}
		switch {
		case o == nil:
			t.Errorf("%s is not published", r.Name)
		case o.Method != r.Method || o.Path != r.Pattern || !slices.Equal(o.Success, []int{status}):
			t.Errorf("%s %s %s: published as %s %s, %v", r.Name, r.Method, r.Pattern, o.Method, o.Path, o.Success)
		case r.Mutating == (r.Method == http.MethodGet):
			t.Errorf("%s: %s writes is %t", r.Name, r.Method, r.Mutating)
		}
	}
}

// TestParametersAreKnown holds that the simulator reads all parameters of the operations that it serves.
func TestParametersAreKnown(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		part, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(part)
	}
	for _, r := range routes {
		for name := range publishedOf(r.Service, r.Name).Query {
			if short := strings.TrimSuffix(name, "Vnp"); !strings.Contains(text.String(), `"`+short+`"`) {
				t.Errorf("%s: the parameter %s is not read", r.Name, name)
			}
		}
	}
}
