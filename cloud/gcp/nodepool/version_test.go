package nodepool

import (
	"errors"
	"testing"

	"github.com/muster-project/muster/cloud"
)

func TestVersionOf(t *testing.T) {
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
		got, err := versionOf(fieldVersion, c.version)
		var refusal *cloud.Error
		if got.String() != c.want || errors.As(err, &refusal) != c.refused || refusal != nil && refusal.Field != fieldVersion {
			t.Errorf("%s: want %q, refused: %t, got %q and %v", c.reason, c.want, c.refused, got, err)
		}
	}
}
