package undrainable_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/pool/clock"
	"github.com/muster-project/muster/pool/undrainable"
)

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// blocked is a drain of a rollout that began so long ago and gets nowhere.
func blocked(id string, ago time.Duration, change ...func(*undrainable.Drain)) undrainable.Drain {
	d := undrainable.Drain{ID: id, Started: now.Add(-ago), Voluntary: true, Blocked: true}
	for _, c := range change {
		c(&d)
	}
	return d
}

func quarantined(d *undrainable.Drain) { d.Quarantined = true }
func evicting(d *undrainable.Drain)    { d.Blocked = false }
func byUser(d *undrainable.Drain)      { d.Voluntary = false }

func TestQuarantined(t *testing.T) {
	t.Parallel()
	rule := undrainable.Rule{Action: undrainable.Quarantine, After: time.Hour, Max: 2}
	for _, c := range []struct {
		why    string
		rule   undrainable.Rule
		drains []undrainable.Drain
		want   string
	}{
		{"never before its time, and the decision is made again then", rule, []undrainable.Drain{blocked("a", 59*time.Minute)}, " next +1m0s"},
		{"its time has come", rule, []undrainable.Drain{blocked("a", time.Hour)}, "a"},
		{"pods leave, so that the drain ends", rule, []undrainable.Drain{blocked("a", 2*time.Hour, evicting)}, ""},
		{"a scale-in chooses another machine, a user's deletion waits", rule, []undrainable.Drain{blocked("a", 2*time.Hour, byUser)}, ""},
		{"no more than the maximum, the longest drain first", rule, []undrainable.Drain{blocked("a", time.Hour), blocked("b", 3*time.Hour),
			blocked("c", 2*time.Hour)}, "b c"},
		{"ties are broken by ID", rule, []undrainable.Drain{blocked("c", time.Hour), blocked("a", time.Hour), blocked("b", time.Hour)}, "a b"},
		{"one that is quarantined keeps its place", rule, []undrainable.Drain{blocked("a", time.Hour, quarantined), blocked("b", 3*time.Hour),
			blocked("c", 2*time.Hour)}, "a b"},
		{"a moment in which a pod could go ends no quarantine", rule, []undrainable.Drain{blocked("a", time.Hour, quarantined, evicting)}, "a"},
		{"a Machine that is deleted as well stays", rule, []undrainable.Drain{blocked("a", time.Hour, quarantined, byUser)}, "a"},
		{"a lower maximum releases the later one", undrainable.Rule{Action: undrainable.Quarantine, After: time.Hour, Max: 1},
			[]undrainable.Drain{blocked("a", time.Hour, quarantined), blocked("b", 2*time.Hour, quarantined)}, "b"},
		{"another action releases all", undrainable.Rule{Action: undrainable.Force, After: time.Hour, Max: 1},
			[]undrainable.Drain{blocked("a", time.Hour, quarantined)}, ""},
		{"without a rule there is none", undrainable.Rule{}, []undrainable.Drain{blocked("a", time.Hour)}, ""},
	} {
		at := clock.At(now)
		var ids []string
		for id := range c.rule.Quarantined(c.drains, at) {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		got := strings.Join(ids, " ")
		if next := at.Next(); !next.IsZero() {
			got += fmt.Sprintf(" next +%s", next.Sub(now))
		}
		if got != c.want {
			t.Errorf("%s: want %q, got %q", c.why, c.want, got)
		}
	}
}

// TestBounds holds how many more may be missing, and how long drains are waited for.
func TestBounds(t *testing.T) {
	t.Parallel()
	quarantine := undrainable.Rule{Action: undrainable.Quarantine, After: time.Hour, Max: 2}
	force := undrainable.Rule{Action: undrainable.Force, After: time.Hour, Max: 1}
	for _, c := range []struct {
		why       string
		rule      undrainable.Rule
		labelled  int
		every     time.Duration
		tolerated int
		timeout   time.Duration
	}{
		{"as many as are quarantined", quarantine, 1, 0, 1, 0},
		{"never more than the maximum, whatever sets labels", quarantine, 5, 0, 2, 0},
		{"labels mean nothing to another action", force, 5, 0, 0, time.Hour},
		{"the drain timeout holds if it is shorter", force, 0, time.Minute, 0, time.Minute},
		{"the rule's time holds if it is shorter", force, 0, 2 * time.Hour, 0, time.Hour},
		{"a quarantine ends no drain", quarantine, 0, 2 * time.Hour, 0, 2 * time.Hour},
		{"waiting ends none either", undrainable.Rule{}, 1, 0, 0, 0},
	} {
		if n, d := c.rule.Tolerated(c.labelled), c.rule.Timeout(c.every); n != c.tolerated || d != c.timeout {
			t.Errorf("%s: want %d and %s, got %d and %s", c.why, c.tolerated, c.timeout, n, d)
		}
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	open := func(names ...string) (o undrainable.Open) {
		for _, name := range names {
			node, kept, found := strings.Cut(name, " ")
			var list []string
			if found {
				list = []string{kept}
			}
			o.Add(node, list)
		}
		return o
	}
	for _, c := range []struct {
		why                 string
		quarantined, others undrainable.Open
		want                string
	}{
		{"nothing drains", open(), open(), "[]"},
		{"pods leave", open(), open("a", "b"), "[{Draining draining a, b}]"},
		{"something keeps one", open(), open("a", "b web"), "[{DrainBlocked draining a, b; kept by web}]"},
		{"quarantine is told apart", open("a web"), open("b"), "[{Quarantined in quarantine: a; kept by web} {Draining draining b}]"},
	} {
		if got := fmt.Sprint(undrainable.Report(c.quarantined, c.others)); got != c.want {
			t.Errorf("%s: want %s, got %s", c.why, c.want, got)
		}
	}
}
