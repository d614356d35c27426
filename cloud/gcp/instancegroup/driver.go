package instancegroup

import (
	"context"
	"strings"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/pool"
)

// Options of a Driver. The zero Options are right for production.
type Options = session.Options

// Driver runs GCPMachinePools. It is safe for concurrent use.
type Driver struct {
	sessions *session.Sessions
	memories cache.Pools[memory]
	lookups  cache.Lookups
}

var _ cloud.Driver[*gcpv1.MachinePoolSource] = (*Driver)(nil)

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

// removeBatch is the most instances that one removal names. Far fewer finish their drain together.
const removeBatch = 100

// Traits returns those of managed instance groups: deleting an instance lowers the size, and the group repairs instances that fail.
func (d *Driver) Traits() pool.Traits {
	return pool.Traits{
		Group: "managed instance group", Template: "instance template", RemoveBatch: removeBatch, CanDeleteBusyGroup: true,
		CanCancelRollout: true, RecordsSurge: true, SupportsInPlaceChanges: true,
	}
}

// Observe reads one pool: the group and its instances. At rest pools of a project share both reads. If the specification can't be satisfied
// and the pool does not exist yet, it returns *cloud.SpecUnsatisfiableError beside the observation, so that a pool that was never created
// can be deleted; if something exists, the error is among the issues and Wanted is zero.
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
	target = target.in(c.Project)
	key := strings.Join([]string{c.Key, target.cluster.Region, target.group, target.Owner.ID}, "\n")
	if t.AssumeOwned {
		key += "\npreview"
	}
	r := &groupReader{c: c, t: target, now: now, memory: d.memories.Of(key, now), lookups: &d.lookups}
	r.memory.mu.Lock()
	r.memory.touch = func() { c.TouchManager(r.t.place.location, r.t.group) }
	r.place()
	w := writer{reader{templateReader{translator{r}}}}
	return &driverkit.Pass{
		Unlock: r.memory.mu.Unlock, Observe: w.observe, Start: w.start,
		Redact: func(err error) error { return cloud.RedactError(err, t.Bootstrap) },
		Touch:  r.memory.touch, Forget: r.memory.forget,
	}, nil
}
