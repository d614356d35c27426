package explore_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/muster-project/muster/providers/azure/permissions"
	"github.com/muster-project/muster/test/permissions/allowed"
)

func TestActionOfRequest(t *testing.T) {
	t.Parallel()
	const set = "/subscriptions/s/resourceGroups/RG/providers/Microsoft.Compute/virtualMachineScaleSets/a"
	for _, c := range []struct{ reason, method, path, want string }{
		{"a scale set", "GET", set, "Microsoft.Compute/virtualMachineScaleSets/read"},
		{"a new one", "PUT", set, "Microsoft.Compute/virtualMachineScaleSets/write"},
		{"a change", "PATCH", set, "Microsoft.Compute/virtualMachineScaleSets/write"},
		{"its end", "DELETE", set, "Microsoft.Compute/virtualMachineScaleSets/delete"},
		{"the end of some machines", "POST", set + "/delete", "Microsoft.Compute/virtualMachineScaleSets/delete/action"},
		{"its view", "GET", set + "/instanceView", "Microsoft.Compute/virtualMachineScaleSets/instanceView/read"},
		{"its machines", "GET", set + "/virtualMachines", "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/read"},
		{"one of them", "PUT", set + "/virtualMachines/0", "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/write"},
		{"a catalogue", "GET", "/subscriptions/s/providers/Microsoft.Compute/skus", "Microsoft.Compute/skus/read"},
		{"an operation", "GET", "/subscriptions/s/providers/Microsoft.Compute/locations/l/operations/o",
			"Microsoft.Compute/locations/operations/read"},
		{"a role at a resource", "PUT", set + "/providers/Microsoft.Authorization/roleAssignments/n",
			"Microsoft.Authorization/roleAssignments/write"},
		{"what is no resource is no action of a role", "GET", "/subscriptions/s", "/subscriptions/s"},
	} {
		if got := allowed.ActionOf(c.method, c.path); got != c.want {
			t.Errorf("%s: want %s, got %s", c.reason, c.want, got)
		}
	}
}

type answering int

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: int(a)}, nil
}

// TestRoleAllows holds that a denied action never reaches the cloud.
func TestRoleAllows(t *testing.T) {
	t.Parallel()
	role, err := allowed.New(permissions.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reason, method, path string
		status               int
	}{
		{"what is allowed goes through, whatever the case of letters", "GET",
			"/subscriptions/s/resourcegroups/rg/providers/microsoft.compute/virtualmachinescalesets/a", 200},
		{"what is not is refused", "DELETE", "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/a", 403},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, "http://azure.invalid"+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := role.Wrap(answering(200)).RoundTrip(req)
		if err != nil || got.StatusCode != c.status {
			t.Errorf("%s: want %d, got %+v, %v", c.reason, c.status, got, err)
		}
		if got.Body != nil && got.Body.Close() != nil {
			t.Error("want a body that closes")
		}
	}
	if n := role.Uses("Microsoft.Compute/virtualMachineScaleSets/read"); n != 1 {
		t.Errorf("want what was sent counted, got %d", n)
	}
	if n := role.Uses(strings.ToLower("Microsoft.Compute/virtualMachines/delete")); n != 0 {
		t.Errorf("want what was refused not counted, got %d", n)
	}
}
