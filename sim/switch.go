package sim

import (
	"math/rand/v2"
	"slices"
)

// Switch names a behaviour of a simulated service that is not certain. While it is on, the service gives the other plausible answer.
// docs/evidence.md lists all switches.
type Switch string

// Switches are those that are on, from the start of a simulator to its end.
type Switches []Switch

// On reports whether a switch is on.
func (s Switches) On(one Switch) bool { return slices.Contains(s, one) }

// DrawSwitches turns none of the switches on in one case of three, and otherwise each of them with the same chance.
func DrawSwitches(all []Switch, r *rand.Rand) (on Switches) {
	if r.IntN(3) == 0 {
		return nil
	}
	for _, one := range all {
		if r.IntN(3) == 0 {
			on = append(on, one)
		}
	}
	return on
}
