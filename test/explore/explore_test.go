package explore

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/extra"
	"github.com/muster-project/muster/test/explore/kinds/all"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
	"github.com/muster-project/muster/test/testrun"
)

var (
	scenarios = flag.Int("n", 120, "how many scenarios are explored")
	first     = flag.Uint64("seed", 0, "the seed of the first scenario, or of the one that is replayed; 0 takes one from the commit, so "+
		"that each commit explores others")
	stop     = flag.Bool("stop", false, "explore one scenario after the other, and stop at the first violation")
	drop     = flag.String("drop", "", "places of the events that a replayed scenario goes without, as a failure names them")
	kind     = flag.String("kind", "", "explore scenarios of one kind alone, by its name in test/explore/kinds")
	policies = flag.Bool("policies", true, "explore one scenario in three with a rollout policy")
	extras   = flag.Bool("extra", false, "explore scenarios with what was added to all kinds later, such as several pools")
	switched = flag.String("switches", "", "explore scenarios with these switches of the simulators alone, as in "+
		"eks.FailedStays,lists.Reversed, instead of those that the seed draws")
	output = flag.String("report", "", "file for a report of the run")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *kind != "" && all.Named(*kind) == nil {
		fmt.Printf("-kind: want the name of a kind in test/explore/kinds, got %q\n", *kind)
		os.Exit(1)
	}
	if *first == 0 {
		*first, rotates = commitSeed(), true
	}
	testrun.AllowGarbage(testrun.GarbageOfWorlds)
	code := m.Run()
	if total.scenarios > 0 {
		if err := total.write(*output); err != nil {
			fmt.Println(err)
			code = 1
		}
		fmt.Printf("explored seed=%d %s\n", total.seed, total.line())
	}
	os.Exit(code)
}

// commitSeed returns a seed that follows from the checked-out commit, and 1 without a repository.
func commitSeed() uint64 {
	out, err := exec.Command("git", "rev-parse", "--short=8", "HEAD").Output()
	if err != nil {
		return 1
	}
	seed, err := strconv.ParseUint(strings.TrimSpace(string(out)), 16, 64)
	if err != nil || seed == 0 {
		return 1
	}
	return seed
}

// workers bounds the number of concurrent scenarios. The parallel limit of the test binary bounds it further by the number of cores.
const workers = 16

func TestExplore(t *testing.T) {
	seeds := seedsFrom(*first, *scenarios)
	if testing.Short() {
		seeds = oneOfEachKind(seeds)
	}
	if *stop {
		for _, seed := range seeds {
			if explore(t, *kind, seed); total.wrong > 0 {
				return
			}
		}
		return
	}
	exploreAll(t, seeds)
}

// seedsFrom returns n seeds from one on.
func seedsFrom(seed uint64, n int) []uint64 {
	seeds := make([]uint64, n)
	for k := range seeds {
		seeds[k] = seed + uint64(k)
	}
	return seeds
}

// oneOfEachKind returns the first seed of each kind of pool: what -short plays.
func oneOfEachKind(seeds []uint64) []uint64 {
	if *kind != "" {
		return seeds[:min(1, len(seeds))]
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(seeds, func(seed uint64) bool {
		name := all.Claiming(seed).Name
		again := seen[name]
		seen[name] = true
		return again
	})
}

// ofEach is the number of scenarios that are played of each kind that claims no seeds.
const ofEach = 12

// TestExploreKindsWithoutSeeds explores kinds that no seed chooses.
func TestExploreKindsWithoutSeeds(t *testing.T) {
	for _, k := range all.Kinds() {
		if k.Claims != nil || *kind != "" || testing.Short() {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			for _, seed := range seedsFrom(*first, ofEach) {
				explore(t, k.Name, seed)
			}
		})
	}
}

// longScenarios counts the scenarios of the long test. Their seeds follow those of TestExplore, so no scenario is played by both.
const longScenarios = 300

func TestLongExplore(t *testing.T) {
	testrun.LongOnly(t)
	exploreAll(t, seedsFrom(*first+uint64(*scenarios), longScenarios))
}

// exploreAll plays the scenarios of the seeds.
func exploreAll(t *testing.T, seeds []uint64) {
	t.Helper()
	var next atomic.Uint64
	for k := range workers {
		t.Run(strconv.Itoa(k), func(t *testing.T) {
			t.Parallel()
			for {
				at := next.Add(1) - 1
				if at >= uint64(len(seeds)) {
					return
				}
				explore(t, *kind, seeds[at])
			}
		})
	}
}

// draw returns the scenario of a seed, of the selected kind.
func draw(seed uint64) script.Scenario { return drawOf(*kind, seed) }

// drawOf makes the scenario of a seed, of the kind with that name or, without a name, of the kind that the seed chooses.
// One in three has a rollout policy.
func drawOf(kind string, seed uint64) script.Scenario {
	s := drawAs(kind, seed, *extras)
	if *policies {
		s.DrawPolicy()
	}
	return s
}

// drawAs is drawOf with or without what was added to all kinds later.
func drawAs(kind string, seed uint64, extras bool) script.Scenario {
	k := all.Named(kind)
	if k == nil {
		k = all.Claiming(seed)
	}
	s := k.Draw(seed)
	if extras {
		s = extra.Draw(k.Kind, seed)
	}
	if *switched != "" {
		s.Switches = nil
		for name := range strings.SplitSeq(*switched, ",") {
			s.Switches = append(s.Switches, sim.Switch(name))
		}
	}
	return s
}

// shortenMost bounds how many failures are shortened, shownMost how many are shown.
const shortenMost, shownMost = 3, 20

// explore plays the scenario of one seed, of the kind with that name or the one that the seed chooses, and adds it up.
func explore(t *testing.T, kind string, seed uint64) {
	s := drawOf(kind, seed)
	got := play(t, s, world.Options{})
	nth := total.add(seed, got)
	if len(got.Wrong) == 0 {
		return
	}
	v := got.Wrong[0]
	fmt.Printf("violation seed=%d scenarios=%d oracle=%q: %s\n", seed, total.count(), v.Oracle, v.Text)
	replay := replayLine(seed, kind, *extras)
	if rotates {
		f := findings{run: "Replay", seed: seed, replay: replay}
		f.add("seed %d: %s: %s", seed, v.Oracle, v.Text)
		f.report(t)
	} else {
		t.Fail()
	}
	if nth > shownMost || *stop || !t.Failed() {
		return
	}
	if nth > shortenMost {
		t.Logf("replay with: %s", replay)
		return
	}
	dropped, short := shorten(t, s, v.Oracle)
	t.Logf("replay with: %s\nshortest that still fails: %s -drop %s\n%s", replay, replay, places(dropped), upTo(short.Trace))
}

// play runs one scenario.
func play(t *testing.T, s script.Scenario, o world.Options) world.Result {
	return world.Play(t, all.Named(s.Kind.Name), s, o)
}

// replayLine returns the command that replays the scenario of a seed; kind is empty where the seed chooses the kind.
func replayLine(seed uint64, kind string, extras bool) string {
	line := fmt.Sprintf("go test ./test/explore -run Replay -v -seed %d", seed)
	if kind != "" {
		line += " -kind " + kind
	}
	if extras {
		line += " -extra"
	}
	if *switched != "" {
		line += " -switches " + *switched
	}
	return line
}

// upTo returns a trace up to its first violation.
func upTo(trace string) string {
	if at := strings.Index(trace, "WRONG"); at >= 0 {
		if line := strings.IndexByte(trace[at:], '\n'); line >= 0 {
			return trace[:at+line]
		}
	}
	return trace
}

// TestReplay shows one scenario step by step. It runs only if it is selected by name.
func TestReplay(t *testing.T) {
	if f := flag.Lookup("test.run"); f == nil || !strings.HasSuffix(f.Value.String(), "Replay") {
		t.Skip("run it by its name: -run Replay -v -seed N")
	}
	got := play(t, draw(*first).Without(numbers(t, *drop)...), world.Options{})
	fmt.Print(got.Trace)
	for _, v := range got.Wrong {
		t.Errorf("seed %d: %s: %s", *first, v.Oracle, v.Text)
	}
}

// twice counts the scenarios that are played twice, some for each kind of pool. With -short, shortTwice applies.
const twice, shortTwice = 10, 1

func TestOneSeedGivesOneTrace(t *testing.T) {
	n := uint64(twice)
	if testing.Short() {
		n = shortTwice
	}
	for seed := *first; seed < *first+n; seed++ {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			found := findingsOf(t)
			a, b := play(t, draw(seed), world.Options{}), play(t, draw(seed), world.Options{})
			if a.Trace != b.Trace {
				found.add("seed %d gave two traces: want them equal, they differ first at\n%s", seed, difference(a.Trace, b.Trace))
			}
			found.report(t)
		})
	}
}

// difference shows where two traces part.
func difference(a, b string) string {
	k := 0
	for k < min(len(a), len(b)) && a[k] == b[k] {
		k++
	}
	from := max(0, k-300)
	return a[from:min(len(a), k+300)] + "\n--- and\n" + b[from:min(len(b), k+300)]
}

// shorten leaves out every event without which the scenario still fails by the same oracle, one by one, until none is
// left that can go. It gives the places of those that went, and what the rest does.
func shorten(t *testing.T, s script.Scenario, oracle string) (dropped []int, short world.Result) {
	fails := func(without []int) (world.Result, bool) {
		got := play(t, s.Without(without...), world.Options{})
		return got, slices.ContainsFunc(got.Wrong, func(v world.Violation) bool { return v.Oracle == oracle })
	}
	short, _ = fails(nil)
	for again := true; again; {
		again = false
		for k := range s.Events {
			if slices.Contains(dropped, k) {
				continue
			}
			if got, still := fails(append(slices.Clone(dropped), k)); still {
				dropped, short, again = append(dropped, k), got, true
			}
		}
	}
	slices.Sort(dropped)
	return dropped, short
}

func places(list []int) string {
	var text []string
	for _, k := range list {
		text = append(text, strconv.Itoa(k))
	}
	return strings.Join(text, ",")
}

func numbers(t *testing.T, text string) []int {
	var list []int
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		k, err := strconv.Atoi(word)
		if err != nil {
			t.Fatalf("-drop: want places of events such as 1,4, got %q", word)
		}
		list = append(list, k)
	}
	return list
}
