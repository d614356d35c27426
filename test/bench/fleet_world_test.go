package bench

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

const (
	// fleetJoin is the time from the start of a machine until its Node is Ready. It and the speed of the clouds equal those of the local
	// world, so that the figures of both can be compared.
	fleetJoin = 5 * time.Second
	// fleetLimit bounds each phase of a fleet.
	fleetLimit = time.Hour
	// workers is the number of concurrent passes. It equals manager.DefaultConcurrency; importing the manager would double the size of the
	// test binary.
	workers = 50
)

// fleet holds many pools of one kind in one account. Workers run their passes concurrently over one driver, like those of a manager, so
// that the driver shares reads between pools and batches concurrent requests.
type fleet[S any] struct {
	t      *testing.T
	engine *engine.Engine[S]
	way    *way
	lab    lab[S]
	nodes  *nodes
	queue  workqueue.TypedDelayingInterface[*member[S]]
	work   sync.WaitGroup
	// policed limits rollouts by policies; nil limits none.
	policed *policed

	mu sync.Mutex
	// members are all pools, listed those that list a provider key.
	members []*member[S]
	listed  map[string]*member[S]
	// passes counts passes. unmet counts the pools that have not reached the last request; met is closed when there are none.
	passes, unmet int
	met           chan struct{}
}

// member is a pool of a fleet.
type member[S any] struct {
	target cloud.Target[S]
	// number counts the pools of the fleet from 0.
	number int
	// replicas and deleting hold the user's request of the time requested. listed is the time when the pool first listed that many machines,
	// done when it had fulfilled the request; both are zero before.
	replicas                int
	deleting                bool
	requested, listed, done time.Time
	// external is true if the size of the group is set in the cloud.
	external bool
	last     engine.Outcome
	// begun is the time of the first step afterwards that changes the size or removes. failed counts failed looks.
	begun  time.Time
	failed int
	// statusSize is the size in the pool's status.
	statusSize int
}

// note notes what a pass began, and whether it failed. The lock is held.
func (m *member[S]) note(requested time.Time, out engine.Outcome) {
	if !out.Seen && !out.RateLimited {
		m.failed++
	}
	if !out.Started || !m.begun.IsZero() || !requested.Equal(m.requested) {
		return
	}
	switch out.Plan.Step.Kind {
	case pool.Resize, pool.Remove, pool.Drain, pool.DeleteGroup:
		m.begun = time.Now()
	}
}

// inFleet makes an account for a fleet of so many pools, in virtual time.
func inFleet[S any](t *testing.T, l lab[S], size int, f func(*fleet[S])) {
	synctest.Test(t, func(t *testing.T) {
		n := newNodes(fleetJoin)
		server, err := l.cloud(n, sim.DefaultSpeed)
		if err != nil {
			t.Fatal(err)
		}
		defer n.stop()
		defer func() {
			if err := server.Close(); err != nil {
				t.Errorf("close the simulator: %v", err)
			}
		}()
		line := &way{server: server}
		d, err := l.driver(line)
		if err != nil {
			t.Fatal(err)
		}
		if closes, ok := d.(interface{ Close() }); ok {
			defer closes.Close()
		}
		w := &fleet[S]{
			t: t, engine: engine.New(d, engine.Options{}), way: line, lab: l, nodes: n, listed: map[string]*member[S]{},
			queue: workqueue.NewTypedDelayingQueue[*member[S]](),
		}
		n.changed = w.wake
		for k := range size {
			w.members = append(w.members, newMember(l, k))
		}
		for range workers {
			w.work.Go(w.worker)
		}
		defer w.work.Wait()
		defer w.queue.ShutDown()
		f(w)
	})
}

func newMember[S any](l lab[S], k int) *member[S] {
	name := fmt.Sprintf("pool-%d", k)
	spec := l.spec("")
	if l.place != nil {
		l.place(spec, k)
	}
	return &member[S]{number: k, target: cloud.Target[S]{
		Owner:             cloud.Owner{ID: "owner-" + name, Cluster: "c", Namespace: "default", Name: name},
		KubernetesVersion: "v1.34.1", Spec: spec, Bootstrap: cloud.NewBootstrap([]byte("#cloud-config\n"), "cloud-config"),
	}}
}

// wake has the pool looked at whose node has changed, as the watch of nodes does: one that no pool lists wakes none.
func (f *fleet[S]) wake(key string) {
	f.mu.Lock()
	m := f.listed[key]
	f.mu.Unlock()
	if m != nil {
		f.queue.Add(m)
	}
}

// worker runs passes until the queue is shut down.
func (f *fleet[S]) worker() {
	for {
		m, end := f.queue.Get()
		if end {
			return
		}
		again := f.pass(m)
		f.queue.Done(m)
		if again > 0 {
			f.queue.AddAfter(m, again)
		}
	}
}

// pass runs one pass of a pool and returns when the next one is due; zero is never.
func (f *fleet[S]) pass(m *member[S]) time.Duration {
	f.mu.Lock()
	f.passes++
	d := pool.Desired{
		Replicas: m.replicas, Min: 1, Max: size, MaxField: "max", DeletePolicy: pool.Oldest, Deleting: m.deleting,
		ReplicasManagedExternally: m.external, Strategy: &pool.Strategy{MaxUnavailable: pool.IntOrPercent{Value: 1}},
	}
	content := fmt.Sprint(m.replicas, m.deleting)
	facts := engine.Input[S]{
		Target: m.target, Generation: content + m.target.Bootstrap.Hash(), ContentGeneration: content, Desired: d, Now: time.Now(),
		Edited: m.deleting || m.replicas != m.statusSize,
	}
	requested, runs := m.requested, f.engine
	f.mu.Unlock()
	out := f.limited(m.number, &facts.Desired, facts.Now, func() engine.Outcome { return runs.Run(f.t.Context(), facts, f.nodes, nil) })
	f.mu.Lock()
	defer f.mu.Unlock()
	m.last = out
	if out.Seen {
		m.statusSize = d.Replicas
	}
	m.note(requested, out)
	f.list(m)
	if m.listed.IsZero() && requested.Equal(m.requested) && out.Seen && len(report.ProviderIDs(out.Observed)) == d.Replicas {
		m.listed = time.Now()
	}
	if m.done.IsZero() && requested.Equal(m.requested) && m.has() {
		m.done = time.Now()
		if f.unmet--; f.unmet == 0 {
			close(f.met)
		}
	}
	if out.Plan.DeletionComplete {
		f.engine.Forget(m.target.Owner.ID)
		return 0
	}
	m.target.Remembered = merge(m.target.Remembered, out.Observed.ResolvedLookups)
	return out.RequeueAfter
}

// merge returns the stored look-ups with the new ones, as the object stores them.
func merge(before, found map[string]string) map[string]string {
	if len(found) == 0 {
		return before
	}
	all := map[string]string{}
	for _, from := range []map[string]string{before, found} {
		for k, v := range from {
			all[k] = v
		}
	}
	return all
}

// list notes which instances the pool lists now. The lock is held.
func (f *fleet[S]) list(m *member[S]) {
	if !m.last.Seen {
		return
	}
	for _, id := range report.ProviderIDs(m.last.Observed) {
		f.listed[cloud.ProviderKey(id)] = m
	}
}

// has reports whether the pool has fulfilled its request: all its machines are listed and Ready and no others are, or it is gone.
func (m *member[S]) has() bool {
	p := m.last.Plan
	if m.deleting || !m.last.Seen {
		return p.DeletionComplete
	}
	return p.Rollout.State == pool.RolloutDone && p.Budget.Available == m.replicas && len(report.ProviderIDs(m.last.Observed)) == m.replicas
}

// ask changes pools together as a user, and waits until all of them have fulfilled the request.
func (f *fleet[S]) ask(what string, some []*member[S], change func(*member[S])) phase {
	f.t.Helper()
	synctest.Wait()
	f.way.server.Calls().Reset()
	f.mu.Lock()
	began, passes := time.Now(), f.passes
	f.unmet, f.met = len(some), make(chan struct{})
	for _, m := range some {
		change(m)
		m.requested, m.listed, m.done, m.begun = began, time.Time{}, time.Time{}, time.Time{}
	}
	f.mu.Unlock()
	for _, m := range some {
		f.queue.Add(m)
	}
	limit := time.NewTimer(fleetLimit)
	defer limit.Stop()
	select {
	case <-f.met:
	case <-limit.C:
		f.t.Fatalf("%s: %s", what, f.missing(some))
	}
	return f.sum(some, began, passes)
}

// missing describes what the first unfinished pool still lacks.
func (f *fleet[S]) missing(some []*member[S]) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range some {
		if m.done.IsZero() {
			return fmt.Sprintf("%d of %d not done after %s; %s: %v, waits for %v, refused %v, %+v",
				f.unmet, len(some), fleetLimit, m.target.Owner.Name, m.last.Err, m.last.Plan.Waiting, m.last.Refused, m.last.Plan.Budget)
		}
	}
	return "all done"
}

// idle lets time go by and returns what the pools cost meanwhile.
func (f *fleet[S]) idle(long time.Duration) phase {
	f.mu.Lock()
	passes := f.passes
	f.mu.Unlock()
	f.way.server.Calls().Reset()
	began := time.Now()
	time.Sleep(long)
	synctest.Wait()
	return f.sum(nil, began, passes)
}

// sum returns a phase that ends now.
func (f *fleet[S]) sum(some []*member[S], began time.Time, passes int) phase {
	f.mu.Lock()
	defer f.mu.Unlock()
	sum := f.way.server.Calls().Summary(0)
	p := phase{took: time.Since(began), passes: f.passes - passes, calls: sum.Total, writes: sum.Mutating, counts: sum.Counts}
	for _, m := range some {
		p.each = append(p.each, m.done.Sub(m.requested))
		p.listed = max(p.listed, m.listed.Sub(m.requested))
	}
	slices.SortFunc(p.each, cmp.Compare[time.Duration])
	return p
}

// phase is a part of a fleet's life.
type phase struct {
	// took is the time until all pools had fulfilled their request, listed until all listed that many machines.
	took, listed          time.Duration
	passes, calls, writes int
	counts                map[string]map[string]int
	// each holds the time of each pool, in ascending order.
	each []time.Duration
}

// share returns a percentile of the pools' times.
func (p phase) share(hundredths int) time.Duration {
	return p.each[(len(p.each)*hundredths+99)/100-1]
}
