package instancegroup

import (
	"context"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/pool"
)

// Options of a Driver. The zero Options are right for production.
type Options = session.Options

// Driver runs GCPMachinePools. A look reads the group and its instances; at rest pools of a project share both reads.
type Driver = driverkit.Driver[*gcpv1.MachinePoolSource, writer, memory]

// removeBatch is the most instances that one removal names. Far fewer finish their drain together.
const removeBatch = 100

// kind describes managed instance groups: deleting an instance lowers the size, and the group repairs instances that fail.
var kind = driverkit.Kind[writer]{
	Group: "a managed instance group",
	Traits: pool.Traits{
		Group: "managed instance group", Template: "instance template", RemoveBatch: removeBatch, CanDeleteBusyGroup: true,
		CanCancelRollout: true, RecordsSurge: true, SupportsInPlaceChanges: true,
		ImageFields: []string{"spec.image", "spec.imageFamily"},
	},
	Observe: writer.observe, Look: writer.look, Steps: steps,
	Ownership: func(w writer) driverkit.Ownership { return w.t.ownership(w.memory.group) },
	AnyOwner:  []pool.StepKind{pool.Adopt, pool.DeleteTemplates},
	Explain:   func(_ writer, err error) error { return withField(err) },
	Touch:     func(w writer) { w.memory.touch() }, Forget: func(w writer) { w.memory.forget() },
}

// New makes a Driver with sessions of its own. It sends nothing.
func New(o Options) (*Driver, error) { return driverkit.New(o, session.New, Over) }

// Over makes a Driver over sessions that other drivers share: clients, rate budgets and look-ups are one.
func Over(sessions *session.Sessions) *Driver {
	lookups := &cache.Lookups{}
	return driverkit.Over(kind, func(ctx context.Context, t Target, from *driverkit.Memories[memory]) (writer, error) {
		target, err := targetOf(t)
		if err != nil {
			return writer{}, err
		}
		c, err := sessions.Of(ctx, session.AccessOf(target.cluster))
		if err != nil {
			return writer{}, err
		}
		now := sessions.Now()
		r := &groupReader{c: c, t: target.in(c.Project), now: now, lookups: lookups,
			memory: from.Of(now, c.Key, target.cluster.Region, target.group)}
		r.memory.touch = func() { c.TouchManager(r.t.place.location, r.t.group) }
		r.place()
		return writer{reader{templateReader{translator{r}}}}, nil
	}, sessions.Close)
}
