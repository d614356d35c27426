package infrapool_test

import (
	"testing"

	"github.com/muster-project/muster/kube/infrapool/preview"
)

// The bounds of a cloud's own roll, for groups in which percentages leave room and for those in which they do not.
func TestHealthBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why                    string
		health                 preview.Health
		size, wantMin, wantMax int
	}{
		{"a tenth of ten is one", preview.Health{MinPercent: 90, MaxPercent: 100}, 10, 9, 10},
		{"a tenth of three is none, and one goes nevertheless", preview.Health{MinPercent: 90, MaxPercent: 100}, 3, 2, 3},
		{"none may be missing, so another is launched first", preview.Health{MinPercent: 100, MaxPercent: 110}, 10, 10, 11},
		{"a tenth of three more is one more", preview.Health{MinPercent: 100, MaxPercent: 110}, 3, 3, 4},
		{"neither room below nor above: one goes", preview.Health{MinPercent: 100, MaxPercent: 100}, 5, 4, 5},
		{"all at once", preview.Health{MinPercent: 0, MaxPercent: 100}, 5, 0, 5},
		{"there is no machine", preview.Health{MinPercent: 90, MaxPercent: 100}, 0, 0, 0},
	} {
		if minServing, maxSize := c.health.Bounds(c.size); minServing != c.wantMin || maxSize != c.wantMax {
			t.Errorf("%s: want %d to %d, got %d to %d", c.why, c.wantMin, c.wantMax, minServing, maxSize)
		}
	}
}
