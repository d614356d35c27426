package toy

import (
	"context"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/toy/session"
	"github.com/muster-project/muster/pool"
)

// Driver runs pools of the toy cloud.
type Driver = driverkit.Driver[*Source, *writer, memory]

// removeBatch is the most nodes that one removal names.
const removeBatch = 100

// kind describes pools of the toy cloud.
var kind = driverkit.Kind[*writer]{
	Group: "a pool",
	Traits: pool.Traits{
		Group: "pool", Template: "node configuration", RemoveBatch: removeBatch, ProviderRollout: true, RolloutOnTemplateChange: true,
		CanCancelRollout: true, ReplaceKeepsSize: true, KeepsFailedInstances: true, LaunchesOnWrite: true,
	},
	Observe: (*writer).observe, Look: (*writer).look, Steps: steps,
	Ownership: func(w *writer) driverkit.Ownership { return w.t.ownership(w.memory.read) }, AnyOwner: []pool.StepKind{pool.Adopt},
	Explain: withField,
	Touch:   func(w *writer) { w.c.sweep.Touch(w.t.Spec.Cluster) }, Forget: (*writer).forget,
}

// Options of a driver.
type Options = session.Options

// withField gives a refusal that names a member of the request the field of the specification.
func withField(_ *writer, err error) error {
	return driverkit.WithField(err, func(_ *cloud.Error, member string) string { return rows.SpecOf(member) })
}

// New makes a Driver. It sends nothing.
func New(o Options) *Driver {
	c, lookups := newClusters(session.New(o)), &cache.Lookups{}
	return driverkit.Over(kind, func(_ context.Context, t Target, from *driverkit.Memories[memory]) (*writer, error) {
		target, err := targetOf(t)
		if err != nil {
			return nil, err
		}
		now := c.Now()
		return &writer{reader{c: c, t: target, now: now, memory: from.Of(now, c.Endpoint, target.path()), lookups: lookups}}, nil
	}, c.Close)
}
