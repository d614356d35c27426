package health_test

import (
	"testing"
	"time"

	"github.com/muster-project/muster/pool/clock"
	"github.com/muster-project/muster/pool/health"
)

func TestPreserved(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	ago := func(id string, since, left time.Duration) health.Unready {
		u := health.Unready{ID: id, Since: now.Add(-since)}
		if left != 0 {
			u.Until = now.Add(left)
		}
		return u
	}
	for _, c := range []struct {
		why  string
		list []health.Unready
		want string
		next time.Duration
	}{
		{"none", nil, "", 0},
		{"without an end it is a day", []health.Unready{ago("a", 23*time.Hour, 0)}, "a", time.Hour},
		{"the day is over", []health.Unready{ago("a", 24*time.Hour, 0)}, "", 0},
		{"an end that has come", []health.Unready{ago("a", time.Hour, -time.Second)}, "", 0},
		{"an end before the day is over", []health.Unready{ago("a", time.Hour, time.Minute)}, "a", time.Minute},
		{"an end after it", []health.Unready{ago("a", 24*time.Hour, time.Hour)}, "", 0},
		{"one of several", []health.Unready{ago("c", time.Hour, 0), ago("b", 2*time.Hour, 0), ago("a", 2*time.Hour, 0)}, "a", 22 * time.Hour},
		{"the next one, when the first is over", []health.Unready{ago("a", 25*time.Hour, 0), ago("b", 2*time.Hour, 0)}, "b", 22 * time.Hour},
	} {
		at := clock.At(now)
		got := health.Preserved(c.list, at)
		next := time.Duration(0)
		if !at.Next().IsZero() {
			next = at.Next().Sub(now)
		}
		if got != c.want || next != c.next {
			t.Errorf("%s: want %q and a look after %s, got %q and %s", c.why, c.want, c.next, got, next)
		}
	}
}
