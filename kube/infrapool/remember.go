package infrapool

import (
	"context"
	"fmt"
	"sync"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// remembering is a driver that has look-ups written down before any step is begun that may rest on them: were they lost
// with the process, the next pass might find something newer and replace machines that nobody wanted replaced.
type remembering[S any] struct {
	cloud.Driver[S]
	mu sync.Mutex
	// passes are the running passes, by owner. One owner has one pass at a time.
	passes map[string]*memo
}

// memo is one pass: how it writes down, and what was found in it.
type memo struct {
	write func(context.Context, map[string]string) error
	found map[string]string
}

func newRemembering[S any](d cloud.Driver[S]) *remembering[S] {
	return &remembering[S]{Driver: d, passes: map[string]*memo{}}
}

// during has the look-ups of an owner's pass written down by write, until done is called.
func (d *remembering[S]) during(owner string, write func(context.Context, map[string]string) error) (done func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.passes[owner] = &memo{write: write}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.passes, owner)
	}
}

func (d *remembering[S]) pass(owner string) *memo {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.passes[owner]
}

// Observe is the driver's own; what it looked up is kept for Start.
func (d *remembering[S]) Observe(ctx context.Context, t cloud.Target[S]) (pool.Observed, error) {
	o, err := d.Driver.Observe(ctx, t)
	if m := d.pass(t.Owner.ID); m != nil && err == nil {
		m.found = o.ResolvedLookups
	}
	return o, err
}

// Start writes down what was looked up, and then is the driver's own.
func (d *remembering[S]) Start(ctx context.Context, t cloud.Target[S], s pool.Step) error {
	if m := d.pass(t.Owner.ID); m != nil {
		if err := m.write(ctx, m.found); err != nil {
			return fmt.Errorf("before %s: %w", s.Kind, err)
		}
	}
	return d.Driver.Start(ctx, t, s)
}
