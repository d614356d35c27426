package calendar

import (
	"testing"
	"time"
)

// TestWallClock compares each minute around each change of the clocks with a walk: it begins when the clock first reaches or passes it.
func TestWallClock(t *testing.T) {
	t.Parallel()
	const around = 26 * time.Hour // a change of a day, and some
	for _, name := range zones {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClock(name, time.Time{})
			at, changes := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), 0
			for at.Year() < 2040 {
				_, change := at.In(c.zone).ZoneBounds()
				if change.IsZero() {
					break
				}
				at = change
				c.highest = civil(change.Add(-around).In(c.zone)) - 1
				checkMinutes(t, c, change, around)
				changes++
			}
			if changes == 0 && name == "Europe/Berlin" {
				t.Error("no change was found")
			}
		})
	}
}

func checkMinutes(t *testing.T, c *clock, change time.Time, around time.Duration) {
	t.Helper()
	begin := change.Truncate(time.Minute)
	for now := begin.Add(-around); now.Before(begin.Add(around)); now = now.Add(time.Minute) {
		for from, to := c.reached(now); from <= to; from++ {
			want := now
			if now.Equal(begin) {
				want = change // the one change in 2038 that is not at a full minute changes nothing
			}
			shown := time.Unix(from*60, 0).UTC()
			got := wallClock(shown, shown.Hour()*60+shown.Minute(), c.zone)
			if !got.Equal(want) && !got.Equal(now) {
				t.Fatalf("%s in %s begins at %s, want %s", shown.Format("2006-01-02 15:04"), c.zone, got.UTC(), want.UTC())
			}
		}
	}
}
