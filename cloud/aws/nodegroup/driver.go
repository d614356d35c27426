package nodegroup

import (
	"context"
	"strings"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// Options of a Driver. The zero Options are right for production.
type Options struct {
	session.Options
	// EnableIAM lets the driver make the node role of a pool whose role does not exist, and look after roles that it has made
	// (feature gate EKSEnableIAM).
	EnableIAM bool
	// AllowAddRoles lets it attach the specification's additional policies to such a role (feature gate EKSAllowAddRoles).
	AllowAddRoles bool
}

// Driver runs AWSManagedMachinePools. It is safe for concurrent use.
type Driver struct {
	options  Options
	sessions *session.Sessions
	memories cache.Pools[memory]
}

var _ cloud.Driver[*awsv1.ManagedMachinePoolSource] = (*Driver)(nil)

// New makes a Driver. It sends nothing.
func New(o Options) (*Driver, error) {
	sessions, err := session.New(o.Options)
	if err != nil {
		return nil, err
	}
	return Over(sessions, o), nil
}

// Over makes a Driver over sessions that other drivers share: clients, rate budgets and look-ups are one. The session's own
// options among o count for nothing then.
func Over(sessions *session.Sessions, o Options) *Driver {
	return &Driver{options: o, sessions: sessions}
}

// Close closes idle connections. The driver can be used after it.
func (d *Driver) Close() { d.sessions.Close() }

// Traits are those of node groups: EKS replaces machines of another template whatever a strategy says, and can't be stopped.
func (d *Driver) Traits() pool.Traits {
	return pool.Traits{
		Group: "node group", Template: "launch template", RemoveBatch: asg.RemoveBatch,
		ProviderRollout: true, RolloutOnTemplateChange: true, ReplaceKeepsSize: true, Prerequisites: "node role",
	}
}

// Observe reads one pool. At rest it reads the group behind, in a call that pools share, and now and then something more. When the
// specification can't be followed and nothing of the pool exists yet, the error is *cloud.SpecUnsatisfiableError and what was observed is
// returned beside it, so that a pool that never came to be can be deleted; when something exists, the error is among the issues and Wanted
// is zero.
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
	key := strings.Join([]string{c.Key, target.eks, target.name, target.template, target.Owner.ID}, "\n")
	if t.AssumeOwned {
		key += "\npreview"
	}
	p := &writer{reader{options: d.options, c: c, t: target, now: now, memory: d.memories.Of(key, now), slow: session.SlowReads{Now: now}}}
	p.memory.mu.Lock()
	p.memory.touch = func() {
		if name := p.memory.behindName; name != "" {
			c.TouchGroup(name)
		}
	}
	return &driverkit.Pass{
		Unlock: p.memory.mu.Unlock, Observe: p.observe,
		Start:  func(ctx context.Context, s pool.Step) error { return session.Vanished(p.t.blame(p.start(ctx, s))) },
		Redact: func(err error) error { return cloud.RedactError(err, t.Bootstrap) },
		Save: func() func() {
			reads := p.memory.reads
			return func() { p.memory.reads = reads }
		},
		Touch: p.memory.touch, Forget: p.memory.forget,
	}, nil
}
