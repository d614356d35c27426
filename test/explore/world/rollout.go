package world

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/record"
	"github.com/muster-project/muster/view/plan"
)

// The annotations by which people hold a rollout and ask for one, as the project promises them.
const (
	rolloutAnnotation = "muster.dev/rollout"
	restartAnnotation = "muster.dev/restart-now"
)

// Spec is a strategy as the object has it.
func (l *Limits) Spec() *common.Strategy {
	if l == nil {
		return nil
	}
	surge, unavailable := intstr.Parse(l.Surge), intstr.Parse(l.Unavailable)
	return &common.Strategy{Type: common.StrategyRollingUpdate, RollingUpdate: &common.RollingUpdate{
		MaxSurge: &surge, MaxUnavailable: &unavailable, DeletePolicy: common.DeletePolicy(l.Policy),
	}}
}

// rolls reports whether machines of another template than the wanted one are to be replaced.
func (w *World) rolls(o client.Object) bool {
	return (w.pool.Rolls == nil || w.pool.Rolls(o)) && !w.Scenario.SkipModel
}

// Left are how many members are to be replaced: of another template, or made before a restart was asked for. Where nothing is
// to be replaced there are none.
func (w *World) Left() (stale, old int) {
	mp, o := w.Objects()
	if o == nil {
		return 0, 0
	}
	rolls := w.rolls(o)
	for _, g := range w.Snapshot().Groups {
		if g.Owner != w.Owner().ID {
			continue
		}
		for _, m := range g.Staying() {
			// Versions are read again after hours: until then a version that a user deleted is what it was.
			dropped := m.Content == "" && w.Scenario.Has(HandDropVersion)
			if rolls && m.Content != g.Content && !dropped {
				stale++
			}
			if annotated(mp, o, restartAnnotation) != "" && m.Launched.Before(w.restarts) {
				old++
			}
		}
	}
	return stale, old
}

// restartNow asks for a replacement of all machines, with another reason than before.
func (w *World) restartNow(e Event) {
	w.restarts = time.Now()
	w.Annotate(e.N, restartAnnotation, "asked at "+w.restarts.Format(time.RFC3339))
}

// asked is the moment that counts for a restart: when it was first seen, as the object remembers it, which is later than when
// a user asked for it, by hours where the pool is paused. One that the object does not remember yet is seen now at the soonest.
func (w *World) asked() time.Time {
	_, o := w.Objects()
	at := time.Now()
	if o == nil {
		return at
	}
	known := remembered(o)
	for _, key := range []string{"restart", "restart-machinepool"} {
		moment, _, _ := strings.Cut(known[key], " ")
		if seen, err := time.Parse(time.RFC3339Nano, moment); err == nil && !seen.Before(w.restarts) {
			at = seen
		}
	}
	return at
}

// Annotate gives one of both objects an annotation, or takes it off when the value is empty.
func (w *World) Annotate(which int, key, value string) {
	set := func(o client.Object) {
		if value == "" {
			without(o, key)
			return
		}
		annotate(o, key, value)
	}
	if which%2 == 0 {
		w.EditObject(func(o client.Object) { set(o) })
		return
	}
	w.EditPool(func(mp *clusterv1.MachinePool) { set(mp) })
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
		Client: w.User, ClusterCache: w.processes[0].remote, Now: time.Now, SkipModelReconciliation: w.Scenario.SkipModel,
	})
	look, err := planner(w.t.Context(), nil, InfraKey, 0)
	w.Must(err, "look at the pool")
	w.planned = plan.Simulate(look)
	w.watched = record.Watch(w.Owner().ID)
	w.account.look(w.Snapshot(), w.Workload.Truth(), nil)
	w.watched.Begin(w.account.ledger)
}
