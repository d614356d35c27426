package oracle

import (
	"fmt"
	"maps"
	"slices"
)

// Progress is how far the rollout of a pool was before a pass and is after it, as its object tells users, with what the pass began.
type Progress struct {
	Before, After Step
	// Begins are the instances whose replacement the pass began.
	Begins []string
	// Approvals is true if the rollout waits for the approval of a user. Approved are the rollouts that users have approved.
	Approvals bool
	Approved  map[string]bool
	// Passed has the gates that are asked before waves, and whether each counted as passed at a moment of the pass.
	Passed map[string]bool
}

// Step is a step of a rollout.
type Step struct {
	Rollout string
	Wave    int
	// Entered is true if the wave has begun. Returns is true for a rollout back to a former template, which waits for no gate.
	Entered, Returns bool
}

// Entered finds waves that begin although the rollout was not approved, or a gate has not passed, and machines that are replaced before
// their wave.
func Entered(p Progress) []string {
	if p.After.Rollout == "" || p.After.Returns {
		return nil
	}
	approved := !p.Approvals || p.Approved[p.After.Rollout]
	var wrong []string
	switch enters := p.enters(); {
	case !p.After.Entered && len(p.Begins) > 0:
		wrong = append(wrong, fmt.Sprintf("the replacement of instance %s began before wave %d of rollout %s", p.Begins[0], p.After.Wave,
			p.After.Rollout))
	case !approved && (enters || len(p.Begins) > 0):
		wrong = append(wrong, fmt.Sprintf("wave %d of rollout %s began, which was not approved", p.After.Wave, p.After.Rollout))
	case enters:
		for _, gate := range slices.Sorted(maps.Keys(p.Passed)) {
			if !p.Passed[gate] {
				wrong = append(wrong, fmt.Sprintf("wave %d of rollout %s began although gate %s has not passed", p.After.Wave, p.After.Rollout, gate))
			}
		}
	}
	return wrong
}

// enters reports whether the pass began a wave.
func (p Progress) enters() bool {
	return p.After.Entered && (p.Before.Rollout != p.After.Rollout || p.Before.Wave < p.After.Wave || !p.Before.Entered || p.Before.Returns)
}
