package explore

import (
	"strings"
	"testing"

	"github.com/muster-project/muster/test/explore/kinds/all"
)

// TestGoldenPolicies holds that what a policy or the pace of a strategy is for comes about in each golden scenario that has one, and that
// the rollout ends all the same.
func TestGoldenPolicies(t *testing.T) {
	t.Parallel()
	reached := map[string]int{}
	for _, s := range all.Golden() {
		if s.Policy == nil {
			continue
		}
		wants := "Warning NodeQuarantined"
		if s.Policy.RollsBack {
			wants = "Warning RolledBack"
		}
		reached[wants]++
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			if got := clean(t, s); !strings.Contains(got.Trace, wants) {
				t.Errorf("want the event %q, found none in\n%s", wants, upTo(got.Trace))
			}
		})
	}
	if len(reached) != 2 {
		t.Errorf("want golden scenarios for %d events, found %v", 2, reached)
	}
}
