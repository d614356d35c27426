package sweep

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/cloud"
)

// A call that a rate budget held back keeps later requests of its priority waiting, until one has been answered. A refusal of the cloud
// keeps none waiting.
func TestHeldBackCallKeepsOthersWaiting(t *testing.T) {
	t.Parallel()
	limited := &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited, After: time.Minute}
	idle, rollout := cloud.PriorityIdle, cloud.PriorityRollout
	for _, c := range []struct {
		reason string
		err    error
		// asks are the priorities of requests one after another. Only the first is refused.
		asks []cloud.Priority
		want int
	}{
		{"a second one waits for the place", limited, []cloud.Priority{idle, idle}, 1},
		{"so does an urgent one behind an urgent one", limited, []cloud.Priority{rollout, rollout}, 1},
		{"an urgent one asks at once, and its answer ends the waiting", limited, []cloud.Priority{idle, rollout, idle}, 3},
		{"the cloud has refused", &cloud.Error{Kind: cloud.Throttled, Code: "SlowDown", After: time.Minute}, []cloud.Priority{idle, idle}, 2},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := newAccount()
				s, key := a.sweep(1), a.keys(1)[0]
				a.fails = func([]string) (int, error) { return 0, c.err }
				for _, p := range c.asks {
					_, _ = s.Get(cloud.WithPriority(t.Context(), p), key, 0)
					a.fails = nil
				}
				same(t, "calls", c.want, len(a.sizes()))
			})
		})
	}
}

// The answer of a call that took long does not replace that of a later call.
func TestOvertakenCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		s, key := a.sweep(1), a.keys(1)[0]
		a.takes = 3 * time.Second
		slow := make(chan Answer[int])
		go func() {
			answer, _ := s.Get(context.Background(), key, 0)
			slow <- answer
		}()
		time.Sleep(time.Second)
		a.set(key, 2)
		a.slowBy(time.Second)
		later, err := s.Get(t.Context(), key, 0)
		same(t, "the later one, and the one that it overtook", "2 <nil> 1", joined(later.Value, err, (<-slow).Value))
		answer, err := s.Get(t.Context(), key, time.Minute)
		same(t, "what is kept", "2 <nil>", joined(answer.Value, err))
		same(t, "calls", 2, len(a.sizes()))
	})
}

// A request for its key alone shares its call with no other, and leaves those alone that others collect for.
func TestAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAccount()
		s, keys := a.sweep(10), a.keys(4)
		together(s, keys, 0)
		a.calls = nil
		ask := func(key string, maxAge time.Duration) {
			go func() { _, _ = s.Get(t.Context(), key, maxAge) }()
			synctest.Wait()
		}
		ask(keys[0], cloud.NoSharedCache)
		ask(keys[1], 0)
		ask(keys[2], cloud.NoSharedCache)
		ask(keys[3], 0)
		time.Sleep(time.Second)
		synctest.Wait()
		same(t, "calls", [][]string{{keys[0]}, {keys[2]}, {keys[1], keys[3]}}, a.calls)
	})
}
