package status

import "testing"

// TestVersionSkewInMachinesUpToDate holds that an unsupported version is reported with the state of the machines, and never changes that
// state.
func TestVersionSkewInMachinesUpToDate(t *testing.T) {
	t.Parallel()
	two, one := int32(2), int32(1)
	for _, c := range []struct {
		reason, want string
		facts        Facts
		nodes        *Nodes
	}{
		{"nodes are too old for the next version", "1 of 2 machines are up to date; blocks", Facts{Replicas: &two, UpToDate: &one},
			&Nodes{BlocksControlPlane: "blocks"}},
		{"all are as wanted", "too new", Facts{VersionSkew: "too new", Replicas: &two, UpToDate: &two}, nil},
		{"some are not", "1 of 2 machines are up to date; too new", Facts{VersionSkew: "too new", Replicas: &two, UpToDate: &one}, nil},
		{"no version is too new", "1 of 2 machines are up to date", Facts{Replicas: &two, UpToDate: &one}, nil},
		{"nodes are unknown", "no connection", Facts{VersionSkew: "too new", Replicas: &two, ByVersion: true, NodesUnknown: "no connection"},
			nil},
	} {
		if got := machinesUpToDate(&pass{Facts: c.facts, Outcome: Outcome{Nodes: c.nodes}}); got.Message != c.want {
			t.Errorf("%s: want %q, got %q", c.reason, c.want, got.Message)
		}
	}
}
