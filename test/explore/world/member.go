package world

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/test/explore/record"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/view/plan"
)

// member is one of the pools of a world: its objects, its group, and what has happened to them. All share an account, the two clusters and
// the managers.
type member struct {
	// Scenario is the pool's own, with those of the events that are about it.
	Scenario script.Scenario
	pool     *Pool
	// at is the pool's place among those of the world, key the key of its infrastructure object, poolKey that of its MachinePool.
	at           int
	key, poolKey client.ObjectKey
	// absent is true until a user applies the objects.
	absent bool
	// claimed is true if its objects were applied with the name or the ID of the group of the first pool.
	claimed bool

	Notes     *Notes
	Objects   *Objects
	Group     *Group
	Instances *Instances
	Rollout   *Rollout
	backup    *backup
	adoption  *adoption
	operator  *operator
	// writes records the writes to the cloud for the pool, quarrel the cloud status in its objects.
	writes  *record.Writes
	quarrel record.Quarrel
	// planned holds the forecast, watched the observations since.
	planned plan.Forecast
	watched *record.Watched
	gone    bool
	// released is true once the infrastructure object is gone. leftovers lists the cloud resources that it left behind.
	released  bool
	leftovers []string
	// wrote is the time of the last write to the cloud for the pool.
	wrote time.Time
}

// newMember returns the pool at a place of the scenario.
func newMember(w *World, s script.Scenario, at int) *member {
	own := s.Of(at)
	m := &member{Scenario: own, at: at, key: keyOf(InfraKey, at), poolKey: keyOf(poolKey, at), absent: at > 0,
		writes: record.NewWrites(own.Most)}
	m.Notes, m.Objects, m.Rollout = &Notes{world: w, notes: map[string]string{}}, &Objects{world: w}, &Rollout{world: w}
	m.Group, m.backup, m.adoption = &Group{world: w}, &backup{world: w}, &adoption{world: w}
	m.operator = &operator{world: w, approved: map[string]bool{}}
	m.Instances = &Instances{world: w, deletionRequested: map[string]bool{}, sick: map[string]bool{}}
	return m
}

// keyOf returns the key of an object of the pool at a place.
func keyOf(first client.ObjectKey, at int) client.ObjectKey {
	first.Name += script.Suffix(at)
	return first
}

// InfraKey returns the key of the infrastructure object of the pool that is looked at.
func (w *World) InfraKey() client.ObjectKey { return w.key }

// as does something with a pool as the one that is looked at. What the cloud does in its own time reads which one that is.
func (w *World) as(m *member, do func()) {
	was := w.member
	if was == m {
		do()
		return
	}
	w.turn(m)
	defer w.turn(was)
	do()
}

func (w *World) turn(m *member) {
	w.agenda.mu.Lock()
	defer w.agenda.mu.Unlock()
	w.member = m
}

// each does something with each pool that a user has applied and that is not gone.
func (w *World) each(do func()) {
	for _, m := range w.members {
		if !m.absent && !m.gone {
			w.as(m, do)
		}
	}
}

// any reports whether holds is true for a pool that is not gone. It calls holds for all of them.
func (w *World) any(holds func() bool) bool {
	found := false
	w.each(func() { found = holds() || found })
	return found
}

// over reports whether nothing is left to happen.
func (w *World) over() bool {
	left := false
	for _, m := range w.members {
		left = left || !m.absent && !m.gone
	}
	return w.ended || !left
}

// several reports whether there are additional pools.
func (w *World) several() bool { return len(w.members) > 1 }
