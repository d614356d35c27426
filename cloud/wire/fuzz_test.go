package wire

import (
	"net/http"
	"testing"
	"time"
)

// FuzzRetryAfter holds that no header makes us wait for longer than the limit, or for less than nothing.
func FuzzRetryAfter(f *testing.F) {
	for _, value := range []string{"", "0", "17", "-1", "4294967296", "99999999999999999999", "Sat, 21 Nov 2026 05:00:00 GMT",
		"Sat, 21 Nov 9999 05:00:00 GMT", "1.5", "soon"} {
		f.Add(value, int64(1_800_000_000))
	}
	f.Fuzz(func(t *testing.T, value string, now int64) {
		got := RetryAfter(http.Header{"Retry-After": {value}}, time.Unix(now, 0))
		if got < 0 || got > longestRetryAfter {
			t.Errorf("want between nothing and %s for %q, got %s", longestRetryAfter, value, got)
		}
	})
}
