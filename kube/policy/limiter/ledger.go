package limiter

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/policy"
	"github.com/muster-project/muster/kube/policy/gates/asker"
	"github.com/muster-project/muster/pool/rollouts"
)

// countedAfter is the time within which every pool that a policy selects is reconciled after the manager has started, or the policy was
// created or changed. Budgets of the policy leave no room before it, because a pool that was not counted yet may be in the middle of a
// rollout.
const countedAfter = 2 * time.Minute

// reasonCounting is the reason of a pool that waits for it.
const reasonCounting = "CountingPools"

// Ledger counts what the pools under policies are doing. It belongs to one manager and is empty after a restart. The zero Ledger is ready
// for use. It is safe for concurrent use.
type Ledger struct {
	mu    sync.Mutex
	pools map[asker.Pool]entry
	// sums are those of pools, grants the passes that may still run, in the order of their ends.
	sums   sums
	grants []grant
	// selections are those of the policies of pools.
	selections map[policyKey]selection
}

// entry is one pool under policies.
type entry struct {
	cluster  client.ObjectKey
	policies []policyKey
	desired  int
	// replacing and rolling are what was observed last: the number of machines that a rollout is replacing, and whether there is one.
	replacing int
	rolling   bool
	// granted is the number of machines that the pool may begin to replace in the pass that runs, grantedUntil the end of that; zero if none
	// runs. A pass that fails uses nothing: other pools do not wait for it.
	granted      int
	grantedUntil time.Time
}

// grant is a pass that ends at a time at the latest.
type grant struct {
	until time.Time
	pool  asker.Pool
}

// grantedFor is longer than a pass takes.
const grantedFor = time.Minute

// selection has the selector of a policy, and the time since which the pools that it selects are counted.
type selection struct {
	selector *musterv1.RolloutPolicySelector
	since    time.Time
}

// use returns how many machines the pool uses of a budget at a time, and whether it is in a rollout.
func (e entry) use() (machines int, rolling bool) {
	if !e.grantedUntil.IsZero() {
		return max(e.replacing, e.granted), true
	}
	return e.replacing, e.rolling
}

// limit sets how many machines of a pool may be replaced at a time, and the budget that leaves the least room. Other pools count them as
// used until the pass has ended. A nil Ledger knows of no other pools and takes nothing.
func (l *Ledger) limit(p Pool, e policy.Effective, out *rollouts.Limits) {
	if l == nil {
		out.AtOnce, out.Budget, _ = policy.AtOnce(e.Budgets, rollouts.Reasons, func(policy.Budget) policy.Usage {
			return policy.Usage{Desired: p.Desired}
		})
		return
	}
	if len(e.Policies) == 0 {
		l.Forget(p.key())
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expire(p.Now)
	self := l.drop(p.key())
	left := self.policies
	self.desired, self.policies, self.cluster = p.Desired, keysOf(e.Policies), client.ObjectKey{}
	if p.Cluster != nil {
		self.cluster = client.ObjectKeyFromObject(p.Cluster)
	}
	n, cause, limited := policy.AtOnce(e.Budgets, rollouts.Reasons, func(b policy.Budget) policy.Usage {
		// A pool that is in a rollout does not count itself, so that it goes on.
		used := l.sums[accountOf(b, self.cluster)].Usage
		used.Desired += self.desired
		return used
	})
	if waits, until := l.counting(e, p.Now); waits.Reason != "" {
		n, cause = 0, waits
		if out.Changes.IsZero() || until.Before(out.Changes) {
			out.Changes = until
		}
	}
	out.AtOnce, out.Budget = n, cause
	if !limited {
		n = p.Desired // a budget that is created while the pass runs counts what the pass begins
	}
	self.granted, self.grantedUntil = n, time.Time{}
	if n > 0 {
		self.grantedUntil = p.Now.Add(grantedFor)
	}
	l.put(p.key(), self)
	l.forgetUnused(left)
}

// counting returns why the budgets leave no room before all pools are counted, and until when; zero if they are. A changed budget of a
// policy changes nothing in it, because pools are counted for policies with and without budgets.
func (l *Ledger) counting(e policy.Effective, now time.Time) (waits rollouts.Cause, until time.Time) {
	for _, p := range e.Policies {
		is, known := l.selections[keyOf(p)]
		if !known || is.selector != p.Spec.Selector && !equality.Semantic.DeepEqual(is.selector, p.Spec.Selector) {
			is.since = now
		}
		is.selector = p.Spec.Selector
		if l.selections == nil {
			l.selections = map[policyKey]selection{}
		}
		l.selections[keyOf(p)] = is
		hasBudget := slices.ContainsFunc(e.Budgets, func(b policy.Budget) bool { return b.Policy == p })
		counted := is.since.Add(countedAfter)
		if !hasBudget || !now.Before(counted) || counted.Before(until) {
			continue
		}
		until, waits = counted, rollouts.Cause{Reason: reasonCounting, Message: "the budgets of " + p.String() + " wait until all pools " +
			"that it selects have been counted, after a start of the manager or a change of what the policy selects"}
	}
	return waits, until
}

// expire ends the grants of passes that have failed.
func (l *Ledger) expire(now time.Time) {
	for len(l.grants) > 0 && !now.Before(l.grants[0].until) {
		ended := l.grants[0]
		l.grants = l.grants[1:]
		if e := l.pools[ended.pool]; e.grantedUntil.Equal(ended.until) {
			e.grantedUntil = time.Time{}
			l.drop(ended.pool)
			l.put(ended.pool, e)
		}
	}
}

// put adds a pool that was dropped, or is new.
func (l *Ledger) put(key asker.Pool, e entry) {
	if l.pools == nil {
		l.pools, l.sums = map[asker.Pool]entry{}, sums{}
	}
	l.pools[key] = e
	l.sums.add(e, 1)
	if until := e.grantedUntil; !until.IsZero() {
		at, _ := slices.BinarySearchFunc(l.grants, until, func(g grant, t time.Time) int { return g.until.Compare(t) })
		l.grants = slices.Insert(l.grants, at, grant{until, key})
	}
}

// drop removes a pool and returns what was known of it.
func (l *Ledger) drop(key asker.Pool) entry {
	e, known := l.pools[key]
	if known {
		delete(l.pools, key)
		l.sums.add(e, -1)
	}
	return e
}

// forgetUnused forgets those policies that select no pool any more.
func (l *Ledger) forgetUnused(policies []policyKey) {
	for _, p := range policies {
		if _, used := l.sums[account{policy: p}]; !used {
			delete(l.selections, p)
		}
	}
}

// note records what a pool's rollout does after a pass.
func (l *Ledger) note(key asker.Pool, v rollouts.Verdict) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.pools[key]; !known {
		return
	}
	e := l.drop(key)
	e.replacing, e.rolling, e.grantedUntil = 0, v.State != rollouts.None && v.Record.Entered && !v.Record.Ended, time.Time{}
	if e.rolling {
		e.replacing = v.InWork
	}
	l.put(key, e)
}

// Forget forgets a pool.
func (l *Ledger) Forget(key asker.Pool) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgetUnused(l.drop(key).policies)
}
