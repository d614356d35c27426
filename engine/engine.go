// Package engine runs one pass over one pool: observe, decide, start one step. It knows no cloud and no Kubernetes:
// both are handed in, so that whole scenarios run in virtual time without an API server.
package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// Input is the input of one pass: everything that does not come from the cloud.
type Input[S any] struct {
	Target  cloud.Target[S]
	Desired pool.Desired
	// Marked are the provider keys of the instances that shall go first.
	Marked map[string]bool
	// DeletionRequested are the provider keys of the instances to remove by name, with the reason.
	DeletionRequested map[string]pool.Cause
	// Guards are the Machines that have to be deleted first, by the instances' provider keys.
	Guards map[string]pool.Guard
	// UIDs are those of the instances that DeletionRequested and Guards are about, by provider key, as far as they are known. An instance of
	// another UID has been given the ID of one that is gone, and they are not about it.
	UIDs map[string]string
	// KnownIDs, when set, returns the provider keys of the pool's machines in the management cluster. It is called if the group is missing.
	KnownIDs func() []string
	// Generation changes whenever the input of the pass changes (the object's generation, the hash of the bootstrap data, ...). A change
	// ends every back-off, because what was refused may now be right.
	Generation string
	// ContentGeneration is Generation without the hash of the bootstrap data: when it stays, bootstrap tokens were rotated and nothing else
	// has changed. Empty if that is not known.
	ContentGeneration string
	// TargetGeneration is Generation without what changes no field of the group: the number of replicas, the bootstrap data, how instances
	// are replaced. While it stays, changes that the cloud has accepted and that show no effect go on waiting for their back-off. Empty if
	// that is not known.
	TargetGeneration string
	// Edited is true if the object's status tells of another size than the pool asks for, or the pool is being deleted: after a start of
	// the process such a pool comes before those of which nothing is known.
	Edited bool
	// NeedsFreshRead, when set, reports whether an observation contradicts what is known elsewhere, so that the cloud is read again before
	// anything rests on it.
	NeedsFreshRead func(pool.Observed) bool
	// Created is when the object was created; zero is unknown.
	Created time.Time
	Now     time.Time
}

// Nodes is the workload cluster as one pass needs it.
type Nodes interface {
	// Find gives the nodes of the given provider keys (cloud.ProviderKey), by key. An error means that the workload
	// cluster can't be reached, which is not the same as having no nodes.
	Find(ctx context.Context, keys []string) (map[string]pool.Node, error)
	// FindUncached is Find, answered by the API server itself: Find may not know yet of a node that has just joined. It is called
	// before machines go that have no node as far as Find knows.
	FindUncached(ctx context.Context, keys []string) (map[string]pool.Node, error)
	// Evictable reports what a drain would find on the nodes of the given provider keys. A key that is left out is not known. It is called
	// before instances are chosen, for nodes that others cordoned, and for those that may go in place of one whose drain is blocked.
	Evictable(ctx context.Context, keys []string) (map[string]pool.Evictable, error)
	// PodHolds reports whether pods keep the machines of the nodes of the given provider keys. A key that is left out is not known. It is
	// called only with pool.Desired.PodsHold, before replacements begin.
	PodHolds(ctx context.Context, keys []string) (map[string]pool.PodHold, error)
	// Start begins a step that concerns nodes rather than the cloud: Drain or Undrain. It does not wait. With a *PartialError it
	// has begun for all targets but those that the error names.
	Start(ctx context.Context, s pool.Step) error
}

// NodesRefusedError is the error of a workload cluster that is not called until a user changes something.
type NodesRefusedError struct {
	// Message is the object, what is wrong with it and what to write instead.
	Message string
}

// Error returns the message.
func (e *NodesRefusedError) Error() string { return e.Message }

// refusal returns the message of a workload cluster that is not called; empty for any other error.
func refusal(err error) string {
	if refused := new(NodesRefusedError); errors.As(err, &refused) {
		return refused.Message
	}
	return ""
}

// PartialError is the error of a step that was begun for some of its targets.
type PartialError struct {
	// Failed are the IDs of the others.
	Failed map[string]bool
	// Err is why.
	Err error
}

// Error is the text of the error within.
func (e *PartialError) Error() string { return e.Err.Error() }

// Unwrap returns the error within.
func (e *PartialError) Unwrap() error { return e.Err }

// ConflictError is an error that the next pass resolves by what it reads: another client's write came before a write of this pass, or this
// pass has yet to write what the step rests on.
type ConflictError struct{ Err error }

// Error is the text of the error within.
func (e *ConflictError) Error() string { return e.Err.Error() }

// Unwrap returns the error within.
func (e *ConflictError) Unwrap() error { return e.Err }

// Outcome is the result of one pass: its observation, its plan and the step that it started. The Kubernetes edge writes it once, at the
// end.
type Outcome struct {
	Plan pool.Plan
	// Observed has the nodes joined to their instances. It is meaningless unless Seen.
	Observed pool.Observed
	// Seen is true if the cloud was read, now or recently, and answered.
	Seen bool
	// Started is true if Plan.Step was started without an error.
	Started bool
	// Repeated is true if all that Plan.Step changes was accepted by the cloud before and shows no effect yet: it is no news.
	Repeated bool
	// Err is why the cloud could not be observed: a *cloud.Error or an error of the network. While a back-off lasts, the
	// error that began it is reported again and the cloud is not called.
	Err error
	// RateLimited is true if Err is a rate budget that is used up: the cloud was not called, nothing has failed, and what was reported before
	// holds, however long that lasts. It is true too if the cloud has throttled the looks of the pool for less than a minute.
	RateLimited bool
	// Refused are the steps that can't be done now, with the error that was met last: a refusal, or a *NoEffectError where the cloud
	// accepts the step and shows no effect of it.
	Refused map[pool.StepKind]error
	// Failed are the IDs of the targets for which Plan.Step was not begun, where it was begun for the others; nil otherwise.
	Failed map[string]bool
	// NewError is an error that this very pass met and that is news: nil in passes that wait for an earlier one's back-off or
	// meet it again.
	NewError error
	// RequeueAfter is when to look again; it is never zero.
	RequeueAfter time.Duration
}

// Options bound the rate of calls to the cloud.
type Options struct {
	// Steady is the time between two looks at a pool in which nothing moves. Default DefaultSteady.
	Steady time.Duration
}

// Engine runs passes for all pools of one kind. It is safe for concurrent use.
type Engine[S any] struct {
	driver cloud.Driver[S]
	memory *memory
	steady time.Duration
}

// New makes an engine over one driver.
func New[S any](d cloud.Driver[S], o Options) *Engine[S] {
	if o.Steady == 0 {
		o.Steady = DefaultSteady
	}
	return &Engine[S]{driver: d, memory: newMemory(), steady: o.Steady}
}

// Traits are the driver's.
func (e *Engine[S]) Traits() pool.Traits { return e.driver.Traits() }

// Forget drops what is remembered for an owner whose object is gone.
func (e *Engine[S]) Forget(owner string) { e.memory.forget(owner) }

// Run is one pass. It asks the cloud once, or twice if an older answer was good enough until something is to be changed; it starts at most
// one step, and never waits. Nil Lookups store nothing.
func (e *Engine[S]) Run(ctx context.Context, f Input[S], n Nodes, l Lookups) Outcome {
	m := e.memory.of(f.Target.Owner.ID, generations{all: f.Generation, content: f.ContentGeneration, target: f.TargetGeneration}, f.Edited)
	if wait, err := m.observing(f.Now); err != nil {
		return Outcome{Err: err, RequeueAfter: wait, Refused: m.refusals(), RateLimited: m.sparing(f.Now, err)}
	}
	queue := m.queue.since(m.heldSince(f.Now))
	out := e.see(queue.in(ctx, queue.lookFor(f.Desired), f.Now), &f, n, m)
	if out.RateLimited = m.sparing(f.Now, out.Err); !out.Seen {
		m.queue.ended(f.Now, out.RateLimited, m.queue.priority)
		return out
	}
	e.confirm(ctx, f, n, m, &out)
	wait := m.confirmAbsence(f.Desired, &out, f.Now)
	e.start(ctx, f, edge{n, l}, m, &out)
	m.queue.ended(f.Now, false, nextLook(f.Desired, out))
	out.Refused = m.refusals()
	if out.RequeueAfter = m.next(f.Now, out, e.steadyOf(f.Desired)); wait > 0 {
		out.RequeueAfter = wait
	}
	return out
}

// see looks at the cloud, again if what is to be done can't rest on an answer of the age that the pass accepts.
func (e *Engine[S]) see(ctx context.Context, f *Input[S], n Nodes, m *record) Outcome {
	f.Target.Cache.MaxAge, f.Desired.StepsInBackoff = m.queue.accepts(m.age(f.Now), f.Now), m.avoid(f.Now)
	f.Target.Cache.ByEvent = f.Now.Before(m.due)
	exact := false
	defer func() { m.queue.looked(m.observe.err, exact) }()
	out := e.searched(ctx, f, n, m, e.look(ctx, *f, n, m))
	if out.Observed.Cache.Fresh || out.Observed.Cache.GroupFresh {
		// A second look would show the same. Where calls are few, it would be held back, and the first one thrown away with it.
		f.Target.Cache.MaxAge = 0
	}
	if f.Target.Cache.MaxAge > 0 && (!m.queue.restsOn(out, f.Target.Cache.MaxAge, f.Now) || f.doubts(out)) {
		f.Target.Cache.MaxAge, exact = 0, removes(out) || f.doubts(out)
		out = e.look(ctx, *f, n, m)
	}
	if takesBack(out) && !out.Observed.Cache.Fresh || out.Observed.Cache.Reused && (undrains(out) || f.doubts(out)) {
		f.Target.Cache.MaxAge = cloud.NoSharedCache
		out = e.look(ctx, *f, n, m)
	}
	return e.searched(ctx, f, n, m, out)
}

// doubts reports whether an observation must be read again.
func (f Input[S]) doubts(out Outcome) bool {
	return out.Seen && f.NeedsFreshRead != nil && f.NeedsFreshRead(out.Observed)
}

// final reports whether a plan changes the cloud, lets the object go, or cancels a drain: it must rest on a fresh read. A recent read is
// good enough to find that nothing is to be done, to drain, and to protect an instance from a scale-in, which ends nothing. Two processes,
// one of which cancels from an old read what the other starts from a new one, would never end.
func final(p pool.Plan) bool {
	return p.DeletionComplete || p.Step != nil && p.Step.Kind != pool.Drain && p.Step.Kind != pool.Protect
}

// takesBack reports whether a drain is about to be cancelled in a pool whose instances the cloud may terminate: another process may know of
// a notice that this one has not read yet, and the two would undo each other's steps.
func takesBack(out Outcome) bool { return out.Observed.ShortNotice && undrains(out) }

// undrains reports whether a drain is about to be taken back.
func undrains(out Outcome) bool {
	return out.Seen && out.Plan.Step != nil && out.Plan.Step.Kind == pool.Undrain
}

// OnNodes reports whether a step concerns nodes rather than the cloud.
func OnNodes(k pool.StepKind) bool { return k == pool.Drain || k == pool.Undrain }

// look observes and decides. When the cloud can't be observed, the outcome says so and is not Seen.
func (e *Engine[S]) look(ctx context.Context, f Input[S], n Nodes, m *record) Outcome {
	f.Target.Deleting = f.Desired.Deleting
	observed, err := e.driver.Observe(ctx, f.Target)
	if err != nil && (!f.Desired.Deleting || !complete(err)) {
		fresh := newError(m.observe.answer(), err)
		return Outcome{Err: err, NewError: fresh, RequeueAfter: m.failedToObserve(f.Now, err), Refused: m.refusals()}
	}
	m.observed()
	observed = join(ctx, observed, f.Marked, n)
	observed.FormerNodes = formerNodes(ctx, f, observed, n)
	name(observed.Instances, f)
	observed.Versions, observed.Cache.StaleUntil = m.presence.marked(observed.Versions, f.Now), m.presence.behindUntil()
	m.unfilled = m.unfilled.after(observed, f.Now)
	observed.UnfilledSince = m.unfilled.since
	m.attempts.sawEffects(observed, f.Now)
	m.podHolds.attach(observed.Instances)
	out := Outcome{Observed: observed, Seen: true, Plan: e.decide(f, observed, m, f.Now)}
	e.preferEvictable(ctx, f, n, m, &out)
	e.readPodHolds(ctx, f, n, m, &out)
	return out
}

// decide asks the domain, again for each step that waits because it was accepted before and shows no effect yet.
func (e *Engine[S]) decide(f Input[S], o pool.Observed, m *record, now time.Time) pool.Plan {
	t := e.driver.Traits()
	f.Desired.StepsInBackoff, f.Desired.Unresponsive = maps.Clone(f.Desired.StepsInBackoff), m.attempts.unresponsive()
	for {
		p := pool.Decide(f.Desired, o, t, f.Now)
		if p.Step == nil {
			return p
		}
		cause, rests := m.attempts.resting(*p.Step, o, t, now)
		if _, avoided := f.Desired.StepsInBackoff[p.Step.Kind]; !rests || avoided {
			return p
		}
		if f.Desired.StepsInBackoff == nil {
			f.Desired.StepsInBackoff = map[pool.StepKind]pool.Cause{}
		}
		f.Desired.StepsInBackoff[p.Step.Kind] = cause
	}
}

// confirm asks the workload cluster itself before machines go undrained because nothing is known of their nodes, and
// decides again with the result. Nothing is known about the nodes of a cluster that can't be reached.
func (e *Engine[S]) confirm(ctx context.Context, f Input[S], n Nodes, m *record, out *Outcome) {
	if f.Desired.NoDrain != nil || !removesUnknown(out.Plan.Step) {
		return
	}
	o := &out.Observed
	var keys []string
	for _, i := range o.Instances {
		if key := cloud.ProviderKey(i.ProviderID); key != "" && i.Node == nil {
			keys = append(keys, key)
		}
	}
	nodes, err := n.FindUncached(ctx, keys)
	o.NodesRefused = refusal(err)
	if o.NodesUnknown = err != nil; err == nil {
		attach(o.Instances, nodes)
	}
	out.Plan = e.decide(f, *o, m, f.Now)
}

// removesUnknown reports whether a step removes instances without a known node.
func removesUnknown(s *pool.Step) bool {
	if s == nil || s.Kind != pool.Remove && s.Kind != pool.Replace && s.Kind != pool.Release && s.Kind != pool.DeleteGroup {
		return false
	}
	return slices.ContainsFunc(s.Targets, func(t pool.InstanceRef) bool { return t.Node == "" && cloud.ProviderKey(t.ProviderID) != "" })
}

// complete reports whether an observation holds everything that exists, although the error is that the spec can't be satisfied. A pool that
// is being deleted wants nothing. Any other error proves nothing: to take it for an empty cloud would leave behind everything that the pool
// owns.
func complete(err error) bool {
	var unmet *cloud.SpecUnsatisfiableError
	return errors.As(err, &unmet)
}

// newError returns the error unless the last one was the same, or the cloud was not called.
func newError(last, err error) error {
	if last != nil && last.Error() == err.Error() || heldBack(err) {
		return nil
	}
	return err
}

// join puts each node to its instance. Unknown nodes are said to be unknown.
func join(ctx context.Context, o pool.Observed, marked map[string]bool, n Nodes) pool.Observed {
	keys := make([]string, 0, len(o.Instances)+len(o.Beside))
	for _, i := range slices.Concat(o.Instances, o.Beside) {
		if key := cloud.ProviderKey(i.ProviderID); key != "" {
			keys = append(keys, key)
		}
	}
	instances, beside := append([]pool.Instance(nil), o.Instances...), slices.Clone(o.Beside)
	o.Instances, o.Beside = instances, beside
	var nodes map[string]pool.Node
	if len(keys) > 0 {
		var err error
		if nodes, err = n.Find(ctx, keys); err != nil {
			o.NodesUnknown = true
			o.NodesRefused = refusal(err)
		}
	}
	for k := range instances {
		key := cloud.ProviderKey(instances[k].ProviderID)
		if key == "" {
			continue
		}
		instances[k].Marked = instances[k].Marked || marked[key]
	}
	attach(instances, nodes)
	attach(beside, nodes)
	return o
}

// attach puts each node to its instance.
func attach(instances []pool.Instance, nodes map[string]pool.Node) {
	for k := range instances {
		key := cloud.ProviderKey(instances[k].ProviderID)
		if node, ok := nodes[key]; ok && key != "" {
			instances[k].Node = &node
		}
	}
}

// name puts to each instance what was said about it by name: that it is to go, and the guard that has to let it go.
func name[S any](instances []pool.Instance, f Input[S]) {
	for k := range instances {
		i := &instances[k]
		key := cloud.ProviderKey(i.ProviderID)
		if uid, ok := f.UIDs[key]; key == "" || ok && i.UID != "" && i.UID != uid {
			continue
		}
		if cause, ok := f.DeletionRequested[key]; ok {
			i.DeletionRequested = &cause
		}
		if g, ok := f.Guards[key]; ok && !g.DrainedOther(i.Node) {
			i.Guard = &g
		}
	}
}
