package nodepool

import (
	"errors"
	"testing"

	"github.com/muster-project/muster/cloud"
)

func TestReleaseOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason, version, want string
		refused               bool
	}{
		{"none", "", "", false},
		{"a minor", "v1.34", "1.34", false},
		{"a patch", "v1.34.1", "1.34.1", false},
		{"a build of GKE's", "1.34.1-gke.1829001", "1.34.1-gke.1829001", false},
		{"an alias that moves", "latest", "", true},
		{"a build without a patch", "1.34-gke.1", "", true},
		{"another major", "v2.1.0", "", true},
		{"a pre-release", "v1.34.0-rc.1", "", true},
		{"a sign", "v1.+34", "", true},
		{"no minor", "v1.0", "", true},
		{"too many parts", "1.34.1.2", "", true},
	} {
		got, err := releaseOf(fieldVersion, c.version)
		var refusal *cloud.Error
		if got.String() != c.want || errors.As(err, &refusal) != c.refused || refusal != nil && refusal.Field != fieldVersion {
			t.Errorf("%s: want %q, refused: %t, got %q and %v", c.reason, c.want, c.refused, got, err)
		}
	}
}

func TestCourseOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason, current, wanted, controlPlane, next string
		waits                                       bool
	}{
		{"no version is asked for", "1.33.4-gke.1", "", "1.34.1-gke.5", "1.33.4-gke.1", false},
		{"a node pool that does not exist yet", "", "v1.33.4", "1.34.1-gke.5", "1.33.4", false},
		{"the version that it has", "1.33.4-gke.1", "v1.33.4", "1.34.1-gke.5", "1.33.4-gke.1", false},
		{"any patch of the minor that it has", "1.33.4-gke.1", "v1.33", "1.34.1-gke.5", "1.33.4-gke.1", false},
		{"another build", "1.33.4-gke.1", "1.33.4-gke.2", "1.34.1-gke.5", "1.33.4-gke.2", false},
		{"another patch", "1.33.4-gke.1", "v1.33.5", "1.34.1-gke.5", "1.33.5", false},
		{"the next minor", "1.33.4-gke.1", "v1.34.1", "1.34.1-gke.5", "1.34.1", false},
		{"two minors: one at a time", "1.32.4-gke.1", "v1.34.1", "1.34.1-gke.5", "1.33", false},
		{"two minors with a control plane between: no patch above it", "1.32.4-gke.1", "v1.34.1", "1.33.1-gke.5", "1.33.1-gke.5", false},
		{"the control plane goes first", "1.33.4-gke.1", "v1.34.1", "1.33.9-gke.1", "1.33.4-gke.1", true},
		{"a patch above the control plane", "1.33.4-gke.1", "v1.33.8", "1.33.7-gke.1", "1.33.4-gke.1", true},
		{"a build above the control plane", "1.33.4-gke.1", "1.33.4-gke.9", "1.33.4-gke.5", "1.33.4-gke.1", true},
		{"a control plane that is not known: GKE compares", "1.33.4-gke.1", "v1.34.1", "", "1.34.1", false},
		{"an automatic upgrade was faster", "1.34.1-gke.5", "v1.33.4", "1.34.1-gke.5", "1.34.1-gke.5", false},
		{"an automatic upgrade brought another build", "1.33.4-gke.7", "1.33.4-gke.5", "1.34.1-gke.5", "1.33.4-gke.7", false},
	} {
		got := courseOf(reported(c.current), reported(c.wanted), reported(c.controlPlane))
		if got.next.String() != c.next || got.path.WaitsForControlPlane != c.waits {
			t.Errorf("%s: want %s, waiting: %t, got %s and %+v", c.reason, c.next, c.waits, got.next, got.path)
		}
	}
}
