package world

import (
	"strings"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/test/explore/record"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/view/plan"
)

// The annotations by which people hold a rollout and ask for one, as the project promises them.
const (
	rolloutAnnotation = "muster.dev/rollout"
	restartAnnotation = "muster.dev/restart-now"
)

// Rollout computes the machines of the pool that are to be replaced.
type Rollout struct {
	world *World
	// restarts is the time of the user's last restart request.
	restarts time.Time
}

// rolls reports whether machines with an outdated template are to be replaced.
func (r *Rollout) rolls(o client.Object) bool {
	w := r.world
	return (w.pool.Rolls == nil || w.pool.Rolls(o)) && !w.Scenario.SkipModel
}

// Left counts the members that are to be replaced because of an outdated template or because of a restart request. Both are zero while
// replacement is suspended.
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
			// Versions are read again after hours: until then a version that a user has deleted keeps its content.
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

// restartRequested returns the time that counts for a restart: when the request was first seen, as stored in the object. It is later than
// the request, by hours for a paused pool. A request that is not stored yet is seen now at the earliest.
func (r *Rollout) restartRequested() time.Time {
	_, o := r.world.Objects.Both()
	at := time.Now()
	if o == nil {
		return at
	}
	known := remembered(o)
	for _, key := range []string{"restart", "restart-machinepool"} {
		moment, _, _ := strings.Cut(known[key], " ")
		if stored, err := time.Parse(time.RFC3339Nano, moment); err == nil && !stored.Before(r.restarts) {
			at = stored
		}
	}
	return at
}

// annotated returns the value of an annotation that either object has; the infrastructure object's counts first.
func annotated(mp *clusterv1.MachinePool, o client.Object, key string) string {
	if o != nil && o.GetAnnotations()[key] != "" {
		return o.GetAnnotations()[key]
	}
	if mp != nil {
		return mp.Annotations[key]
	}
	return ""
}

// foresee forecasts the effects on the pool as "muster plan" does, with a separate driver.
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

// closure returns the state of the policies during the pass that a process runs: closed if it was so from its beginning.
func (r *Rollout) closure(p *process) oracle.Closure {
	w := r.world
	if w.Scenario.Policy == nil {
		return oracle.Closure{}
	}
	since, grace, closed := w.Scenario.Policy.ClosedAt(time.Since(w.trace.Began))
	at := w.trace.Began.Add(since)
	return oracle.Closure{Closed: closed && !at.After(p.began), Since: at, Grace: grace}
}

// step returns how far the rollout of the pool is, as its object tells users.
func (r *Rollout) step() oracle.Step {
	_, o := r.world.Objects.Both()
	if o == nil || r.world.Scenario.Policy == nil {
		return oracle.Step{}
	}
	is := r.world.pool.Status(o).Rollout
	if is == nil {
		return oracle.Step{}
	}
	return oracle.Step{Rollout: is.ID, Wave: int(is.Wave), Entered: is.Entered, Returns: is.Returns}
}

// entered has it judged what a pass began that has ended without an error, with the step of the rollout before it. What a process reads
// late, it may have begun by an older step.
func (r *Rollout) entered(p *process, before oracle.Step) {
	w := r.world
	policy := w.Scenario.Policy
	if policy == nil || len(w.managers.list) > 1 || p.late() > seenLate || w.servers.faults.Lasting() {
		return
	}
	is := oracle.Progress{Before: before, After: r.step(), Begins: p.begins, Approvals: policy.Approval != nil,
		Approved: w.operator.approved, Passed: map[string]bool{}}
	for _, g := range policy.Gates {
		if g.BeforeWave {
			is.Passed[g.Name] = p.questions.Passed(g, p.began, time.Now())
		}
	}
	w.blameAll("entered", oracle.Entered(is))
}
