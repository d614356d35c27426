package doctor

import (
	"testing"
)

func TestPolicies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		why    string
		policy Policy
		want   Severity
		fact   string
	}{
		"fine":         {"it restricts pools", Policy{Reported: true, Pools: 2}, OK, "applies to 2 pools"},
		"not reported": {"what it does is not known", Policy{}, Warning, "its state has not been reported"},
		"no pools":     {"a misspelt label is no freeze", Policy{Reported: true}, Warning, "selects no pool, so that it restricts nothing"},
		"never opens": {"its pools are never replaced", Policy{Reported: true, Pools: 2, Fault: "PolicyNeverOpens: no window"}, Problem,
			"PolicyNeverOpens: no window"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.policy.Object = "RolloutPolicy team/p"
			got := policies(Installation{Policies: []Policy{c.policy}})
			if len(got) != 1 || got[0].Severity != c.want || got[0].Fact != c.fact || got[0].Object != c.policy.Object ||
				(got[0].Action == "") != (c.want == OK) {
				t.Errorf("%s: got %+v", c.why, got)
			}
		})
	}
}
