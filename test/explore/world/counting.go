package world

import (
	"context"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// Cost is how often something was asked of the driver, and how many requests to the cloud that took.
type Cost struct{ Times, Calls int }

// counted is a driver whose calls are counted, by the kind of step.
type counted[S any] struct {
	cloud.Driver[S]
	account *account
}

// Observe is the driver's.
func (d counted[S]) Observe(ctx context.Context, t cloud.Target[S]) (pool.Observed, error) {
	defer d.account.cost("Observe")()
	return d.Driver.Observe(ctx, t)
}

// Start is the driver's.
func (d counted[S]) Start(ctx context.Context, t cloud.Target[S], s pool.Step) error {
	defer d.account.cost(string(s.Kind))()
	return d.Driver.Start(ctx, t, s)
}

// cost counts what is asked of the cloud until the function that it gives is called.
func (a *account) cost(what string) func() {
	before := a.calls
	return func() {
		c := a.steps[what]
		a.steps[what] = Cost{Times: c.Times + 1, Calls: c.Calls + a.calls - before}
	}
}
