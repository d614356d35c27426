package gcp

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/container"
	"github.com/muster-project/muster/sim/gcp/project"
	"github.com/muster-project/muster/sim/state"
)

// inventory is all that the cloud holds. Its methods run one at a time.
type inventory struct {
	*project.Core
	cloud *Cloud

	compute   *compute.Service
	container *container.Service
	accounts  *sim.Table[Account]

	state.Schedule
}

func newInventory(c *Cloud) *inventory {
	core := project.NewCore(c.Environment)
	w := &inventory{Core: core, cloud: c, compute: compute.New(core), accounts: sim.NewTable[Account]("account/")}
	w.container = container.New(core, w.compute)
	return w
}

func (w *inventory) tables() state.Tables {
	return append(slices.Concat(w.Tables(), w.compute.Tables(), w.compute.Catalogue.Tables(), w.container.Tables()), w.accounts)
}

// Flush writes the rows that have changed.
func (w *inventory) Flush(changes map[string]json.RawMessage) error { return w.tables().Flush(changes) }

// Power powers machines on and off as they are wanted.
func (w *inventory) Power() { w.compute.Power() }

// Tick lets pass what is due by now and returns when something is due next; the zero time means never.
func (w *inventory) Tick(now time.Time) time.Time { return w.Pass(now, w.tick) }

func (w *inventory) tick(now time.Time) time.Time {
	w.Now = now
	return state.Earliest(w.container.Tick(), w.compute.Tick())
}
