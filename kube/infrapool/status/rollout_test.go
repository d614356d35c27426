package status

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/kube/infrapool/settings"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/rollouts"
)

// TestRolloutSurvivesARestart: what a status has of a rollout is what the next decision needs of it.
func TestRolloutSurvivesARestart(t *testing.T) {
	t.Parallel()
	started := time.Date(2026, 12, 1, 22, 0, 0, 0, time.UTC)
	many := strings.Split(strings.Repeat("n ", 30), " ")
	for _, c := range []struct {
		why    string
		plan   pool.Plan
		set    settings.Settings
		want   common.RolloutStatus
		record rollouts.Record
	}{
		{"a soak", pool.Plan{Progress: rollouts.Verdict{Record: rollouts.Record{ID: "a", Wave: 1, Entered: true, StartedAt: started},
			State: rollouts.Soaking, Of: 3, Until: started.Add(time.Hour)}, Rollout: pool.Rollout{State: pool.RolloutWaiting, Left: 9,
			Cause: pool.Cause{Reason: "Soaking", Message: "x"}}}, settings.Settings{},
			common.RolloutStatus{ID: "a", State: "Soaking", Wave: 1, Of: 3, Entered: true, Left: ptr.To(int32(9)), StartedAt: moment(started),
				SoakUntil: moment(started.Add(time.Hour)), Reason: "Soaking", Message: "x"},
			rollouts.Record{ID: "a", Wave: 1, Entered: true, StartedAt: started}},
		{"a machine that did not join", pool.Plan{Progress: rollouts.Verdict{Record: rollouts.Record{ID: "a", Wave: 1, Entered: true,
			StartedAt: started}, State: rollouts.Replacing, Of: 1}, Rollout: pool.Rollout{State: pool.RolloutHalted, Left: 2,
			Cause: pool.Cause{Reason: "RolloutHalted", Message: "x"}}}, settings.Settings{},
			common.RolloutStatus{ID: "a", State: "Halted", Wave: 1, Of: 1, Entered: true, Left: ptr.To(int32(2)), StartedAt: moment(started),
				Reason: "RolloutHalted", Message: "x"},
			rollouts.Record{ID: "a", Wave: 1, Entered: true, StartedAt: started}},
		{"nodes", pool.Plan{Progress: rollouts.Verdict{Record: rollouts.Record{ID: "a", Wave: 1, Entered: true, StartedAt: started},
			HeldNames: many, QuarantinedNames: []string{"q"}}}, settings.Settings{},
			common.RolloutStatus{ID: "a", Wave: 1, Entered: true, Left: ptr.To(int32(0)), StartedAt: moment(started), Held: many[:20],
				Quarantined: []string{"q"}},
			rollouts.Record{ID: "a", Wave: 1, Entered: true, StartedAt: started}},
		{"an end", pool.Plan{Progress: rollouts.Verdict{Record: rollouts.Record{ID: "a", Wave: 1, Entered: true, StartedAt: started, Ended: true},
			Of: 1}}, settings.Settings{RolloutNow: true},
			common.RolloutStatus{ID: "a", State: "Ended", Wave: 1, Of: 1, Entered: true, Left: ptr.To(int32(0)), StartedAt: moment(started)},
			rollouts.Record{ID: "a", Wave: 1, Entered: true, StartedAt: started, Ended: true}},
	} {
		s := &common.Status{}
		SetRollout(s, c.plan, pool.Observed{}, rollouts.Limits{}, c.set, false)
		if !reflect.DeepEqual(*s.Rollout, c.want) {
			t.Errorf("%s: want %+v, got %+v", c.why, c.want, *s.Rollout)
		}
		if got := Progress(s); got != c.record {
			t.Errorf("%s: want the record %+v, got %+v", c.why, c.record, got)
		}
	}
	s := &common.Status{Rollout: &common.RolloutStatus{ID: "a"}}
	SetRollout(s, pool.Plan{}, pool.Observed{}, rollouts.Limits{}, settings.Settings{}, false)
	if s.Rollout != nil || Progress(s) != (rollouts.Record{}) {
		t.Errorf("want nothing without a rollout, got %+v", s.Rollout)
	}
}

func TestWaveEvents(t *testing.T) {
	t.Parallel()
	wave := func(n int32, by string) *common.RolloutStatus {
		return &common.RolloutStatus{ID: "a", Wave: n, Of: 3, Entered: true, OverriddenBy: by}
	}
	gate := func(state string) *common.RolloutStatus {
		return &common.RolloutStatus{ID: "a", Gates: []common.GateStatus{{Name: "go", Policy: "RolloutPolicy a/b", State: state}}}
	}
	for _, c := range []struct {
		why           string
		before, after *common.RolloutStatus
		want          []string
	}{
		{"the first wave", nil, wave(1, ""), []string{"WaveStarted"}},
		{"nothing new", wave(1, "kubectl"), wave(1, "kubectl"), nil},
		{"the next wave", wave(1, ""), wave(2, ""), []string{"WaveStarted"}},
		{"a user hurries", wave(1, ""), wave(1, "kubectl"), []string{"WindowsOverridden"}},
		{"a gate is approved", gate("AwaitingApproval"), gate("Passed"), []string{"GateApproved"}},
		{"a gate that was approved before", gate("Passed"), gate("Passed"), nil},
		{"a gate that is asked passes", gate("Failed"), gate("Passed"), nil},
		{"one wave needs no event", nil, &common.RolloutStatus{ID: "a", Wave: 1, Of: 1, Entered: true}, nil},
		{"the end", wave(3, ""), nil, nil},
	} {
		var got []string
		for _, e := range waveEvents(c.before, c.after) {
			got = append(got, e.Reason)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: want %v, got %v", c.why, c.want, got)
		}
	}
}
