// Package asker asks the gates that pools need, outside of the workers of reconcilers. A reconciler registers the gates of a pool whose
// rollout is under way, and gets what is known of them at once. All pools for which a gate asks the same share one answer. A pool is
// reconciled when the phase of one of its gates changes. Answers are not stored: after a restart a gate is unknown until it has been asked.
package asker

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/muster-project/muster/kube/metrics"
	"github.com/muster-project/muster/kube/policy/gates"
)

const (
	// maxAsking bounds the gates that are asked at the same time, maxAskingOfNamespace those of the policies of one namespace, so that a
	// tenant whose servers are slow delays no other tenant. Policies that are cluster-scoped count as those of one namespace.
	maxAsking, maxAskingOfNamespace = 16, 4
	// maxGates and maxGatesOfNamespace bound the gates that are known.
	maxGates, maxGatesOfNamespace = 2000, 200
	// askTimeout bounds one ask, with the Secret that is read before the query.
	askTimeout = 20 * time.Second
	// forgetAfter is the time after which a pool that was not reconciled needs no gate any more. Reconciles come more often.
	forgetAfter = 30 * time.Minute
	// idle is the time until the asker looks again when nothing is due.
	idle = time.Minute
)

// Asking returns the answer to a gate. It must be safe for concurrent use.
type Asking func(ctx context.Context, g gates.Gate) gates.Sample

// Pool is an object of an infrastructure kind.
type Pool struct {
	Kind string
	types.NamespacedName
}

// Asker asks gates. A nil Asker asks none: all gates stay unknown. It is safe for concurrent use.
type Asker struct {
	ask     Asking
	metrics *metrics.Gates
	// kick has the asker look for what is due now.
	kick chan struct{}

	mu    sync.Mutex
	known map[gates.Key]*entry
	pools map[Pool]*needs
	wakes map[string]wake
	// running counts the asks under way, runningOf those of each namespace.
	running   int
	runningOf map[string]int
}

// entry is a gate that pools need, or needed a short time ago.
type entry struct {
	gate  gates.Gate
	state gates.State
	// due is the time of the next ask.
	due    time.Time
	asking bool
	pools  map[Pool]bool
}

// needs are the gates that a pool needs, and the time at which it was reconciled last.
type needs struct {
	keys map[gates.Key]bool
	at   time.Time
}

// wake has a pool reconciled.
type wake func(types.NamespacedName)

// New returns an Asker. It asks nothing until Start is called.
func New(ask Asking, m *metrics.Gates) *Asker {
	return &Asker{ask: ask, metrics: m, kick: make(chan struct{}, 1), known: map[gates.Key]*entry{}, pools: map[Pool]*needs{},
		wakes: map[string]wake{}, runningOf: map[string]int{}}
}

// State returns what is known of a gate now. It has nothing asked.
func (a *Asker) State(g gates.Gate) gates.State {
	if a == nil {
		return gates.State{Phase: gates.Unknown, Message: "it is not asked by this process"}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch e := a.known[g.Key()]; {
	case e != nil:
		return g.At(e.state, time.Now())
	case a.full(g):
		return gates.State{Phase: gates.Unknown, Message: "too many gates are asked: remove gates or policies that are not needed"}
	}
	return gates.NotAsked()
}

// full reports whether a gate can't be asked because too many others are.
func (a *Asker) full(g gates.Gate) bool {
	return len(a.known) >= maxGates || a.ofNamespace(g.Policy.Namespace) >= maxGatesOfNamespace
}

// Need has gates asked for a pool, in place of those that it needed before. It never waits. A pool without gates is forgotten.
func (a *Asker) Need(p Pool, all []gates.Gate) {
	if a == nil {
		return
	}
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	wanted := &needs{keys: map[gates.Key]bool{}, at: now}
	for _, g := range all {
		a.need(p, g, wanted, now)
	}
	a.release(p, wanted.keys)
	if len(wanted.keys) > 0 {
		a.pools[p] = wanted
	}
}

// need has one gate asked for a pool, unless too many are.
func (a *Asker) need(p Pool, g gates.Gate, wanted *needs, now time.Time) {
	key := g.Key()
	e := a.known[key]
	if e == nil {
		if a.full(g) {
			return
		}
		e = &entry{gate: g, state: gates.NotAsked(), due: now, pools: map[Pool]bool{}}
		a.known[key] = e
	}
	e.pools[p], wanted.keys[key] = true, true
	if !e.asking && !e.due.After(now) {
		a.look()
	}
}

// ofNamespace returns the number of known gates of the policies of a namespace.
func (a *Asker) ofNamespace(namespace string) int {
	n := 0
	for _, e := range a.known {
		if e.gate.Policy.Namespace == namespace {
			n++
		}
	}
	return n
}

// Forget drops a pool that is deleted or needs no gate any more.
func (a *Asker) Forget(p Pool) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.release(p, nil)
}

// release has a pool need none but the given gates. A gate that no pool needs any more is not asked, but kept while its answer counts:
// a pool that needs it in every other pass has it asked by its interval all the same.
func (a *Asker) release(p Pool, except map[gates.Key]bool) {
	before := a.pools[p]
	delete(a.pools, p)
	if before == nil {
		return
	}
	for key := range before.keys {
		if e := a.known[key]; e != nil && !except[key] {
			delete(e.pools, p)
		}
	}
}

// look has the running asker look for what is due.
func (a *Asker) look() {
	select {
	case a.kick <- struct{}{}:
	default:
	}
}
