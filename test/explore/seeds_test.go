package explore

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/muster-project/muster/test/explore/kinds/all"
	"github.com/muster-project/muster/test/explore/world"
	"github.com/muster-project/muster/test/testrun"
)

// seedsFile lists every seed that ever showed a defect. Unlike those that follow from the commit, they fail a run whatever the merge base
// does.
const seedsFile = "testdata/seeds"

// mixed is the kind of a seed that chooses its kind itself.
const mixed = "mixed"

// known is one of the seeds; extra is true if its scenario has what was added to all kinds later.
type known struct {
	kind  string
	seed  uint64
	extra bool
}

// withExtra ends the lines of seeds whose scenarios have what was added to all kinds later.
const withExtra = " extra"

// knownSeeds reads the list: a kind and a seed a line, with extra behind them for a scenario with all parts, and lines of comment.
func knownSeeds(text string) ([]known, error) {
	var list []known
	seen := map[known]bool{}
	for n, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var k known
		line, k.extra = strings.CutSuffix(line, withExtra)
		if _, err := fmt.Sscanf(line, "%s %d", &k.kind, &k.seed); err != nil {
			return nil, fmt.Errorf("line %d: want a kind and a seed, got %q: %w", n+1, line, err)
		}
		switch {
		case k.kind == mixed:
			k.kind = ""
		case all.Named(k.kind) == nil:
			return nil, fmt.Errorf("line %d: want %s or a kind in test/explore/kinds, got %q", n+1, mixed, k.kind)
		}
		if seen[k] {
			return nil, fmt.Errorf("line %d: %q is there twice", n+1, line)
		}
		seen[k] = true
		list = append(list, k)
	}
	return list, nil
}

// Of knownOneOf seeds TestKnownSeeds plays one, others with the next commit, and the long test plays the rest.
const knownOneOf = 4

func TestKnownSeeds(t *testing.T) { playKnown(t) }

func TestLongKnownSeeds(t *testing.T) {
	testrun.LongOnly(t)
	playKnown(t)
}

// playKnown plays the seeds whose turn it is.
func playKnown(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(seedsFile)
	if err != nil {
		t.Fatal(err)
	}
	list, err := knownSeeds(string(text))
	if err != nil {
		t.Fatalf("%s: %v", seedsFile, err)
	}
	var turn []known
	for n, k := range list {
		if ours := (uint64(n)+*first)%knownOneOf == 0; ours != testrun.IsLong(t) && (!testing.Short() || n%shortStep == 0) {
			turn = append(turn, k)
		}
	}
	var next atomic.Uint64
	for n := range workers {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			for at := next.Add(1) - 1; at < uint64(len(turn)); at = next.Add(1) - 1 {
				k := turn[at]
				for _, v := range play(t, drawAs(k.kind, k.seed, k.extra), world.Options{}).Wrong {
					t.Errorf("seed %d: %s: %s\nreplay with: %s", k.seed, v.Oracle, v.Text, replayLine(k.seed, k.kind, k.extra))
				}
			}
		})
	}
}

func TestKnownSeedsAreRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ reason, text, want string }{
		{"kinds and seeds", "# a comment\n\naks 7\nmixed 8\n", "[{aks 7 false} { 8 false}]"},
		{"with what was added later", "aks 7 extra\naks 7", "[{aks 7 true} {aks 7 false}]"},
		{"an unknown kind", "eks 7", `line 1: want mixed or a kind in test/explore/kinds, got "eks"`},
		{"no seed", "aks", `line 1: want a kind and a seed, got "aks"`},
		{"one twice", "aks 7\naks 7", `line 2: "aks 7" is there twice`},
	} {
		list, err := knownSeeds(c.text)
		got := fmt.Sprint(list)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: want %s, got %s", c.reason, c.want, got)
		}
	}
}
