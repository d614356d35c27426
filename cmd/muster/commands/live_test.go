package commands

import (
	"strings"
	"testing"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/view"
)

// A Cluster of a class has no pool when it is seeded: the topology controller makes them, and --until-ready waits for them.
func TestPromisedPoolsAreWaitedFor(t *testing.T) {
	ready := testPool("a", 2)
	ready.Settled = true
	for _, tc := range []struct {
		reason   string
		pools    []view.Pool
		promised int
		want     bool
		// says is a substring of the reasons.
		says string
	}{
		{"a world may have no pools", nil, 0, true, "could not be read"},
		{"none has been made yet", nil, 1, false, "0 of 1 machine pools that Clusters of a class ask for are there"},
		{"one has, and is ready", []view.Pool{ready}, 2, false, "1 of 2 machine pools"},
		{"both are there, and one comes up", []view.Pool{ready, testPool("b", 0)}, 2, false, "default/b: 0/2 ready"},
		{"both are ready, and one that was not promised", []view.Pool{ready, ready}, 1, true, ""},
	} {
		if got := settled(tc.pools, tc.promised); got != tc.want {
			t.Errorf("%s: want settled %t, got %t", tc.reason, tc.want, got)
		}
		if got := reasons(tc.pools, tc.promised); !strings.Contains(got, tc.says) {
			t.Errorf("%s: want the reason %q, got %q", tc.reason, tc.says, got)
		}
	}
}

// TestUpTellsOfTheSimulators holds that the output of "up" leads to the fault interface of each cloud.
func TestUpTellsOfTheSimulators(t *testing.T) {
	got := simulatorLines([]string{"aws", "azure"}, func(cloud string) string { return "http://" + cloud + ":1" })
	for _, want := range []string{"AWS_SIM=http://aws:1\n", "AZURE_SIM=http://azure:1\n", "curl $AZURE_SIM" + sim.AdminPath + "calls\n",
		"docs/simulators.md"} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q, got %s", want, got)
		}
	}
}
