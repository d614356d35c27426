package nodepool

import (
	"context"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/nodepool/groups"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/pool"
)

// Options of a Driver. The zero Options are right for production.
type Options = session.Options

// Driver runs node pools. A look reads the cluster with its node pools and the instance groups, in requests that all pools of a project
// share, and the machines.
type Driver = driverkit.Driver[*gcpv1.ManagedMachinePoolSource, *writer, memory]

// removeBatch is the most machines that one removal names. Far fewer finish their drain together.
const removeBatch = 100

// kind describes node pools: GKE replaces machines of another version, image, machine type or disk whatever a strategy says, and the
// instance groups bring failed machines again.
var kind = driverkit.Kind[*writer]{
	Group: "a node pool",
	Traits: pool.Traits{
		Group: "node pool", Template: "node configuration", RemoveBatch: removeBatch,
		ProviderRollout: true, RolloutOnTemplateChange: true, CanCancelRollout: true, GroupNamedBy: "spec.nodePoolName",
	},
	Observe: func(w *writer, ctx context.Context) (pool.Observed, error) { return w.reader.observe(ctx) },
	Look:    (*writer).look, Steps: steps,
	Ownership: func(w *writer) driverkit.Ownership { return w.t.ownership(w.memory.read) }, AnyOwner: []pool.StepKind{pool.Adopt},
	Explain: func(_ *writer, err error) error { return withField(err) },
	Touch:   func(w *writer) { w.reader.touch() }, Forget: func(w *writer) { w.reader.forget() },
}

// New makes a Driver with sessions of its own. It sends nothing.
func New(o Options) (*Driver, error) { return driverkit.New(o, session.New, Over) }

// Over makes a Driver over sessions that other drivers share: clients, rate budgets and reads are one.
func Over(sessions *session.Sessions) *Driver {
	lookups, templates := &cache.Lookups{}, &groups.Templates{}
	return driverkit.Over(kind, func(ctx context.Context, t Target, from *driverkit.Memories[memory]) (*writer, error) {
		target, err := targetOf(t)
		if err != nil {
			return nil, err
		}
		c, err := sessions.Of(ctx, session.AccessOf(target.cluster.View))
		if err != nil {
			return nil, err
		}
		r := &reader{&pass{c: c, t: target, now: sessions.Now()}, templates.Of(c), lookups}
		r.memory = from.Of(r.now, c.Key, r.path())
		return &writer{r.pass, r}, nil
	}, sessions.Close)
}
