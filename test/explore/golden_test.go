package explore

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
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
			if len(clean.Effects) == 0 && s.Has(world.Replicas) {
				t.Fatal("undisturbed: want effects to be counted, found none")
			}
			disturb(t, s, clean)
		})
	}
}

// every asks for all that golden scenarios can be disturbed by, which takes ten times as long.
var every = flag.Bool("every", false, "disturb golden scenarios at every effect, right before and right after it")

// picked are the places of the effects at which a golden scenario is disturbed: of every call that changes the cloud, and of
// every kind of write to an API server, of which there are many alike, the given numbers, spread over the scenario.
// Of the kinds of write only one of so many is looked at in a scenario, in each scenario another.
func picked(name string, effects []string, ofCall, ofKind, oneOf int) []int {
	if *every {
		ofCall, ofKind, oneOf = len(effects), len(effects), 1
	}
	places := map[string][]int{}
	for k, kind := range effects {
		places[kind] = append(places[kind], k)
	}
	var list []int
	for at, kind := range slices.Sorted(maps.Keys(places)) {
		all := places[kind]
		n := min(ofKind, len(all))
		if (at+len(name))%oneOf > 0 {
			n = 0
		}
		if !strings.HasPrefix(kind, "mgmt ") && !strings.HasPrefix(kind, "wl ") {
			n = min(ofCall, len(all))
		}
		for k := range n {
			list = append(list, all[(len(all)-1)*k/max(1, n-1)])
		}
	}
	slices.Sort(list)
	return list
}

// The manager dies at its effects, as many as are picked: the end is the same. It dies right after them; right before the next
// would be the same but for reads, so that only every fourth run ends it there. Of calls that are alike these are the first, the last
// and one between.
func TestCrashAtEveryEffect(t *testing.T) {
	eachGolden(t, func(t *testing.T, s world.Scenario, clean world.Result) {
		list := picked(s.Name, clean.Effects, 3, 1, 2)
		for n, k := range list {
			for _, before := range []bool{true, false} {
				if !*every && before != (n%4 == 0) {
					continue
				}
				what := fmt.Sprintf("ended at effect %d of %d, %s (right before: %t)", k+1, len(clean.Effects), clean.Effects[k], before)
				golden(t, what, s, world.Options{CountFrom: s.Counted(), CrashAt: k + 1, CrashBefore: before}, clean)
			}
		}
		t.Logf("%d effects, disturbed at %d", len(clean.Effects), len(list))
	})
}

// A second manager is there, as while a lease changes hands, and runs a pass right before effects of the first.
func TestTwoManagersMeetAtEveryEffect(t *testing.T) {
	eachGolden(t, func(t *testing.T, s world.Scenario, clean world.Result) {
		for _, k := range picked(s.Name, clean.Effects, 2, 1, 3) {
			with := s
			with.Events = append([]world.Event{
				{What: world.Rival, At: s.Counted(), N: 4}, {What: world.Meet, At: s.Counted(), N: k},
			}, s.Events...)
			golden(t, fmt.Sprintf("two managers meet at effect %d, %s", k+1, clean.Effects[k]), with, world.Options{}, clean)
		}
	})
}

// What the manager reads is from some passes ago, or it hears of nothing for a while and has only its own clock.
func TestStaleAndMissed(t *testing.T) {
	eachGolden(t, func(t *testing.T, s world.Scenario, clean world.Result) {
		for _, passes := range []int{0, 5} {
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
