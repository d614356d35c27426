package status

import "testing"

// TestSkewBesideTheMachines holds that a version which can't be served is told beside what is known of the machines, and never
// makes what is unknown look known: a condition that would turn unknown for a moment is recognised by its words.
func TestSkewBesideTheMachines(t *testing.T) {
	t.Parallel()
	two, one := int32(2), int32(1)
	for _, c := range []struct {
		reason, want string
		facts        Facts
	}{
		{"all are as wanted", "too new", Facts{Skew: "too new", Replicas: &two, UpToDate: &two}},
		{"some are not", "1 of 2 machines are up to date; too new", Facts{Skew: "too new", Replicas: &two, UpToDate: &one}},
		{"no version is too new", "1 of 2 machines are up to date", Facts{Replicas: &two, UpToDate: &one}},
		{"no node can be asked", "no connection", Facts{Skew: "too new", Replicas: &two, ByVersion: true, NodesUnknown: "no connection"}},
	} {
		if got := machinesUpToDate(&c.facts); got.Message != c.want {
			t.Errorf("%s: want %q, got %q", c.reason, c.want, got.Message)
		}
	}
}
