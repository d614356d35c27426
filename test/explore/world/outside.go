package world

import (
	"net/http"
	"time"

	"github.com/muster-project/muster/sim"
)

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

// waverFor is the time after which a user reverts a scale-in.
const waverFor = 20 * time.Second
