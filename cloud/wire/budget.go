package wire

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// bucketsMost bounds the buckets that are kept: some clouds have one for each thing that is asked about. Beyond it those are
	// dropped that are full, for a new one is full too.
	bucketsMost = 16384
	// longestWait is what a bucket that is never refilled asks to wait.
	longestWait = time.Hour
)

// Budget is a token bucket: how many requests may be sent at once, and how many more each second.
type Budget struct {
	// Key tells buckets apart: calls with one key share one bucket.
	Key string
	// Burst is the bucket's size, PerSecond its refill. A Burst of zero means that the call has no budget.
	Burst     int
	PerSecond float64
	// Floor is how many tokens a call leaves for others: what can wait (a look) yields to what can't (a write) where they share a
	// bucket, and all of them to other users of the account where the cloud tells how much is left (Options.Left).
	Floor int
}

// Left is what a reply tells of a bucket: how many more requests the cloud will take, ours and everybody else's together.
type Left struct {
	// Key of the Budget that is meant.
	Key   string
	Calls int
}

// budgets are the buckets that have been used so far.
type budgets struct {
	mu      sync.Mutex
	buckets map[string]*bucket
}

type bucket struct {
	limiter *rate.Limiter
	// shut is until when the cloud itself asked to be left alone.
	shut time.Time
}

// of is the bucket of a budget. The lock is held when it is called.
func (b *budgets) of(budget Budget, now time.Time) *bucket {
	found, ok := b.buckets[budget.Key]
	if ok {
		return found
	}
	if b.buckets == nil {
		b.buckets = map[string]*bucket{}
	}
	if len(b.buckets) >= bucketsMost {
		b.dropFull(now)
	}
	found = &bucket{limiter: rate.NewLimiter(rate.Limit(budget.PerSecond), budget.Burst)}
	b.buckets[budget.Key] = found
	return found
}

func (b *budgets) dropFull(now time.Time) {
	for key, candidate := range b.buckets {
		if !now.Before(candidate.shut) && candidate.limiter.TokensAt(now) >= float64(candidate.limiter.Burst()) {
			delete(b.buckets, key)
		}
	}
}

// take takes one token of each bucket, or none of any and says how long it takes until all have one.
func (b *budgets) take(list []Budget, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	wait := time.Duration(0)
	for _, budget := range list {
		if budget.Burst > 0 {
			wait = max(wait, b.of(budget, now).wait(budget, now))
		}
	}
	if wait > 0 {
		return wait
	}
	for _, budget := range list {
		if budget.Burst > 0 {
			b.of(budget, now).limiter.ReserveN(now, 1)
		}
	}
	return 0
}

// wait is how long it takes until the bucket has a token above the budget's floor.
func (b *bucket) wait(budget Budget, now time.Time) time.Duration {
	if wait := b.shut.Sub(now); wait > 0 {
		return wait
	}
	floor := min(max(budget.Floor, 0), budget.Burst-1)
	lacks := float64(1+floor) - b.limiter.TokensAt(now)
	if lacks <= 0 {
		return 0
	}
	seconds := lacks / budget.PerSecond
	if math.IsNaN(seconds) || seconds > longestWait.Seconds() {
		return longestWait
	}
	return time.Duration(seconds * float64(time.Second))
}

// told takes out of the buckets what others have used of them: a bucket holds no more tokens than the cloud says that it will take
// requests. It may hold fewer, for replies overtake one another and requests are on their way.
func (b *budgets) told(list []Budget, left []Left, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, budget := range list {
		for _, l := range left {
			if l.Key != budget.Key || budget.Burst <= 0 {
				continue
			}
			limiter := b.of(budget, now).limiter
			if much := int(math.Ceil(limiter.TokensAt(now))) - max(l.Calls, 0); much > 0 {
				limiter.ReserveN(now, min(much, budget.Burst))
			}
		}
	}
}

// shut closes buckets because the cloud asked for it: those of which it says that they are empty, else all of the call's.
func (b *budgets) shut(list []Budget, left []Left, until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	empty := map[string]bool{}
	for _, l := range left {
		if l.Calls <= 0 {
			empty[l.Key] = true
		}
	}
	for _, budget := range list {
		if budget.Burst <= 0 || len(empty) > 0 && !empty[budget.Key] {
			continue
		}
		if bucket := b.of(budget, until); until.After(bucket.shut) {
			bucket.shut = until
		}
	}
}
