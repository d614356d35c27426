package bootstrap

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/muster-project/muster/pool"
)

// TestJoinsWith holds which tokens are needed.
func TestJoinsWith(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	machine := func(data string, age time.Duration, change ...func(*pool.Instance)) pool.Instance {
		i := pool.Instance{ID: "i", State: pool.Running, Template: pool.Template{Ref: "lt:0", Data: data}, Created: now.Add(-age)}
		for _, c := range change {
			c(&i)
		}
		return i
	}
	joined := func(i *pool.Instance) { i.Node = &pool.Node{Name: "n"} }
	in := func(state pool.InstanceState) func(*pool.Instance) {
		return func(i *pool.Instance) { i.State = state }
	}
	for name, tc := range map[string]struct {
		reason string
		i      []pool.Instance
		roll   *pool.ProviderRollout
		other  *pool.Cause
		want   []string
	}{
		"disowned": {reason: "a group that lost its owner tag goes on launching, and may be given back",
			other: &pool.Cause{Reason: "OwnershipConflict"}, want: []string{anyData}},
		"rest": {reason: "what the group launches from, and what it will be pointed at next", want: []string{"d1", "d2"}},
		"joined": {reason: "a machine that has joined needs no token any more", i: []pool.Instance{machine("d0", time.Minute, joined)},
			want: []string{"d1", "d2"}},
		"boots": {reason: "one that boots does, whatever the group launches from by now",
			i: []pool.Instance{machine("d0", 14*time.Minute)}, want: []string{"d0", "d1", "d2"}},
		"launched": {reason: "and one that is being launched", i: []pool.Instance{machine("d0", 0, in(pool.Pending))},
			want: []string{"d0", "d1", "d2"}},
		"never joined": {reason: "one that is late is not waited for any more", i: []pool.Instance{machine("d0", 15*time.Minute)},
			want: []string{"d1", "d2"}},
		"unknown age": {reason: "it is not known to be late",
			i: []pool.Instance{machine("d0", 0, func(i *pool.Instance) { i.Created = time.Time{} })}, want: []string{"d0", "d1", "d2"}},
		"goes": {reason: "an instance that terminates does not join",
			i: []pool.Instance{machine("d0", 0, in(pool.Terminating)), machine("d0", 0, in(pool.Failed))}, want: []string{"d1", "d2"}},
		"unknown data": {reason: "then any may be the one that it joins with", i: []pool.Instance{machine("", time.Minute)},
			want: []string{anyData, "d1", "d2"}},
		"cloud's roll": {reason: "it launches from what it was begun with",
			roll: &pool.ProviderRollout{State: pool.ProviderRolloutRunning, Template: pool.Template{Ref: "lt:0"}}, want: []string{"d0", "d1", "d2"}},
		"roll has ended": {reason: "until it has ended", roll: &pool.ProviderRollout{State: pool.ProviderRolloutFailed,
			Template: pool.Template{Ref: "lt:0"}}, want: []string{"d1", "d2"}},
	} {
		o := pool.Observed{Instances: tc.i, ProviderRollout: tc.roll, Group: &pool.Group{Template: "lt:1"},
			Versions: []pool.Template{{Ref: "lt:2", Data: "d2"}, {Ref: "lt:1", Data: "d1"}, {Ref: "lt:0", Data: "d0"}}}
		if tc.other != nil {
			o = pool.Observed{OwnershipConflict: tc.other}
		}
		if got := slices.Sorted(maps.Keys(joinsWith(o, 15*time.Minute, now))); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %s: want %q, got %q", name, tc.reason, tc.want, got)
		}
	}
}
