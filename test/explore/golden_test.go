package explore

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/test/explore/kinds/all"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
	"github.com/muster-project/muster/test/testrun"
)

// variant is a golden scenario with a disturbance.
type variant struct {
	what string
	script.Scenario
	world.Options
}

// disturbed plays variants of a golden scenario and wants the end of each to be the one of the undisturbed run. It stops at the first that
// fails.
func disturbed(t *testing.T, list []variant, want world.Result) {
	t.Helper()
	found := findingsOf(t)
	for _, v := range list {
		got := play(t, v.Scenario, v.Options)
		for _, w := range got.Wrong {
			found.add("%s, %s: %s: %s", v.Name, v.what, w.Oracle, w.Text)
		}
		if diff := cmp.Diff(want.End, got.End); diff != "" {
			found.add("%s, %s: the end differs from that of the undisturbed run (-want +got):\n%s", v.Name, v.what, diff)
		}
		if len(found.texts) > 0 {
			found.add("%s", upTo(got.Trace))
			break
		}
	}
	found.report(t)
}

// undisturbed plays each golden scenario without a disturbance once for all tests: a function that gives its run, by the scenario's name.
var undisturbed sync.Map

// run holds the result of a golden scenario without a disturbance, and the permissions that its manager used.
type run struct {
	world.Result
	used usedPermissions
}

// clean runs a golden scenario without a disturbance, with the permissions that the project documents for the cloud. They have to suffice.
func clean(t *testing.T, s script.Scenario) run {
	t.Helper()
	once, _ := undisturbed.LoadOrStore(s.Name, sync.OnceValue(func() run {
		bound := limitsOf(t, s)
		got := play(t, s, world.Options{CountFrom: s.Counted(), Manager: bound.manager})
		if len(got.Wrong) == 0 && s.Policy == nil {
			got.Trace = "" // it is not read any more, and all of them together are large
		}
		return run{got, bound.used()}
	}))
	got := once.(func() run)()
	for _, denied := range got.used.denied {
		t.Errorf("undisturbed: want it allowed by what package permissions prints: %s", denied)
	}
	if len(got.Wrong) > 0 {
		t.Fatalf("undisturbed: %v\n%s", got.Wrong, upTo(got.Trace))
	}
	if len(got.Effects) == 0 && (s.Has(script.Replicas) || s.Has(script.Template)) {
		t.Fatal("undisturbed: want effects to be counted, found none")
	}
	return got
}

// shortStep is the distance of the golden scenarios that -short plays. They take turns: each meets one of the disturbances.
const shortStep = 40

// turn is the kind of disturbance whose turn it is: a golden scenario meets one of them, and another with the next commit.
type turn uint64

// The turns.
const (
	endings turn = iota
	rivals
	oldReads
	turns
)

// goldenOneOf golden scenarios one is disturbed by go test, and others with the next commit. The long test disturbs the rest.
const goldenOneOf = 4

// plays reports whether the golden scenario in a place is disturbed, by the long test or by another.
func (of turn) plays(at int, inLong bool) bool {
	switch {
	case testing.Short():
		return at%shortStep == 0 && turn(at/shortStep)%turns == of
	case *every || *disturbances > 1:
		return true
	}
	drawn := (uint64(at) + *first) % uint64(turns*goldenOneOf)
	return drawn%uint64(turns) == uint64(of) && (drawn >= uint64(turns)) == inLong
}

// eachGolden plays golden scenarios undisturbed, and hands on what each did, with its place among them. In a long test they are those that
// the others leave out.
func eachGolden(t *testing.T, of turn, disturb func(t *testing.T, at int, s script.Scenario, clean world.Result)) {
	for at, s := range all.Golden() {
		if !of.plays(at, testrun.IsLong(t)) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			disturb(t, at, s, clean(t, s).Result)
		})
	}
}

// Every golden scenario can be disturbed at hundreds of places: without a flag each is at one, every scenario at another.
var (
	every        = flag.Bool("every", false, "disturb golden scenarios at every effect, right before and right after it, which takes hours")
	disturbances = flag.Int("disturb", 1, "how many disturbances of each kind a golden scenario meets; with 1 it meets those of one kind "+
		"alone")
)

// few returns the given number of a list, spread over it, beginning at another one for each scenario.
func few[T any](list []T, n, at int) []T {
	if *every || n >= len(list) {
		return list
	}
	var some []T
	for k := range n {
		some = append(some, list[(at+k*len(list)/n)%len(list)])
	}
	return some
}

// picked returns the places of the effects at which a golden scenario is disturbed: of every call that changes the cloud, and of
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

// TestLongDisturbed disturbs those golden scenarios that the other tests leave out with this commit.
func TestLongDisturbed(t *testing.T) {
	testrun.LongOnly(t)
	if *every || *disturbances > 1 {
		t.Skip("the other tests leave none out")
	}
	t.Run("end", func(t *testing.T) { eachGolden(t, endings, endAtEffects) })
	t.Run("meet", func(t *testing.T) { eachGolden(t, rivals, meetAtEffects) })
	t.Run("stale", func(t *testing.T) { eachGolden(t, oldReads, readOld) })
}

// The manager dies at its effects, at some of those that are picked: the end is the same. It dies right after them; right before the next
// would be the same but for reads, so that only every fourth run ends it there. Of calls that are alike these are the first, the last
// and one between.
func TestCrashAtEveryEffect(t *testing.T) { eachGolden(t, endings, endAtEffects) }

func endAtEffects(t *testing.T, at int, s script.Scenario, clean world.Result) {
	t.Helper()
	list := few(picked(s.Name, clean.Effects, 3, 1, 2), *disturbances, at)
	var variants []variant
	for n, k := range list {
		for _, before := range []bool{true, false} {
			if !*every && before != ((at+n)%4 == 0) {
				continue
			}
			what := fmt.Sprintf("ended at effect %d of %d, %s (right before: %t)", k+1, len(clean.Effects), clean.Effects[k], before)
			variants = append(variants, variant{what, s, world.Options{CountFrom: s.Counted(), CrashAt: k + 1, CrashBefore: before}})
		}
	}
	t.Logf("%d effects, disturbed at %d", len(clean.Effects), len(list))
	disturbed(t, variants, clean)
}

// A second manager is there, as while a lease changes hands, and runs a pass right before effects of the first.
func TestTwoManagersMeetAtEveryEffect(t *testing.T) { eachGolden(t, rivals, meetAtEffects) }

func meetAtEffects(t *testing.T, at int, s script.Scenario, clean world.Result) {
	t.Helper()
	var variants []variant
	for _, k := range few(picked(s.Name, clean.Effects, 2, 1, 3), *disturbances, at) {
		with := s
		with.Events = append([]script.Event{
			{What: script.Rival, At: s.Counted(), N: 4}, {What: script.Meet, At: s.Counted(), N: k},
		}, s.Events...)
		variants = append(variants, variant{fmt.Sprintf("two managers meet at effect %d, %s", k+1, clean.Effects[k]), with, world.Options{}})
	}
	disturbed(t, variants, clean)
}

// stale is one way in which the manager reads stale state.
type stale struct {
	what  string
	event script.Event
}

// staleness lists the ways: reads return the state of some passes ago, or no watch event arrives for a while and only timers run.
func staleness(s script.Scenario) []stale {
	var list []stale
	for _, passes := range []int{0, 5} {
		for _, late := range []time.Duration{0, 3 * time.Second} {
			list = append(list, stale{fmt.Sprintf("caches stand still for %d passes from %s on", passes+1, late),
				script.Event{What: script.Lag, At: s.Counted() + late, N: passes, M: 6}})
		}
	}
	return append(list, stale{"events get lost for four minutes", script.Event{What: script.Deaf, At: s.Counted(), N: 4}})
}

func TestStaleAndMissed(t *testing.T) { eachGolden(t, oldReads, readOld) }

func readOld(t *testing.T, at int, s script.Scenario, clean world.Result) {
	t.Helper()
	var variants []variant
	for _, way := range few(staleness(s), *disturbances, at) {
		with := s
		with.Events = append([]script.Event{}, s.Events...)
		with.Insert(way.event)
		variants = append(variants, variant{way.what, with, world.Options{}})
	}
	disturbed(t, variants, clean)
}
