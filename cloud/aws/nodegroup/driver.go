package nodegroup

import (
	"context"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud/aws/asg"
	"github.com/muster-project/muster/cloud/aws/session"
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

// Driver runs AWSManagedMachinePools. At rest a look reads the backing group, in a call that pools share, and now and then something more.
type Driver = driverkit.Driver[*awsv1.ManagedMachinePoolSource, *writer, memory]

// kind describes node groups: EKS replaces machines of another template whatever a strategy says, and can't be stopped.
var kind = driverkit.Kind[*writer]{
	Group: "a node group",
	Traits: pool.Traits{
		Group: "node group", Template: "launch template", RemoveBatch: asg.RemoveBatch,
		ProviderRollout: true, RolloutOnTemplateChange: true, ReplaceKeepsSize: true, Prerequisites: "node role",
	},
	Observe: func(w *writer, ctx context.Context) (pool.Observed, error) { return w.reader.observe(ctx) },
	Look:    (*writer).look, Steps: steps,
	Ownership: func(w *writer) driverkit.Ownership { return w.state.ownership() },
	AnyOwner:  []pool.StepKind{pool.Adopt, pool.DeleteTemplates, pool.CleanUp},
	Explain:   func(w *writer, err error) error { return session.Vanished(w.t.blame(err)) },
	Save: func(w *writer) func() {
		reads := w.memory.reads
		return func() { w.memory.reads = reads }
	},
	Touch: func(w *writer) { w.memory.touch() }, Forget: func(w *writer) { w.memory.forget() },
}

// New makes a Driver with sessions of its own. It sends nothing.
func New(o Options) (*Driver, error) {
	return driverkit.New(o.Options, session.New, func(sessions *session.Sessions) *Driver { return Over(sessions, o) })
}

// Over makes a Driver over sessions that other drivers share: clients, rate budgets and look-ups are one. The session's own
// options among o count for nothing then.
func Over(sessions *session.Sessions, o Options) *Driver {
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
		m := from.Of(now, c.Key, target.eks, target.name, target.template)
		m.touch = func() {
			if name := m.backingName; name != "" {
				c.TouchGroup(name)
			}
		}
		p := &pass{options: o, c: c, t: target, now: now, memory: m}
		return &writer{pass: p, reader: &reader{pass: p, slow: session.SlowReads{Now: now}}}, nil
	}, sessions.Close)
}
