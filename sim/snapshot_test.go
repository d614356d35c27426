package sim_test

import (
	"testing"

	"github.com/muster-project/muster/sim"
)

// TestNamedBy holds that a member is found in a request in each form that the clouds take.
func TestNamedBy(t *testing.T) {
	t.Parallel()
	const zonal = "zones/us-central1-a/instances/mp-1"
	for _, c := range []struct {
		ref, request string
		named        bool
	}{
		{zonal, zonal, true},
		{zonal, "projects/p/" + zonal, true},
		{zonal, "https://www.googleapis.com/compute/v1/projects/p/" + zonal, true},
		{zonal, "zones/us-central1-b/instances/mp-1", false},
		{zonal, "zones/us-central1-a/instances/mp-12", false},
		{zonal, "https://www.googleapis.com/compute/v1/projects/p/other-" + zonal + "/more", false},
		{"1", "1", true},
		{"1", "11", false},
	} {
		if got := (sim.Member{Ref: c.ref}).NamedBy([]string{"other", c.request}); got != c.named {
			t.Errorf("%s in %s: want %t, got %t", c.ref, c.request, c.named, got)
		}
	}
}
