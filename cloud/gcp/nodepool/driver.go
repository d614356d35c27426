package nodepool

import (
	"context"
	"strings"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/nodepool/groups"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/pool"
)

// Options of a Driver. The zero Options are right for production.
type Options = session.Options

// Driver runs node pools. It is safe for concurrent use.
type Driver struct {
	sessions  *session.Sessions
	memories  cache.Pools[memory]
	templates groups.Templates
	lookups   cache.Lookups
}

var _ cloud.Driver[*gcpv1.ManagedMachinePoolSource] = (*Driver)(nil)

// New makes a Driver with sessions of its own. It sends nothing.
func New(o Options) (*Driver, error) {
	sessions, err := session.New(o)
	if err != nil {
		return nil, err
	}
	return Over(sessions), nil
}

// Over makes a Driver over sessions that other drivers share: clients, rate budgets and reads are one.
func Over(sessions *session.Sessions) *Driver { return &Driver{sessions: sessions} }

// Close closes idle connections. The driver can be used after it.
func (d *Driver) Close() { d.sessions.Close() }

// removeBatch is the most machines that one removal names. Far fewer finish their drain together.
const removeBatch = 100

// Traits returns those of node pools: GKE replaces machines of another version, image, machine type or disk whatever a strategy says, and
// the instance groups bring failed machines again.
func (d *Driver) Traits() pool.Traits {
	return pool.Traits{
		Group: "node pool", Template: "node configuration", RemoveBatch: removeBatch,
		ProviderRollout: true, RolloutOnTemplateChange: true, CanCancelRollout: true,
	}
}

// Observe reads one pool: the cluster with its node pools and the instance groups, in requests that all pools of a project share, and the
// machines.
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
	c, err := d.sessions.Of(ctx, target.access())
	if err != nil {
		return nil, err
	}
	now := d.sessions.Now()
	w := &writer{reader{c: c, t: target, now: now, templates: d.templates.Of(c), lookups: &d.lookups}}
	key := strings.Join([]string{c.Key, w.path(), target.Owner.ID}, "\n")
	if t.AssumeOwned {
		key += "\npreview"
	}
	w.memory = d.memories.Of(key, now)
	w.memory.mu.Lock()
	return &driverkit.Pass{
		Unlock: w.memory.mu.Unlock, Observe: w.observe, Start: w.start, Redact: func(err error) error { return err },
		Touch: w.touch, Forget: w.forget,
	}, nil
}
