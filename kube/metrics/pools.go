package metrics

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/pool"
)

// Pool is a pool of an infrastructure kind.
type Pool struct{ Kind, Namespace, Name string }

// Pass is the outcome of a pass over a pool.
type Pass struct {
	Pool
	// Cluster that the pool belongs to.
	Cluster string
	Outcome engine.Outcome
	// TokensEnd is when the first of the bootstrap tokens expires that machines may be launched with; zero if none does, or if that is
	// unknown.
	TokensEnd time.Time
	// RolledBack is true if the pool launches machines from a former template.
	RolledBack bool
	// Now is the time of the pass.
	Now time.Time
}

// Pools exposes what the last pass over each pool observed. A nil Pools accepts every call and exposes nothing. It is safe for concurrent
// use.
type Pools struct {
	mu   sync.Mutex
	seen map[Pool]sample
	// ended are the drains that have been counted, by instance, with the time at which each began: the removal of a machine that its cloud
	// holds until it is released takes two steps.
	ended map[Pool]map[string]time.Time
	// drains is the duration of drains that have ended.
	drains *prometheus.HistogramVec
	// followers are called with what is observed.
	followers []Follower
}

// Follower hears of every pass, and of every pool that is not reconciled any more. Its functions must be quick, and safe for concurrent
// use.
type Follower struct {
	Observe func(Pass)
	Forget  func(Pool)
}

// Follow has a follower hear of everything from now on.
func (p *Pools) Follow(f Follower) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.followers = append(p.followers, f)
}

// following returns the followers, to be called without the lock.
func (p *Pools) following() []Follower {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.followers
}

// sample holds the values that are exposed for one pool.
type sample struct {
	cluster            string
	observed           bool
	states             map[string]int
	desired, available int
	rollout            pool.Rollout
	rolledBack         bool
	draining           time.Time
	tokensEnd          time.Time
}

// drainBuckets range from the drain of an empty node to one that budgets block for hours.
var drainBuckets = []float64{5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400}

// How drains end.
const (
	drained   = "drained"
	cutShort  = "cut_short"
	takenBack = "taken_back"
)

// NewPools returns registered Pools.
func NewPools(r prometheus.Registerer) (*Pools, error) {
	p := &Pools{seen: map[Pool]sample{}, ended: map[Pool]map[string]time.Time{}, drains: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: namespace, Name: "drain_duration_seconds", Buckets: drainBuckets,
		Help: "Duration of drains of nodes by kind of pool and outcome: drained, cut_short (the machine was removed with pods or volumes " +
			"left, after its timeout) or taken_back (the machine stays).",
	}, []string{"kind", "outcome"})}
	for _, c := range []prometheus.Collector{p, p.drains} {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("register the metrics of pools: %w", err)
		}
	}
	return p, nil
}

// Observe replaces what is exposed of a pool by the outcome of a pass. The previous observation stays while Muster's own rate limit delays
// requests to the cloud.
func (p *Pools) Observe(pass Pass) {
	if p == nil {
		return
	}
	for _, f := range p.following() {
		f.Observe(pass)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count(pass)
	if before, ok := p.seen[pass.Pool]; ok && pass.Outcome.RateLimited {
		before.tokensEnd = pass.TokensEnd
		p.seen[pass.Pool] = before
		return
	}
	p.seen[pass.Pool] = sampleOf(pass)
}

// Forget drops a pool that is deleted or no longer reconciled.
func (p *Pools) Forget(gone Pool) {
	if p == nil {
		return
	}
	for _, f := range p.following() {
		f.Forget(gone)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.seen, gone)
	delete(p.ended, gone)
}

// count counts the drains that the pass has ended, each once.
func (p *Pools) count(pass Pass) {
	if !pass.Outcome.Seen {
		return
	}
	before, now := p.ended[pass.Pool], map[string]time.Time{}
	p.ended[pass.Pool] = now
	step := pass.Outcome.Plan.Step
	for k := range pass.Outcome.Observed.Instances {
		i := &pass.Outcome.Observed.Instances[k]
		switch {
		case i.Node == nil || i.Node.DrainStarted.IsZero():
		case before[i.ID].Equal(i.Node.DrainStarted):
			now[i.ID] = i.Node.DrainStarted
		case step != nil && pass.Outcome.Started && endsDrain(step, i):
			now[i.ID] = i.Node.DrainStarted
			p.drains.WithLabelValues(pass.Kind, ending(step.Kind, i.Node)).Observe(pass.Now.Sub(i.Node.DrainStarted).Seconds())
		}
	}
}

// endsDrain reports whether a step ends the drain of an instance's node. The deletion of the group ends it for instances that are not
// terminating yet.
func endsDrain(s *pool.Step, i *pool.Instance) bool {
	switch s.Kind {
	case pool.Remove, pool.Replace, pool.Release, pool.Undrain:
		return slices.ContainsFunc(s.Targets, func(t pool.InstanceRef) bool { return t.ID == i.ID })
	case pool.DeleteGroup:
		return i.State != pool.Terminating
	default:
		return false
	}
}

func ending(k pool.StepKind, node *pool.Node) string {
	switch {
	case k == pool.Undrain:
		return takenBack
	case node.Drained():
		return drained
	default:
		return cutShort
	}
}

func sampleOf(pass Pass) sample {
	s := sample{cluster: pass.Cluster, observed: pass.Outcome.Seen, tokensEnd: pass.TokensEnd, rolledBack: pass.RolledBack}
	if !s.observed {
		return s
	}
	o, plan := pass.Outcome.Observed, pass.Outcome.Plan
	s.states = make(map[string]int, len(states))
	for k := range o.Instances {
		s.states[stateOf(&o.Instances[k], o.NodesUnknown)]++
		if n := o.Instances[k].Node; n != nil && !n.DrainStarted.IsZero() && (s.draining.IsZero() || n.DrainStarted.Before(s.draining)) {
			s.draining = n.DrainStarted
		}
	}
	s.desired, s.available, s.rollout = plan.Budget.Desired, plan.Budget.Available, plan.Rollout
	return s
}
