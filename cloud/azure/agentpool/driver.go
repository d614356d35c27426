package agentpool

import (
	"context"
	"strings"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/session"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// Options of a Driver. The zero Options are right for production.
type Options = session.Options

// Driver runs agent pools. It is safe for concurrent use.
type Driver struct {
	sessions *session.Sessions
	memories cache.Pools[memory]
}

var _ cloud.Driver[*aksv1.AgentPoolSource] = (*Driver)(nil)

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

// removeBatch is the most machines that one removal names. Far fewer finish their drain together.
const removeBatch = 100

// Traits returns those of agent pools: AKS replaces machines of another version or size whatever a strategy says.
func (d *Driver) Traits() pool.Traits {
	return pool.Traits{
		Group: "agent pool", Template: "node configuration", RemoveBatch: removeBatch,
		ProviderRollout: true, RolloutOnTemplateChange: true, CanCancelRollout: true, KeepsFailedInstances: true,
	}
}

// Observe reads one pool: the managed cluster with its agent pools, in one request that all pools of it share, and the machines of this
// one.
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
	c, err := d.sessions.Of(ctx, target.cluster.View)
	if err != nil {
		return nil, err
	}
	now := d.sessions.Now()
	target = target.in(c.SubscriptionID)
	key := strings.Join([]string{c.Key, strings.ToLower(target.poolID()), target.Owner.ID}, "\n")
	if t.AssumeOwned {
		key += "\npreview"
	}
	w := &writer{reader{c: c, t: target, now: now, memory: d.memories.Of(key, now)}}
	w.memory.mu.Lock()
	w.memory.touch = func() { c.TouchManagedCluster(target.clusterID()) }
	return &driverkit.Pass{
		Unlock: w.memory.mu.Unlock, Observe: w.observe, Start: w.start, Redact: func(err error) error { return err },
		Touch: w.memory.touch, Forget: w.memory.touched,
	}, nil
}
