package cache

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/muster-project/muster/cloud"
)

const (
	// sharedFor is the time for which one pool's look-up serves other pools with the same question. It is short, because objects store the
	// look-ups that count for long.
	sharedFor = 10 * time.Minute
	// maxShared bounds the look-ups that are shared; beyond it, all are read again.
	maxShared = 4096
	// lookupLength is in hex digits of what tells questions apart.
	lookupLength = 12
)

// Lookups are look-ups that were made a short while ago, by any pool that asks with the same credentials, or are being made. They cost
// memory alone. The zero Lookups are empty; they are safe for concurrent use.
type Lookups struct {
	mu   sync.Mutex
	made map[string]lookup
	// underway are the look-ups that a pool is making; each is closed when it has ended.
	underway map[string]chan struct{}
}

type lookup struct {
	value string
	at    time.Time
}

// once returns the answer to a question that was asked a short while ago, or asks. Of pools that ask the same at the same time one asks,
// and the others wait for it. If it fails, which may be its own fault, each of them asks.
func (l *Lookups) once(ctx context.Context, key string, now time.Time, ask func(context.Context) (string, error)) (string, error) {
	ended, leads := l.join(key)
	if leads {
		defer l.leave(key, ended)
	} else {
		select {
		case <-ended:
		case <-ctx.Done():
			return "", fmt.Errorf("wait for a look-up that another pool makes: %w", context.Cause(ctx))
		}
	}
	if answer, ok := l.get(key, now); ok {
		return answer, nil
	}
	answer, err := ask(ctx)
	if err == nil {
		l.put(key, answer, now)
	}
	return answer, err
}

// join returns when the look-up under way ends, or begins one: then leads is true, and leave ends it.
func (l *Lookups) join(key string) (ended chan struct{}, leads bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ended, ok := l.underway[key]; ok {
		return ended, false
	}
	if l.underway == nil {
		l.underway = map[string]chan struct{}{}
	}
	ended = make(chan struct{})
	l.underway[key] = ended
	return ended, true
}

// leave ends a look-up.
func (l *Lookups) leave(key string, ended chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.underway, key)
	close(ended)
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
	if l.made == nil || len(l.made) >= maxShared {
		l.made = map[string]lookup{}
	}
	l.made[key] = lookup{value: value, at: now}
}

// Resolver looks up what a specification names only by its properties, each thing once per specification.
type Resolver struct {
	// Place is the location of the look-ups: an answer from one region is not valid in another.
	Place string
	// Shared are the look-ups of all pools.
	Shared *Lookups
	Now    time.Time
	// Remembered are the look-ups that are stored on the object. They are not changed.
	Remembered map[string]string
	// Remember collects the look-ups that this specification rests on, made now and earlier.
	Remember map[string]string
}

// Question is one look-up.
type Question struct {
	// Kind names it, for people; Inputs are everything that the answer depends on.
	Kind   string
	Inputs any
	// Good reports whether a remembered answer can be read; one that cannot, because a user edited it, is looked up again.
	Good func(answer string) bool
	// Ask asks the cloud.
	Ask func(context.Context) (string, error)
}

// Resolve returns the answer to a question. It is asked only if neither the object remembers the answer nor another pool has asked the
// same a short while ago, or is asking.
func (r *Resolver) Resolve(ctx context.Context, q Question) (string, error) {
	text, err := json.Marshal([]any{r.Place, q.Inputs})
	if err != nil {
		return "", fmt.Errorf("encode the inputs of the %s look-up: %w", q.Kind, err)
	}
	key := q.Kind + "-" + cloud.Digest(text, lookupLength)
	answer, ok := r.Remembered[key]
	if !ok || !q.Good(answer) {
		if answer, err = r.Shared.once(ctx, key, r.Now, q.Ask); err != nil {
			return "", err
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

// NotEmpty is an answer of which no more is known than that it must not be empty.
func NotEmpty(answer string) bool { return answer != "" }
