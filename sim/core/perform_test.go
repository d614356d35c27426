package core_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
)

// pool is the one row of a world.
type pool struct{ Size, Bound int }

// world is a cloud that holds pools.
type world struct {
	*core.State
	core.Schedule
	pools *core.Table[pool]
	power int
}

func (w *world) Tables() core.Tables { return core.Tables{w.Sequences, w.pools} }
func (w *world) Power()              { w.power++ }
func (w *world) Tick(now time.Time) time.Time {
	return w.Pass(now, func(now time.Time) time.Time {
		w.Now = now
		return time.Time{}
	})
}

// newCloud returns a cloud whose worlds hold a pool of size 1 from the start.
func newCloud(t *testing.T, dir string) *core.Cloud[*world] {
	t.Helper()
	base, err := core.Open(core.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	cloud := core.NewCloud(base, func(name string, docs core.Docs, _ bool) (*world, error) {
		w := &world{State: core.NewState(base.Environment, name+"/"), pools: core.NewTable[pool](name + "/pool/")}
		return w, w.Tables().Load(docs)
	}, func(_ string, w *world) {
		if w.pools.Len() == 0 {
			w.pools.Put("p", &pool{Size: 1, Bound: 9})
		}
	})
	if err := cloud.Run("a"); err != nil {
		t.Fatal(err)
	}
	return cloud
}

var errThrottled, errPlayed, errDenied, errWrong = errors.New("throttled"), errors.New("played"), errors.New("denied"), errors.New("wrong")

// words are the cloud's own errors.
type words struct{}

func (words) Throttle() error           { return nil }
func (words) Throttled(sim.Fault) error { return errThrottled }
func (words) Failed(sim.Fault) error    { return errPlayed }

// ask answers a request: a body is written to the pool, none reads it.
func ask(t *testing.T, c *core.Cloud[*world], body string, admitted bool) (pool, bool, error) {
	t.Helper()
	text, trace := []byte(body), core.Begin(c.Base)
	trace.Asked = sim.Request{Service: "pools", Action: "Get"}
	if body != "" {
		trace.Asked = sim.Request{Service: "pools", Action: "Put", Mutating: true}
	}
	out, drop, err := core.Answer(t.Context(), c, &trace, words{}, core.Operation[*world, pool]{
		World: "a", Fields: core.JSON{Text: &text},
		Admit: func(*world) error {
			if !admitted {
				return errDenied
			}
			return nil
		},
		Run: func(w *world) (pool, error) {
			held := w.pools.Get("p")
			if len(text) == 0 {
				return *held, nil
			}
			want := *held
			if json.Unmarshal(text, &want) != nil || want.Size > want.Bound {
				return pool{}, errWrong
			}
			*held = want
			w.pools.Touch("p")
			return want, nil
		},
	})
	trace.Log("")
	return out, drop, err
}

// Each fault of a request does what it is named after, and leaves the state as it says.
func TestAnswersUnderFaults(t *testing.T) {
	t.Parallel()
	const bigger = `{"Size": 3, "Bound": 5}`
	for _, c := range []struct {
		reason   string
		fault    sim.Fault
		body     string
		admitted bool
		answer   pool
		drop     bool
		err      error
		held     pool
	}{
		{"no fault", sim.Fault{}, bigger, true, pool{3, 5}, false, nil, pool{3, 5}},
		{"not admitted", sim.Fault{}, bigger, false, pool{}, false, errDenied, pool{2, 9}},
		{"refused", sim.Fault{}, `{"Size": 10}`, true, pool{}, false, errWrong, pool{2, 9}},
		{"throttled", sim.Fault{Kind: sim.Throttle}, bigger, true, pool{}, false, errThrottled, pool{2, 9}},
		{"an error before", sim.Fault{Kind: sim.ErrorBefore}, bigger, true, pool{}, false, errPlayed, pool{2, 9}},
		{"an error after", sim.Fault{Kind: sim.ErrorAfter}, bigger, true, pool{}, false, errPlayed, pool{3, 5}},
		{"dropped before", sim.Fault{Kind: sim.DropBefore}, bigger, true, pool{}, true, nil, pool{2, 9}},
		{"dropped after", sim.Fault{Kind: sim.DropAfter}, bigger, true, pool{}, true, nil, pool{3, 5}},
		{"all ignored", sim.Fault{Kind: sim.Ignore}, bigger, true, pool{3, 5}, false, nil, pool{2, 9}},
		{"one field ignored", sim.Fault{Kind: sim.Ignore, Field: "Size"}, bigger, true, pool{2, 5}, false, nil, pool{2, 5}},
		{"a field that is not there", sim.Fault{Kind: sim.Ignore, Field: "Zone"}, bigger, true, pool{3, 5}, false, nil, pool{3, 5}},
		{"ignored and wrong", sim.Fault{Kind: sim.Ignore}, `{"Size": 10}`, true, pool{}, false, errWrong, pool{2, 9}},
		{"read before the last write", sim.Fault{Kind: sim.Stale, Writes: 1}, "", true, pool{1, 9}, false, nil, pool{2, 9}},
		{"read", sim.Fault{}, "", true, pool{2, 9}, false, nil, pool{2, 9}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cloud := newCloud(t, dir)
			if _, _, err := ask(t, cloud, `{"Size": 2}`, true); err != nil {
				t.Fatal(err)
			}
			if c.fault.Kind != "" {
				if err := cloud.Faults().Add(c.fault); err != nil {
					t.Fatal(err)
				}
			}
			answer, drop, err := ask(t, cloud, c.body, c.admitted)
			if answer != c.answer || drop != c.drop || !errors.Is(err, c.err) {
				t.Errorf("want %v, dropped %t, error %v; got %v, %t, %v", c.answer, c.drop, c.err, answer, drop, err)
			}
			if err := cloud.Close(); err != nil {
				t.Fatal(err)
			}
			again := newCloud(t, dir)
			if held := *again.Worlds["a"].pools.Get("p"); held != c.held || again.Worlds["a"].power == 0 {
				t.Errorf("want %v held after a new start, got %v", c.held, held)
			}
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// What is done by hand meets no fault, and nothing reaches a cloud that is closed.
func TestByHand(t *testing.T) {
	t.Parallel()
	cloud := newCloud(t, "")
	if err := cloud.Faults().Add(sim.Fault{Kind: sim.ErrorBefore}); err != nil {
		t.Fatal(err)
	}
	shrink := func(w *world) error {
		w.pools.Get("p").Size--
		w.pools.Touch("p")
		return nil
	}
	for _, name := range []string{"a", "b"} {
		if err := cloud.ByHand(name, shrink); err != nil || cloud.Worlds[name].pools.Get("p").Size != 0 {
			t.Errorf("want the pool of %s shrunk by hand, got %v, %v", name, *cloud.Worlds[name].pools.Get("p"), err)
		}
	}
	if err := cloud.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cloud.ByHand("a", shrink); !errors.Is(err, sim.ErrClosed) {
		t.Errorf("want a closed cloud to refuse, got %v", err)
	}
}
