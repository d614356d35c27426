package script

import (
	"time"

	"github.com/muster-project/muster/sim"
)

// One in outsideOneIn scenarios has each of the event groups that Outside draws.
const outsideOneIn = 12

// Outside draws edits of objects by users, restores from backups, and missing permissions.
func (d *Drawing) Outside() {
	if d.IntN(outsideOneIn) == 0 {
		at := d.Moment()
		d.Scenario.Add(Event{What: Cordon, At: at, N: d.IntN(9)})
		d.Scenario.Add(Event{What: Uncordon, At: at + time.Duration(20+d.IntN(400))*time.Second})
	}
	if d.IntN(outsideOneIn) == 0 && d.Scenario.Machines() != nil {
		d.Scenario.Add(Event{What: LoseOwner, At: d.Moment(), N: d.IntN(9)})
	}
	if d.IntN(outsideOneIn) == 0 {
		if of := d.odds().Secondary; of != nil {
			d.Scenario.Denied = of(d.Scenario)
		}
	}
	if d.IntN(outsideOneIn) == 0 {
		at := d.Moment()
		d.Scenario.Add(Event{What: Waver, At: at, N: d.IntN(9)})
		d.Scenario.Add(Event{What: Uncordon, At: at + time.Duration(90+d.IntN(400))*time.Second})
	}
	d.named()
	if d.IntN(outsideOneIn) == 0 {
		at := d.Moment()
		d.Scenario.Add(Event{What: Restored, At: at, N: d.IntN(9)})
		if d.IntN(2) == 0 {
			d.Scenario.Add(Event{What: Copied, At: max(0, at-time.Duration(d.IntN(120))*time.Second)})
		}
	}
}

// named draws a pool whose object names the group of another tool.
func (d *Drawing) named() {
	if d.IntN(outsideOneIn) > 0 || d.Scenario.Has(HandForeign) || d.Scenario.Kind.TheirID == "" {
		return
	}
	d.Scenario.Named = true
	d.Scenario.Add(Event{What: HandDropForeign, At: time.Minute + d.Moment()})
}

// Adopted draws a pool whose group another provider has made, and when its user asks to adopt the group.
func (d *Drawing) Adopted() {
	s := &d.Scenario
	if d.IntN(outsideOneIn) > 0 || s.Named || s.Brought || s.Spot || s.Has(HandForeign) || s.Kind.AdoptName == "" {
		return
	}
	s.Adopted = true
	s.Add(Event{What: Adopt, At: []time.Duration{0, d.Moment(), d.Moment()}[d.IntN(3)], N: d.IntN(2)})
}

// One in ignoredOneIn scenarios has a setting that the cloud accepts without effect.
const ignoredOneIn = 8

// Ignored draws a setting that the cloud accepts without effect, from a random moment until a calm or the end.
func (d *Drawing) Ignored() {
	if d.IntN(ignoredOneIn) > 0 {
		return
	}
	d.Scenario.Add(Event{What: CloudFault, At: d.Moment(), Fault: pick(d, Ignorable(d.Scenario))})
}

// Ignorable returns the rules of what the cloud of a scenario may accept and ignore.
func Ignorable(s Scenario) []sim.Fault {
	return s.Kind.Odds.Ignorable(s)
}
