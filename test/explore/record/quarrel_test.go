package record

import (
	"testing"
	"testing/synctest"
	"time"
)

// Two managers that take each other's word back are found. One that follows a cloud which does the same again and again is not, however
// long that takes.
func TestQuarrel(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes bool
		within  time.Duration
		found   bool
	}{
		{"two managers", false, 10 * time.Second, true},
		{"the cloud goes to and fro", true, 10 * time.Second, false},
		{"once a minute", false, time.Minute, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var q Quarrel
				found, yes := "", func() bool { return true }
				for k := range 20 {
					status, cloud := []string{"one", "two"}[k%2], "one"
					if c.changes {
						cloud = status
					}
					found += q.Record(status, func() string { return cloud }, yes)
					time.Sleep(c.within)
				}
				if (found != "") != c.found {
					t.Errorf("want it found: %t, got %q", c.found, found)
				}
			})
		})
	}
}
