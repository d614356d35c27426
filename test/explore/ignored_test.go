package explore

import (
	"slices"
	"testing"
	"time"

	"github.com/muster-project/muster/test/explore/kinds/all"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
	"github.com/muster-project/muster/test/testrun"
)

// One of ignoredOneOf rules is played, another one for each kind of pool, and others with the next commit, unless all are selected.
const ignoredOneOf = 16

// TestIgnoredChangesComeToRest holds that changes which a cloud accepts and ignores are retried ever more rarely, and that a condition
// reports them, for every setting.
func TestIgnoredChangesComeToRest(t *testing.T) {
	if testing.Short() {
		t.Skip("an hour of virtual time for each rule: left out with -short")
	}
	comeToRest(t, 0)
}

// TestLongIgnoredChangesComeToRest plays as many other rules.
func TestLongIgnoredChangesComeToRest(t *testing.T) {
	testrun.LongOnly(t)
	if *every {
		t.Skip("the other test plays all rules")
	}
	comeToRest(t, ignoredOneOf/2)
}

// comeToRest plays the rules whose number leaves the remainder.
func comeToRest(t *testing.T, remainder uint64) {
	t.Helper()
	for _, s := range all.Golden() {
		if !slices.Contains([]string{"create", "managed: create", "azure Uniform: create", "azure Flexible: create", "aks: create",
			"gcp zonal: create", "gcp regional: create", "gke: create"}, s.Name) {
			continue
		}
		for n := range 9 {
			s.Events = append(s.Events, script.Event{What: script.GroupEdit, N: n, M: 1, At: script.Edited + time.Duration(n)*time.Second})
		}
		s.Events = append(s.Events,
			script.Event{What: script.Bounds, N: 3, M: 4, At: script.Edited + 10*time.Second},
			script.Event{What: script.Template, N: 3, At: script.Edited + 11*time.Second},
			script.Event{What: script.Replicas, N: 5, At: script.Edited + 12*time.Second},
			script.Event{What: script.Replicas, N: 2, At: script.Edited + 8*time.Minute})
		s.Ends = script.Edited + 13*time.Minute
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			found, reported := findingsOf(t), 0
			for n, f := range script.Ignorable(s) {
				if !*every && (uint64(n+len(s.Name))+*first)%ignoredOneOf != remainder {
					continue
				}
				got := play(t, s, world.Options{Ignores: &f})
				for _, v := range got.Wrong {
					found.add("%s: %s: %s", f.Name, v.Oracle, v.Text)
				}
				if got.Reported {
					reported++
				}
			}
			found.report(t)
			if *every && reported == 0 {
				t.Error("want a rule at least to be reported, got none")
			}
		})
	}
}
