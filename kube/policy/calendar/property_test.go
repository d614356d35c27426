package calendar

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// zones have changes of an hour, of half an hour and of two, at midnight, of a whole day, several a year, and none; offsets of half and of
// quarter hours; both hemispheres.
var zones = []string{
	"", "UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Asia/Kathmandu",
	"America/St_Johns", "Antarctica/Troll", "Africa/Casablanca", "America/Havana", "America/Santiago", "Pacific/Apia",
	"Asia/Beirut", "America/Asuncion", "Pacific/Chatham", "Africa/Cairo", "Asia/Tehran", "Europe/Dublin",
	"Pacific/Kiritimati",
}

// focus is a zone and a time, often shortly before a change of its clock, that draws of one case come back to: independent draws would
// hardly ever meet in the minutes that differ.
type focus struct {
	zone  string
	begin time.Time
	// minute of the day that the clock shows before the change.
	minute int
}

func drawFocus(t *rapid.T) focus {
	f := focus{zone: rapid.SampledFrom(zones).Draw(t, "focus")}
	f.begin = time.Date(rapid.IntRange(2000, 2045).Draw(t, "year"), 1, 1+rapid.IntRange(0, 365).Draw(t, "day"), 0,
		rapid.IntRange(0, 1439).Draw(t, "minute"), 0, 0, time.UTC)
	if rapid.IntRange(0, 3).Draw(t, "leap") == 0 {
		f.begin = time.Date(f.begin.Year()/4*4, 2, 27, f.begin.Hour(), f.begin.Minute(), 0, 0, time.UTC)
		return f
	}
	if _, change := f.begin.In(newClock(f.zone, f.begin).zone).ZoneBounds(); !change.IsZero() {
		shown := change.Truncate(time.Minute).Add(-time.Minute)
		f.minute = shown.Hour()*60 + shown.Minute()
		f.begin = shown.Add(-time.Duration(rapid.IntRange(0, 3*24*60).Draw(t, "before")) * time.Minute).UTC()
	}
	return f
}

// drawZone draws the zone of the focus or any.
func (f focus) drawZone(t *rapid.T) string {
	if rapid.IntRange(0, 2).Draw(t, "focused") > 0 {
		return f.zone
	}
	return rapid.SampledFrom(zones).Draw(t, "zone")
}

// drawMinute draws a minute of the day, often near the change.
func (f focus) drawMinute(t *rapid.T) int {
	if rapid.IntRange(0, 2).Draw(t, "near") > 0 {
		return (f.minute + rapid.IntRange(-90, 90).Draw(t, "offset") + 1440) % 1440
	}
	return rapid.IntRange(0, 1439).Draw(t, "start")
}

func drawReasons(t *rapid.T) []Reason {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(Reasons()), 0, 2, rapid.ID).Draw(t, "reasons")
}

func (f focus) drawWindow(t *rapid.T) Window {
	minute := f.drawMinute(t)
	duration := rapid.OneOf(rapid.SampledFrom([]int{30, 60, 120, 1440, 10080}), rapid.IntRange(30, 600), rapid.IntRange(30, 10080)).
		Draw(t, "duration")
	grace := time.Duration(rapid.IntRange(0, 1440).Draw(t, "grace")) * time.Minute
	return Window{
		Days:  rapid.SliceOfNDistinct(rapid.SampledFrom([]time.Weekday{0, 1, 2, 3, 4, 5, 6}), 0, 4, rapid.ID).Draw(t, "days"),
		Start: fmt.Sprintf("%02d:%02d", minute/60, minute%60), Duration: time.Duration(duration) * time.Minute, TimeZone: f.drawZone(t),
		Reasons: drawReasons(t), Grace: &grace,
	}
}

func (f focus) drawExclusion(t *rapid.T) Exclusion {
	e := Exclusion{TimeZone: f.drawZone(t), VersionOnly: rapid.Bool().Draw(t, "versionOnly"), Why: "because"}
	from := f.begin.Add(time.Duration(rapid.IntRange(-2*1440, period).Draw(t, "from")) * time.Minute)
	to := from.Add(time.Duration(rapid.IntRange(1, 3*1440).Draw(t, "length")) * time.Minute)
	e.From, e.To = from.Format(time.DateOnly), to.Format(time.DateOnly)
	if rapid.Bool().Draw(t, "fromMoment") {
		e.From = from.Format(time.RFC3339)
	}
	if rapid.Bool().Draw(t, "toMoment") {
		e.To = to.In(time.FixedZone("", 3600)).Format(time.RFC3339)
	}
	return e
}

func (f focus) drawPolicies(t *rapid.T) []Policy {
	list := make([]Policy, rapid.IntRange(0, 3).Draw(t, "policies"))
	for k := range list {
		list[k].Name = fmt.Sprint("p", k)
		for range rapid.IntRange(0, 3).Draw(t, "windows") {
			list[k].Windows = append(list[k].Windows, f.drawWindow(t))
		}
		for range rapid.IntRange(0, 2).Draw(t, "exclusions") {
			list[k].Exclusions = append(list[k].Exclusions, f.drawExclusion(t))
		}
	}
	return list
}

// period is the number of minutes that the model walks through.
const period = 9 * 1440

// compile returns the calendar of the policies. A random exclusion can end before it begins, which Compile refuses.
func compile(t *rapid.T, list []Policy) *Calendar {
	var schedules []*Schedule
	for _, p := range list {
		s, err := Compile(p)
		if err != nil {
			t.Skip(err)
		}
		schedules = append(schedules, s)
	}
	return Combine(schedules...)
}

// TestCalendarFollowsTheClocks compares the calendar with a walk through the minutes: it is open in the intersection of the windows and
// in no exclusion, and the times of its changes are exact.
func TestCalendarFollowsTheClocks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := drawFocus(t)
		m := &model{begin: f.begin, policies: f.drawPolicies(t), reason: rapid.SampledFrom(Reasons()).Draw(t, "reason")}
		c := compile(t, m.policies)
		m.run(period)
		next, previous := nextChanges(m.open), 0
		for k := range period {
			if k > 0 && m.open[k] != m.open[k-1] {
				previous = k
			}
			now := f.begin.Add(time.Duration(k) * time.Minute)
			d := c.At(now, m.reason)
			if d.Open != m.open[k] {
				t.Fatalf("%s: open is %t, want %t (%+v)", now, d.Open, m.open[k], d)
			}
			checkChanges(t, m, d, k, previous, next[k])
		}
		checkOpenTime(t, m, c)
	})
}

// nextChanges returns by minute the one of the next change, or the end of the walk.
func nextChanges(open []bool) []int {
	next := make([]int, len(open))
	for k := len(open) - 1; k >= 0; k-- {
		switch {
		case k == len(open)-1:
			next[k] = len(open)
		case open[k] != open[k+1]:
			next[k] = k + 1
		default:
			next[k] = next[k+1]
		}
	}
	return next
}

// checkChanges compares the times of a decision with those of the walk, as far as it reaches.
func checkChanges(t *rapid.T, m *model, d Decision, k, previous, next int) {
	at := func(k int) time.Time { return m.begin.Add(time.Duration(k) * time.Minute) }
	switch {
	case next < period && !d.Until.Equal(at(next)):
		t.Fatalf("%s: the next change is at %s, want %s", at(k), d.Until, at(next))
	case next == period && !d.Until.IsZero() && d.Until.Before(at(next)):
		t.Fatalf("%s: the next change is at %s, want none until %s", at(k), d.Until, at(next))
	case previous > 0 && !d.Since.Equal(at(previous)):
		t.Fatalf("%s: the last change was at %s, want %s", at(k), d.Since, at(previous))
	case previous == 0 && d.Since.After(m.begin):
		t.Fatalf("%s: the last change was at %s, want none since %s", at(k), d.Since, m.begin)
	case d.Open != (d.Closer == Closer{}):
		t.Fatalf("%s: open is %t closed by %+v", at(k), d.Open, d.Closer)
	}
	end := d.Until
	if !d.Open {
		end = d.Since
	}
	if grace := d.GraceUntil.Sub(end); end.IsZero() != d.GraceUntil.IsZero() || !end.IsZero() && (grace < 0 || grace > MaxGrace) {
		t.Fatalf("%s: the grace ends at %s for an end at %s", at(k), d.GraceUntil, end)
	}
}

// checkOpenTime compares the sum of the open times with the number of open minutes.
func checkOpenTime(t *rapid.T, m *model, c *Calendar) {
	want := time.Duration(0)
	for _, open := range m.open {
		if open {
			want += time.Minute
		}
	}
	if got := c.OpenTime(m.begin, m.begin.Add(period*time.Minute), m.reason); got != want {
		t.Fatalf("open for %s in the period, want %s", got, want)
	}
}

// TestStricter holds that a further policy never opens what was closed, and that the order of policies has no effect on times.
func TestStricter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := drawFocus(t)
		list := f.drawPolicies(t)
		reason := rapid.SampledFrom(Reasons()).Draw(t, "reason")
		less, more := compile(t, list), compile(t, append([]Policy{{Name: "first", Windows: []Window{f.drawWindow(t)}}}, list...))
		for k := 0; k < 2*period; k += 17 {
			now := f.begin.Add(time.Duration(k) * time.Minute)
			a, b := less.At(now, reason), more.At(now, reason)
			if b.Open && (!a.Open || !a.Until.IsZero() && (b.Until.IsZero() || b.Until.After(a.Until))) {
				t.Fatalf("%s: a further policy opens: %+v and then %+v", now, a, b)
			}
			if !a.Open && !a.Until.IsZero() && !b.Until.IsZero() && b.Until.Before(a.Until) {
				t.Fatalf("%s: a further policy opens earlier: %s and then %s", now, a.Until, b.Until)
			}
		}
	})
}

// TestAnyReason holds that AtAny is open if any reason is.
func TestAnyReason(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := drawFocus(t)
		c := compile(t, f.drawPolicies(t))
		for k := 0; k < period; k += 31 {
			now := f.begin.Add(time.Duration(k) * time.Minute)
			open := false
			for _, r := range Reasons() {
				open = open || c.At(now, r).Open
			}
			if got := c.AtAny(now); got.Open != open {
				t.Fatalf("%s: open to any is %t, want %t", now, got.Open, open)
			}
		}
	})
}
