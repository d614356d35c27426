package explore

import (
	"slices"
	"testing"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/kinds/all"
	"github.com/muster-project/muster/test/explore/world"
	"github.com/muster-project/muster/test/testrun"
)

// Of switchedOneOf golden scenarios TestEachSwitch plays one, others with the next commit, and the long test plays the rest. Each meets one
// of the switches of its kind, and another one with the next commit; with -every all of them.
const switchedOneOf = 6

// TestEachSwitch plays golden scenarios in clouds that give one other plausible answer.
func TestEachSwitch(t *testing.T) { playSwitched(t) }

func TestLongEachSwitch(t *testing.T) {
	testrun.LongOnly(t)
	playSwitched(t)
}

func playSwitched(t *testing.T) {
	t.Helper()
	for at, s := range all.Golden() {
		ours := (uint64(at)+*first)%switchedOneOf == 0
		if !*every && ours == testrun.IsLong(t) || testing.Short() && at%shortStep != 0 || *kind != "" && s.Kind.Name != *kind {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			for _, one := range few(slices.Compact(slices.Sorted(slices.Values(s.Kind.Odds.Switches))), 1, at+int(*first%64)) {
				s.Switches = sim.Switches{one}
				got := play(t, s, world.Options{})
				for _, v := range got.Wrong {
					t.Errorf("%s, with %s: %s: %s\n%s", s.Name, one, v.Oracle, v.Text, upTo(got.Trace))
				}
			}
		})
	}
}
