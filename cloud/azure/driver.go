package azure

import (
	"context"
	"strings"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// Options of a Driver. The zero Options are right for production.
type Options = session.Options

// Driver runs AzureMachinePools. It is safe for concurrent use.
type Driver struct {
	sessions *session.Sessions
	memories cache.Pools[memory]
	lookups  cache.Lookups
}

var _ cloud.Driver[*azurev1.MachinePoolSource] = (*Driver)(nil)

// New makes a Driver with sessions of its own. It sends nothing.
func New(o Options) (*Driver, error) {
	sessions, err := session.New(o)
	if err != nil {
		return nil, err
	}
	return Over(sessions), nil
}

// Over makes a Driver over sessions that other drivers share: clients, rate budgets and look-ups are one.
func Over(sessions *session.Sessions) *Driver { return &Driver{sessions: sessions} }

// Close closes idle connections. The driver can be used after it.
func (d *Driver) Close() { d.sessions.Close() }

const (
	// removeBatch is the most machines that one removal names. Far fewer finish their drain together.
	removeBatch = 100
)

// Traits returns those of scale sets.
func (d *Driver) Traits() pool.Traits {
	return pool.Traits{
		Group: "scale set", Template: "model", Prerequisites: "role assignment", RemoveBatch: removeBatch,
		InlineTemplate: true, CanDeleteBusyGroup: true, CanCancelRollout: true, KeepsFailedInstances: true, RecordsSurge: true,
		SupportsInPlaceChanges: true, SupportsScaleInProtection: true,
	}
}

// Observe reads one pool. In the steady state it sends one request in mode Uniform and next to none in mode Flexible, because pools share
// the rest. If the specification can't be satisfied and the pool does not exist yet, it returns *cloud.SpecUnsatisfiableError beside the
// observation, so that a pool that was never created can be deleted; if something exists, the error is among the issues and Wanted is zero.
func (d *Driver) Observe(ctx context.Context, t Target) (pool.Observed, error) {
	return driverkit.Observe(ctx, d.begin, t)
}

// Start begins one step. After a conflict everything is read again: something is not as it was observed.
func (d *Driver) Start(ctx context.Context, t Target, s pool.Step) error {
	return driverkit.Start(ctx, d.begin, t, s)
}

// begin prepares a pass and locks the memory of the pool.
func (d *Driver) begin(ctx context.Context, t Target) (*driverkit.Pass, error) {
	target, err := targetOf(t)
	if err != nil {
		return nil, err
	}
	c, err := d.sessions.Of(ctx, target.cluster)
	if err != nil {
		return nil, err
	}
	now := d.sessions.Now()
	key := strings.Join([]string{c.Key, strings.ToLower(target.cluster.ResourceGroup), strings.ToLower(target.name), target.Owner.ID}, "\n")
	if t.AssumeOwned {
		key += "\npreview"
	}
	w := &writer{reader{c: c, t: target.in(c.SubscriptionID), now: now, memory: d.memories.Of(key, now), lookups: &d.lookups}}
	w.memory.mu.Lock()
	w.memory.touch = func() { c.TouchSet(w.t.cluster.ResourceGroup, w.t.name) }
	return &driverkit.Pass{
		Unlock: w.memory.mu.Unlock, Observe: w.observe, Start: w.start, Redact: w.t.redactError, Touch: w.memory.touch, Forget: w.memory.touched,
	}, nil
}
