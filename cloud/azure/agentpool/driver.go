package agentpool

import (
	"context"
	"strings"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// Options of a Driver. The zero Options are right for production.
type Options = session.Options

// Driver runs agent pools. A look reads the managed cluster with its agent pools, in one request that all pools of it share, and the
// machines of one pool.
type Driver = driverkit.Driver[*aksv1.AgentPoolSource, *writer, memory]

// removeBatch is the most machines that one removal names. Far fewer finish their drain together.
const removeBatch = 100

// kind describes agent pools: AKS replaces machines of another version or size whatever a strategy says.
var kind = driverkit.Kind[*writer]{
	Group: "an agent pool",
	Traits: pool.Traits{
		Group: "agent pool", Template: "node configuration", RemoveBatch: removeBatch,
		ProviderRollout: true, RolloutOnTemplateChange: true, CanCancelRollout: true, KeepsFailedInstances: true,
		LaunchesOnWrite: true, GroupNamedBy: "spec.name (of a manifest: azureName)",
	},
	Observe: func(w *writer, ctx context.Context) (pool.Observed, error) { return w.reader.observe(ctx) },
	Look:    (*writer).look, Steps: steps,
	Ownership: func(w *writer) driverkit.Ownership { return w.t.ownership(w.memory.read) }, AnyOwner: []pool.StepKind{pool.Adopt},
	Explain: func(w *writer, err error) error { return w.t.withField(err) },
	Touch:   func(w *writer) { w.memory.touch() }, Forget: func(w *writer) { w.memory.touched() },
}

// New makes a Driver with sessions of its own. It sends nothing.
func New(o Options) (*Driver, error) { return driverkit.New(o, session.New, Over) }

// Over makes a Driver over sessions that other drivers share: clients, rate budgets and look-ups are one.
func Over(sessions *session.Sessions) *Driver {
	return driverkit.Over(kind, func(ctx context.Context, t Target, from *driverkit.Memories[memory]) (*writer, error) {
		target, err := targetOf(t)
		if err != nil {
			return nil, err
		}
		c, err := sessions.Of(ctx, target.cluster.View)
		if err != nil {
			return nil, err
		}
		now := sessions.Now()
		target = target.in(c.SubscriptionID)
		m := from.Of(now, c.Key, strings.ToLower(target.poolID()))
		m.touch = func() { c.TouchManagedCluster(target.clusterID()) }
		p := &pass{c, target, now, m}
		return &writer{p, reader{p}}, nil
	}, sessions.Close)
}
