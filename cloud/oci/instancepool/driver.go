package instancepool

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

// Driver runs OCIMachinePools. At rest the pools of a compartment share one list.
type Driver = driverkit.Driver[*ociv1.MachinePoolSource, *writer, memory]

// removeBatch is the maximum number of instances that one removal names: each is a request of its own.
const removeBatch = 10

// kind describes instance pools. An instance is detached and terminated by one request, which keeps or lowers the size. A stopped instance
// stays in its pool.
var kind = driverkit.Kind[*writer]{
	Group: "an instance pool",
	Traits: pool.Traits{
		Group: "instance pool", Template: "instance configuration", RemoveBatch: removeBatch, CanDeleteBusyGroup: true, CanCancelRollout: true,
		ReplaceKeepsSize: true, RecordsSurge: true, KeepsFailedInstances: true,
	},
	Observe: func(w *writer, ctx context.Context) (pool.Observed, error) { return observer(*w).observe(ctx) },
	Look:    (*writer).look, Steps: steps,
	Ownership: func(w *writer) driverkit.Ownership { return w.p.t.ownership(w.p.memory.read) },
	AnyOwner:  []pool.StepKind{pool.Adopt, pool.DeleteTemplates},
	Explain:   withField,
	Touch:     func(w *writer) { w.p.c.TouchInstancePools(w.p.t.cluster.CompartmentID) },
	Forget:    func(w *writer) { w.p.forget() },
}

// New makes a Driver with sessions of its own. It sends nothing.
func New(o Options) (*Driver, error) { return driverkit.New(o, session.New, Over) }

// Over makes a Driver over sessions that other drivers share: clients, rate budgets and lists are one.
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
		return &writer{&pass{c: c, t: target, now: now, lookups: lookups,
			memory: from.Of(now, c.Key, target.cluster.CompartmentID, target.name)}}, nil
	}, sessions.Close)
}
