package aws

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/pool"
)

// Options of a Driver. The zero Options are right for production.
type Options struct {
	// Config gives the SDK's configuration for a region; an empty region means the one of the SDK's settings. Default:
	// the SDK's own chain of credentials, regions and endpoints (AWS_ENDPOINT_URL among them).
	Config func(ctx context.Context, region string) (awssdk.Config, error)
	// Base sends the requests in the place of the SDK's HTTP client, for tests and recordings.
	Base http.RoundTripper
	// Hook is told about every request.
	Hook wire.Hook
	// Account tells apart the rate budgets of several drivers in one process, and labels metrics. Default: "default".
	Account string
	// Timeout of one request. Default: wire.DefaultTimeout.
	Timeout time.Duration
	// Now is the clock. Default: time.Now.
	Now func() time.Time
}

// Driver runs AWSMachinePools. It is safe for concurrent use.
type Driver struct {
	options  Options
	regions  regions
	memories memories
	lookups  lookups
}

var _ cloud.Driver[*awsv1.MachinePoolSource] = (*Driver)(nil)

// New makes a Driver. It sends nothing.
func New(o Options) (*Driver, error) {
	if o.Timeout < 0 {
		return nil, errors.New("aws driver: the timeout of a request is negative: want a positive one, or zero for the default")
	}
	if o.Config == nil {
		o.Config = defaultConfig
	}
	if o.Account == "" {
		o.Account = "default"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Driver{options: o, regions: regions{options: o, made: map[string]*clients{}}}, nil
}

// Close closes idle connections. The driver can be used after it.
func (d *Driver) Close() { d.regions.close() }

const (
	// removeBatch keeps a removal, which takes one call for each instance, within a few seconds; one call sets aside 20 at the
	// most.
	removeBatch = 10
)

// Traits are those of Auto Scaling groups.
func (d *Driver) Traits() pool.Traits {
	return pool.Traits{
		Group: "Auto Scaling group", Template: "launch template", RemoveBatch: removeBatch,
		Rolls: true, SetsAside: true,
	}
}

// Observe reads one pool. In the steady state it sends one request. When the specification can't be followed and nothing
// of the pool exists yet, the error is *cloud.Unmet and what was observed is returned beside it, so that a pool that never
// came to be can be deleted; when something exists, the error is among the issues and Wanted is zero.
func (d *Driver) Observe(ctx context.Context, t Target) (pool.Observed, error) {
	p, err := d.begin(ctx, t)
	if err != nil {
		return pool.Observed{}, err
	}
	defer p.memory.mu.Unlock()
	return p.observe(ctx)
}

// Start begins one step. A conflict makes everything be read again, for something is not as it was observed.
func (d *Driver) Start(ctx context.Context, t Target, s pool.Step) error {
	p, err := d.begin(ctx, t)
	if err != nil {
		return err
	}
	defer p.memory.mu.Unlock()
	err = cloud.Hide(vanished(blame(p.start(ctx, s), p.t.pool)), t.Bootstrap)
	if cloud.KindOf(err) == cloud.Conflict {
		p.memory.touchedGroup()
		p.memory.template.at = time.Time{}
	}
	return err
}

// begin makes a pass and locks the pool's memory.
func (d *Driver) begin(ctx context.Context, t Target) (*pass, error) {
	target, err := targetOf(t)
	if err != nil {
		return nil, err
	}
	c, err := d.regions.of(ctx, target.cluster.Region)
	if err != nil {
		return nil, err
	}
	now := d.options.Now()
	key := strings.Join([]string{c.region, target.group, target.template, target.Owner.ID}, "\n")
	p := &pass{driver: d, c: c, t: target, now: now, memory: d.memories.of(key, now)}
	p.memory.mu.Lock()
	return p, nil
}
