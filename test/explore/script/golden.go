package script

import "time"

// canaryFails is for how long the gate of a canary answers that the rollout fails.
const canaryFails = 6 * time.Minute

// GoesBack returns the scenario of an edit of the template as one whose canary fails its gate: the pool goes back to the template before,
// and a user tries the rollout again when the gate passes.
func (s Scenario) GoesBack() Scenario {
	fails := GateFault{From: Edited, To: Edited + canaryFails, Answer: Negative}
	s.Policy = &Policy{
		RollsBack: true,
		Gates:     []Gate{{Name: "errors", Interval: 10 * time.Second, Failures: 2, Soak: true, Faults: []GateFault{fails}}},
		Pace:      Pace{Waves: []string{"1"}, First: 2 * time.Minute},
	}
	s.Ends = max(s.Ends, Edited+canaryFails+After)
	return s
}

// Quarantines returns the scenario of an edit of the template as one in which a budget keeps the pods of every node for longer than a
// rollout waits: a machine goes into quarantine, and the rollout begins with the next one.
func (s Scenario) Quarantines() Scenario {
	s.Policy = &Policy{Pace: Pace{Quarantined: 1, After: 30 * time.Second}}
	s.Insert(Event{What: Block, At: Edited, N: 9})
	return s
}
