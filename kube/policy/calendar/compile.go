package calendar

import (
	"fmt"
	"slices"
	"time"
)

// all is the mask of all reasons.
const all = 1<<reasons - 1

// Schedule is a compiled policy. It is immutable and safe for concurrent use.
type Schedule struct {
	policy     Policy
	windows    []window
	exclusions []exclusion
	memo       memo
}

// window is a compiled Window.
type window struct {
	days        uint8 // mask, by time.Weekday
	minute      int   // of the day
	duration    time.Duration
	zone        *time.Location
	reasons     uint8
	grace       time.Duration
	description string
}

// exclusion is a compiled Exclusion.
type exclusion struct {
	from, to int64 // Unix nanoseconds
	reasons  uint8
	// index in the policy.
	index int
	// description is computed once, because a held pool shows it in each pass.
	description string
}

// Compile returns the schedule of a policy, or all of its Errors.
func Compile(p Policy) (*Schedule, error) {
	s := &Schedule{policy: p}
	var errs Errors
	for k, w := range p.Windows {
		compiled, bad := compileWindow(w)
		for _, e := range bad {
			e.Field = fmt.Sprintf("windows[%d].%s", k, e.Field)
			errs = append(errs, e)
		}
		s.windows = append(s.windows, compiled)
	}
	for k, e := range p.Exclusions {
		compiled, bad := compileExclusion(e)
		for _, e := range bad {
			e.Field = fmt.Sprintf("exclusions[%d].%s", k, e.Field)
			errs = append(errs, e)
		}
		compiled.index = k
		s.exclusions = append(s.exclusions, compiled)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	s.memo.build = s.build
	return s, nil
}

// Name returns the name of the policy.
func (s *Schedule) Name() string { return s.policy.Name }

func compileWindow(w Window) (window, Errors) {
	var errs Errors
	out := window{duration: w.Duration, grace: DefaultGrace, reasons: maskOf(w.Reasons), description: w.String()}
	for _, d := range w.Days {
		out.days |= 1 << d
	}
	if len(w.Days) == 0 {
		out.days = 1<<7 - 1
	}
	start, err := time.Parse("15:04", w.Start)
	if err != nil || len(w.Start) != len("15:04") {
		errs = append(errs, FieldError{Field: "start", Value: w.Start, Want: "a time from 00:00 to 23:59, as HH:MM"})
	}
	out.minute = start.Hour()*60 + start.Minute()
	if w.Duration < MinDuration || w.Duration > MaxDuration {
		errs = append(errs, FieldError{Field: "duration", Value: ShortDuration(w.Duration), Want: "a duration from 30m to 168h (7 days)"})
	}
	if w.Grace != nil {
		out.grace = *w.Grace
		if out.grace < 0 || out.grace > MaxGrace {
			errs = append(errs, FieldError{Field: "grace", Value: ShortDuration(out.grace), Want: "a duration from 0s to 24h"})
		}
	}
	var bad *FieldError
	if out.zone, bad = loadZone(w.TimeZone); bad != nil {
		errs = append(errs, *bad)
	}
	return out, errs
}

// maskOf returns the mask of reasons; none means all.
func maskOf(list []Reason) (mask uint8) {
	for _, r := range list {
		mask |= 1 << r
	}
	if len(list) == 0 {
		return all
	}
	return mask
}

func compileExclusion(e Exclusion) (exclusion, Errors) {
	out := exclusion{reasons: all, description: e.String()}
	if e.VersionOnly {
		out.reasons = 1 << Version
	}
	zone, bad := loadZone(e.TimeZone)
	if bad != nil {
		return out, Errors{*bad}
	}
	from, fromOK := parseDate(e.From, 0, zone)
	to, toOK := parseDate(e.To, 1, zone)
	const want = "a date such as 2026-12-18, or a moment such as 2026-12-18T18:00:00+01:00"
	var errs Errors
	if !fromOK {
		errs = append(errs, FieldError{Field: "from", Value: e.From, Want: want})
	}
	if !toOK {
		errs = append(errs, FieldError{Field: "to", Value: e.To, Want: want})
	}
	if len(errs) == 0 && from >= to {
		errs = Errors{{Field: "to", Value: e.To, Want: "an end after the beginning (" + e.From + ")"}}
	}
	out.from, out.to = from, to
	return out, errs
}

// parseDate returns the beginning of a date, after a number of days, or a moment.
func parseDate(text string, days int, zone *time.Location) (nanos int64, ok bool) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return clamp(wallClock(day.AddDate(0, 0, days), 0, zone)), true
	}
	t, err := time.Parse(time.RFC3339, text)
	return clamp(t), err == nil
}

// The limits of times. Beyond them Unix nanoseconds have no room for a period.
var (
	earliest = time.Date(1700, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// clamp returns Unix nanoseconds; times beyond the limits become the limit.
func clamp(t time.Time) int64 {
	switch {
	case t.Before(earliest):
		return earliest.UnixNano()
	case t.After(latest):
		return latest.UnixNano()
	}
	return t.UnixNano()
}

// build returns the timeline of the schedule for a reason.
func (s *Schedule) build(r Reason, from, to int64) *timeline {
	t := &timeline{cover: []span{{from: from, to: to, grace: DefaultGrace, window: noWindow}}}
	if len(s.windows) > 0 {
		var raw []span
		for k := range s.windows {
			if s.windows[k].reasons&(1<<r) != 0 {
				raw = s.windows[k].appendSpans(raw, from, to, k)
			}
		}
		t.cover = union(raw)
	}
	var closed []span
	for _, e := range s.exclusions {
		if e.reasons&(1<<r) != 0 && e.from < to && e.to > from {
			closed = append(closed, span{from: e.from, to: e.to})
		}
	}
	t.open = subtract(t.cover, union(closed))
	return t
}

// appendSpans appends the occurrences of the window that overlap the period.
func (w *window) appendSpans(list []span, from, to int64, index int) []span {
	first := time.Unix(0, from).Add(-w.duration).In(w.zone)
	list = slices.Grow(list, int((to-from)/int64(24*time.Hour)))
	// A day early and a day late, because a gap in the clock can have the length of a day.
	day := time.Date(first.Year(), first.Month(), first.Day()-1, 0, 0, 0, 0, time.UTC)
	end := time.Unix(0, to).In(w.zone)
	last := time.Date(end.Year(), end.Month(), end.Day()+1, 0, 0, 0, 0, time.UTC)
	for ; !day.After(last); day = day.Add(24 * time.Hour) {
		if w.days&(1<<day.Weekday()) == 0 {
			continue
		}
		start := wallClock(day, w.minute, w.zone).UnixNano()
		if stop := start + int64(w.duration); stop > from && start < to {
			list = append(list, span{from: start, to: stop, grace: w.grace, window: index})
		}
	}
	return list
}
