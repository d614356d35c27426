package explore

import (
	"fmt"
	"slices"
	"testing"

	"github.com/muster-project/muster/test/explore/kinds/asg"
	"github.com/muster-project/muster/test/explore/kinds/gkenodepool"
	"github.com/muster-project/muster/test/explore/record"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
	"github.com/muster-project/muster/test/testrun"
	"github.com/muster-project/muster/view/plan"
)

// lives are fault-free lives of a kind that are compared with their plans: how one is drawn, and how many are played, with the long test
// more; short are the first and the last with -short. It is enough that machines are replaced.
type lives struct {
	draw        func(seed uint64) script.Scenario
	whole, more uint64
	short       [2]uint64
}

// edited are the kinds whose lives are planned. An upgrade of GKE's takes ten times as many passes as a rollout by Muster.
var edited = map[string]lives{"asg": {asg.Edit, 15, 30, [2]uint64{5, 6}}, "gke": {gkenodepool.Edit, 6, 10, [2]uint64{2, 2}}}

// seeds returns the seeds of the first and the last scenario.
func (l lives) seeds(inLong bool) (first, last uint64) {
	switch {
	case inLong:
		return l.whole + 1, l.more
	case *every:
		return 1, 120
	case testing.Short():
		return l.short[0], l.short[1]
	default:
		return 1, l.whole
	}
}

// TestPlannedIsWhatHappens holds the forecast of "muster plan" against the effect of an edit while no fault occurs: which machines go, how
// many are launched and, if Muster replaces them itself, the least number that serve. The largest number that exist is an upper bound,
// since a machine in standby can be gone before its replacement exists.
func TestPlannedIsWhatHappens(t *testing.T) { comeAsPlanned(t) }

// TestLongPlannedIsWhatHappens plays more of the lives.
func TestLongPlannedIsWhatHappens(t *testing.T) {
	testrun.LongOnly(t)
	comeAsPlanned(t)
}

func comeAsPlanned(t *testing.T) {
	t.Helper()
	t.Parallel()
	for kind, of := range edited {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			first, last := of.seeds(testrun.IsLong(t))
			replaced, n := 0, last+1-first
			for seed := first; seed <= last; seed++ {
				replaced += len(comesAsPlanned(t, seed, of.draw(seed)).Left)
			}
			if replaced < int(n) {
				t.Errorf("want a machine a life replaced at least, got %d in %d: the lives show nothing", replaced, n)
			}
		})
	}
}

// comesAsPlanned plays one life, compares it with its plan, and returns what happened.
func comesAsPlanned(t *testing.T, seed uint64, s script.Scenario) record.Happened {
	t.Helper()
	got := play(t, s, world.Options{Foresee: true})
	for _, v := range got.Wrong {
		t.Errorf("seed %d: %s: %s", seed, v.Oracle, v.Text)
	}
	c := got.Planned
	want := record.Happened{Left: going(c), Made: coming(c), Lowest: c.MinAvailable, Most: c.MaxMachines}
	is := got.Happened
	if len(c.Rolled) > 0 {
		// The cloud keeps as many as its preferences ask for by its own count, in which a machine is healthy once its warm-up is
		// over, whether it has joined by then or not.
		is.Lowest = want.Lowest
	}
	is.Most = max(is.Most, want.Most)
	if fmt.Sprint(want) != fmt.Sprint(is) || !c.Converges {
		t.Errorf("seed %d (%s): planned %+v, happened %+v; the plan ends: %t, its steps: %v", seed, events(s), want, is, c.Converges, c.Steps)
	}
	return is
}

// going lists the machines that a plan removes.
func going(c plan.Forecast) []string {
	var list []string
	for _, w := range c.Waves {
		list = append(list, ids(w.Targets)...)
	}
	list = append(append(list, ids(c.Rolled)...), ids(c.Removed)...)
	slices.Sort(list)
	return list
}

// coming counts the machines that a forecast adds.
func coming(c plan.Forecast) int {
	n := len(c.Rolled) + c.Added
	for _, w := range c.Waves {
		n += len(w.Targets)
	}
	return n
}

func ids(list []plan.ReplacedMachine) []string {
	var out []string
	for _, d := range list {
		out = append(out, d.Instance.ID)
	}
	return out
}

func events(s script.Scenario) string {
	text := fmt.Sprintf("%d machines of %d to %d, %+v", s.Replicas, s.Least, s.Most, s.Strategy)
	for _, e := range s.Events {
		text += "; " + e.String()
	}
	return text
}
