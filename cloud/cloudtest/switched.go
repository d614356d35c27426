package cloudtest

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/muster-project/muster/sim"
)

// runSwitched plays a case once more in a cloud that gives other plausible answers: each case has a combination of its own.
func (s Suite[S]) runSwitched(t *testing.T, c Case[S]) {
	t.Helper()
	if testing.Short() || c.Faulty() || repeated[c.Name] || len(s.Switches) == 0 {
		return
	}
	s.on = s.combination(c.Name)
	t.Run(c.Name+"WithSwitches", func(t *testing.T) {
		t.Parallel()
		t.Logf("switches: %v", s.on)
		synctest.Test(t, func(t *testing.T) { s.Play(t, c) })
	})
}

// combination returns the switches that are on in a case: some, as its name draws them.
func (s Suite[S]) combination(name string) sim.Switches {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	r := rand.New(rand.NewPCG(h.Sum64(), 0))
	for {
		if on := sim.DrawSwitches(s.Switches, r); len(on) > 0 {
			return on
		}
	}
}

// RunEachSwitch plays the cases that need no fault with each switch of the cloud alone.
func (s Suite[S]) RunEachSwitch(t *testing.T) {
	for _, c := range Cases[S]() {
		if c.Faulty() || repeated[c.Name] {
			continue
		}
		for _, one := range slices.Compact(slices.Sorted(slices.Values(s.Switches))) {
			alone := s
			alone.on = sim.Switches{one}
			t.Run(c.Name+", "+string(one), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { alone.Play(t, c) })
			})
		}
	}
}
