package world

import (
	"fmt"
	"strings"
	"time"

	"github.com/muster-project/muster/test/explore/script"
)

const (
	// A pool gets unheededRest to back off from a change that the cloud ignores, and is then watched for unheededSpell.
	unheededRest, unheededSpell = time.Hour, 30 * time.Minute
	// unheededMost bounds the writes of one kind in that time: one attempt for each of the longest back-offs and one more, of two requests
	// each.
	unheededMost = 14
	// noEffect is part of every message about a change without effect.
	noEffect = "changed, shows no effect"
)

// ignores begins to ignore a setting for good once the pool is at rest.
func (r *rest) ignores() {
	w := r.world
	if f := w.Options.Ignores; f != nil {
		w.At(w.trace.Began.Add(script.Edited-time.Second), func() { w.Must(w.pool.Cloud.Faults().Add(*f), "put a fault into force") })
	}
}

// unheeded watches a pool whose cloud continues to ignore a change: retries must be rare, and the message about it stable.
func (r *rest) unheeded() {
	w := r.world
	w.Must(w.pool.Cloud.Faults().Add(*w.Options.Ignores), "put a fault into force")
	w.until(time.Now().Add(unheededRest))
	w.since()
	status := w.Objects.StatusText()
	r.reported = strings.Contains(status, noEffect)
	for end := time.Now().Add(unheededSpell); time.Now().Before(end) && !w.over(); {
		w.until(time.Now().Add(quietSpell))
		if now := w.Objects.StatusText(); strings.Contains(now, noEffect) != r.reported {
			w.Blame("quiet", "at rest it was said %q, and then %q", status, now)
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
		w.Blame("reported", "at rest %s is written again and again, and no condition reports it: %s", fmt.Sprint(writes), status)
	}
}
