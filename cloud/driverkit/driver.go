package driverkit

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/pool"
)

// Kind is the table of a kind of group: what its driver does where drivers differ. P is the driver's own pass: one call of Observe or Start
// for one pool. Functions that are optional are nil where a driver has none.
type Kind[P any] struct {
	// Traits are facts about the cloud that hold for every pool of the kind.
	Traits pool.Traits
	// Group names a group of the kind with its article, for messages: "an agent pool".
	Group string
	// Observe reads the pool.
	Observe func(p P, ctx context.Context) (pool.Observed, error)
	// Look reads what a step has to know before its first request, as far as that is not known.
	Look func(p P, ctx context.Context, s pool.Step) error
	// Ownership decides, once Look has read, whether the pool's group may be changed. The steps AnyOwner do not depend on it.
	Ownership func(p P) Ownership
	AnyOwner  []pool.StepKind
	// Steps begin the steps that the kind supports. Any other step is an error.
	Steps Steps[P]
	// Explain names the field of the specification that the error of a step is about, where the driver can tell, and removes secrets other
	// than those of the bootstrap data. It is optional.
	Explain func(p P, err error) error
	// Save returns a function that restores what is remembered now. It is optional. It serves a step that a rate budget of Muster's own
	// refused before the first write: nothing that was read is out of date then.
	Save func(p P) (restore func())
	// Touch marks what the process has read of the group for all pools as out of date: a read that overlapped with a write shows nothing
	// of the time after it.
	Touch func(p P)
	// Forget drops what is remembered after a conflict: something is not as it was observed.
	Forget func(p P)
}

// Steps is the table of the steps that a kind of group supports, with the function that begins each.
type Steps[P any] map[pool.StepKind]func(p P, ctx context.Context, s pool.Step) error

// Begin checks the target of a call, opens the session of its requests, takes what is remembered of the pool and returns the pass. It sends
// no request about the pool.
type Begin[S, P, M any] func(ctx context.Context, t cloud.Target[S], from *Memories[M]) (P, error)

// Driver runs the pools of one kind. It is safe for concurrent use. S is the specification of a pool, P the driver's own pass, M what the
// driver remembers of a pool: losing that costs a few reads and nothing else.
type Driver[S, P, M any] struct {
	kind     Kind[P]
	begin    Begin[S, P, M]
	close    func()
	memories cache.Pools[remembered[M]]
}

var _ cloud.Driver[any] = (*Driver[any, any, any])(nil)

// remembered holds the memory of a pool. It is locked for a whole call: calls for one pool do not overlap.
type remembered[M any] struct {
	mu sync.Mutex
	is M
}

// Over returns the driver of a kind over sessions: begin opens them, closeIdle closes their idle connections.
func Over[S, P, M any](kind Kind[P], begin Begin[S, P, M], closeIdle func()) *Driver[S, P, M] {
	return &Driver[S, P, M]{kind: kind, begin: begin, close: closeIdle}
}

// New returns a driver with sessions of its own.
func New[O, S, D any](o O, sessions func(O) (S, error), over func(S) D) (D, error) {
	own, err := sessions(o)
	if err != nil {
		var none D
		return none, err
	}
	return over(own), nil
}

// Close closes idle connections. The driver can be used after it.
func (d *Driver[S, P, M]) Close() { d.close() }

// Traits returns those of the kind.
func (d *Driver[S, P, M]) Traits() pool.Traits { return d.kind.Traits }

// Observe reads one pool. When the specification can't be followed and nothing of the pool exists yet, the error is
// *cloud.SpecUnsatisfiableError and what was observed is returned beside it, so that a pool that never came to be can be deleted; when
// something exists, the error is among the issues and Wanted is zero. An error of CheckPlaces tells that nothing of the pool can exist.
func (d *Driver[S, P, M]) Observe(ctx context.Context, t cloud.Target[S]) (pool.Observed, error) {
	p, done, err := d.pass(ctx, t)
	if err != nil {
		return unobservable(err)
	}
	defer done()
	return d.kind.Observe(p, ctx)
}

// Start begins one step, and brings what is remembered up to date with the outcome. After a conflict everything is read again: something is
// not as it was observed. If a rate budget of Muster's own held back a request after others were sent, the error is a
// *cloud.StartedInPartError.
func (d *Driver[S, P, M]) Start(ctx context.Context, t cloud.Target[S], s pool.Step) error {
	p, done, err := d.pass(ctx, t)
	if err != nil {
		return err
	}
	defer done()
	var restore func()
	if d.kind.Save != nil {
		restore = d.kind.Save(p)
	}
	ctx, writes := wire.CountWrites(ctx)
	err = d.kind.start(ctx, p, s)
	if d.kind.Explain != nil {
		err = d.kind.Explain(p, err)
	}
	err = cloud.RedactError(err, t.Bootstrap)
	held := cloud.CodeOf(err) == cloud.CodeClientRateLimited
	if restore != nil && held && writes.Sent() == 0 {
		restore()
		return err
	}
	d.kind.Touch(p)
	if held && writes.Sent() > 0 {
		return &cloud.StartedInPartError{Err: err}
	}
	if cloud.KindOf(err) == cloud.Conflict {
		d.kind.Forget(p)
	}
	return err
}

// start begins a step: it looks before the first request, and stops at a group that is not the pool's.
func (k Kind[P]) start(ctx context.Context, p P, s pool.Step) error {
	run, ok := k.Steps[s.Kind]
	if !ok {
		return fmt.Errorf("step %s is not one that %s can be asked for", s.Kind, k.Group)
	}
	if err := k.Look(p, ctx, s); err != nil {
		return err
	}
	if err := k.Ownership(p).Permits(s.Kind, k.AnyOwner...); err != nil {
		return err
	}
	return run(p, ctx, s)
}

// pass begins a call. done ends it.
func (d *Driver[S, P, M]) pass(ctx context.Context, t cloud.Target[S]) (p P, done func(), err error) {
	if err := t.Owner.Check(); err != nil {
		return p, nil, err
	}
	from := &Memories[M]{of: &d.memories, owner: t.Owner.MemoryKey()}
	if t.AssumeOwned {
		from.owner += "\npreview"
	}
	p, err = d.begin(ctx, t, from)
	if err != nil {
		from.unlock()
		return p, nil, err
	}
	return p, from.unlock, nil
}

// Memories hands a pass what is remembered of its pool.
type Memories[M any] struct {
	of    *cache.Pools[remembered[M]]
	owner string
	held  *remembered[M]
}

// Of returns what is remembered of the pool, locked until the call ends. The session and the names tell which cloud objects are meant: what
// was read of others says nothing about them. A pass calls it once.
func (m *Memories[M]) Of(now time.Time, session string, names ...string) *M {
	key := append([]string{session}, names...)
	m.held = m.of.Of(strings.Join(append(key, m.owner), "\n"), now)
	m.held.mu.Lock()
	return &m.held.is
}

func (m *Memories[M]) unlock() {
	if m.held != nil {
		m.held.mu.Unlock()
	}
}
