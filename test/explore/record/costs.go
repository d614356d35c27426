package record

import (
	"context"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// Cost counts calls of a driver method, and the requests to the cloud that they took.
type Cost struct{ Times, Calls int }

// Costs counts requests to the cloud, and what they were for.
type Costs struct {
	Calls int
	Steps map[string]Cost
}

// counted is a driver whose calls are counted, by the kind of step.
type counted[S any] struct {
	cloud.Driver[S]
	costs *Costs
}

// Counted has the calls of a driver counted.
func Counted[S any](c *Costs, d cloud.Driver[S]) cloud.Driver[S] { return counted[S]{d, c} }

// Observe is the driver's.
func (d counted[S]) Observe(ctx context.Context, t cloud.Target[S]) (pool.Observed, error) {
	defer d.costs.of("Observe")()
	return d.Driver.Observe(ctx, t)
}

// Start is the driver's.
func (d counted[S]) Start(ctx context.Context, t cloud.Target[S], s pool.Step) error {
	defer d.costs.of(string(s.Kind))()
	return d.Driver.Start(ctx, t, s)
}

// of counts requests to the cloud until the returned function is called.
func (c *Costs) of(what string) func() {
	before := c.Calls
	return func() {
		s := c.Steps[what]
		c.Steps[what] = Cost{Times: s.Times + 1, Calls: s.Calls + c.Calls - before}
	}
}
