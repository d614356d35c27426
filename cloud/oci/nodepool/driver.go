package nodepool

import (
	"context"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/pool"
)

// Options of a Driver. The zero Options are right for production.
type Options = session.Options

// Driver runs node pools of OKE.
type Driver = driverkit.Driver[*ociv1.ManagedMachinePoolSource, *writer, memory]

// removeBatch is the most nodes that one removal names: each is a request of its own.
const removeBatch = 10

// kind describes node pools. Cycling replaces nodes of another configuration and no others, and can't be stopped. DeleteNode lowers the
// size. OKE gives up on nodes that do not come, and launches them with the next update.
var kind = driverkit.Kind[*writer]{
	Group: "a node pool",
	Traits: pool.Traits{
		Group: "node pool", Template: "node configuration", RemoveBatch: removeBatch, ProviderRollout: true, RolloutOfOtherTemplates: true,
		CanDeleteBusyGroup: true, KeepsFailedInstances: true, LaunchesOnWrite: true,
	},
	Observe: (*writer).observe, Look: func(w *writer, ctx context.Context, _ pool.Step) error { return w.Look(ctx) }, Steps: steps,
	Ownership: func(w *writer) driverkit.Ownership { return w.Ownership() }, AnyOwner: []pool.StepKind{pool.Adopt},
	Explain: withField,
	Touch:   func(w *writer) { w.Touch() }, Forget: func(w *writer) { w.Forget() },
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
		c, err := sessions.Of(target.cluster.View)
		if err != nil {
			return nil, err
		}
		now := sessions.Now()
		w := &writer{reader{t: target, lookups: lookups, memory: from.Of(now, c.Key, target.cluster.ID, target.at.Name)}}
		w.reads = reads{Kind: &readsOf, Session: c, At: target.at, Now: now, MaxAge: t.Cache.MaxAge, Memory: &w.memory.Memory, Nodes: w.nodesOf,
			Moving: w.moving}
		return w, nil
	}, sessions.Close)
}
