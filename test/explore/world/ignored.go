package world

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
	simazure "github.com/muster-project/muster/sim/azure"
)

// ignoredOneIn is how rare scenarios are in which the cloud ignores something that it accepts.
const ignoredOneIn = 8

// ignored has the cloud of some scenarios ignore one thing that can be set, from some moment on until a calm or the end.
func (d *drawing) ignored() {
	if d.IntN(ignoredOneIn) > 0 {
		return
	}
	list := Ignorable(d.s)
	d.s.add(Event{What: CloudFault, At: d.moment(), Fault: list[d.IntN(len(list))]})
}

// Ignorable are the rules of what the cloud of a scenario may accept and ignore.
func Ignorable(s Scenario) []sim.Fault {
	if s.onAKS() {
		return simazure.IgnorableOfPools()
	}
	if s.onAzure() {
		return simazure.Ignorable()
	}
	return slices.DeleteFunc(simaws.Ignorable(), func(f sim.Fault) bool { return (f.Service == "eks") != s.Managed })
}

// Not more than repeatMost writes of the same content are accepted within repeatSpell: of nine attempts that a back-off makes in that
// time, twice as many for edits and restarts, which end it.
const (
	repeatMost  = 20
	repeatSpell = 5 * time.Minute
)

// repeat blames a write that the cloud has accepted too often.
func (a *account) repeat(write string) {
	now := time.Now()
	recent := slices.DeleteFunc(a.accepted[write], func(at time.Time) bool { return now.Sub(at) > repeatSpell })
	a.accepted[write] = append(recent, now)
	if len(recent) == repeatMost {
		a.world.blame("repeated", "the same write was accepted more than %d times within %s: %s", repeatMost, repeatSpell, write)
		a.accepted[write] = nil
	}
}

const (
	// unheededRest is how long a pool is given to back off from what the cloud ignores, unheededSpell how long it is watched then.
	unheededRest, unheededSpell = time.Hour, 30 * time.Minute
	// unheededMost is how many writes of one kind are sent in that time: one attempt in each of the longest back-offs and one more, of two
	// requests each.
	unheededMost = 14
	// noEffect is in every message about a change without effect.
	noEffect = "changed, shows no effect"
)

// ignores puts what the cloud ignores for good into force, once the pool has come to rest.
func (w *World) ignores() {
	if f := w.options.Ignores; f != nil {
		w.at(w.trace.began.Add(Edited-time.Second), func() { w.must(w.account.server.Faults().Add(*f), "put a fault into force") })
	}
}

// unheeded looks at a pool whose cloud goes on ignoring something: what is written again is written rarely, and is reported in words
// that stay.
func (w *World) unheeded() {
	w.must(w.account.server.Faults().Add(*w.options.Ignores), "put a fault into force")
	w.until(time.Now().Add(unheededRest))
	w.since()
	said := w.says()
	w.reported = strings.Contains(said, noEffect)
	for end := time.Now().Add(unheededSpell); time.Now().Before(end) && !w.gone; {
		w.until(time.Now().Add(quietSpell))
		if now := w.says(); strings.Contains(now, noEffect) != w.reported {
			w.blame("quiet", "at rest it was said %q, and then %q", said, now)
			break
		}
	}
	writes := map[string]int{}
	for _, what := range w.since() {
		writes[what]++
	}
	for what, n := range writes {
		if n > unheededMost {
			w.blame("repeated", "%s was sent %d times in %s at rest, while the cloud ignores it", what, n, unheededSpell)
		}
	}
	if len(writes) > 0 && !w.reported {
		w.blame("told", "at rest %s is written again and again, and no condition reports it: %s", fmt.Sprint(writes), said)
	}
}
