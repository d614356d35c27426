package script

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"
)

// Gate is a gate of a policy that is asked.
type Gate struct {
	Name string
	// Condition is true for the condition of an object, false for a query.
	Condition bool
	Interval  time.Duration
	Failures  int
	// UnknownFails takes answers that decide nothing for negative ones. BeforeWave and Soak are when it is asked.
	UnknownFails     bool
	BeforeWave, Soak bool
	// Faults are those of what is asked. Outside of them it answers that the gate passes.
	Faults []GateFault
}

// GateFault is for how long, from the beginning, what a gate asks answers in another way.
type GateFault struct {
	From, To time.Duration
	Answer   Answer
}

// Answer is how what a gate asks answers.
type Answer string

// The answers. One that is slow comes when others are due, one that is absent never.
const (
	Right    Answer = "right"
	Slow     Answer = "slow"
	Negative Answer = "negative"
	NoData   Answer = "no data"
	Failing  Answer = "error"
	Absent   Answer = "absent"
)

// AnswerAt returns how the gate is answered at a moment.
func (g Gate) AnswerAt(at time.Duration) Answer {
	for _, f := range g.Faults {
		if f.From <= at && at < f.To {
			return f.Answer
		}
	}
	return Right
}

// Approval is a gate that a user passes, so long after the rollout was seen to wait for it.
type Approval struct{ After time.Duration }

// Pace holds what a strategy says about waves and nodes that can't be drained. The zero Pace says nothing.
type Pace struct {
	// Waves are the targets of the waves as a user writes them. First, Wave and Final are the soaks.
	Waves              []string
	First, Wave, Final time.Duration
	// Quarantined is the number of machines that may be in quarantine, after After; 0 waits for nodes that can't be drained.
	Quarantined int
	After       time.Duration
}

// None reports whether nothing is said.
func (p Pace) None() bool {
	return len(p.Waves) == 0 && p.First+p.Wave+p.Final == 0 && p.Quarantined == 0
}

const saltGates = 0x67617465

// rolloutLasts bounds for how much longer a scenario goes on after an edit that a policy delays.
const rolloutLasts = 6 * time.Minute

// drawGates draws what was added to policies later: windows, gates, what a failure does, the pace of the strategy, and edits that they
// delay.
func (s *Scenario) drawGates(d *rand.Rand) {
	p, edited := s.Policy, s.drawEdits(d)
	if minutes := int(s.Ends / time.Minute); d.IntN(4) == 0 {
		from := time.Duration(d.IntN(minutes)) * time.Minute
		p.Shut = [2]time.Duration{from, from + time.Duration(1+d.IntN(5))*time.Minute}
		p.Grace = []time.Duration{0, 30 * time.Second, 2 * time.Minute, graceOfExclusions}[d.IntN(4)]
		p.Zone = []string{"", "Asia/Kolkata", "America/New_York"}[d.IntN(3)]
	}
	for k := range []int{0, 0, 1, 1, 2}[d.IntN(5)] {
		p.Gates = append(p.Gates, drawGate(d, []string{"errors", "shop"}[k], edited, s.Ends))
	}
	if d.IntN(4) == 0 {
		p.Approval = &Approval{After: time.Duration(d.IntN(90)) * time.Second}
	}
	p.RollsBack, p.Retries = d.IntN(2) == 0, d.IntN(3) == 0
	if d.IntN(2) == 0 {
		p.Pace.Waves = [][]string{{"1"}, {"50%"}, {"1", "50%"}, {"1", "2"}}[d.IntN(4)]
	}
	if d.IntN(2) == 0 {
		of := func() time.Duration {
			return []time.Duration{0, 10 * time.Second, 40 * time.Second, 2 * time.Minute}[d.IntN(4)]
		}
		p.Pace.First, p.Pace.Wave, p.Pace.Final = of(), of(), of()
	}
	if d.IntN(3) == 0 {
		p.Pace.Quarantined, p.Pace.After = 1+d.IntN(2), time.Duration(10+d.IntN(60))*time.Second
		s.Add(Event{What: Block, At: min(edited+time.Duration(d.IntN(120))*time.Second, s.Ends), N: d.IntN(9)})
	}
	s.sort()
}

// drawEdits adds edits of the template and restarts, and returns when the first of them happens; the middle of the edits if there is none.
func (s *Scenario) drawEdits(d *rand.Rand) time.Duration {
	within := s.Ends - After
	edited := within/3 + time.Duration(d.Int64N(int64(within/2/time.Millisecond)))*time.Millisecond
	if d.IntN(2) == 0 {
		return edited
	}
	s.Add(Event{What: Template, At: edited, N: d.IntN(9)})
	next := edited + time.Duration(d.IntN(180))*time.Second
	if again := d.IntN(6); again < 4 {
		s.Add(Event{What: []What{Template, Template, Back, RestartNow}[again], At: next, N: d.IntN(9)})
	}
	s.Ends = max(s.Ends, next+time.Duration(d.Int64N(int64(rolloutLasts))))
	return edited
}

// drawGate draws a gate of that name, with faults of what it asks about the time of an edit.
func drawGate(d *rand.Rand, name string, edited, ends time.Duration) Gate {
	g := Gate{Name: name, Condition: d.IntN(2) == 0, Interval: []time.Duration{10, 10, 20, 60}[d.IntN(4)] * time.Second,
		Failures: 1 + d.IntN(3), UnknownFails: d.IntN(3) == 0, BeforeWave: true, Soak: true}
	if only := d.IntN(4); only < 2 {
		g.BeforeWave, g.Soak = only == 0, only == 1
	}
	for range d.IntN(4) {
		from := max(0, edited+time.Duration(d.IntN(300)-60)*time.Second)
		g.Faults = append(g.Faults, GateFault{From: from, To: min(ends, from+time.Duration(20+d.IntN(240))*time.Second),
			Answer: []Answer{Slow, Negative, Negative, NoData, Failing, Absent}[d.IntN(6)]})
	}
	slices.SortStableFunc(g.Faults, func(a, b GateFault) int { return cmp.Compare(a.From, b.From) })
	return g
}
