package machinepool_test

import (
	"testing"

	"github.com/muster-project/muster/kube/machinepool/members"
)

func TestSameVersion(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		wanted, have string
		want         bool
	}{
		"same":                        {"v1.36.0", "v1.36.0", true},
		"vendor's suffix":             {"v1.36.0", "v1.36.0-eks-1a2b3c", true},
		"vendor's build":              {"v1.36.0", "v1.36.0+k3s1", true},
		"another build than wanted":   {"v1.36.0+k3s2", "v1.36.0+k3s1", false},
		"another suffix than wanted":  {"v1.36.0-rc.1", "v1.36.0", false},
		"patch of a vendor":           {"v1.36.0", "v1.36.10-eks-1a2b3c", true},
		"older patch of a vendor":     {"v1.36.2", "v1.36.1-eks-1a2b3c", false},
		"newer patch of no vendor":    {"v1.36.0", "v1.36.1", false},
		"patch":                       {"v1.36.1", "v1.36.0", false},
		"minor":                       {"v1.36.0", "v1.35.0", false},
		"no version":                  {"v1.36.0", "unknown", false},
		"wanted is none":              {"latest", "v1.36.0", false},
		"wanted without its letter v": {"1.36.0", "v1.36.0", true},
	} {
		if got := members.SameVersion(tc.wanted, tc.have); got != tc.want {
			t.Errorf("%s: want %t, got %t", name, tc.want, got)
		}
	}
}
