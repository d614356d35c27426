package explore

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	scenarios = flag.Int("n", 2000, "how many scenarios are explored")
	first     = flag.Uint64("seed", 1, "the seed of the first scenario, or of the one that is replayed")
)

// total is what was explored by all workers.
var total struct {
	sync.Mutex
	scenarios, faults, calls, wrong int
	virtual                         time.Duration
}

// shownMost bounds how many violations are printed.
const shownMost = 20

// garbage is how much of it may pile up, in percent of what is in use: scenarios are small and make much of it.
const garbage = 800

func TestMain(m *testing.M) {
	debug.SetGCPercent(garbage)
	code := m.Run()
	if total.scenarios > 0 {
		fmt.Printf("explored scenarios=%d faults=%d calls=%d virtual=%s violations=%d\n",
			total.scenarios, total.faults, total.calls, total.virtual.Round(time.Second), total.wrong)
	}
	os.Exit(code)
}

// workers is how many scenarios may run at once; the test binary's own limit on parallel tests bounds it by the cores.
const workers = 16

func TestExplore(t *testing.T) {
	n := *scenarios
	if testing.Short() {
		n = min(n, 200)
	}
	var next atomic.Uint64
	for k := range workers {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			t.Parallel()
			for {
				at := next.Add(1) - 1
				if at >= uint64(n) {
					return
				}
				explore(t, *first+at)
			}
		})
	}
}

// explore runs the scenario of one seed and adds it up.
func explore(t *testing.T, seed uint64) {
	got := explored(t, draw(seed))
	total.Lock()
	defer total.Unlock()
	total.scenarios++
	total.faults += got.faults
	total.calls += got.calls
	total.virtual += got.virtual
	if len(got.wrong) == 0 {
		return
	}
	total.wrong++
	if total.wrong <= shownMost {
		t.Errorf("seed %d: %s\nreplay with: go test ./test/explore -run Replay -v -seed %d", seed, got.wrong[0], seed)
	}
	t.Fail()
}

// TestReplay shows one scenario step by step. It does nothing unless it is asked for by name.
func TestReplay(t *testing.T) {
	if f := flag.Lookup("test.run"); f == nil || !strings.HasSuffix(f.Value.String(), "Replay") {
		t.Skip("run it by its name: -run Replay -v -seed N")
	}
	got := explored(t, draw(*first))
	fmt.Print(got.trace)
	for _, text := range got.wrong {
		t.Errorf("seed %d: %s", *first, text)
	}
}

func TestOneSeedGivesOneTrace(t *testing.T) {
	for seed := *first; seed < *first+20; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			a, b := explored(t, draw(seed)), explored(t, draw(seed))
			if a.trace != b.trace {
				t.Errorf("seed %d gave two traces: want them equal, they differ first at\n%s", seed, difference(a.trace, b.trace))
			}
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
