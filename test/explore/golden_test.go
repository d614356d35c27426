package explore

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/test/explore/world"
)

// golden plays a variant of a golden scenario and wants the end to be the one of the undisturbed run.
func golden(t *testing.T, what string, s world.Scenario, o world.Options, want world.Result) {
	t.Helper()
	got := world.Play(t, s, o)
	for _, v := range got.Wrong {
		t.Errorf("%s, %s: %s: %s", s.Name, what, v.Oracle, v.Text)
	}
	if diff := cmp.Diff(want.End, got.End); diff != "" {
		t.Errorf("%s, %s: the end differs from that of the undisturbed run (-want +got):\n%s", s.Name, what, diff)
	}
	if t.Failed() {
		t.Fatalf("%s", upTo(got.Trace))
	}
}

// eachGolden plays every golden scenario undisturbed, and hands on what it did.
func eachGolden(t *testing.T, disturb func(t *testing.T, s world.Scenario, clean world.Result)) {
	for _, s := range world.Golden() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			clean := world.Play(t, s, world.Options{CountFrom: s.Counted()})
			if len(clean.Wrong) > 0 {
				t.Fatalf("undisturbed: %v\n%s", clean.Wrong, upTo(clean.Trace))
			}
			if clean.Effects == 0 && s.Has(world.Replicas) {
				t.Fatal("undisturbed: want effects to be counted, found none")
			}
			disturb(t, s, clean)
		})
	}
}

// The manager dies right before and right after every effect that it has: the end is the same.
func TestCrashAtEveryEffect(t *testing.T) {
	eachGolden(t, func(t *testing.T, s world.Scenario, clean world.Result) {
		for k := 1; k <= clean.Effects; k++ {
			for _, before := range []bool{true, false} {
				what := fmt.Sprintf("ended at effect %d of %d (right before: %t)", k, clean.Effects, before)
				golden(t, what, s, world.Options{CountFrom: s.Counted(), CrashAt: k, CrashBefore: before}, clean)
			}
		}
		t.Logf("%d effects, %d runs", clean.Effects, 2*clean.Effects)
	})
}

// A second manager is there, as while a lease changes hands, and runs a pass right before each effect of the first.
func TestTwoManagersMeetAtEveryEffect(t *testing.T) {
	eachGolden(t, func(t *testing.T, s world.Scenario, clean world.Result) {
		for k := range clean.Effects {
			with := s
			with.Events = append([]world.Event{
				{What: world.Rival, At: s.Counted(), N: 4}, {What: world.Meet, At: s.Counted(), N: k},
			}, s.Events...)
			golden(t, fmt.Sprintf("two managers meet at effect %d", k+1), with, world.Options{}, clean)
		}
	})
}

// What the manager reads is from some passes ago, or it hears of nothing for a while and has only its own clock.
func TestStaleAndMissed(t *testing.T) {
	eachGolden(t, func(t *testing.T, s world.Scenario, clean world.Result) {
		for _, passes := range []int{0, 2, 5} {
			for _, late := range []time.Duration{0, 3 * time.Second} {
				with := s
				with.Events = append([]world.Event{}, s.Events...)
				with.Insert(world.Event{What: world.Lag, At: s.Counted() + late, N: passes, M: 6})
				golden(t, fmt.Sprintf("caches stand still for %d passes from %s on", passes+1, late), with, world.Options{}, clean)
			}
		}
		with := s
		with.Events = append([]world.Event{{What: world.Deaf, At: s.Counted(), N: 4}}, s.Events...)
		golden(t, "events get lost for four minutes", with, world.Options{}, clean)
	})
}
