package explore_test

import (
	"testing"

	"github.com/muster-project/muster/test/explore/kinds/gcp"
)

// TestNamedBy holds that the oracles see which instances a request names, in each form that Compute Engine takes.
func TestNamedBy(t *testing.T) {
	t.Parallel()
	for url, named := range map[string]bool{
		"zones/us-central1-a/instances/mp-1":                                                             true,
		"projects/p/zones/us-central1-a/instances/mp-1":                                                  true,
		"https://www.googleapis.com/compute/v1/projects/p/zones/us-central1-a/instances/mp-1":            true,
		"zones/us-central1-b/instances/mp-1":                                                             false,
		"zones/us-central1-a/instances/mp-12":                                                            false,
		"https://www.googleapis.com/compute/v1/projects/p/other-zones/us-central1-a/instances/mp-1/more": false,
	} {
		if got := gcp.NamedBy([]string{"zones/us-central1-a/instances/x", url}, "us-central1-a", "mp-1"); got != named {
			t.Errorf("%s: want %t, got %t", url, named, got)
		}
	}
}
