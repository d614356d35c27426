package world

import (
	"net/http"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
)

// outsideOneIn is how rare scenarios are with each of the things that outside draws.
const outsideOneIn = 12

// Outside draws what users and restores do to objects, and what the credentials do not allow.
func (d *Drawing) Outside() {
	if d.IntN(outsideOneIn) == 0 {
		at := d.Moment()
		d.Scenario.Add(Event{What: Cordon, At: at, N: d.IntN(9)})
		d.Scenario.Add(Event{What: Uncordon, At: at + time.Duration(20+d.IntN(400))*time.Second})
	}
	if d.IntN(outsideOneIn) == 0 && d.Scenario.machines() != nil {
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

// groupOf returns the name of the group that a provider ID names.
func (k *Kind) groupOf(id string) string {
	if k.GroupOf != nil {
		return k.GroupOf(id)
	}
	return id[strings.LastIndex(id, "/")+1:]
}

// deny refuses the secondary read of the scenario, if there is one.
func (a *account) deny() {
	w := a.world
	if w.Scenario.Denied == "" {
		return
	}
	f := sim.Fault{Kind: sim.ErrorBefore, Action: w.Scenario.Denied, Code: w.Scenario.Kind.Odds.Denial, Message: "played by the explorer",
		Status: http.StatusForbidden}
	w.Must(w.pool.Cloud.Faults().Add(f), "deny a read")
}

// waverFor is how long a user takes to give up a scale-in.
const waverFor = 20 * time.Second
