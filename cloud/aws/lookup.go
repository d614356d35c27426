package aws

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

const (
	// sharedFor is how long one pool's look-up serves other pools that ask the same. It is short: what counts for long
	// is what an object remembers.
	sharedFor = 10 * time.Minute
	// sharedMost bounds the look-ups that are shared; when there are more, all are asked again.
	sharedMost = 4096
)

// lookups are look-ups that were made a short while ago, by any pool. They cost memory alone and are never waited for.
type lookups struct {
	mu   sync.Mutex
	made map[string]lookup
}

type lookup struct {
	value string
	at    time.Time
}

func (l *lookups) get(key string, now time.Time) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok := l.made[key]
	return found.value, ok && now.Sub(found.at) < sharedFor
}

func (l *lookups) put(key, value string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made == nil || len(l.made) >= sharedMost {
		l.made = map[string]lookup{}
	}
	l.made[key] = lookup{value: value, at: now}
}

// resolver looks up what a specification names only by its properties, each thing once per specification.
type resolver struct {
	driver *Driver
	c      *clients
	t      target
	now    time.Time
	// remember is what this specification rests on: look-ups made now and earlier.
	remember map[string]string
}

// question is one look-up.
type question struct {
	// kind names it, for people; inputs are everything that the answer depends on.
	kind   string
	inputs any
	// good says whether a remembered answer can be read; one that cannot (somebody edited it) is asked again.
	good func(answer string) bool
	ask  func(context.Context) (string, error)
}

// once gives the answer to a question. It is asked only when neither the object remembers it nor somebody else has asked
// the same just now.
func (r *resolver) once(ctx context.Context, q question) (string, error) {
	text, err := json.Marshal([]any{r.c.region, q.inputs})
	if err != nil {
		return "", fmt.Errorf("encode the inputs of the %s look-up: %w", q.kind, err)
	}
	key := q.kind + "-" + digest(text, dataLength)
	answer, ok := r.t.Remembered[key]
	if !ok || !q.good(answer) {
		shared := r.driver.options.Account + "/" + key
		if answer, ok = r.driver.lookups.get(shared, r.now); !ok {
			if answer, err = q.ask(ctx); err != nil {
				return "", err
			}
			r.driver.lookups.put(shared, answer, r.now)
		}
	}
	r.remember[key] = answer
	return answer, nil
}

// something is an answer of which no more is known than that it must not be empty.
func something(answer string) bool { return answer != "" }
