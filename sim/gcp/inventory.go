package gcp

import (
	"slices"
	"time"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/sim/gcp/project"
)

// inventory is all that the cloud holds. Its methods run one at a time.
type inventory struct {
	*project.Core

	compute   *compute.Service
	container *container.Service
	accounts  *core.Table[Account]

	core.Schedule
}

func newInventory(c *Cloud) *inventory {
	base := project.NewCore(c.Environment)
	w := &inventory{Core: base, compute: compute.New(base), accounts: core.NewTable[Account]("account/")}
	w.container = container.New(base, w.compute)
	return w
}

// Tables are all that is kept.
func (w *inventory) Tables() core.Tables {
	return append(slices.Concat(w.Core.Tables(), w.compute.Tables(), w.compute.Catalogue.Tables(), w.container.Tables()), w.accounts)
}

// Power powers machines on and off as they are wanted.
func (w *inventory) Power() { w.compute.Power() }

// Tick lets pass what is due by now and returns when something is due next; the zero time means never.
func (w *inventory) Tick(now time.Time) time.Time { return w.Pass(now, w.tick) }

func (w *inventory) tick(now time.Time) time.Time {
	w.Now = now
	return core.Earliest(w.container.Tick(), w.compute.Tick())
}
