package apiclient

import (
	"context"
	"hash/fnv"
	"time"
)

// Backoff computes the wait between attempts. It doubles from Min to Max.
type Backoff struct {
	Min, Max time.Duration
	next     time.Duration
}

// Wait waits for the next span and doubles it. It is false when ctx ended first.
func (b *Backoff) Wait(ctx context.Context) bool {
	if b.next == 0 {
		b.next = b.Min
	}
	d := b.next
	b.next = min(2*d, b.Max)
	return Wait(ctx, d)
}

// Reset starts from Min again, after a success.
func (b *Backoff) Reset() { b.next = 0 }

// Wait waits for d. It is false when ctx ended first.
func Wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Spread is a share of d between 0 and d that is always the same for a name: it keeps the machines of a fleet from all
// doing a thing at the same moment, without chance.
func Spread(name string, d time.Duration) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // A hash's Write never fails.
	return time.Duration(float64(d) * float64(h.Sum32()%1000) / 1000)
}
