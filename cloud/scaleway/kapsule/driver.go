package kapsule

import (
	"context"

	scalewayv1 "github.com/muster-project/muster/api/scaleway/v1alpha2"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/scaleway/session"
	"github.com/muster-project/muster/pool"
)

// Options of a Driver. The zero Options are right for production.
type Options = session.Options

// Driver runs pools of Kapsule and Kosmos.
type Driver = driverkit.Driver[*scalewayv1.ManagedMachinePoolSource, *writer, memory]

// removeBatch is the most nodes that one removal names: each is a request of its own.
const removeBatch = 10

// kind describes pools. Kapsule replaces the nodes of another version whatever a strategy says, and can't be stopped. DeleteNode lowers the
// size. Whether Kapsule replaces nodes that it could not create, or launches missing ones by itself, is not documented: a client asks.
var kind = driverkit.Kind[*writer]{
	Group: "a pool",
	Traits: pool.Traits{
		Group: "pool", Template: "Kubernetes version", RemoveBatch: removeBatch, ProviderRollout: true, RolloutOnTemplateChange: true,
		CanDeleteBusyGroup: true, KeepsFailedInstances: true, LaunchesOnWrite: true,
	},
	Observe: (*writer).observe, Look: (*writer).look, Steps: steps,
	Ownership: func(w *writer) driverkit.Ownership { return w.t.ownership(w.memory.read) }, AnyOwner: []pool.StepKind{pool.Adopt},
	Explain: withField,
	Touch:   func(w *writer) { w.c.Touch(w.t.cluster.Name) }, Forget: (*writer).forget,
}

// New makes a Driver with sessions of its own. It sends nothing.
func New(o Options) (*Driver, error) { return driverkit.New(o, session.New, Over) }

// Over makes a Driver over sessions that other drivers share: rate budgets and reads are one.
func Over(sessions *session.Sessions) *Driver {
	lookups := &cache.Lookups{}
	return driverkit.Over(kind, func(_ context.Context, t Target, from *driverkit.Memories[memory]) (*writer, error) {
		target, err := targetOf(t)
		if err != nil {
			return nil, err
		}
		c, err := sessions.Of(target.cluster)
		if err != nil {
			return nil, err
		}
		now := sessions.Now()
		return &writer{reader{c: c, t: target, now: now, lookups: lookups, memory: from.Of(now, c.Key, target.cluster.Name, target.name)}}, nil
	}, sessions.Close)
}
