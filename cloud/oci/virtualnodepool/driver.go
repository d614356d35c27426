package virtualnodepool

import (
	"context"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/oci/oke"
	"github.com/muster-project/muster/cloud/oci/session"
	"github.com/muster-project/muster/pool"
)

// Options of a Driver. The zero Options are right for production.
type Options = session.Options

// Target is one pool as the driver gets it.
type Target = cloud.Target[*ociv1.VirtualMachinePoolSource]

// Driver runs virtual node pools of OKE.
type Driver = driverkit.Driver[*ociv1.VirtualMachinePoolSource, *writer, memory]

// kind describes virtual node pools.
var kind = driverkit.Kind[*writer]{
	Group: "a virtual node pool",
	Traits: pool.Traits{
		Group: "virtual node pool", Template: "virtual node configuration", ProviderRollout: true, RolloutOnTemplateChange: true,
		CanDeleteBusyGroup: true, SelectsInstances: true, KeepsFailedInstances: true, LaunchesOnWrite: true,
	},
	Observe: (*writer).observe, Look: func(w *writer, ctx context.Context, _ pool.Step) error { return w.Look(ctx) }, Steps: steps,
	Ownership: func(w *writer) driverkit.Ownership { return w.Ownership() },
	AnyOwner:  []pool.StepKind{pool.Adopt},
	Explain:   withField,
	Touch:     func(w *writer) { w.Touch() }, Forget: func(w *writer) { w.Forget() },
}

// target is Target with its parts at hand.
type target struct {
	Target
	at   oke.Pool
	spec *ociv1.OCIVirtualMachinePoolSpec
}

func targetOf(t Target) (target, error) {
	if t.Spec == nil || t.Spec.Pool == nil {
		return target{}, cloud.Invalidf("spec", "there is no specification to go by")
	}
	at, err := oke.PoolOf(t, "virtual node pool", t.Spec.Name, &t.Spec.Cluster)
	return target{Target: t, at: at, spec: t.Spec.Pool}, err
}

// New makes a Driver with sessions of its own. It sends nothing.
func New(o Options) (*Driver, error) { return driverkit.New(o, session.New, Over) }

// Over makes a Driver over sessions that other drivers share: rate budgets and reads are one.
func Over(sessions *session.Sessions) *Driver {
	return driverkit.Over(kind, func(_ context.Context, t Target, from *driverkit.Memories[memory]) (*writer, error) {
		target, err := targetOf(t)
		if err != nil {
			return nil, err
		}
		c, err := sessions.Of(target.at.Cluster.View)
		if err != nil {
			return nil, err
		}
		now := sessions.Now()
		w := &writer{reader{t: target}}
		w.reads = reads{Kind: &readsOf, Session: c, At: target.at, Now: now, MaxAge: t.Cache.MaxAge, Nodes: w.readNodes,
			Memory: from.Of(now, c.Key, target.at.Cluster.ID, target.at.Name), Moving: func() bool { return w.last().moving() }}
		return w, nil
	}, sessions.Close)
}
