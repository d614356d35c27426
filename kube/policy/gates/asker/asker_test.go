package asker

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/muster-project/muster/kube/policy/gates"
)

const kind = "Pool"

// server counts asks and gives the answers that a test sets.
type server struct {
	mu      sync.Mutex
	asked   map[string]int
	running int
	most    map[string]int
	current map[string]int
	answer  func(g gates.Gate) gates.Sample
	takes   time.Duration
}

func (s *server) ask(ctx context.Context, g gates.Gate) gates.Sample {
	s.mu.Lock()
	s.asked[g.Name]++
	s.current[g.Policy.Namespace]++
	s.most[g.Policy.Namespace] = max(s.most[g.Policy.Namespace], s.current[g.Policy.Namespace])
	s.running++
	s.most[""] = max(s.most[""], s.running)
	takes := s.takes
	s.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-time.After(takes):
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current[g.Policy.Namespace]--
	s.running--
	return s.answer(g)
}

func (s *server) set(v gates.Verdict) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = func(gates.Gate) gates.Sample { return gates.Sample{Verdict: v} }
}

func (s *server) count(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[name]
}

// world is an asker that runs, with its server and the queue of a controller.
type world struct {
	*Asker
	server *server
	queue  workqueue.TypedRateLimitingInterface[ctrl.Request]
	stop   func()
}

// inWorld runs a test in virtual time.
func inWorld(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.queue.ShutDown()
		test(t, w)
		w.stop()
	})
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s := &server{asked: map[string]int{}, most: map[string]int{}, current: map[string]int{}}
	s.set(gates.Positive)
	w := &world{Asker: New(s.ask, nil), server: s,
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[ctrl.Request]())}
	if err := w.Source(kind).Start(t.Context(), w.queue); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- w.Start(ctx) }()
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return w
}

// woken returns the pools that were woken since the last call.
func (w *world) woken() []string {
	synctest.Wait()
	var names []string
	for w.queue.Len() > 0 {
		r, _ := w.queue.Get()
		w.queue.Done(r)
		names = append(names, r.Name)
	}
	slices.Sort(names)
	return names
}

func poolOf(name string) Pool {
	return Pool{Kind: kind, NamespacedName: types.NamespacedName{Namespace: "team", Name: name}}
}

func gateOf(name, namespace string) gates.Gate {
	return gates.Gate{Name: name, Policy: gates.Policy{UID: types.UID(namespace), Generation: 1, Namespace: namespace},
		Rules: gates.Rules{Interval: time.Minute, Failures: 2}, Prometheus: &gates.Prometheus{}}
}

// phase needs a gate for a pool, and returns its phase.
func (w *world) phase(pool string, g gates.Gate) gates.Phase {
	w.Need(poolOf(pool), []gates.Gate{g})
	return w.State(g).Phase
}

// TestAsks holds when a gate is asked, what is known of it, and when its pools are woken.
func TestAsks(t *testing.T) {
	t.Parallel()
	inWorld(t, func(t *testing.T, w *world) {
		g := gateOf("g", "team")
		for _, pool := range []string{"a", "b", "c"} {
			if got := w.phase(pool, g); got != gates.Unknown {
				t.Errorf("want a gate unknown before it is asked, got %s", got)
			}
		}
		for _, step := range []struct {
			why    string
			answer gates.Verdict
			asked  int
			woken  []string
			phase  gates.Phase
		}{
			{"one answer for all pools, which are woken", gates.Positive, 1, []string{"a", "b", "c"}, gates.Passed},
			{"the same answer wakes no pool", gates.Positive, 2, nil, gates.Passed},
			{"a negative one does", gates.Negative, 3, []string{"a", "b", "c"}, gates.Pending},
			{"as does the failure", gates.Negative, 4, []string{"a", "b", "c"}, gates.Failed},
			{"which stays", gates.Negative, 5, nil, gates.Failed},
			{"no data is another phase", gates.Undecided, 6, []string{"a", "b", "c"}, gates.Unknown},
			{"and it passes again", gates.Positive, 7, []string{"a", "b", "c"}, gates.Passed},
		} {
			w.server.set(step.answer)
			if step.asked > 1 {
				time.Sleep(time.Minute)
			}
			if got := w.woken(); !slices.Equal(got, step.woken) {
				t.Errorf("%s: want %v woken, got %v", step.why, step.woken, got)
			}
			if got := w.server.count("g"); got != step.asked {
				t.Errorf("%s: want %d asks, got %d", step.why, step.asked, got)
			}
			for _, pool := range []string{"a", "b", "c"} {
				if got := w.phase(pool, g); got != step.phase {
					t.Errorf("%s: want %s for pool %s, got %s", step.why, step.phase, pool, got)
				}
			}
		}
	})
}

// TestForgets holds that a gate is asked as long as a pool needs it.
func TestForgets(t *testing.T) {
	t.Parallel()
	g := gateOf("g", "team")
	for _, c := range []struct {
		why  string
		drop func(*world)
	}{
		{"the pool needs no gate any more", func(w *world) { w.Need(poolOf("a"), nil) }},
		{"it needs another one", func(w *world) { w.Need(poolOf("a"), []gates.Gate{gateOf("h", "team")}) }},
		{"the pool is deleted", func(w *world) { w.Forget(poolOf("a")) }},
		{"the pool was not reconciled for long", func(*world) { time.Sleep(forgetAfter + time.Minute) }},
	} {
		inWorld(t, func(t *testing.T, w *world) {
			w.phase("a", g)
			w.woken()
			c.drop(w)
			time.Sleep(5 * time.Second)
			before := w.server.count("g")
			time.Sleep(time.Hour)
			if after := w.server.count("g"); after != before {
				t.Errorf("%s: want the gate asked no more, got %d asks", c.why, after-before)
			}
			w.locked(func() {
				if len(w.known) != 0 || len(w.pools) != 0 {
					t.Errorf("%s: want nothing kept, got %d gates, %d pools", c.why, len(w.known), len(w.pools))
				}
			})
		})
	}
}

// locked runs a function with the asker's lock.
func (w *world) locked(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// TestNeedsInTurns holds that a pool which needs a gate in every other pass has it asked by its interval, and its failures counted.
func TestNeedsInTurns(t *testing.T) {
	t.Parallel()
	inWorld(t, func(t *testing.T, w *world) {
		g := gateOf("g", "team")
		w.server.set(gates.Negative)
		for range 100 {
			w.phase("a", g)
			time.Sleep(500 * time.Millisecond)
			w.Need(poolOf("a"), nil)
			time.Sleep(500 * time.Millisecond)
		}
		if got := w.server.count("g"); got != 2 {
			t.Errorf("want 2 asks in 100 seconds, got %d", got)
		}
		if got := w.phase("a", g); got != gates.Failed {
			t.Errorf("want both failures counted, got %s", got)
		}
	})
}

// TestBounds holds how much is asked at the same time, and that slow servers of one tenant delay no other tenant.
func TestBounds(t *testing.T) {
	t.Parallel()
	inWorld(t, func(t *testing.T, w *world) {
		w.server.takes = 10 * time.Second
		var slow []gates.Gate
		for k := range 50 {
			slow = append(slow, gateOf(fmt.Sprint("slow-", k), "attacker"))
		}
		w.Need(poolOf("attacker"), slow)
		synctest.Wait()
		w.phase("victim", gateOf("g", "victim"))
		synctest.Wait()
		if got := w.server.count("g"); got != 1 {
			t.Errorf("want the other tenant's gate asked at once, got %d asks", got)
		}
		for k := range 10 {
			namespace := fmt.Sprint("tenant-", k)
			for n := range 10 {
				w.phase(fmt.Sprint(namespace, "-", n), gateOf(fmt.Sprint(namespace, "-", n), namespace))
			}
		}
		time.Sleep(10 * time.Minute)
		w.server.mu.Lock()
		defer w.server.mu.Unlock()
		if got := w.server.most["attacker"]; got != maxAskingOfNamespace {
			t.Errorf("want %d gates of one namespace asked at a time, got %d", maxAskingOfNamespace, got)
		}
		if got := w.server.most[""]; got != maxAsking {
			t.Errorf("want %d gates asked at a time, got %d", maxAsking, got)
		}
		for k := range 50 {
			if w.server.asked[fmt.Sprint("slow-", k)] == 0 {
				t.Errorf("want every gate asked, not %d", k)
			}
		}
	})
}

func TestTooManyGates(t *testing.T) {
	t.Parallel()
	a := New(func(context.Context, gates.Gate) gates.Sample { return gates.Sample{} }, nil)
	var all []gates.Gate
	for k := range maxGatesOfNamespace + 1 {
		all = append(all, gateOf(fmt.Sprint("g-", k), "attacker"))
	}
	a.Need(poolOf("attacker"), all)
	if last := a.State(all[len(all)-1]); last.Phase != gates.Unknown || last == gates.NotAsked() {
		t.Errorf("want the gate beyond the limit unknown with the reason, got %+v", last)
	}
	victims := gateOf("g", "victim")
	a.Need(poolOf("victim"), []gates.Gate{victims})
	if got := a.State(victims); got != gates.NotAsked() {
		t.Errorf("want another tenant's gate registered, got %+v", got)
	}
}

func TestRestart(t *testing.T) {
	t.Parallel()
	g := gateOf("g", "team")
	inWorld(t, func(t *testing.T, w *world) {
		w.phase("a", g)
		w.woken()
		w.stop()
		after := newWorld(t)
		defer after.queue.ShutDown()
		defer after.stop()
		if got := after.phase("a", g); got != gates.Unknown {
			t.Errorf("want a gate unknown after a restart, got %s", got)
		}
		if got := after.woken(); !slices.Equal(got, []string{"a"}) || after.phase("a", g) != gates.Passed {
			t.Errorf("want it known after it was asked, got %s, %v", after.phase("a", g), got)
		}
	})
}

// TestStopsInTheMiddle holds that an ask which the end of the process cuts off is no answer.
func TestStopsInTheMiddle(t *testing.T) {
	t.Parallel()
	inWorld(t, func(t *testing.T, w *world) {
		w.server.takes = 10 * time.Second
		w.server.set(gates.Negative)
		w.phase("a", gateOf("g", "team"))
		time.Sleep(time.Second)
		w.stop()
		if got := w.State(gateOf("g", "team")); got != gates.NotAsked() {
			t.Errorf("want no answer kept, got %+v", got)
		}
	})
}

// TestFault holds that a fault while a gate is asked leaves the gate unknown, and the others asked.
func TestFault(t *testing.T) {
	t.Parallel()
	inWorld(t, func(t *testing.T, w *world) {
		w.server.mu.Lock()
		w.server.answer = func(g gates.Gate) gates.Sample {
			if g.Name == "bad" {
				panic("bad")
			}
			return gates.Sample{Verdict: gates.Positive}
		}
		w.server.mu.Unlock()
		w.Need(poolOf("a"), []gates.Gate{gateOf("bad", "team"), gateOf("good", "team")})
		time.Sleep(5 * time.Minute)
		bad, good := w.State(gateOf("bad", "team")), w.State(gateOf("good", "team"))
		if bad.Phase != gates.Unknown || bad.Message != "asking the gate failed" || good.Phase != gates.Passed {
			t.Errorf("want one gate unknown and the other passed, got %+v, %+v", bad, good)
		}
		if got := w.server.count("bad"); got < 5 {
			t.Errorf("want it asked again, got %d asks", got)
		}
	})
}

func TestNil(t *testing.T) {
	t.Parallel()
	var a *Asker
	a.Forget(poolOf("a"))
	a.Need(poolOf("a"), []gates.Gate{gateOf("g", "team")})
	if got := a.State(gateOf("g", "team")); got.Phase != gates.Unknown || got.Message == "" {
		t.Errorf("want an unknown gate where none is asked, got %+v", got)
	}
}
