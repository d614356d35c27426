package sweep

import (
	"context"
	"sync"
	"time"

	"github.com/muster-project/muster/cloud"
)

const (
	// DefaultCollect is the time during which a busy sweep collects requests that come together. An idle sweep waits for a tenth of it,
	// so that a single edit is not held up.
	DefaultCollect = 50 * time.Millisecond
	idleShare      = 10
	// busyFor is the time after a call during which a sweep is busy.
	busyFor = time.Second
	// DefaultKept is the time for which a key stays registered after a request: longer than the time between two looks at an idle pool.
	DefaultKept = 5 * time.Minute
	// listAgain is the time after which a listing that was denied is tried again, and after which one may answer first requests again.
	listAgain = 10 * time.Minute
	// failedAgain is the time after which a listing that failed is tried again; it doubles with each failure in a row, up to listAgain.
	failedAgain = time.Minute
	// unlistedFor is the time for which a key that a listing left out does not count as served by listings, unless its object is written.
	unlistedFor = time.Minute
	// freshFor is the age below which an answer need not be read again for a pool that does not wait for it, unless the pool accepts only a
	// newer one.
	freshFor = 5 * time.Second
	// renewals is the number of accepted ages after which a pool is expected to request a key again, unless it has done so sooner before.
	renewals = 4
	// onePass is the maximum time between two requests of the same pass: the second one does not show when the next pass comes.
	onePass = 100 * time.Millisecond
)

// Options of a Sweep.
type Options[V any] struct {
	// Some reads the objects of the given keys and hands over each that exists. A key that it leaves out is gone, unless it fails: then
	// what was handed over holds, and the other keys are unknown.
	Some func(ctx context.Context, keys []string, found func(key string, value V)) error
	// Chunk is the largest number of keys that Some takes, 1 where the cloud has no call for many. Default: 1.
	Chunk int
	// All lists objects that pools may ask for, in pages, and hands over each. A key that it leaves out is read with Some before it counts
	// as gone, for a listing may be filtered. If it fails, what was handed over holds. It is nil where the cloud has no such call.
	All func(ctx context.Context, found func(key string, value V)) (pages int, err error)
	// Eager has All answer every request that it may, whatever it costs: for tests with few objects.
	Eager bool
	// Weight is the size that an object adds to a reply, and MaxWeight the weight up to which a call is filled with keys that no pass waits
	// for. Default: 1 each, and Chunk.
	Weight    func(V) int
	MaxWeight int
	// Collect is the time during which requests that come together are collected. Default: DefaultCollect.
	Collect time.Duration
	// Kept is the time for which a key stays registered after a request. Default: DefaultKept.
	Kept time.Duration
	// Now is the clock. Default: time.Now.
	Now func() time.Time
}

// Answer is the object of a key, or that there is none.
type Answer[V any] struct {
	// Value is shared by all who ask, and must not be changed. It is meaningless unless Found.
	Value V
	// Found is false if the cloud has no object of the key.
	Found bool
	// At is when the call began that read it.
	At time.Time
}

// Sweep reads the objects of many pools. It is safe for concurrent use. It keeps no truth: losing it costs a few calls.
type Sweep[V any] struct {
	o  Options[V]
	mu sync.Mutex
	// entries are the registered keys, and others that a listing named.
	entries map[string]*entry[V]
	// collecting is the round that still takes keys, listing the one whose listing is under way; nil if there is none.
	collecting, listing *round[V]
	// begun is when the last round began, listed when the last listing succeeded, denied when one was denied last, failed when the last one
	// failed otherwise, which failures have done in a row.
	begun, listed, denied, failed time.Time
	failures                      int
	// pages is the number of pages of the last listing.
	pages int
}

// entry is the last answer of one key, with the requests and writes since.
type entry[V any] struct {
	answer Answer[V]
	// read is false if there is no answer, or if a write has made it stale.
	read bool
	// requested is the time of a pool's last request for the key, zero if the key was only listed. every is the interval between the last two
	// requests, zero after the first. accepts is the age that the pool accepted last, zero if it never accepted an older answer.
	requested      time.Time
	every, accepts time.Duration
	// writes counts the writes: a call that began before one of them says nothing about the time after it.
	writes uint64
	// unlisted is when a listing last left out the key; zero if the last listing named it, or its object was written since.
	unlisted time.Time
	// reading is the round under way that reads the key; nil if there is none.
	reading *round[V]
	// held is the last call for the key that a rate budget held back.
	held held
}

// New makes a Sweep. It sends nothing.
func New[V any](o Options[V]) *Sweep[V] {
	o.Chunk = max(o.Chunk, 1)
	if o.Weight == nil {
		o.Weight = func(V) int { return 1 }
	}
	if o.MaxWeight == 0 {
		o.MaxWeight = o.Chunk
	}
	if o.Collect == 0 {
		o.Collect = DefaultCollect
	}
	if o.Kept == 0 {
		o.Kept = DefaultKept
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Sweep[V]{o: o, entries: map[string]*entry[V]{}, pages: 1}
}

// Get returns the object of a key, no older than maxAge. As in cloud.Target, zero wants a call that begins after the request, and
// cloud.NoSharedCache one for this key alone. The error is that of the call; it does not say whether the object exists.
func (s *Sweep[V]) Get(ctx context.Context, key string, maxAge time.Duration) (Answer[V], error) {
	s.mu.Lock()
	now := s.o.Now()
	e := s.register(key, now)
	if maxAge > 0 {
		e.accepts = maxAge
	}
	if maxAge > 0 && e.read && now.Sub(e.answer.At) <= maxAge {
		defer s.mu.Unlock()
		return e.answer, nil
	}
	if r := s.underway(key, now, maxAge); r != nil && r.priority <= cloud.PriorityOf(ctx) {
		leave := r.join(ctx)
		r.follow(key)
		s.mu.Unlock()
		defer leave()
		return r.wait(ctx, key)
	}
	if err := e.held.wait(ctx, now); err != nil {
		defer s.mu.Unlock()
		return Answer[V]{}, err
	}
	r, window, leads := s.takes(ctx, now, maxAge == cloud.NoSharedCache)
	leave := r.join(ctx)
	r.want(key, maxAge > 0)
	s.mu.Unlock()
	defer leave()
	if leads {
		r.collect(window)
		r.run()
	}
	return r.wait(ctx, key)
}

// Several returns the objects of many keys in as few calls as they need, together with what others ask for at the same time. Each call
// begins after the request.
func (s *Sweep[V]) Several(ctx context.Context, keys []string) (map[string]Answer[V], error) {
	if len(keys) == 0 {
		return nil, nil
	}
	s.mu.Lock()
	now := s.o.Now()
	r, window, leads := s.takes(ctx, now, false)
	leave := r.join(ctx)
	for _, key := range keys {
		s.register(key, now)
		r.want(key, false)
	}
	s.mu.Unlock()
	defer leave()
	if leads {
		r.collect(window)
		r.run()
	}
	answers := make(map[string]Answer[V], len(keys))
	for _, key := range keys {
		answer, err := r.wait(ctx, key)
		if err != nil {
			return nil, err
		}
		answers[key] = answer
	}
	return answers, nil
}

// takes returns the round that takes the keys of a request. If the request leads, it has to collect others for the window and to run the
// round. One that wants a call for its key alone leads a round of its own. The lock is held.
func (s *Sweep[V]) takes(ctx context.Context, now time.Time, alone bool) (r *round[V], window time.Duration, leads bool) {
	if s.collecting != nil && !alone {
		return s.collecting, 0, false
	}
	r = s.newRound(ctx)
	if r.alone = alone; !alone {
		s.collecting, window = r, s.window(now)
	}
	return r, window, true
}

// underway returns the round that reads the key, or a listing that is expected to name it, if that began recently enough; nil if there is
// none. The lock is held.
func (s *Sweep[V]) underway(key string, now time.Time, maxAge time.Duration) *round[V] {
	e := s.entries[key]
	r := e.reading
	if r == nil && e.listable(now) {
		r = s.listing
	}
	if r == nil || maxAge <= 0 || now.Sub(r.at) > maxAge {
		return nil
	}
	if writes, reads := r.writes[key]; !reads || writes != e.writes {
		return nil
	}
	return r
}

// Touch marks the object of a key as written. It is called before and after a write: earlier reads are stale, and so is a read under way.
func (s *Sweep[V]) Touch(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entry(key)
	e.read, e.unlisted = false, time.Time{}
	e.writes++
}

// register returns the entry of a requested key. The lock is held.
func (s *Sweep[V]) register(key string, now time.Time) *entry[V] {
	e := s.entry(key)
	if before := now.Sub(e.requested); !e.requested.IsZero() && before > onePass {
		e.every = before
	}
	e.requested = now
	return e
}

// entry returns the entry of a key, and makes it if there is none. The lock is held.
func (s *Sweep[V]) entry(key string) *entry[V] {
	e, ok := s.entries[key]
	if !ok {
		e = &entry[V]{}
		s.entries[key] = e
	}
	return e
}

// window returns the time during which requests are collected. A sweep that serves one key waits for no other. The lock is held.
func (s *Sweep[V]) window(now time.Time) time.Duration {
	switch {
	case len(s.entries) < 2:
		return 0
	case now.Sub(s.begun) < busyFor:
		return s.o.Collect
	default:
		return s.o.Collect / idleShare
	}
}

// keep stores an answer unless a write came after its call began, or a later call has answered before. The lock is held.
func (s *Sweep[V]) keep(key string, answer Answer[V], writes uint64) {
	e := s.entry(key)
	if e.writes != writes || e.read && e.answer.At.After(answer.At) {
		return
	}
	e.answer, e.read, e.held = answer, true, held{}
}

// expire drops the keys that no pool has requested for a while. The lock is held.
func (s *Sweep[V]) expire(now time.Time) {
	for key, e := range s.entries {
		if e.reading == nil && now.Sub(e.requested) > s.o.Kept && now.Sub(e.answer.At) > s.o.Kept {
			delete(s.entries, key)
		}
	}
}
