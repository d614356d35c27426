package pool

import (
	"slices"
	"testing"
	"time"
)

// When a plan may change although nothing happens.
func TestNext(t *testing.T) {
	after := func(d time.Duration) time.Time { return now.Add(d) }
	ready := func(ago time.Duration) func(*Instance) {
		return func(i *Instance) { i.Node.ReadySince = now.Add(-ago) }
	}
	for _, c := range []struct {
		name, why string
		d         Desired
		o         Observed
		want      time.Time
	}{
		{"at rest", "nothing has a deadline", wants(2, rolls(1, 0)), fleet(serving(2)), time.Time{}},
		{"not Ready for long enough", "the node counts at that very moment, and nothing tells of it",
			wants(2, rolls(0, 1), func(d *Desired) { d.MinReady = time.Minute }),
			fleet(append(serving(1), machine("n-1", 1, current, ready(50*time.Second))), newTemplate), after(10 * time.Second)},
		{"the earliest", "of several deadlines the first counts", wants(3, rolls(0, 1), func(d *Desired) { d.MinReady = time.Minute }),
			fleet(append(serving(1), machine("n-1", 1, current, ready(50*time.Second)), machine("n-2", 1, current, ready(55*time.Second))),
				newTemplate), after(5 * time.Second)},
		{"has not joined", "the rollout halts a moment after its deadline", wants(2, rolls(1, 0)),
			fleet(append(serving(2), machine("n-1", 0, current, notJoined, born5(19))), newTemplate), after(time.Minute + 1)},
		{"has not joined, stale", "a moment after its deadline it counts as not serving", wants(2, rolls(1, 0)),
			fleet(append(serving(2), machine("i-9", 0, notJoined, born5(14))), newTemplate), after(time.Minute + 1)},
		{"unready", "so does one whose node is away for long", wants(2, rolls(1, 0)),
			fleet(append(serving(2, current), machine("i-9", 9, down(4))), newTemplate), after(time.Minute + 1)},
		{"drain with a bound", "it ends then, whatever is left", wants(1, func(d *Desired) { d.DrainTimeout = 3 * time.Minute }),
			fleet(append(serving(1), machine("i-9", 9, drainingNode))), after(2 * time.Minute)},
		{"drain of the whole pool", "there as well", wants(1, deleting, func(d *Desired) { d.DrainTimeout = 3 * time.Minute }),
			fleet(list(machine("i-9", 9, drainingNode))), after(2 * time.Minute)},
		{"failed a moment ago", "its rest ends", wants(2),
			fleet(append(serving(1), machine("i-9", 0, failed, notJoined, func(i *Instance) { i.Created = now.Add(-50 * time.Second) }))),
			after(10 * time.Second)},
		{"pause of a roll", "another is begun then", wants(2), fleet(serving(2), newTemplate, rollOf(ProviderRolloutFailed, "b")),
			after(time.Minute)},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := traits
			tr.KeepsFailedInstances, tr.ProviderRollout = true, c.d.Strategy == nil
			if got := Decide(c.d, c.o, tr, now).Next; !got.Equal(c.want) {
				t.Errorf("%s: want %s, got %s", c.why, c.want.Sub(now), got.Sub(now))
			}
		})
	}
}

// What one call may not name at once follows at once.
func TestMore(t *testing.T) {
	held := func(i *Instance) {
		i.State, i.LifecycleHook = Terminating, &LifecycleHook{Since: now.Add(-time.Minute), Until: now.Add(time.Hour), Heartbeat: time.Hour}
	}
	aside := traits
	aside.SupportsStandby = true
	for _, c := range []struct {
		name string
		d    Desired
		o    Observed
		tr   Traits
		kind StepKind
		more bool
	}{
		{"another step", wants(3), fleet(serving(3), func(o *Observed) { o.Wanted.Content, o.Group.Drift = "v1:b", []string{"tags"} }), traits,
			PutTemplate, true},
		{"another step, refused", wants(3, refused(UpdateGroup)),
			fleet(serving(3), func(o *Observed) { o.Wanted.Content, o.Group.Drift = "v1:b", []string{"tags"} }), traits, PutTemplate, false},
		{"as many as fit", wants(0), fleet(serving(3, drainedNode)), traits, Remove, false},
		{"removals", wants(0), fleet(serving(4, drainedNode)), traits, Remove, true},
		{"replacements", wants(4, rolls(0, 4)), fleet(serving(4, drainedNode), newTemplate), traits, Replace, true},
		{"replacements, then removals", wants(2, rolls(0, 2)), fleet(serving(3, drainedNode), newTemplate), traits, Replace, true},
		{"releases", wants(0), fleet(serving(4, drainedNode, held), sized(0)), traits, Release, true},
		{"set aside", wants(4, rolls(4, 0)), fleet(serving(4), newTemplate), aside, EnterStandby, true},
		{"set aside, as many as fit", wants(4, rolls(3, 0)), fleet(serving(4), newTemplate), aside, EnterStandby, false},
	} {
		if s := Decide(c.d, c.o, c.tr, now).Step; s == nil || s.Kind != c.kind || s.More != c.more || len(s.Targets) > traits.RemoveBatch {
			t.Errorf("%s: want %s, more to come %v, got %+v", c.name, c.kind, c.more, s)
		}
	}
}

// Each pool has an order of its own, so that what two pools share (a rack, a zone) is not hit in both.
func TestRandomIsEachPoolsOwn(t *testing.T) {
	order := func(seed string) []string {
		return victims(wants(0, func(d *Desired) { d.DeletePolicy, d.Seed = Random, seed }), fleet(serving(9)), 9)
	}
	if a, b := order("a"), order("b"); slices.Equal(a, b) || !slices.Equal(a, order("a")) {
		t.Errorf("want two pools in two orders, and one in the same each time, got %v and %v", a, b)
	}
}
