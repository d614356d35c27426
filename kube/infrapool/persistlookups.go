package infrapool

import (
	"context"
	"fmt"
	"sync"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// lookupPersister is a driver that has look-ups written down before any step is begun that may rest on them: were they lost
// with the process, the next pass might find something newer and replace machines that nobody wanted replaced.
type lookupPersister[S any] struct {
	cloud.Driver[S]
	mu sync.Mutex
	// passes are the running passes, by owner. One owner has one pass at a time.
	passes map[string]*lookups
}

// lookups is one pass: how it writes down, and what was found in it.
type lookups struct {
	write func(context.Context, map[string]string) error
	found map[string]string
}

func newLookupPersister[S any](d cloud.Driver[S]) *lookupPersister[S] {
	return &lookupPersister[S]{Driver: d, passes: map[string]*lookups{}}
}

// during has the look-ups of an owner's pass written down by write, until done is called.
func (d *lookupPersister[S]) during(owner string, write func(context.Context, map[string]string) error) (done func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.passes[owner] = &lookups{write: write}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.passes, owner)
	}
}

func (d *lookupPersister[S]) pass(owner string) *lookups {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.passes[owner]
}

// Observe is the driver's own; what it looked up is kept for Start.
func (d *lookupPersister[S]) Observe(ctx context.Context, t cloud.Target[S]) (pool.Observed, error) {
	o, err := d.Driver.Observe(ctx, t)
	if m := d.pass(t.Owner.ID); m != nil && err == nil {
		m.found = o.ResolvedLookups
	}
	return o, err
}

// Start writes down what was looked up, and then is the driver's own.
func (d *lookupPersister[S]) Start(ctx context.Context, t cloud.Target[S], s pool.Step) error {
	if m := d.pass(t.Owner.ID); m != nil {
		if err := m.write(ctx, m.found); err != nil {
			return fmt.Errorf("before %s: %w", s.Kind, err)
		}
	}
	return d.Driver.Start(ctx, t, s)
}
