package recall

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/muster-project/muster/cloud"
)

const (
	// sharedFor is how long one pool's look-up serves other pools that ask the same. It is short: what counts for long
	// is what an object remembers.
	sharedFor = 10 * time.Minute
	// sharedMost bounds the look-ups that are shared; when there are more, all are asked again.
	sharedMost = 4096
	// lookupLength is in hex digits of what tells questions apart.
	lookupLength = 12
)

// Lookups are look-ups that were made a short while ago, by any pool that asks with the same credentials. They cost memory alone and
// are never waited for. The zero Lookups are empty; they are safe for concurrent use.
type Lookups struct {
	mu   sync.Mutex
	made map[string]lookup
}

type lookup struct {
	value string
	at    time.Time
}

func (l *Lookups) get(key string, now time.Time) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok := l.made[key]
	return found.value, ok && now.Sub(found.at) < sharedFor
}

func (l *Lookups) put(key, value string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made == nil || len(l.made) >= sharedMost {
		l.made = map[string]lookup{}
	}
	l.made[key] = lookup{value: value, at: now}
}

// Resolver looks up what a specification names only by its properties, each thing once per specification.
type Resolver struct {
	// Place is where the questions are asked: an answer from one region says nothing about another.
	Place string
	// Shared are the look-ups of all pools.
	Shared *Lookups
	Now    time.Time
	// Remembered is what the object remembers of earlier look-ups; it is not changed.
	Remembered map[string]string
	// Remember is what this specification rests on: look-ups made now and earlier.
	Remember map[string]string
}

// Question is one look-up.
type Question struct {
	// Kind names it, for people; Inputs are everything that the answer depends on.
	Kind   string
	Inputs any
	// Good says whether a remembered answer can be read; one that cannot (somebody edited it) is asked again.
	Good func(answer string) bool
	// Ask asks the cloud.
	Ask func(context.Context) (string, error)
}

// Once gives the answer to a question. It is asked only when neither the object remembers it nor somebody else has asked
// the same just now.
func (r *Resolver) Once(ctx context.Context, q Question) (string, error) {
	text, err := json.Marshal([]any{r.Place, q.Inputs})
	if err != nil {
		return "", fmt.Errorf("encode the inputs of the %s look-up: %w", q.Kind, err)
	}
	key := q.Kind + "-" + cloud.Digest(text, lookupLength)
	answer, ok := r.Remembered[key]
	if !ok || !q.Good(answer) {
		if answer, ok = r.Shared.get(key, r.Now); !ok {
			if answer, err = q.Ask(ctx); err != nil {
				return "", err
			}
			r.Shared.put(key, answer, r.Now)
		}
	}
	r.Remember[key] = answer
	return answer, nil
}

// Keep holds on to what was remembered before: a look-up that failed in front of another one must not make that forget
// its answer.
func (r *Resolver) Keep() {
	for key, answer := range r.Remembered {
		if _, ok := r.Remember[key]; !ok {
			r.Remember[key] = answer
		}
	}
}

// Something is an answer of which no more is known than that it must not be empty.
func Something(answer string) bool { return answer != "" }
