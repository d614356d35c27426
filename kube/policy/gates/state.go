package gates

import "time"

// Phase is the state of a gate. Only a gate that is Passed lets a rollout go on.
type Phase string

const (
	// Unknown is the phase of a gate that was not asked yet, or whose last answer decides nothing: no data, an error, an address that is
	// not allowed.
	Unknown Phase = "Unknown"
	// Pending is the phase of a gate whose last answer was negative, fewer times in a row than the gate tolerates.
	Pending Phase = "Pending"
	// Passed is the phase of a gate whose last answer was positive.
	Passed Phase = "Passed"
	// Failed is the phase of a gate whose last answers were negative, as many times in a row as the gate tolerates.
	Failed Phase = "Failed"
)

// Phases lists all phases.
func Phases() []Phase { return []Phase{Unknown, Pending, Passed, Failed} }

// Verdict is the meaning of one answer.
type Verdict string

const (
	// Undecided answers decide nothing: no data, an error.
	Undecided Verdict = "Unknown"
	// Positive answers meet what the gate asks for.
	Positive Verdict = "Passed"
	// Negative answers do not meet it.
	Negative Verdict = "NotPassed"
)

// Sample is one answer.
type Sample struct {
	Verdict Verdict
	// Value is the answer as users read it, such as a number; empty if there is none.
	Value string
	// Message tells what was found and what is wanted. It holds no value that changes from one answer to the next, no time and no secret.
	Message string
}

// UndecidedSample returns an answer that decides nothing.
func UndecidedSample(message string) Sample { return Sample{Verdict: Undecided, Message: message} }

// Rules say how answers become a phase.
type Rules struct {
	// Interval between two asks.
	Interval time.Duration
	// Failures is the number of consecutive negative answers after which the gate has failed.
	Failures int
	// UnknownFails takes undecided answers for negative ones.
	UnknownFails bool
}

// WithDefaults returns the rules with defaults in place of zeros and with the limits of what is asked.
func (r Rules) WithDefaults() Rules {
	if r.Interval == 0 {
		r.Interval = DefaultInterval
	}
	r.Interval = max(r.Interval, MinInterval)
	if r.Failures <= 0 {
		r.Failures = DefaultFailures
	}
	return r
}

// staleAfter is the number of intervals after which an answer is too old to be one.
const staleAfter = 3

// State is what is known of a gate.
type State struct {
	Phase Phase
	// LastKnown is the phase after the last answer that was decided; empty if there was none. Within a soak it stands in for an unknown
	// phase.
	LastKnown Phase
	// Failures is the number of consecutive negative answers, up to the number that the gate tolerates. Undecided answers leave it as it is.
	Failures int
	// Value and Message are those of the last answer.
	Value, Message string
	// At is the time of the last answer; zero if the gate was not asked yet.
	At time.Time
}

// NotAsked returns the state of a gate before its first answer. Answers are not stored, so it is also that after a restart.
func NotAsked() State { return State{Phase: Unknown, Message: "not asked yet"} }

// Next returns the state after an answer.
func Next(s State, sample Sample, r Rules, now time.Time) State {
	r = r.WithDefaults()
	next := State{Phase: Unknown, LastKnown: s.LastKnown, Failures: s.Failures, Value: sample.Value, Message: sample.Message, At: now}
	switch {
	case sample.Verdict == Positive:
		next.Phase, next.Failures, next.LastKnown = Passed, 0, Passed
	case sample.Verdict == Negative || r.UnknownFails:
		next.Failures = min(s.Failures+1, r.Failures)
		next.Phase = Pending
		if next.Failures >= r.Failures {
			next.Phase = Failed
		}
		next.LastKnown = next.Phase
	}
	return next
}

// At returns the state at a time: an answer that is older than a few intervals decides nothing any more.
func (r Rules) At(s State, now time.Time) State {
	r = r.WithDefaults()
	if s.At.IsZero() || now.Sub(s.At) <= staleAfter*r.Interval {
		return s
	}
	s.Phase, s.Value, s.Message = Unknown, "", "the last answer is too old"
	return s
}
