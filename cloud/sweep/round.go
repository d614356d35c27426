package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
)

// round is the calls for the keys that were requested together. Its fields are guarded by the sweep's lock until done is closed.
type round[V any] struct {
	s *Sweep[V]
	// keys are those that passes wait for. While the objects are listed further ones join.
	keys []string
	// shares is true if one of these passes accepts an older answer: such passes come again and again, so that the calls are worth filling.
	shares bool
	// alone is true for a request that wants a call for its key alone.
	alone bool
	// waiting is the number of passes that want an answer. Without any the calls are cancelled.
	waiting int
	// priority is that of the most urgent pass among them, turn is true if the calls of one come at a place in line.
	priority cloud.Priority
	turn     bool
	ctx      context.Context
	cancel   context.CancelFunc
	// full is closed when the passes wait for as many keys as a call takes.
	full chan struct{}
	// at is when the calls began; writes are the writes to each key that is read, as they were counted then.
	at     time.Time
	writes map[string]uint64
	// answers and failed are the results of the calls by key.
	answers map[string]Answer[V]
	failed  map[string]error
	done    chan struct{}
}

// newRound makes a round whose calls run with the values of the context of the pass that begins it.
func (s *Sweep[V]) newRound(ctx context.Context) *round[V] {
	r := &round[V]{
		s: s, priority: cloud.PriorityIdle, full: make(chan struct{}), done: make(chan struct{}),
		writes: map[string]uint64{}, answers: map[string]Answer[V]{}, failed: map[string]error{},
	}
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return r
}

// join counts a pass that waits, until its context ends or leave is called. The lock is held.
func (r *round[V]) join(ctx context.Context) (leave func()) {
	r.waiting++
	r.priority, r.turn = min(r.priority, cloud.PriorityOf(ctx)), r.turn || cloud.HasTurn(ctx)
	stop := context.AfterFunc(ctx, r.left)
	return func() {
		if stop() {
			r.left()
		}
	}
}

// ranked returns the context of a call: it has the priority of the most urgent pass that waits.
func (r *round[V]) ranked() context.Context {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	ctx := cloud.WithPriority(r.ctx, r.priority)
	if r.turn {
		ctx = cloud.WithTurn(ctx)
	}
	return ctx
}

// left counts a pass that waits no longer.
func (r *round[V]) left() {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.waiting--; r.waiting == 0 {
		r.cancel()
	}
}

// want adds a key. The lock is held.
func (r *round[V]) want(key string, shares bool) {
	r.shares = r.shares || shares
	if slices.Contains(r.keys, key) {
		return
	}
	r.keys = append(r.keys, key)
	if r.s.o.Chunk > 1 && len(r.keys) == r.s.o.Chunk {
		close(r.full)
		if r.s.collecting == r {
			r.s.collecting = nil
		}
	}
}

// follow adds a key to a listing under way: if the listing leaves it out, the round reads it with the others that were left out. The lock
// is held.
func (r *round[V]) follow(key string) {
	if r.s.listing == r && !slices.Contains(r.keys, key) {
		r.keys = append(r.keys, key)
	}
}

// collect lets other passes join for a while.
func (r *round[V]) collect(window time.Duration) {
	if window <= 0 {
		return
	}
	timer := time.NewTimer(window)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.full:
	case <-r.ctx.Done():
	}
}

// wait returns the answer for a key once the calls have ended.
func (r *round[V]) wait(ctx context.Context, key string) (Answer[V], error) {
	select {
	case <-r.done:
		if answer, ok := r.answers[key]; ok {
			return answer, nil
		}
		if ctx.Err() == nil {
			return Answer[V]{}, own(r.failed[key])
		}
	case <-ctx.Done():
	}
	return Answer[V]{}, fmt.Errorf("wait for a shared read: %w", context.Cause(ctx))
}

// own returns a copy of a refusal: each of the passes that it answers may put words of its own to it.
func own(err error) error {
	var shared *cloud.Error
	if errors.As(err, &shared) {
		copied := *shared
		return &copied
	}
	return err
}

// run makes the calls and stores what they say.
func (r *round[V]) run() {
	defer close(r.done)
	defer r.cancel()
	lists := r.begin()
	defer r.end()
	rest := r.keys
	if lists {
		rest = r.list()
	}
	if len(rest) == 0 {
		return
	}
	for chunk := range slices.Chunk(r.fill(rest), r.s.o.Chunk) {
		r.call(chunk)
	}
}

// begin ends the collecting and decides whether the objects are listed.
func (r *round[V]) begin() bool {
	s := r.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.collecting == r {
		s.collecting = nil
	}
	r.at = s.o.Now()
	first := s.begun.IsZero()
	s.begun = r.at
	s.expire(r.at)
	for _, key := range r.keys {
		r.reads(key)
	}
	if !s.o.Eager && first || !s.listingPays(r) {
		return false
	}
	s.listing = r
	for key, e := range s.entries {
		if _, ok := r.writes[key]; !ok {
			r.writes[key] = e.writes
		}
	}
	return true
}

// listingPays reports whether a listing costs fewer calls than reading keys one chunk after the other, or answers the first requests for
// many keys at once, as after a start of the process. The lock is held.
func (s *Sweep[V]) listingPays(r *round[V]) bool {
	if s.o.All == nil || !s.denied.IsZero() && r.at.Sub(s.denied) < listAgain || s.failures > 0 && r.at.Sub(s.failed) < s.retry() {
		return false
	}
	if s.served(r) > s.pages*s.o.Chunk || s.o.Eager && !r.alone {
		return true
	}
	again := s.listed.IsZero() || r.at.Sub(s.listed) > listAgain
	return again && len(r.keys) > 1 && !slices.ContainsFunc(r.keys, func(key string) bool { return !s.entries[key].answer.At.IsZero() })
}

// retry returns how long after its failure a listing is not tried again.
func (s *Sweep[V]) retry() time.Duration {
	return min(failedAgain<<min(s.failures-1, 4), listAgain)
}

// served counts the keys that a listing would answer: those of the round, and if older answers are accepted all for which passes will
// come. The lock is held.
func (s *Sweep[V]) served(r *round[V]) int {
	n := 0
	if !r.shares {
		for _, key := range r.keys {
			if s.entries[key].listable(r.at) {
				n++
			}
		}
		return n
	}
	for _, e := range s.entries {
		if (e.reading == r || e.awaits(r.at)) && e.listable(r.at) {
			n++
		}
	}
	return n
}

// listable reports whether a listing is expected to name a key.
func (e *entry[V]) listable(now time.Time) bool {
	return e.unlisted.IsZero() || now.Sub(e.unlisted) >= unlistedFor
}

// awaits reports whether a key has no fresh answer, and its pool is expected to ask while it accepts one that is read now. To read it
// sooner would keep those waiting who have asked, and the pool would not take the answer.
func (e *entry[V]) awaits(now time.Time) bool {
	fresh := freshFor
	if e.accepts > 0 {
		fresh = min(fresh, e.accepts)
	}
	return !e.requested.IsZero() && (!e.read || now.Sub(e.answer.At) > fresh) && e.due().Sub(now) <= e.accepts
}

// due returns the time of the next request that is expected for the key, at the earliest: its last two requests may have been further apart
// than the next two will be.
func (e *entry[V]) due() time.Time {
	limit := renewals * e.accepts
	if e.every == 0 {
		return e.requested.Add(limit)
	}
	return e.requested.Add(min(e.every, limit))
}

// reads notes that the round reads a key. The lock is held.
func (r *round[V]) reads(key string) {
	e := r.s.entry(key)
	r.writes[key], e.reading = e.writes, r
}

// list lists the objects and returns the keys of the round that the listing left out.
func (r *round[V]) list() []string {
	s := r.s
	pages, err := s.o.All(r.ranked(), r.found)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listing == r {
		s.listing = nil
	}
	r.store()
	var rest []string
	for _, key := range r.keys {
		if _, ok := r.answers[key]; !ok {
			rest = append(rest, key)
		}
	}
	switch {
	case err == nil:
		s.listed, s.pages, s.failures = r.at, max(pages, 1), 0
		r.named(rest)
		return rest
	case cloud.KindOf(err) == cloud.Denied:
		s.denied = r.at
		return rest
	case cloud.KindOf(err) != cloud.Throttled && r.ctx.Err() == nil:
		s.failed, s.failures = r.at, s.failures+1
	}
	for _, key := range rest {
		r.fails(key, err)
	}
	return nil
}

// named notes which keys a listing named, and which it left out. The lock is held.
func (r *round[V]) named(rest []string) {
	for key := range r.answers {
		r.s.entry(key).unlisted = time.Time{}
	}
	for _, key := range rest {
		if e := r.s.entry(key); e.writes == r.writes[key] {
			e.unlisted = r.at
		}
	}
}

// fill adds keys that other pools will ask for next to the last chunk of the keys, as long as a call's weight allows it.
func (r *round[V]) fill(keys []string) []string {
	s := r.s
	room := s.o.Chunk - len(keys)%s.o.Chunk
	if !r.shares || room == s.o.Chunk {
		return keys
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	weight := 0
	for _, key := range keys[len(keys)-len(keys)%s.o.Chunk:] {
		weight += s.weight(key)
	}
	for _, key := range s.next(r) {
		if weight += s.weight(key); room == 0 || weight > s.o.MaxWeight {
			break
		}
		r.reads(key)
		keys = append(keys[:len(keys):len(keys)], key)
		room--
	}
	return keys
}

// next returns the keys that the round does not read and whose pools will take the answer, those first whose pools are expected to come
// next.
func (s *Sweep[V]) next(r *round[V]) []string {
	var keys []string
	for key, e := range s.entries {
		if e.reading == nil && e.awaits(r.at) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(s.entries[a].due().Compare(s.entries[b].due()), cmp.Compare(a, b))
	})
	return keys
}

// weight is that of an object as it was read last. The lock is held.
func (s *Sweep[V]) weight(key string) int {
	if e := s.entries[key]; e != nil && e.answer.Found {
		return max(s.o.Weight(e.answer.Value), 1)
	}
	return 1
}

// call reads a chunk.
func (r *round[V]) call(chunk []string) {
	s := r.s
	err := s.o.Some(r.ranked(), chunk, r.found)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range chunk {
		_, ok := r.answers[key]
		switch {
		case ok:
		case err != nil:
			r.fails(key, err)
		default:
			r.answers[key] = Answer[V]{At: r.at}
		}
	}
	r.store()
}

// found takes an object that a call hands over.
func (r *round[V]) found(key string, value V) {
	r.answers[key] = Answer[V]{Value: value, Found: true, At: r.at}
}

// store keeps the answers for later requests. The lock is held.
func (r *round[V]) store() {
	for key, answer := range r.answers {
		r.s.keep(key, answer, r.writes[key])
	}
}

// end forgets that the round reads.
func (r *round[V]) end() {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	for key := range r.writes {
		if e := r.s.entries[key]; e != nil && e.reading == r {
			e.reading = nil
		}
	}
}
