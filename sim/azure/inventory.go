package azure

import (
	"slices"
	"time"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/azure/containerservice"
	"github.com/muster-project/muster/sim/core"
)

// inventory is all that the cloud holds. Its methods run one at a time.
type inventory struct {
	*arm.Core

	compute     *compute.Service
	containers  *containerservice.Service
	assignments *core.Table[assignment]
	secrets     *core.Table[Application]

	core.Schedule

	environment *environment
	roles       *roles
}

// The parts of Resource Manager itself.
type (
	// environment is what scale sets refer to: groups, networks, identities and tags.
	environment struct {
		*arm.Core
		compute    *compute.Service
		containers *containerservice.Service
		secrets    *core.Table[Application]
	}
	// roles are role assignments and definitions.
	roles struct {
		*arm.Core
		assignments *core.Table[assignment]
		environment *environment
	}
)

func newInventory(c *Cloud) *inventory {
	base := arm.NewCore(c.Environment, c.settings())
	w := &inventory{
		Core: base, compute: compute.New(base),
		assignments: core.NewTable[assignment]("role-assignment/"), secrets: core.NewTable[Application]("application/"),
	}
	w.containers = containerservice.New(base, w.compute)
	w.environment = &environment{base, w.compute, w.containers, w.secrets}
	w.roles = &roles{base, w.assignments, w.environment}
	return w
}

// Tables are all that is kept.
func (w *inventory) Tables() core.Tables {
	all := slices.Concat(w.Core.Tables(), w.compute.Tables(), w.containers.Tables())
	return append(all, w.assignments, w.secrets)
}

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
	next = core.Earliest(next, w.containers.Tick())
	// What AKS has just requested of its scale sets has times of its own.
	return core.Earliest(next, w.compute.Tick())
}
