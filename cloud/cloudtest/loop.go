package cloudtest

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

const (
	// passEvery is the time from one pass of a loop to the next, joinsIn the time after its creation at which a node joins.
	passEvery, joinsIn = 30 * time.Second, 3 * time.Minute
	// maxLoop is more passes than any rollout takes, quietPasses in a row without a step are rest.
	maxLoop, quietPasses = 400, 8
)

// Loop is the planner with a driver against a simulated cloud, with nodes that are made up: each joins some minutes after its instance was
// created, and a drain is done by the next pass.
type Loop[S any] struct {
	*testing.T
	Driver  cloud.Driver[S]
	Target  cloud.Target[S]
	Desired pool.Desired
	// Faulty is true while requests may fail: errors of the driver are left to the next pass.
	Faulty bool
	// Known are the instances that were seen beyond their launch, as their IDs may change then; Left those that are on their way out or gone.
	Known, Left map[string]bool
	// Lowest and Highest are the least instances that served and the most that existed.
	Lowest, Highest int

	served map[string]bool
	drains map[string]time.Time
}

// NewLoop returns a loop that has seen nothing.
func NewLoop[S any](t *testing.T, d cloud.Driver[S], target cloud.Target[S], desired pool.Desired) *Loop[S] {
	t.Helper()
	return &Loop[S]{T: t, Driver: d, Target: target, Desired: desired, Known: map[string]bool{}, Left: map[string]bool{},
		served: map[string]bool{}, drains: map[string]time.Time{}}
}

// Look observes the pool, and gives instances their nodes.
func (l *Loop[S]) Look() pool.Observed {
	l.Helper()
	o, _ := l.look()
	return o
}

// look is Look, and reports whether the observation can be used.
func (l *Loop[S]) look() (pool.Observed, bool) {
	l.Helper()
	o, err := l.Driver.Observe(l.Context(), l.Target)
	var unmet *cloud.SpecUnsatisfiableError
	if err != nil && !errors.As(err, &unmet) {
		if kind := cloud.KindOf(err); !l.Faulty && kind != cloud.Conflict && kind != cloud.Throttled {
			l.Fatalf("observe: %v", err)
		}
		return o, false
	}
	l.count(&o)
	return o, true
}

// count gives instances their nodes, and notes what becomes of them.
func (l *Loop[S]) count(o *pool.Observed) {
	l.Helper()
	l.Target.Remembered, l.Target.Operations = o.ResolvedLookups, o.Operations
	if o.Group != nil {
		l.Target.GroupID = o.Group.ID
	}
	there, serving, exist := map[string]bool{}, 0, 0
	for k := range o.Instances {
		i := &o.Instances[k]
		there[i.ID], l.Known[i.ID] = true, l.Known[i.ID] || i.State != pool.Pending
		if i.State == pool.Failed {
			delete(l.served, i.ID) // no pod runs on it any more
		}
		going := i.State == pool.Terminating
		if going && i.LifecycleHook == nil {
			l.goes(i.ID)
			continue
		}
		if !going {
			exist++
		}
		if l.join(i) && !going {
			serving++
		}
	}
	for id := range l.Known {
		if !there[id] {
			l.goes(id)
		}
	}
	l.Lowest, l.Highest = min(l.Lowest, serving), max(l.Highest, exist)
}

// join gives an instance its node, and reports whether that serves.
func (l *Loop[S]) join(i *pool.Instance) bool {
	joined := i.Created.Add(joinsIn)
	held := i.State == pool.Terminating && l.served[i.ID]
	if i.State != pool.Running && !held || i.Created.IsZero() || time.Now().Before(joined) {
		return false
	}
	l.served[i.ID] = true
	i.Node = &pool.Node{Name: "node-" + i.ID, Joined: joined, Ready: true, ReadySince: joined.Add(time.Second)}
	at, drained := l.drains[i.ID]
	if drained {
		i.Node.Cordoned, i.Node.DrainStarted = true, at
	}
	return !drained
}

// goes notes that an instance leaves, and reports one that served and was not drained.
func (l *Loop[S]) goes(id string) {
	l.Helper()
	if _, drained := l.drains[id]; !l.Left[id] && !drained && l.served[id] {
		l.Errorf("instance %s has gone without a drain", id)
	}
	l.Left[id] = true
}

// Pass is one pass of the engine, and the time to the next.
func (l *Loop[S]) Pass() (plan pool.Plan) {
	l.Helper()
	if o, looked := l.look(); looked {
		if plan = pool.Decide(l.Desired, o, l.Driver.Traits(), time.Now()); plan.Step != nil {
			l.do(*plan.Step)
		}
	}
	<-time.After(passEvery)
	synctest.Wait()
	return plan
}

// do begins a step. A conflict, and a request that is held back, are left to the next pass.
func (l *Loop[S]) do(s pool.Step) {
	l.Helper()
	switch s.Kind {
	case pool.Drain:
		for _, t := range s.Targets {
			l.drains[t.ID] = time.Now()
		}
	case pool.Undrain:
		for _, t := range s.Targets {
			delete(l.drains, t.ID)
		}
	default:
		err := l.Driver.Start(l.Context(), l.Target, s)
		if kind := cloud.KindOf(err); err != nil && !l.Faulty && kind != cloud.Conflict && kind != cloud.Throttled {
			l.Errorf("start %s: %v", s.Kind, err)
		}
	}
}

// Run makes passes until nothing happens any more.
func (l *Loop[S]) Run() pool.Plan {
	l.Helper()
	quiet := 0
	for range maxLoop {
		plan := l.Pass()
		if plan.DeletionComplete {
			return plan
		}
		if plan.Step != nil || plan.Rollout.State == pool.RolloutInProgress || !plan.Next.IsZero() {
			quiet = 0
			continue
		}
		if quiet++; quiet >= quietPasses {
			return plan
		}
	}
	l.Fatalf("want rest after %d passes", maxLoop)
	return pool.Plan{}
}
