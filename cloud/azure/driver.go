package azure

import (
	"context"
	"strings"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// Options of a Driver. The zero Options are right for production.
type Options = session.Options

// Driver runs AzureMachinePools. In the steady state a look sends one request in mode Uniform and next to none in mode Flexible, because
// pools share the rest.
type Driver = driverkit.Driver[*azurev1.MachinePoolSource, *writer, memory]

// removeBatch is the most machines that one removal names. Far fewer finish their drain together.
const removeBatch = 100

// kind describes scale sets.
var kind = driverkit.Kind[*writer]{
	Group: "a scale set",
	Traits: pool.Traits{
		Group: "scale set", Template: "model", Prerequisites: "role assignment", RemoveBatch: removeBatch,
		InlineTemplate: true, CanDeleteBusyGroup: true, CanCancelRollout: true, KeepsFailedInstances: true, RecordsSurge: true,
		SupportsInPlaceChanges: true, SupportsScaleInProtection: true,
		ImageFields: []string{"spec.template.image"},
	},
	Observe: (*writer).observe, Look: (*writer).look, Steps: steps,
	Ownership: func(w *writer) driverkit.Ownership { return w.t.ownership(w.memory.set) }, AnyOwner: []pool.StepKind{pool.Adopt},
	Explain: func(w *writer, err error) error { return w.t.redactError(withField(w.t.pool, err)) },
	Touch:   func(w *writer) { w.memory.touch() }, Forget: func(w *writer) { w.memory.touched() },
}

// New makes a Driver with sessions of its own. It sends nothing.
func New(o Options) (*Driver, error) { return driverkit.New(o, session.New, Over) }

// Over makes a Driver over sessions that other drivers share: clients, rate budgets and look-ups are one.
func Over(sessions *session.Sessions) *Driver {
	lookups := &cache.Lookups{}
	return driverkit.Over(kind, func(ctx context.Context, t Target, from *driverkit.Memories[memory]) (*writer, error) {
		target, err := targetOf(t)
		if err != nil {
			return nil, err
		}
		c, err := sessions.Of(ctx, target.cluster)
		if err != nil {
			return nil, err
		}
		now := sessions.Now()
		m := from.Of(now, c.Key, strings.ToLower(target.cluster.ResourceGroup), strings.ToLower(target.name))
		m.touch = func() { c.TouchSet(target.cluster.ResourceGroup, target.name) }
		return &writer{reader{c: c, t: target.in(c.SubscriptionID), now: now, memory: m, lookups: lookups}}, nil
	}, sessions.Close)
}
