package world

import (
	"fmt"
	"strings"
	"time"

	"github.com/muster-project/muster/test/explore/script"
)

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
func (r *rest) ignores() {
	w := r.world
	if f := w.Options.Ignores; f != nil {
		w.At(w.trace.Began.Add(script.Edited-time.Second), func() { w.Must(w.pool.Cloud.Faults().Add(*f), "put a fault into force") })
	}
}

// unheeded looks at a pool whose cloud goes on ignoring something: what is written again is written rarely, and is reported in words
// that stay.
func (r *rest) unheeded() {
	w := r.world
	w.Must(w.pool.Cloud.Faults().Add(*w.Options.Ignores), "put a fault into force")
	w.until(time.Now().Add(unheededRest))
	w.since()
	said := w.Objects.Says()
	r.reported = strings.Contains(said, noEffect)
	for end := time.Now().Add(unheededSpell); time.Now().Before(end) && !w.over(); {
		w.until(time.Now().Add(quietSpell))
		if now := w.Objects.Says(); strings.Contains(now, noEffect) != r.reported {
			w.Blame("quiet", "at rest it was said %q, and then %q", said, now)
			break
		}
	}
	writes := map[string]int{}
	for _, what := range w.since() {
		writes[what]++
	}
	for what, n := range writes {
		if n > unheededMost {
			w.Blame("repeated", "%s was sent %d times in %s at rest, while the cloud ignores it", what, n, unheededSpell)
		}
	}
	if len(writes) > 0 && !r.reported {
		w.Blame("told", "at rest %s is written again and again, and no condition reports it: %s", fmt.Sprint(writes), said)
	}
}
