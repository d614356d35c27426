package world

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/oracle"
)

// expiredFor is the time from the expiry of credentials to their renewal.
const expiredFor = 25 * time.Minute

// hours continues a scenario for a day. Nothing may be written while hourly and six-hourly reads recur. Then the account's credentials
// expire for a while, and the kubeconfig of the workload cluster is rotated; neither may cost a machine.
func (r *rest) hours() {
	w := r.world
	if w.Scenario.Rests == 0 || w.over() {
		return
	}
	w.since()
	w.until(time.Now().Add(w.Scenario.Rests))
	w.blameAll("quiet", oracle.Quiet([]oracle.Pass{{Writes: w.since(), Status: r.statusText()}}))
	before := w.servers.members()
	w.Trace("event", "credentials expire")
	w.Must(w.pool.Cloud.Faults().Add(sim.Fault{Kind: sim.ErrorBefore, Action: "*", Code: w.Scenario.Kind.Odds.Denial,
		Message: "played by the explorer", Status: http.StatusForbidden}), "let the credentials expire")
	w.Workload.Outage.Begin(3 * time.Minute)
	w.until(time.Now().Add(expiredFor))
	w.calm()
	r.wait()
	w.each(r.asDesired)
	if after := w.servers.members(); after != before {
		w.Blame("hours", "machines went or came while the credentials were expired: before %q, after %q", before, after)
	}
}

// upgradeManager replaces the manager by one of a newer version: objects lack what an older one has not stored of look-ups.
func (g *managers) upgradeManager(n int) {
	w := g.world
	w.faults++
	w.each(func() {
		_, o := w.Objects.Both()
		if o == nil {
			return
		}
		values := remembered(o)
		keys := slices.DeleteFunc(slices.Sorted(maps.Keys(values)), func(key string) bool { return !lookedUp(key) })
		if len(keys) == 0 {
			return
		}
		w.Objects.EditObject(func(o client.Object) { w.Must(stored.Update(o, nil, keys[n%len(keys)]), "drop a look-up") })
	})
	for _, p := range slices.Clone(g.list) {
		g.bury(p)
	}
}

// lookedUp reports whether a stored value is a look-up of a driver's, which an older version may not have stored. Others stay: no version
// lacks them.
func lookedUp(key string) bool {
	for _, kept := range []string{stored.GroupName, stored.Identity, stored.Configurations, stored.ReplicasManagedBy, stored.Restart,
		stored.RestartPool, "adopted"} {
		if key == kept {
			return false
		}
	}
	return !strings.HasPrefix(key, stored.Token) && !strings.HasPrefix(key, stored.Content)
}
