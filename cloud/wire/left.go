package wire

import "time"

// BudgetState is a bucket as a request leaves it.
type BudgetState struct {
	// Label of the Budget.
	Label string
	// Left is the number of requests that may be sent at once, Burst the bucket's size, PerSecond its refill. Size and refill of an adaptive
	// bucket are those that were learned.
	Left, Burst, PerSecond float64
	// At is the time of the state, Shut the time until which the cloud requested to send no calls.
	At, Shut time.Time
}

// LeftAt returns the number of requests that may be sent at once at a later time, if none is sent before.
func (s BudgetState) LeftAt(now time.Time) float64 {
	if now.Before(s.Shut) {
		return 0
	}
	return max(min(s.Left+s.PerSecond*now.Sub(s.At).Seconds(), s.Burst), 0)
}

// states returns the state of the buckets that many calls share. Buckets of single resources are left out: there may be thousands.
func (b *budgets) states(list []Budget, now time.Time) []BudgetState {
	b.mu.Lock()
	defer b.mu.Unlock()
	states := make([]BudgetState, 0, len(list))
	for _, budget := range list {
		if budget.Burst <= 0 || budget.Sole {
			continue
		}
		found := b.of(budget, now)
		states = append(states, BudgetState{
			Label: budget.Label, Left: found.limiter.TokensAt(now), Burst: float64(found.limiter.Burst()),
			PerSecond: float64(found.limiter.Limit()), At: now, Shut: found.shut,
		})
	}
	return states
}
