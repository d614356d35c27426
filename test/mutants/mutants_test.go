package mutants

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/testrun"
)

const (
	root    = "../.."
	written = root + "/docs/mutations.md"
)

var (
	everyOne = flag.Bool("all", false, "run every mutation, and not only those that the tests of small packages notice")
	update   = flag.Bool("update", false, "run every mutation, play all scenarios from the first on, and write docs/mutations.md anew")
	only     = flag.String("only", "", "run only these mutations, by name, with commas between them")
	changed  = flag.Bool("changed", false, "run those whose files differ from the commit that the branch comes from, within bounds")
)

// TestMutationsApply finds mutations that do not fit the code any more, within a moment.
func TestMutationsApply(t *testing.T) {
	t.Parallel()
	table := Table()
	files, err := Apply(root, table)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, m := range table {
		if names[m.Name] {
			t.Errorf("two mutations have the name %q: want one each", m.Name)
		}
		names[m.Name] = true
		ask := []byte("mutated(" + strconv.Quote(m.Name) + ")")
		if got := bytes.Count(files[m.File], ask); got < len(m.Edits) {
			t.Errorf("%s: want %s %d times in the mutated file, got %d", m.File, ask, len(m.Edits), got)
		}
	}
}

// TestTableIsWrittenDown holds docs/mutations.md to the table, but for what became of each.
func TestTableIsWrittenDown(t *testing.T) {
	t.Parallel()
	if *update {
		t.Skip("TestLongMutants writes it")
	}
	table := Table()
	golden(t, markdown(table, make([]Verdict, len(table))))
}

// TestReplaced shows that a mutation which does not fit is refused.
func TestReplaced(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		edits  []Edit
		want   string
	}{
		{"the text is there once", []Edit{{"b", "x"}}, "a x c c"},
		{"several, in any order", []Edit{{"b", "x"}, {"a", "y"}}, "y x c c"},
		{"the code has changed", []Edit{{"d", "x"}}, "found it 0 times"},
		{"which of the two is meant is not known", []Edit{{"c", "x"}}, "found it 2 times"},
		{"two at one place would hide each other", []Edit{{"a b", "x"}, {"b", "y"}}, "overlap"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got, err := replaced("a b c c", c.edits)
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("want %q, got %q", c.want, got)
			}
		})
	}
}

// TestApart shows that binaries of one name are built into different folders.
func TestApart(t *testing.T) {
	t.Parallel()
	got := fmt.Sprint(apart([]Binary{"a/nodepool", "b/pool", "b/nodepool", "c/nodepool", "c/pool"}))
	if want := "[[a/nodepool b/pool] [b/nodepool c/pool] [c/nodepool]]"; got != want {
		t.Errorf("want %s, got %s", want, got)
	}
}

// TestRead shows that a run is understood.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		in     Binary
		out    string
		want   Verdict
	}{
		{"nothing was noticed", Explore, "PASS\nexplored seed=1 scenarios=100 faults=1 calls=1 virtual=1s violations=0\n", Verdict{}},
		{"the first violation counts", Explore,
			"violation seed=7 scenarios=7 oracle=\"as desired\": a is \"1\"\nviolation seed=8 scenarios=8 oracle=\"x\": y\nFAIL\n",
			Verdict{"as desired", 7, `a is "1"`}},
		{"a property counts its tests", Pool, "--- FAIL: TestX (0.00s)\n    a_test.go:1: [rapid] failed after 3 tests: the words\n",
			Verdict{"TestX", 4, "the words"}},
		{"a table is one", Pool, "--- FAIL: TestX (0.00s)\n    --- FAIL: TestX/row (0.00s)\n        a_test.go:1: the words\n",
			Verdict{"TestX", 1, "the words"}},
		{"a test that passes", Pool, "PASS\n", Verdict{}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			if got := read(c.in, c.out); got != c.want {
				t.Errorf("want %+v, got %+v", c.want, got)
			}
		})
	}
}

// cheap are the binaries whose mutations run without a flag: small packages, which are built and run within seconds. Every other
// mutation costs a build of the exploration, or of a driver with its SDK.
var cheap = []Binary{Pool, Engine, Upgrade}

// chosen returns the mutations that the flags ask for.
func chosen(table []Mutation) []Mutation {
	switch {
	case *only != "":
		return slices.DeleteFunc(table, func(m Mutation) bool { return !slices.Contains(strings.Split(*only, ","), m.Name) })
	case complete():
		return table
	default:
		return slices.DeleteFunc(table, func(m Mutation) bool { return !slices.Contains(cheap, m.In) })
	}
}

// complete reports whether every mutation runs.
func complete() bool { return *only == "" && (*everyOne || *update) }

// TestLongMutants builds all mutants at once and lets each live until something is noticed.
func TestLongMutants(t *testing.T) {
	if *only == "" && !complete() {
		testrun.LongOnly(t)
	}
	table := chosen(Table())
	if len(table) == 0 {
		t.Fatalf("want a mutation that -only names, got none of %q", *only)
	}
	verdicts, _ := runAll(t, table, 0)
	if verdicts == nil {
		return
	}
	text := markdown(table, verdicts)
	t.Log("\n" + text)
	if !complete() {
		return
	}
	everyOracle(t, table, verdicts)
	golden(t, text)
}

// runAll builds the mutations and runs them: with a bound in their order, each that begins within it, otherwise all, the slowest first. It
// returns what became of each, and those that did not run. Where a test fails without a mutation it runs none, and returns none.
func runAll(t *testing.T, table []Mutation, within time.Duration) (verdicts []Verdict, late []Mutation) {
	binaries, by := Binaries(table)
	built, err := Build(t.Context(), root, t.TempDir(), table, binaries)
	if err != nil {
		t.Fatal(err)
	}
	var sound sync.WaitGroup
	for _, in := range binaries {
		sound.Go(func() { clean(t, built, in, by[in]) })
	}
	if sound.Wait(); t.Failed() {
		return nil, nil
	}
	verdicts = make([]Verdict, len(table))
	workers, took := make(chan struct{}, runtime.GOMAXPROCS(0)), counted()
	order, began := slowestFirst(table, took), time.Now()
	if within > 0 {
		slices.Sort(order)
	}
	var all sync.WaitGroup
	for _, k := range order {
		workers <- struct{}{}
		if m := table[k]; within > 0 && time.Since(began) > within {
			late = append(late, m)
			<-workers
			continue
		}
		all.Go(func() {
			defer func() { <-workers }()
			m := table[k]
			if v, ok := again(t, built, m, took[m.Name]); ok {
				verdicts[k] = v
				return
			}
			verdicts[k] = judge(t, built, m)
		})
	}
	all.Wait()
	return verdicts, late
}

// slowestFirst returns the places of the mutations in the order in which they are run: those that took many scenarios when the
// table was written begin first, so that no core waits for one of them at the end.
func slowestFirst(table []Mutation, took map[string]int) []int {
	order := make([]int, len(table))
	for k := range order {
		order[k] = k
	}
	cost := func(m Mutation) int {
		if m.In == Explore {
			return took[m.Name]
		}
		return 0
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(cost(table[b]), cost(table[a])) })
	return order
}

// counted returns the number of scenarios that each mutation took according to the existing table.
func counted() map[string]int {
	old, _ := os.ReadFile(written)
	took := map[string]int{}
	for line := range strings.Lines(string(old)) {
		if cells := strings.Split(line, " | "); len(cells) == 5 {
			took[strings.TrimPrefix(cells[0], "| ")], _ = strconv.Atoi(strings.TrimSuffix(cells[4], " |\n"))
		}
	}
	return took
}

// clean makes sure that nothing is noticed while no mutation is switched on.
func clean(t *testing.T, built Built, in Binary, by []string) {
	v, err := built.Clean(t.Context(), root, in, by)
	if err != nil {
		t.Error(err)
	}
	if v.By != "" {
		t.Errorf("%s: want nothing noticed without a mutation, %s said after %d: %s", in, v.By, v.Scenarios, v.Text)
	}
}

// again plays the one scenario that detected a mutation when the table was written. It returns false if that is inconclusive: the code or
// the scenarios have changed, and the detecting scenario has to be searched again.
func again(t *testing.T, built Built, m Mutation, took int) (Verdict, bool) {
	if m.In != Explore || took < 2 || *update {
		return Verdict{}, false
	}
	v, err := built.Replay(t.Context(), root, m, took)
	return v, err == nil && slices.Contains(m.By, v.By)
}

// judge runs one mutant.
func judge(t *testing.T, built Built, m Mutation) Verdict {
	v, err := built.Run(t.Context(), root, m)
	switch {
	case err != nil:
		t.Error(err)
	case v.By == "":
		t.Errorf("%q survived %d scenarios: want it noticed by one of %q", m.Name, m.In.most(), m.By)
	case !slices.Contains(m.By, v.By):
		t.Errorf("%q was noticed by %q after %d: want one of %q to be first; it said: %s", m.Name, v.By, v.Scenarios, m.By, v.Text)
	}
	return v
}

// everyOracle wants each oracle to have been the first to notice some mutation.
func everyOracle(t *testing.T, table []Mutation, verdicts []Verdict) {
	names := []string{"left", "as desired", "quiet", "secret", "progress", "busy", "panic", "reason", "living node", "repeated"}
	for _, c := range oracle.Checks() {
		names = append(names, c.Name)
	}
	for _, name := range names {
		first := false
		for k, m := range table {
			first = first || m.In == Explore && verdicts[k].By == name
		}
		if !first {
			t.Errorf("oracle %q was first with no mutation: want one that it notices", name)
		}
	}
}

// introduction explains the table to readers.
const introduction = `# Mutations

Each row is a mistake that a developer might make: a small change of the source that is switched on by its name. All of them are compiled
into one build of the tests, over the sources, which stay as they are. They run one by one until an oracle or a test fails. The same build
passes while no mistake is switched on.

Of %d mistakes the [exploration](exploration.md) notices %d: it plays whole lives of a pool, with faults and crashes, one seed after the
other, until an oracle finds a violation. The table names the oracle, and how many scenarios it took. The other %d run with the tests of one
package, because no call to the cloud shows them, or only a rare one. The table names the test, with the number of random cases if it is a
property, and 1 if it is a table of cases. The scenario that noticed a mistake the last time is tried first.

A mistake that no test notices, or another oracle than expected, fails the test: it is a gap in the tests.

| | |
| --- | --- |
| all mistakes | ` + "`" + `make mutants` + "`" + ` |
| one mistake | ` + "`" + `go test ./test/mutants -v -args -only "drain forgotten"` + "`" + ` |
| that every mistake fits the code; those that the tests of ` + "`" + `pool` + "`" + ` and ` + "`" + `engine` + "`" + ` notice | ` + "`" +
	`go test ./test/mutants` + "`" + `; with ` + "`" + `MUSTER_LONG=1` + "`" + ` |
| write this page again after a change of the table | ` + "`" + `go test ./test/mutants -run Mutants -timeout 2h -args -update` + "`" + ` |

The mistakes are in ` + "`" + `test/mutants/table_*.go` + "`" + `.

`

// markdown returns the table for people.
func markdown(table []Mutation, verdicts []Verdict) string {
	var b strings.Builder
	explored := 0
	for _, m := range table {
		if m.In == Explore {
			explored++
		}
	}
	fmt.Fprintf(&b, introduction, len(table), explored, len(table)-explored)
	b.WriteString("| mutation | package | what a developer might do | caught by | scenarios |\n| --- | --- | --- | --- | --- |\n")
	for k, m := range table {
		by := verdicts[k].By
		if m.In != Explore {
			by = "`" + by + "` of " + string(m.In)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %d |\n", m.Name, filepath.Dir(m.File), m.What, by, verdicts[k].Scenarios)
	}
	return b.String()
}

// golden compares the written table with this one, but for how many scenarios it took and which of several was first.
func golden(t *testing.T, text string) {
	if *update {
		if err := os.WriteFile(written, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(written)
	if err != nil {
		t.Fatal(err)
	}
	if want, got := rows(string(old)), rows(text); !slices.Equal(want, got) {
		t.Errorf("docs/mutations.md tells of other mutations: write their rows, or run go test ./test/mutants -run Mutants -timeout 2h -args "+
			"-update\nwant %q\ngot  %q", got, want)
	}
}

// rows returns a table's lines without their last two columns.
func rows(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if cells := strings.Split(line, "|"); len(cells) > 4 {
			out = append(out, strings.Join(cells[:4], "|"))
		}
	}
	return out
}
