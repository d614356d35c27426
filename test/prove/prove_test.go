package prove

import (
	"flag"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/muster-project/muster/test/testrun"
)

var (
	number = flag.Int("machines", 1, "how many machines the pools have at the beginning, at most")
	few    = flag.Bool("usual", false, "explore the usual cases of so many machines alone")
)

// cases returns every case of pools of at most n machines.
func cases(n int) []Case {
	var out []Case
	for replicas := range n + 1 {
		for _, strategy := range [][2]int{{1, 0}, {0, 1}, {1, 1}} {
			for _, replaces := range []bool{true, false} {
				out = append(out, Case{Replicas: replicas, Surge: strategy[0], Unavailable: strategy[1], Replaces: replaces},
					Case{Replicas: replicas, Surge: strategy[0], Unavailable: strategy[1], Replaces: replaces, KeepsFailed: true})
			}
		}
		out = append(out, Case{Replicas: replicas, Surge: 1, Replaces: true, Paused: true})
	}
	return append(out, Case{Surge: 1, Replaces: true, External: true}, Case{Unavailable: 1, Replaces: true, KeepsFailed: true, External: true},
		Case{Surge: 1, Replaces: true, Deleting: true}, Case{Surge: 1, KeepsFailed: true, Deleting: true})
}

// usual returns the cases of n wanted machines on a cloud like EC2 Auto Scaling.
func usual(n int) []Case {
	return slices.DeleteFunc(cases(n), func(c Case) bool {
		return c.Replicas != n || !c.Replaces || c.KeepsFailed || c.Paused
	})
}

// TestProve explores every case of pools of one machine, or of those that the flags name.
func TestProve(t *testing.T) {
	t.Parallel()
	list := cases(*number)
	if *few {
		list = usual(*number)
	}
	prove(t, *number, list)
}

// TestLongProve explores the largest pools that two processors explore in three minutes.
func TestLongProve(t *testing.T) {
	testrun.LongOnly(t)
	prove(t, 2, cases(2))
	prove(t, 3, usual(3))
}

func prove(t *testing.T, n int, list []Case) {
	var all Proof
	var mu sync.Mutex
	var wait sync.WaitGroup
	begin, work := time.Now(), make(chan Case)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for c := range work {
				p := Explore(c, n)
				mu.Lock()
				all.States, all.Edges, all.Ends, all.Depth = all.States+p.States, all.Edges+p.Edges, all.Ends+p.Ends, max(all.Depth, p.Depth)
				all.Found = append(all.Found, p.Found...)
				mu.Unlock()
			}
		})
	}
	for _, c := range list {
		work <- c
	}
	close(work)
	wait.Wait()
	for _, violation := range all.Found {
		t.Error(violation)
	}
	t.Logf("pools of at most %d machines: %d cases, %d states, %d edges, %d ends, the longest way %d, %s", n, len(list), all.States,
		all.Edges, all.Ends, all.Depth, time.Since(begin).Round(time.Second))
}
