package wire

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Budget is a token bucket: how many requests may be sent at once, and how many more each second.
type Budget struct {
	// Key tells buckets apart: calls with one key share one bucket.
	Key string
	// Burst is the bucket's size, PerSecond its refill. A Burst of zero means that the call has no budget.
	Burst     int
	PerSecond float64
}

// budgets are the buckets that have been used so far. Their number is that of the services, accounts and regions in use
// times the few bucket classes of a service.
type budgets struct {
	mu      sync.Mutex
	buckets map[string]*bucket
}

type bucket struct {
	limiter *rate.Limiter
	// shut is until when the cloud itself asked to be left alone.
	shut time.Time
}

func (b *budgets) of(budget Budget) *bucket {
	found, ok := b.buckets[budget.Key]
	if !ok {
		found = &bucket{limiter: rate.NewLimiter(rate.Limit(budget.PerSecond), budget.Burst)}
		if b.buckets == nil {
			b.buckets = map[string]*bucket{}
		}
		b.buckets[budget.Key] = found
	}
	return found
}

// take takes one token, or says how long it takes until there is one.
func (b *budgets) take(budget Budget, now time.Time) time.Duration {
	if budget.Burst <= 0 {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	bucket := b.of(budget)
	if wait := bucket.shut.Sub(now); wait > 0 {
		return wait
	}
	reservation := bucket.limiter.ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait
}

// shut closes a bucket because the cloud asked for it.
func (b *budgets) shut(budget Budget, until time.Time) {
	if budget.Burst <= 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if bucket := b.of(budget); until.After(bucket.shut) {
		bucket.shut = until
	}
}
