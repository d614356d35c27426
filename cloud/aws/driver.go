package aws

import (
	"context"
	"strings"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/desired"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// Options of a Driver. The zero Options are right for production.
type Options = session.Options

// Driver runs AWSMachinePools. It is safe for concurrent use.
type Driver struct {
	sessions *session.Sessions
	memories cache.Pools[memory]
}

var _ cloud.Driver[*awsv1.MachinePoolSource] = (*Driver)(nil)

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

// Traits are those of Auto Scaling groups.
func (d *Driver) Traits() pool.Traits {
	return pool.Traits{
		Group: "Auto Scaling group", Template: "launch template", RemoveBatch: asg.RemoveBatch, StandbyBatch: asg.StandbyBatch,
		ProviderRollout: true, CanCancelRollout: true, SupportsStandby: true, ReplaceKeepsSize: true,
	}
}

// Observe reads one pool. In the steady state it sends one request. When the specification can't be followed and nothing
// of the pool exists yet, the error is *cloud.SpecUnsatisfiableError and what was observed is returned beside it, so that a pool that never
// came to be can be deleted; when something exists, the error is among the issues and Wanted is zero.
func (d *Driver) Observe(ctx context.Context, t Target) (pool.Observed, error) {
	return driverkit.Observe(ctx, d.begin, t)
}

// Start begins one step. A conflict makes everything be read again, for something is not as it was observed. A step that a rate budget
// held back before its first write leaves what was read as it was.
func (d *Driver) Start(ctx context.Context, t Target, s pool.Step) error {
	return driverkit.Start(ctx, d.begin, t, s)
}

// begin prepares a pass and locks what is cached of the pool.
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
	key := strings.Join([]string{c.Key, target.group, target.template, target.Owner.ID}, "\n")
	if t.AssumeOwned {
		key += "\npreview"
	}
	p := &writer{reader{c: c, t: target, now: now, memory: d.memories.Of(key, now)}}
	p.launch = launch.Pass{Session: c, Source: target.source(), Memory: &p.memory.template, Now: now, Deleting: t.Deleting,
		ByEvent: t.ByEvent && !t.Adopt}
	p.launch.Source.IgnitionAllowed = c.BootstrapFormatIgnition
	p.memory.mu.Lock()
	p.memory.touch = func() { c.TouchGroup(target.group) }
	return &driverkit.Pass{
		Unlock: p.memory.mu.Unlock, Observe: p.observe,
		Start: func(ctx context.Context, s pool.Step) error {
			return session.Vanished(desired.Blame(p.start(ctx, s), p.t.pool))
		},
		Redact: func(err error) error { return cloud.RedactError(err, t.Bootstrap) },
		Save: func() func() {
			reads := p.memory.reads
			return func() { p.memory.reads = reads }
		},
		Touch: p.memory.touch, Forget: p.memory.forget,
	}, nil
}
