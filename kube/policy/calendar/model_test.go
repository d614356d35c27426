package calendar

import (
	"slices"
	"time"
)

// model is an independent statement of the semantics: it walks through a period minute by minute with the clocks of the zones, and knows
// neither spans nor transitions.
type model struct {
	begin    time.Time
	policies []Policy
	reason   Reason
	// open is by minute since begin.
	open []bool
}

// clock shows the time of a zone. A minute of a date is reached when the clock shows it or a later one for the first time.
type clock struct {
	zone *time.Location
	// highest is the latest minute that was shown, counted as if every day had 24 hours.
	highest int64
}

func civil(t time.Time) int64 {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, time.UTC).Unix() / 60
}

// reached returns the minutes that the clock reaches at a time: none if it shows them for the second time, several after a gap.
func (c *clock) reached(t time.Time) (from, to int64) {
	from, to = c.highest+1, max(c.highest, civil(t.In(c.zone)))
	c.highest = to
	return from, to
}

// warmUp starts the clocks before the period: no window is longer than a week.
const warmUp = 9 * 24 * time.Hour

// run fills in open for a number of minutes.
func (m *model) run(minutes int) {
	open := make([]bool, minutes)
	for k := range open {
		open[k] = true
	}
	for _, p := range m.policies {
		covered, excluded := m.windows(p, minutes), m.excluded(p, minutes)
		for k := range open {
			open[k] = open[k] && covered[k] && !excluded[k]
		}
	}
	m.open = open
}

func (m *model) windows(p Policy, minutes int) []bool {
	out := make([]bool, minutes)
	for _, w := range p.Windows {
		if len(w.Reasons) > 0 && !slices.Contains(w.Reasons, m.reason) {
			continue
		}
		start, _ := time.Parse("15:04", w.Start)
		c := newClock(w.TimeZone, m.begin.Add(-warmUp))
		left := 0 // minutes until the window ends
		for k := -int(warmUp / time.Minute); k < minutes; k++ {
			left--
			for from, to := c.reached(m.begin.Add(time.Duration(k) * time.Minute)); from <= to; from++ {
				shown := time.Unix(from*60, 0).UTC()
				if shown.Hour() == start.Hour() && shown.Minute() == start.Minute() &&
					(len(w.Days) == 0 || slices.Contains(w.Days, shown.Weekday())) {
					left = int(w.Duration / time.Minute)
				}
			}
			if k >= 0 && left > 0 {
				out[k] = true
			}
		}
	}
	if len(p.Windows) == 0 {
		for k := range out {
			out[k] = true
		}
	}
	return out
}

func newClock(zone string, t time.Time) *clock {
	if zone == "" {
		zone = "UTC"
	}
	loaded, err := time.LoadLocation(zone)
	if err != nil {
		panic(err)
	}
	return &clock{zone: loaded, highest: civil(t.In(loaded)) - 1}
}

func (m *model) excluded(p Policy, minutes int) []bool {
	out := make([]bool, minutes)
	for _, e := range p.Exclusions {
		if e.VersionOnly && m.reason != Version {
			continue
		}
		c := newClock(e.TimeZone, m.begin)
		for k := range out {
			t := m.begin.Add(time.Duration(k) * time.Minute)
			c.reached(t)
			began := func(text string, days int) bool {
				if day, err := time.Parse(time.DateOnly, text); err == nil {
					return c.highest >= civil(day.AddDate(0, 0, days))
				}
				moment, err := time.Parse(time.RFC3339, text)
				if err != nil {
					panic(err)
				}
				return !t.Before(moment)
			}
			if began(e.From, 0) && !began(e.To, 1) {
				out[k] = true
			}
		}
	}
	return out
}
