package calendar

import (
	"math"
	"time"
)

// Calendar combines the schedules of all policies that select a pool. It is immutable and safe for concurrent use. A nil Calendar is always
// open.
type Calendar struct {
	schedules []*Schedule
	memo      memo
}

// Combine returns the calendar that is open when all schedules are.
func Combine(schedules ...*Schedule) *Calendar {
	c := &Calendar{schedules: schedules}
	c.memo.build = c.build
	return c
}

// anyReason is the index of timelines that are open if any reason is.
const anyReason = reasons

// build returns the timeline of the calendar. Only its field open is set.
func (c *Calendar) build(r Reason, from, to int64) *timeline {
	if r == anyReason {
		var list []span
		for _, r := range Reasons() {
			list = append(list, c.build(r, from, to).open...)
		}
		return &timeline{open: union(list)}
	}
	open := []span{{from: from, to: to, grace: MaxGrace, window: noWindow}}
	for _, s := range c.schedules {
		open = intersect(open, s.memo.at(from+int64(Lookback), r).open)
	}
	return &timeline{open: open}
}

// CloserKind is the kind of a Closer.
type CloserKind uint8

// The kinds of Closers.
const (
	// NotClosed is the kind of an open calendar.
	NotClosed CloserKind = iota
	// OutsideWindow is the kind of a policy none of whose windows is open.
	OutsideWindow
	// Excluded is the kind of an exclusion.
	Excluded
)

// Closer is the policy that closes a calendar. It has no times that change while it lasts.
type Closer struct {
	Kind CloserKind
	// Policy is the name of the policy.
	Policy string
	// Index of the exclusion, or of the window that opens next, in the policy; -1 if no window opens within the Horizon.
	Index int
	// Text describes the exclusion or window.
	Text string
	// Why is that of the exclusion.
	Why string
}

// Decision is the state of a calendar at a time.
type Decision struct {
	// Open is true if voluntary removals may begin.
	Open bool
	// Since is the time of the last change, and zero if there was none within Lookback.
	Since time.Time
	// Until is the time of the next change: when an open calendar closes, or a closed one opens. It is zero if there is none within Horizon.
	Until time.Time
	// GraceUntil is the time until which removals may end that began before the calendar closes, or closed if it is closed. It is zero if
	// the calendar does not close within Horizon, or closed longer than Lookback ago.
	GraceUntil time.Time
	// Closer names the window or exclusion that closes the calendar.
	Closer Closer
}

// At returns the decision for a reason. It depends on nothing but its arguments.
func (c *Calendar) At(now time.Time, r Reason) Decision {
	if c == nil || len(c.schedules) == 0 {
		return Decision{Open: true}
	}
	d := c.decide(now, r)
	if !d.Open {
		d.Closer = c.closerAt(clamp(now), r)
	}
	return d
}

// AtAny returns the decision for the reason that is open, if any is. A closed decision has no Closer.
func (c *Calendar) AtAny(now time.Time) Decision {
	if c == nil || len(c.schedules) == 0 {
		return Decision{Open: true}
	}
	return c.decide(now, anyReason)
}

// NeverOpens reports whether the calendar is closed to every reason now and within the Horizon.
func (c *Calendar) NeverOpens(now time.Time) bool {
	d := c.AtAny(now)
	return !d.Open && d.Until.IsZero()
}

// OpenTime returns for how long the calendar was open to a reason between two times.
func (c *Calendar) OpenTime(from, to time.Time, r Reason) (sum time.Duration) {
	for from.Before(to) {
		end := from.Add(Horizon)
		d := Decision{Open: true}
		if c != nil && len(c.schedules) > 0 {
			d = c.decide(from, r)
		}
		if !d.Until.IsZero() {
			end = d.Until
		}
		if end.After(to) {
			end = to
		}
		if d.Open {
			sum += end.Sub(from)
		}
		from = end
	}
	return sum
}

// decide returns the decision without its Closer.
func (c *Calendar) decide(now time.Time, r Reason) Decision {
	t := clamp(now)
	list := c.memo.at(t, r).open
	k, contains := find(list, t)
	d := Decision{Open: contains}
	if contains {
		d.Since, d.Until = past(t, list[k].from), future(t, list[k].to)
		if !d.Until.IsZero() {
			d.GraceUntil = d.Until.Add(list[k].grace)
		}
		return d
	}
	if k < len(list) {
		d.Until = future(t, list[k].from)
	}
	if k > 0 {
		d.Since = past(t, list[k-1].to)
		if !d.Since.IsZero() {
			d.GraceUntil = d.Since.Add(list[k-1].grace)
		}
	}
	return d
}

// past returns a time unless it is as far back as Lookback, where timelines begin.
func past(now, t int64) time.Time {
	if now-t >= int64(Lookback) {
		return time.Time{}
	}
	return time.Unix(0, t).UTC()
}

// future returns a time unless it is further ahead than Horizon.
func future(now, t int64) time.Time {
	if t-now > int64(Horizon) {
		return time.Time{}
	}
	return time.Unix(0, t).UTC()
}

// closerAt returns what closes the calendar: of several exclusions the one that ends last, else the first policy without
// an open window. Exclusions come first, so that the answer does not change with every window during a freeze.
func (c *Calendar) closerAt(t int64, r Reason) Closer {
	var excludes *Schedule
	last := exclusion{to: math.MinInt64}
	for _, s := range c.schedules {
		for _, e := range s.exclusions {
			if e.reasons&(1<<r) != 0 && t >= e.from && t < e.to && e.to > last.to {
				excludes, last = s, e
			}
		}
	}
	if excludes != nil {
		return Closer{Kind: Excluded, Policy: excludes.policy.Name, Index: last.index, Text: last.description,
			Why: excludes.policy.Exclusions[last.index].Why}
	}
	for _, s := range c.schedules {
		if closer, closed := s.outsideWindow(t, r); closed {
			return closer
		}
	}
	return Closer{}
}

// outsideWindow returns the Closer of a schedule with windows none of which is open.
func (s *Schedule) outsideWindow(t int64, r Reason) (closer Closer, closed bool) {
	if len(s.windows) == 0 {
		return Closer{}, false
	}
	cover := s.memo.at(t, r).cover
	k, contains := find(cover, t)
	if contains {
		return Closer{}, false
	}
	closer = Closer{Kind: OutsideWindow, Policy: s.policy.Name, Index: noWindow}
	if k < len(cover) {
		closer.Index, closer.Text = cover[k].window, s.windows[cover[k].window].description
	}
	return closer, true
}
