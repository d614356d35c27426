package nodegroup_test

import (
	"net/http"
	"strings"
	"testing"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/nodegroup"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// TestGroupOfProvider holds that an object without spec.providerID and spec.eksNodegroupName gets no node group beside the one that the
// ecosystem's provider made for it.
func TestGroupOfProvider(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		why      string
		cluster  string
		provider bool
		change   func(*awsv1.AWSManagedMachinePoolSpec)
		denied   string
		want     bool
	}{
		"of its cluster":           {"it has the name that the provider derives", "c", true, nil, "", true},
		"the list is denied":       {"the name is known", "c", true, nil, "ListNodegroups", true},
		"of another cluster":       {"its tags name the other", "other", true, nil, "", false},
		"the cluster is ambiguous": {"the tags prove nothing", "c", false, nil, "", false},
		"the specification names it": {"another name was asked for", "c", true,
			func(s *awsv1.AWSManagedMachinePoolSpec) { s.EKSNodegroupName = "own" }, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
				w.theirs(tc.cluster, "")
				if tc.denied != "" {
					w.must(w.server.Faults().Add(sim.Fault{Kind: sim.ErrorBefore, Service: "eks", Action: tc.denied, Code: "AccessDeniedException",
						Message: "not authorized", Status: http.StatusForbidden}))
				}
				s := plain()
				if tc.change != nil {
					s = spec(tc.change)(s)
				}
				target := aTarget(s)
				target.Search = cloud.Search{Tagged: true, Provider: tc.provider}
				o := w.observe(target)
				if (o.OwnershipConflict != nil) != tc.want {
					t.Fatalf("%s: want a conflict: %t, got %+v", tc.why, tc.want, o.OwnershipConflict)
				}
				if tc.want && !strings.Contains(o.OwnershipConflict.Message, pool.AdoptionHint(theirGroup)) {
					t.Errorf("%s: want the way to its adoption, got %q", tc.why, o.OwnershipConflict.Message)
				}
			})
		})
	}
}
