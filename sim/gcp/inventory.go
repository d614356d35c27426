package gcp

import (
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/sim/gcp/project"
)

// inventory is all that the cloud holds. Its methods run one at a time.
type inventory struct {
	*project.Core
	cloud *Cloud

	compute   *compute.Service
	container *container.Service
	accounts  *sim.Table[Account]

	// due is when something happens next by itself; touched is true if a request has changed something since the last tick.
	due     time.Time
	touched bool
}

func newInventory(c *Cloud) *inventory {
	core := project.NewCore(c.environment())
	w := &inventory{Core: core, cloud: c, compute: compute.New(core), accounts: sim.NewTable[Account]("account/")}
	w.container = container.New(core, w.compute)
	return w
}

func (w *inventory) tables() project.Tables {
	return append(slices.Concat(w.Tables(), w.compute.Tables(), w.compute.Catalogue.Tables(), w.container.Tables()), w.accounts)
}

// tick lets pass what is due by now and returns when something is due next; the zero time means never.
func (w *inventory) tick(now time.Time) time.Time {
	w.Now = now
	return project.Earliest(w.container.Tick(), w.compute.Tick())
}
