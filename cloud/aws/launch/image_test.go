package launch

import (
	"testing"

	"github.com/muster-project/muster/cloud"
)

// TestMinorOf holds which versions are valid. Images are looked up for any minor version, 0 too.
func TestMinorOf(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]int{"v1.36.3": 36, "1.36": 36, "v1.0": 0, "1.0.1": 0, "v2.1.0": -1, "v1": -1, "1.x": -1, "": -1} {
		got, err := MinorOf(fieldVersion, version)
		switch {
		case want < 0 && cloud.KindOf(err) != cloud.Invalid:
			t.Errorf("%q: want it invalid, got %d and %v", version, got, err)
		case want >= 0 && (err != nil || got != want):
			t.Errorf("%q: want %d, got %d and %v", version, want, got, err)
		}
	}
}
