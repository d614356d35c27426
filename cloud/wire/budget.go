package wire

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/muster-project/muster/cloud"
)

const (
	// maxBuckets bounds the buckets that are kept: some clouds have one for each resource. Beyond it those are
	// dropped that are full, for a new one is full too.
	maxBuckets = 16384
	// longestWait is the wait for a bucket that is never refilled, longestLine the longest wait for a place in line.
	longestWait, longestLine = time.Hour, 2 * time.Minute
)

// Budget is a token bucket: how many requests may be sent at once, and how many more each second.
type Budget struct {
	// Key tells buckets apart: calls with one key share one bucket.
	Key string
	// Name of the bucket in messages: "Auto Scaling of account 1 in region eu-west-1".
	Name string
	// Label names the bucket among those of the call's account and region: "ec2 DescribeInstances". It is a label of metrics.
	Label string
	// Burst is the bucket's size, PerSecond its refill. A Burst of zero means that the call has no budget.
	Burst     int
	PerSecond float64
	// Adaptive is true if the cloud does not publish its limit: Burst and PerSecond are then where the bucket begins and the most that it
	// reaches; it shrinks when the cloud throttles and grows again with use. A published limit is kept as it stands.
	Adaptive bool
	// Sole is true if the bucket serves the calls for one resource alone: there is nothing to leave to other pools.
	Sole bool
}

// Remaining is the number of further requests that the cloud accepts for a bucket, from all clients together, as a reply reports it.
type Remaining struct {
	// Key of the Budget that is meant.
	Key   string
	Calls int
}

// level is the order of a call among those that share a bucket: its priority, and at equal priority writes before reads.
type level int

// levels is the number of levels; floors are the shares of a bucket that each of them leaves to the more urgent ones, and all reads to
// other users of the account where the cloud tells how much is left (Options.Remaining).
const levels = 2 * int(cloud.Priorities)

var floors = [levels]float64{0, 0.05, 0.08, 0.1, 0.12, 0.15, 0.18, 0.2}

// floorStep bounds what a level leaves beside the share of other users: so many tokens for each more urgent level are enough for what comes
// at once. A share of a bucket of thousands would hold looks back for as long as the cloud tells of fewer calls left.
const floorStep = 20

// levelOf returns the level of a call.
func levelOf(p cloud.Priority, readOnly bool) level {
	if readOnly {
		return level(2*p + 1)
	}
	return level(2 * p)
}

// ask is one request for tokens of each of several buckets.
type ask struct {
	list  []Budget
	level level
	// turn is true if the call was held back before and comes at its place in line.
	turn bool
	// calls is the number of tokens that it takes of each bucket. begun is true if it continues a list, whatever is left.
	calls int
	begun bool
}

// budgets are the buckets that have been used so far.
type budgets struct {
	mu      sync.Mutex
	buckets map[string]*bucket
}

type bucket struct {
	limiter *rate.Limiter
	// learned finds the rate; nil if the cloud publishes it.
	learned *learner
	// shut is the time until which the cloud requested to send no calls.
	shut time.Time
	// line is the last place in line that was given away, in each part of the line.
	line [2 * levels]time.Time
}

// part returns which part of the line a call waits in. Calls of a level that come at their place and find no token go before those that
// wait for the first time: behind these they would give their place up with each try, and the line would grow longer than what waits in it.
func (a ask) part() int {
	if a.turn {
		return int(2 * a.level)
	}
	return int(2*a.level + 1)
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
	if len(b.buckets) >= maxBuckets {
		b.dropFull(now)
	}
	found = &bucket{limiter: rate.NewLimiter(rate.Limit(budget.PerSecond), budget.Burst)}
	if budget.Adaptive {
		found.learned = &learner{max: budget.PerSecond}
	}
	b.buckets[budget.Key] = found
	return found
}

func (b *budgets) dropFull(now time.Time) {
	for key, candidate := range b.buckets {
		learning := candidate.learned != nil && !candidate.learned.cut.IsZero()
		if !learning && !now.Before(candidate.shut) && candidate.limiter.TokensAt(now) >= float64(candidate.limiter.Burst()) {
			delete(b.buckets, key)
		}
	}
}

// take takes the tokens of a call of each bucket, or none of any: then it returns the bucket that is used up for longest, and when the
// call's place in that bucket's line comes.
func (b *budgets) take(a ask, now time.Time) (usedUp Budget, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, budget := range a.list {
		if budget.Burst <= 0 || a.begun {
			continue
		}
		if longer := b.of(budget, now).wait(a, budget.Sole, now); longer > wait {
			usedUp, wait = budget, longer
		}
	}
	if wait > 0 {
		b.of(usedUp, now).line[a.part()] = now.Add(wait)
		return usedUp, wait
	}
	for _, budget := range a.list {
		if budget.Burst <= 0 {
			continue
		}
		found := b.of(budget, now)
		for range a.calls {
			found.limiter.ReserveN(now, 1)
		}
		if found.learned != nil {
			found.learned.sent(now)
			found.adapt(budget, now)
		}
	}
	return Budget{}, 0
}

// wait returns how long it takes until the bucket has the tokens for the call, or all that it may have: above what its level leaves to
// others and, unless it is the call's turn, above what those in line wait for.
func (b *bucket) wait(a ask, sole bool, now time.Time) time.Duration {
	burst := float64(b.limiter.Burst())
	// However small the bucket, a look leaves a token to the step that follows from it.
	others := burst * min(floors[a.level], floors[1])
	floor := others + min(burst*floors[a.level]-others, float64(a.level)*floorStep)
	floor = min(max(math.Floor(floor), float64(a.level)), burst-1)
	if sole {
		floor = 0
	}
	have, need := b.limiter.TokensAt(now)-floor, min(float64(a.calls), burst-floor)
	own := max(b.shut.Sub(now), b.refill(need-have))
	line := min(b.ahead(a.part()).Sub(now), longestLine)
	// Those in line get what flows in until their places come. What has gathered is kept for those that come late, up to half of the bucket.
	kept := min(line.Seconds()*float64(b.limiter.Limit()), burst/2)
	switch {
	case own <= 0 && (a.turn || line <= 0 || have-kept >= need+1):
		return 0
	case line <= 0:
		return own
	}
	return max(own, line+b.refill(need))
}

// refill returns how long the bucket takes to get so many tokens. A trace of one that is missing is an error of rounding.
func (b *bucket) refill(tokens float64) time.Duration {
	if tokens < 1e-6 {
		return 0
	}
	seconds := tokens / float64(b.limiter.Limit())
	if math.IsNaN(seconds) || seconds > longestWait.Seconds() {
		return longestWait
	}
	return time.Duration(seconds * float64(time.Second))
}

// ahead returns the last place in a part of the line and in those before it.
func (b *bucket) ahead(part int) time.Time {
	var last time.Time
	for _, at := range b.line[:part+1] {
		if at.After(last) {
			last = at
		}
	}
	return last
}

// adapt gives an adaptive bucket the rate that was learned, and a size in proportion that has room for every level.
func (b *bucket) adapt(budget Budget, now time.Time) {
	learned := b.learned.rate()
	if rate.Limit(learned) == b.limiter.Limit() {
		return
	}
	b.limiter.SetLimitAt(now, rate.Limit(learned))
	b.limiter.SetBurstAt(now, max(int(float64(budget.Burst)*learned/budget.PerSecond), min(levels, budget.Burst)))
}

// throttled lowers the rate of the adaptive buckets of a call that the cloud has refused, and empties them: the cloud's own is empty. What
// was left in them would be refused at once, and the rate lowered a second time for the same cause.
func (b *budgets) throttled(list []Budget, sent, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, budget := range list {
		if budget.Burst <= 0 || !budget.Adaptive {
			continue
		}
		found := b.of(budget, now)
		if !found.learned.throttled(sent, now) {
			continue
		}
		found.adapt(budget, now)
		if much := int(found.limiter.TokensAt(now)); much > 0 {
			found.limiter.ReserveN(now, much)
		}
	}
}

// reportRemaining lowers the buckets to the calls that the cloud reports as remaining, because other clients use the same limit. A bucket
// may hold fewer: replies overtake one another and requests are on their way.
func (b *budgets) reportRemaining(list []Budget, left []Remaining, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, budget := range list {
		for _, l := range left {
			if l.Key != budget.Key || budget.Burst <= 0 {
				continue
			}
			limiter := b.of(budget, now).limiter
			if much := int(math.Ceil(limiter.TokensAt(now))) - max(l.Calls, 0); much > 0 {
				limiter.ReserveN(now, min(much, limiter.Burst()))
			}
		}
	}
}

// shut closes buckets because the cloud requested it: those that it reports as empty, else all of the call's.
func (b *budgets) shut(list []Budget, left []Remaining, until time.Time) {
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
