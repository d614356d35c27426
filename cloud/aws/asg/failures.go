package asg

import "github.com/muster-project/muster/pool"

// Outcome is the result of a provider rollout.
type Outcome int

// The outcomes of a rollout.
const (
	// Undecided is a rollout that has not ended, or that was cancelled, by whichever client: it has not failed.
	Undecided Outcome = iota
	Succeeded
	Failed
)

// FailuresInARow counts the failed rollouts, newest first, up to one that succeeded or that was to other content than the newest. Undecided
// ones neither count nor end the row.
func FailuresInARow[R any](list []R, outcome func(R) Outcome, goal func(R) pool.Template) int {
	n := 0
	for _, r := range list {
		switch outcome(r) {
		case Undecided:
			continue
		case Succeeded:
			return n
		}
		if !goal(r).Same(goal(list[0])) {
			return n
		}
		n++
	}
	return n
}
