package fleet

import (
	"encoding/base64"
	"time"

	"github.com/muster-project/muster/sim"
)

// Machine holds the properties of a machine that all clouds have. The rows of a cloud embed it.
type Machine struct {
	// Number orders the machines of a group by their launch.
	Number int64
	// Zone is empty for a machine outside of zones.
	Zone, Type string
	// Spot is true if the cloud may reclaim the machine.
	Spot bool
}

// machine returns the Machine of a row.
func (m *Machine) machine() *Machine { return m }

// Member is a row that embeds a Machine.
type Member interface {
	comparable
	machine() *Machine
}

// disrupted is a row that embeds Disruptions.
type disrupted interface{ disruptions() *Disruptions }

// Disruptions schedule the failures of a machine. The rows of a cloud embed them.
type Disruptions struct {
	// NeverBoots is true if the software of the machine is not simulated.
	NeverBoots bool
	// ImpairedAt is the time from which its status checks fail, StopsAt the time at which it stops for good, ReclaimAt the time at which the
	// cloud starts to reclaim it. The zero time means never.
	ImpairedAt, StopsAt, ReclaimAt time.Time
}

// disruptions returns the Disruptions of a row.
func (d *Disruptions) disruptions() *Disruptions { return d }

// Disrupt schedules the failures that the faults of a launch cause. Only spot machines are reclaimed.
func (d *Disruptions) Disrupt(faults []sim.Fault, spot bool, now time.Time) {
	for _, one := range faults {
		at := now.Add(time.Duration(one.Delay))
		switch one.Kind {
		case sim.NeverBoots:
			d.NeverBoots = true
		case sim.Impaired:
			d.ImpairedAt = at
		case sim.Dies:
			d.StopsAt = at
		case sim.SpotInterruption:
			if spot {
				d.ReclaimAt = at
			}
		}
	}
}

// UserData decodes user data from base64. It returns nil for invalid data, which clouds reject when they receive it.
func UserData(written string) []byte {
	raw, err := base64.StdEncoding.DecodeString(written)
	if err != nil {
		return nil
	}
	return raw
}
