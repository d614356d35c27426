package azure

import (
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/compute"
)

// inventory is all that the cloud holds. Its methods run one at a time.
type inventory struct {
	*arm.Core
	cloud *Cloud

	compute     *compute.Service
	assignments *sim.Table[assignment]
	secrets     *sim.Table[Application]

	// due is when something happens next by itself; touched is true if a request has changed something since the last tick.
	due     time.Time
	touched bool

	environment *environment
	roles       *roles
}

// The parts of Resource Manager itself. Each embeds the inventory.
type (
	// environment is what scale sets refer to: groups, networks, identities and tags.
	environment struct{ *inventory }
	// roles are role assignments and definitions.
	roles struct{ *inventory }
)

func newInventory(c *Cloud) *inventory {
	core := arm.NewCore(c.environment())
	w := &inventory{
		Core: core, cloud: c, compute: compute.New(core),
		assignments: sim.NewTable[assignment]("role-assignment/"), secrets: sim.NewTable[Application]("application/"),
	}
	w.environment, w.roles = &environment{w}, &roles{w}
	return w
}

func (w *inventory) tables() arm.Tables {
	all := append(w.Tables(), w.compute.Tables()...)
	return append(all, w.assignments, w.secrets)
}

// tick lets pass what is due by now and returns when something is due next; the zero time means never.
func (w *inventory) tick(now time.Time) time.Time {
	w.Now = now
	return w.compute.Tick()
}
