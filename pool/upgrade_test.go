package pool

import "testing"

func TestUpgradePath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why                           string
		current, wanted, controlPlane int
		next                          int
		waits, downgrade              bool
		words                         string
	}{
		{"no version is asked for", 30, 0, 31, 30, false, false, ""},
		{"no group exists", 0, 31, 31, 0, false, false, ""},
		{"the group runs the wanted version", 30, 30, 31, 30, false, false, ""},
		{"one minor version is one step", 30, 31, 31, 31, false, false, "Kubernetes 1.30 to 1.31"},
		{"two are two steps", 29, 31, 31, 30, false, false, "Kubernetes 1.29 to 1.30, on the way to 1.31"},
		{"the control plane goes first", 30, 32, 30, 30, true, false, "Kubernetes 1.30 of the wanted 1.32, which waits for the control plane"},
		{"steps up to the control plane are taken", 29, 32, 30, 30, false, false, "Kubernetes 1.29 to 1.30, on the way to 1.32"},
		{"an unknown control plane blocks no step", 29, 31, 0, 30, false, false, "Kubernetes 1.29 to 1.30, on the way to 1.31"},
		{"no group goes back", 30, 29, 31, 30, false, true, ""},
	} {
		got := UpgradePathOf(c.current, c.wanted, c.controlPlane)
		want := UpgradePath{Current: c.current, Wanted: c.wanted, Next: c.next, WaitsForControlPlane: c.waits, Downgrade: c.downgrade}
		if got != want || got.String() != c.words {
			t.Errorf("%s: want %#v and the words %q, got %#v and %q", c.why, want, c.words, got, got)
		}
	}
}
