package aws

import (
	"context"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/desired"
	"github.com/muster-project/muster/cloud/aws/launch"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// Options of a Driver. The zero Options are right for production.
type Options = session.Options

// Driver runs AWSMachinePools. In the steady state a look sends one request.
type Driver = driverkit.Driver[*awsv1.MachinePoolSource, *writer, memory]

// kind describes Auto Scaling groups.
var kind = driverkit.Kind[*writer]{
	Group: "an Auto Scaling group",
	Traits: pool.Traits{
		Group: "Auto Scaling group", Template: "launch template", RemoveBatch: asg.RemoveBatch, StandbyBatch: asg.StandbyBatch,
		ProviderRollout: true, CanCancelRollout: true, SupportsStandby: true, ReplaceKeepsSize: true,
		ImageFields: []string{launch.Field + ".ami"},
	},
	Observe: (*writer).observe, Look: (*writer).look, Steps: steps,
	Ownership: (*writer).ownership, AnyOwner: []pool.StepKind{pool.Adopt, pool.DeleteTemplates},
	Explain: func(w *writer, err error) error { return session.Vanished(desired.Blame(err, w.t.pool)) },
	Save: func(w *writer) func() {
		reads := w.memory.reads
		return func() { w.memory.reads = reads }
	},
	Touch: func(w *writer) { w.memory.touch() }, Forget: func(w *writer) { w.memory.forget() },
}

// New makes a Driver with sessions of its own. It sends nothing.
func New(o Options) (*Driver, error) { return driverkit.New(o, session.New, Over) }

// Over makes a Driver over sessions that other drivers share: clients, rate budgets and look-ups are one.
func Over(sessions *session.Sessions) *Driver {
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
		w := &writer{reader{c: c, t: target, now: now, memory: from.Of(now, c.Key, target.group, target.template)}}
		w.launch = launch.Pass{Session: c, Source: target.source(), Memory: &w.memory.template, Now: now, Deleting: t.Deleting,
			ByEvent: t.Cache.ByEvent && !t.Adopt}
		w.launch.Source.IgnitionAllowed = c.BootstrapFormatIgnition
		w.memory.touch = func() { c.TouchGroup(target.group) }
		return w, nil
	}, sessions.Close)
}
