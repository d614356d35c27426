package azure

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/azure/containerservice"
	"github.com/muster-project/muster/sim/state"
)

// inventory is all that the cloud holds. Its methods run one at a time.
type inventory struct {
	*arm.Core
	cloud *Cloud

	compute     *compute.Service
	containers  *containerservice.Service
	assignments *sim.Table[assignment]
	secrets     *sim.Table[Application]

	state.Schedule

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
	core := arm.NewCore(c.Environment, c.settings())
	w := &inventory{
		Core: core, cloud: c, compute: compute.New(core),
		assignments: sim.NewTable[assignment]("role-assignment/"), secrets: sim.NewTable[Application]("application/"),
	}
	w.containers = containerservice.New(core, w.compute)
	w.environment, w.roles = &environment{w}, &roles{w}
	return w
}

func (w *inventory) tables() state.Tables {
	all := slices.Concat(w.Tables(), w.compute.Tables(), w.containers.Tables())
	return append(all, w.assignments, w.secrets)
}

// Flush writes the rows that have changed.
func (w *inventory) Flush(changes map[string]json.RawMessage) error { return w.tables().Flush(changes) }

// Power powers machines on and off as they are wanted.
func (w *inventory) Power() { w.compute.Power() }

// Tick lets pass what is due by now and returns when something is due next; the zero time means never.
func (w *inventory) Tick(now time.Time) time.Time { return w.Pass(now, w.tick) }

func (w *inventory) tick(now time.Time) time.Time {
	w.Now = now
	next := w.compute.Tick()
	if w.containers.Idle() {
		return next
	}
	next = state.Earliest(next, w.containers.Tick())
	// What AKS has just requested of its scale sets has times of its own.
	return state.Earliest(next, w.compute.Tick())
}
