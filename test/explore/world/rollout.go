package world

import (
	"strings"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/record"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/view/plan"
)

// The annotations by which people hold a rollout and ask for one, as the project promises them.
const (
	rolloutAnnotation = "muster.dev/rollout"
	restartAnnotation = "muster.dev/restart-now"
)

// Rollout is what of the pool is to be replaced.
type Rollout struct {
	world *World
	// restarts is when a user last asked for a replacement of all machines.
	restarts time.Time
}

// rolls reports whether machines of another template than the wanted one are to be replaced.
func (r *Rollout) rolls(o client.Object) bool {
	w := r.world
	return (w.pool.Rolls == nil || w.pool.Rolls(o)) && !w.Scenario.SkipModel
}

// Left are how many members are to be replaced: of another template, or made before a restart was asked for. Where nothing is
// to be replaced there are none.
func (r *Rollout) Left() (stale, old int) {
	w := r.world
	mp, o := w.Objects.Both()
	if o == nil {
		return 0, 0
	}
	rolls := r.rolls(o)
	for _, g := range w.Snapshot().Groups {
		if g.Owner != w.Objects.Owner().ID {
			continue
		}
		for _, m := range g.Staying() {
			// Versions are read again after hours: until then a version that a user deleted is what it was.
			dropped := m.Content == "" && w.Scenario.Has(script.HandDropVersion)
			if rolls && m.Content != g.Content && !dropped {
				stale++
			}
			if annotated(mp, o, restartAnnotation) != "" && m.Launched.Before(r.restarts) {
				old++
			}
		}
	}
	return stale, old
}

// restartNow asks for a replacement of all machines, with another reason than before.
func (r *Rollout) restartNow(e script.Event) {
	r.restarts = time.Now()
	r.world.Objects.Annotate(e.N, restartAnnotation, "asked at "+r.restarts.Format(time.RFC3339))
}

// asked is the moment that counts for a restart: when it was first seen, as the object remembers it, which is later than when
// a user asked for it, by hours where the pool is paused. One that the object does not remember yet is seen now at the soonest.
func (r *Rollout) asked() time.Time {
	_, o := r.world.Objects.Both()
	at := time.Now()
	if o == nil {
		return at
	}
	known := remembered(o)
	for _, key := range []string{"restart", "restart-machinepool"} {
		moment, _, _ := strings.Cut(known[key], " ")
		if seen, err := time.Parse(time.RFC3339Nano, moment); err == nil && !seen.Before(r.restarts) {
			at = seen
		}
	}
	return at
}

// annotated is the value of an annotation that either object has; the infrastructure object's counts first.
func annotated(mp *clusterv1.MachinePool, o client.Object, key string) string {
	if o != nil && o.GetAnnotations()[key] != "" {
		return o.GetAnnotations()[key]
	}
	if mp != nil {
		return mp.Annotations[key]
	}
	return ""
}

// foresee has a planner say what becomes of the pool, as muster plan does: on a driver of its own.
func (w *World) foresee() {
	planner := w.pool.Planner(sim.Transport{Handler: w.pool.Cloud}, infrapool.Options{
		Client: w.Objects.User, ClusterCache: w.managers.list[0].remote, Now: time.Now, SkipModelReconciliation: w.Scenario.SkipModel,
	})
	look, err := planner(w.t.Context(), nil, w.key, 0)
	w.Must(err, "look at the pool")
	w.planned = plan.Simulate(look)
	w.watched = record.Watch(w.Objects.Owner().ID)
	w.account.look(w.Snapshot(), w.Workload.Truth(), nil)
	w.watched.Begin(w.account.ledger)
}
