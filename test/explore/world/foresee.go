package world

import (
	"maps"
	"slices"
	"time"

	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/test/explore/oracle"
	"github.com/muster-project/muster/view/plan"
)

// Happened is what became of the machines that were there when a plan was made.
type Happened struct {
	// Left are the machines that went, by name; Made is how many came.
	Left []string
	Made int
	// Lowest is the least number of machines that served, Most the largest number that existed.
	Lowest, Most int
}

// watched is what was seen since a plan was made.
type watched struct {
	owner        string
	before, ever map[string]bool
	now          map[string]bool
	lowest, most int
}

// foresee has a planner say what becomes of the pool, as muster plan does: on a driver of its own.
func (w *World) foresee() {
	planner := w.pool.Planner(sim.Transport{Handler: w.pool.Cloud}, infrapool.Options{
		Client: w.User, ClusterCache: w.processes[0].remote, Now: time.Now, SkipModelReconciliation: w.Scenario.SkipModel,
	})
	look, err := planner(w.t.Context(), nil, InfraKey, 0)
	w.Must(err, "look at the pool")
	w.planned = plan.Simulate(look)
	w.watched = &watched{owner: w.Owner().ID, before: map[string]bool{}, ever: map[string]bool{}}
	w.account.look(w.Snapshot(), w.Workload.Truth(), nil)
	w.watched.before, w.watched.lowest = maps.Clone(w.watched.now), w.watched.serving(w.account.ledger)
}

// see notes what is there.
func (s *watched) see(c oracle.Cloud, l ledger) {
	s.now = map[string]bool{}
	for _, g := range c.Groups {
		if g.Owner != s.owner {
			continue
		}
		for _, m := range g.Staying() {
			s.now[m.ID] = true
			if m.Launched.Before(time.Now()) { // one that is still to be made may get another ID
				s.ever[m.ID] = true
			}
		}
	}
	s.lowest, s.most = min(s.lowest, s.serving(l)), max(s.most, len(s.now))
}

func (s *watched) serving(l ledger) int {
	n := 0
	for id := range s.now {
		if l[id].serves {
			n++
		}
	}
	return n
}

// happened is what was seen since the plan was made.
func (w *World) happened() Happened {
	s := w.watched
	if s == nil {
		return Happened{}
	}
	h := Happened{Made: len(s.ever) - len(s.before), Lowest: s.lowest, Most: s.most}
	for _, id := range slices.Sorted(maps.Keys(s.before)) {
		if !s.now[id] {
			h.Left = append(h.Left, id)
		}
	}
	return h
}
