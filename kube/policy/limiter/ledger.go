package limiter

import (
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/policy"
	"github.com/muster-project/muster/kube/policy/gates/asker"
	"github.com/muster-project/muster/pool/rollouts"
)

// countedAfter is the time after the start of a manager within which every pool has been observed once. Budgets that count other pools
// leave no room before it, because a pool that was not observed yet may be in the middle of a rollout.
const countedAfter = 2 * time.Minute

// reasonCounting is the reason of a pool that waits for it.
const reasonCounting = "CountingPools"

// Ledger counts what the pools under budgets are doing. It belongs to one manager and is empty after a restart. It is safe for concurrent
// use.
type Ledger struct {
	// Started is when the manager began to observe pools.
	Started func() time.Time

	mu    sync.Mutex
	pools map[asker.Pool]entry
}

// entry is one pool under budgets.
type entry struct {
	cluster  client.ObjectKey
	policies []*policy.Policy
	desired  int
	// replacing and rolling are what was observed last: the number of machines that a rollout is replacing, and whether there is one.
	replacing int
	rolling   bool
	// granted is the number of machines that the pool may begin to replace in the pass that runs, grantedUntil the end of that. A pass that
	// fails uses nothing: other pools do not wait for it.
	granted      int
	grantedUntil time.Time
}

// grantedFor is longer than a pass takes.
const grantedFor = time.Minute

// use returns how many machines the pool uses of a budget at a time, and whether it is in a rollout.
func (e entry) use(now time.Time) (machines int, rolling bool) {
	if now.Before(e.grantedUntil) {
		return max(e.replacing, e.granted), true
	}
	return e.replacing, e.rolling
}

// take returns how many machines of a pool may be replaced at a time, and the budget that leaves the least room. Other pools count what it
// returns as used until the pass has ended. A nil Ledger knows of no other pools and takes nothing.
func (l *Ledger) take(p Pool, budgets []policy.Budget) (int, rollouts.Cause) {
	if l == nil {
		n, cause, _ := policy.AtOnce(budgets, rollouts.Reasons, func(policy.Budget) policy.Usage { return policy.Usage{Desired: p.Desired} })
		return n, cause
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	self := l.pools[p.key()]
	self.desired, self.policies, self.cluster = p.Desired, nil, client.ObjectKey{}
	if p.Cluster != nil {
		self.cluster = client.ObjectKeyFromObject(p.Cluster)
	}
	for _, b := range budgets {
		self.policies = append(self.policies, b.Policy)
	}
	n, cause, limited := policy.AtOnce(budgets, rollouts.Reasons, func(b policy.Budget) policy.Usage {
		return l.usage(p, self, b)
	})
	if p.Now.Before(l.Started().Add(countedAfter)) {
		n, cause = 0, rollouts.Cause{Reason: reasonCounting,
			Message: "budgets wait until all pools have been observed after a start of the manager"}
	}
	self.granted, self.grantedUntil = n, time.Time{}
	if !limited || n > 0 {
		self.grantedUntil = p.Now.Add(grantedFor)
	}
	if l.pools == nil {
		l.pools = map[asker.Pool]entry{}
	}
	l.pools[p.key()] = self
	return n, cause
}

// usage returns how far other pools use a budget. A pool that is in a rollout counts itself, so that it goes on.
func (l *Ledger) usage(p Pool, self entry, b policy.Budget) policy.Usage {
	used := policy.Usage{Desired: self.desired}
	for at, other := range l.pools {
		if at == p.key() || b.Per == musterv1.BudgetPerCluster && other.cluster != self.cluster || !other.under(b.Policy) {
			continue
		}
		machines, rolling := other.use(p.Now)
		used.Desired += other.desired
		used.Replacing += machines
		if rolling {
			used.Rollouts++
		}
	}
	return used
}

// under reports whether a policy selects the pool. A policy that was changed since is another state of the same object.
func (e entry) under(p *policy.Policy) bool {
	for _, one := range e.policies {
		if one.Kind == p.Kind && one.Namespace == p.Namespace && one.Name == p.Name {
			return true
		}
	}
	return false
}

// note records what a pool's rollout does after a pass.
func (l *Ledger) note(key asker.Pool, v rollouts.Verdict) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, known := l.pools[key]; known {
		e.replacing, e.rolling, e.grantedUntil = 0, v.State != rollouts.None && v.Record.Entered && !v.Record.Ended, time.Time{}
		if e.rolling {
			e.replacing = v.InWork
		}
		l.pools[key] = e
	}
}

// Forget forgets a pool.
func (l *Ledger) Forget(key asker.Pool) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pools, key)
}
