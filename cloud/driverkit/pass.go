package driverkit

import (
	"context"
	"fmt"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/pool"
)

// Pass is one call of Observe or Start for one pool, as a driver prepares it. Functions that are optional are nil where a driver has none.
type Pass struct {
	// Unlock releases what is cached of the pool. The driver has locked it for the whole call: calls for one pool do not overlap.
	Unlock func()
	// Observe reads the pool.
	Observe func(ctx context.Context) (pool.Observed, error)
	// Start begins a step. Its errors name fields of the specification where the driver can tell.
	Start func(ctx context.Context, s pool.Step) error
	// Redact removes secrets from an error.
	Redact func(err error) error
	// Save returns a function that restores what is cached now. It is optional. It serves a step that a rate budget of Muster's own refused
	// before the first write: nothing that was read is out of date then.
	Save func() (restore func())
	// Touch marks what the process has read of the group for all pools as out of date: a read that overlapped with a write shows nothing
	// of the time after it.
	Touch func()
	// Forget drops what is cached after a conflict: something is not as it was observed.
	Forget func()
}

// Observe runs Observe of the pass that begin prepares.
func Observe[T any](ctx context.Context, begin func(context.Context, T) (*Pass, error), target T) (pool.Observed, error) {
	p, err := begin(ctx, target)
	if err != nil {
		return pool.Observed{}, err
	}
	defer p.Unlock()
	return p.Observe(ctx)
}

// Start runs Start of the pass that begin prepares, and brings its cache up to date with the outcome. If a rate budget of Muster's own held
// back a request after others were sent, the error is a *cloud.StartedInPartError.
func Start[T any](ctx context.Context, begin func(context.Context, T) (*Pass, error), target T, s pool.Step) error {
	p, err := begin(ctx, target)
	if err != nil {
		return err
	}
	defer p.Unlock()
	var restore func()
	if p.Save != nil {
		restore = p.Save()
	}
	ctx, writes := wire.CountWrites(ctx)
	err = p.Redact(p.Start(ctx, s))
	held := cloud.CodeOf(err) == cloud.CodeClientRateLimited
	if restore != nil && held && writes.Sent() == 0 {
		restore()
		return err
	}
	p.Touch()
	if held && writes.Sent() > 0 {
		return &cloud.StartedInPartError{Err: err}
	}
	if cloud.KindOf(err) == cloud.Conflict {
		p.Forget()
	}
	return err
}

// Steps is the table of the steps that a kind of group supports. P is the driver's own pass.
type Steps[P any] map[pool.StepKind]func(p P, ctx context.Context, s pool.Step) error

// Step returns how a step is started, and an error for one that is not in the table. The error names the group by its kind.
func (t Steps[P]) Step(kind pool.StepKind, group string) (func(p P, ctx context.Context, s pool.Step) error, error) {
	run, ok := t[kind]
	if !ok {
		return nil, fmt.Errorf("step %s is not one that %s can be asked for", kind, group)
	}
	return run, nil
}
