package asker

import (
	"cmp"
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/muster-project/muster/kube/policy/gates"
)

// Start asks the gates that are due until the context ends. It implements a manager's Runnable, which runs on the leader alone.
func (a *Asker) Start(ctx context.Context) error {
	var asks sync.WaitGroup
	defer asks.Wait()
	for {
		due, next := a.due(time.Now())
		for _, e := range due {
			asks.Go(func() { a.askOne(ctx, e) })
		}
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-a.kick:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// due returns the gates to ask now, of which each is marked as being asked, and the time until the next one is due.
func (a *Asker) due(now time.Time) ([]*entry, time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.expire(now)
	waiting := make([]*entry, 0, len(a.known))
	for _, e := range a.known {
		if !e.asking && len(e.pools) > 0 {
			waiting = append(waiting, e)
		}
	}
	slices.SortFunc(waiting, func(x, y *entry) int {
		return cmp.Or(x.due.Compare(y.due), cmp.Compare(x.gate.Name, y.gate.Name), cmp.Compare(x.gate.Policy.UID, y.gate.Policy.UID))
	})
	var due []*entry
	for _, e := range waiting {
		if e.due.After(now) {
			a.count()
			return due, min(e.due.Sub(now), idle)
		}
		if a.running < maxAsking && a.runningOf[e.gate.Policy.Namespace] < maxAskingOfNamespace {
			e.asking = true
			a.running++
			a.runningOf[e.gate.Policy.Namespace]++
			due = append(due, e)
		}
	}
	a.count()
	// What is due and may not be asked yet is asked when an ask ends.
	return due, idle
}

// expire forgets pools that were not reconciled for long, and gates that no pool needs once their answer is too old.
func (a *Asker) expire(now time.Time) {
	for p, n := range a.pools {
		if now.Sub(n.at) > forgetAfter {
			a.release(p, nil)
		}
	}
	for key, e := range a.known {
		if len(e.pools) == 0 && !e.asking && e.gate.At(e.state, now).Phase == gates.Unknown && !e.due.After(now) {
			delete(a.known, key)
		}
	}
}

// count exposes how many gates are in each phase.
func (a *Asker) count() {
	phases := map[gates.Phase]int{}
	for _, e := range a.known {
		phases[e.state.Phase]++
	}
	for _, phase := range gates.Phases() {
		a.metrics.Count(string(phase), phases[phase])
	}
}

// askOne asks a gate, keeps the answer, and has the gate's pools reconciled if its phase changes.
func (a *Asker) askOne(ctx context.Context, e *entry) {
	began := time.Now()
	sample := a.answer(ctx, e.gate)
	for _, w := range a.keep(e, sample, began, ctx.Err() != nil) {
		w()
	}
	a.look()
}

var errFault = errors.New("a fault of the program")

// answer returns the answer to a gate. A fault of what asks is no answer, and ends no other ask.
func (a *Asker) answer(ctx context.Context, g gates.Gate) (sample gates.Sample) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	defer func() {
		if fault := recover(); fault != nil {
			ctrl.LoggerFrom(ctx).Error(errFault, "asking a gate failed", "gate", g.Name, "policyNamespace", g.Policy.Namespace,
				"stack", string(debug.Stack()))
			sample = gates.UndecidedSample("asking the gate failed")
		}
	}()
	return a.ask(ctx, g)
}

// keep records an answer, and returns what has the gate's pools reconciled. An ask that ended because the process does says nothing.
func (a *Asker) keep(e *entry, sample gates.Sample, began time.Time, stopped bool) []func() {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running--
	namespace := e.gate.Policy.Namespace
	if a.runningOf[namespace]--; a.runningOf[namespace] == 0 {
		delete(a.runningOf, namespace)
	}
	e.asking = false
	if stopped {
		return nil
	}
	a.metrics.Asked(typeOf(e.gate), string(sample.Verdict))
	// An answer that is late leaves time for others.
	e.due = now
	if next := began.Add(e.gate.Interval); next.After(now) {
		e.due = next
	}
	before := e.state
	e.state = gates.Next(before, sample, e.gate.Rules, now)
	if before.Phase == e.state.Phase && !before.At.IsZero() {
		return nil
	}
	var wakes []func()
	for p := range e.pools {
		if w := a.wakes[p.Kind]; w != nil {
			wakes = append(wakes, func() { w(p.NamespacedName) })
		}
	}
	return wakes
}

// typeOf returns the type of a gate, as metrics name it.
func typeOf(g gates.Gate) string {
	if g.Prometheus != nil {
		return "prometheus"
	}
	return "condition"
}

// Source returns a source for the controller of a kind of pools: it has a pool reconciled when the phase of a gate that it needs changes.
func (a *Asker) Source(kind string) source.Source {
	return source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.wakes[kind] = func(name types.NamespacedName) { queue.Add(ctrl.Request{NamespacedName: name}) }
		return nil
	})
}
