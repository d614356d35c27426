package rollouts_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/muster-project/muster/pool/rollouts"
)

var now = time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC)

// old are machines to be replaced for a reason, updated those of the wanted template that have been Ready for a while.
func old(n int, change ...func(*rollouts.Machine)) []rollouts.Machine {
	var list []rollouts.Machine
	for k := range n {
		m := rollouts.Machine{ID: fmt.Sprintf("old-%d", k), Reasons: []rollouts.Reason{rollouts.Template}, Serves: true}
		for _, c := range change {
			c(&m)
		}
		list = append(list, m)
	}
	return list
}

func updated(n int, since time.Duration) []rollouts.Machine {
	var list []rollouts.Machine
	for k := range n {
		list = append(list, rollouts.Machine{ID: fmt.Sprintf("new-%d", k), Current: true, Serves: true, ReadySince: now.Add(-since)})
	}
	return list
}

func begun(m *rollouts.Machine)  { m.Begun = true }
func stuck(m *rollouts.Machine)  { m.Quarantined = true }
func unread(m *rollouts.Machine) { m.PodsUnread = true }
func held(m *rollouts.Machine)   { m.Held = rollouts.Cause{Reason: "Held", Message: "x"} }
func unready(list []rollouts.Machine) []rollouts.Machine {
	list[0].Serves, list[0].TurnedUnready = false, true
	return list
}

// in is the record of a rollout in a wave.
func in(wave int) rollouts.Record {
	return rollouts.Record{ID: "b", Wave: wave, Entered: true, StartedAt: now.Add(-time.Hour)}
}

var soaks = rollouts.Soak{First: 30 * time.Minute, Wave: 10 * time.Minute, Final: 5 * time.Minute}

func TestAllow(t *testing.T) {
	t.Parallel()
	closed := rollouts.Cause{Reason: "OutsideWindow", Message: "x"}
	gate := rollouts.Cause{Reason: "AwaitingApproval", Message: "x"}
	shut := func(grace time.Duration, reasons ...rollouts.Reason) rollouts.Limits {
		l := rollouts.Limits{Closed: map[rollouts.Reason]rollouts.Closure{}}
		for _, why := range reasons {
			l.Closed[why] = rollouts.Closure{Cause: closed, GraceUntil: now.Add(grace)}
		}
		return l
	}
	waves := rollouts.Plan{Targets: []int{1, 5, 10}, Soak: soaks}
	for _, c := range []struct {
		why      string
		record   rollouts.Record
		plan     rollouts.Plan
		limits   rollouts.Limits
		machines []rollouts.Machine
		want     string
	}{
		{"without waves everything may begin", rollouts.Record{}, rollouts.Plan{}, rollouts.Limits{}, old(10), "Replacing 1/1, 10 begin"},
		{"the first wave", rollouts.Record{}, waves, rollouts.Limits{}, old(10), "Replacing 1/3, 1 begin"},
		{"one that has begun counts", in(1), waves, rollouts.Limits{}, slices.Concat(old(1, begun), old(9)), "Replacing 1/3, 0 begin"},
		{"the new one is watched", in(1), waves, rollouts.Limits{}, slices.Concat(old(9), updated(1, 29*time.Minute)),
			"Soaking 1/3, 0 begin, Soaking until +1m0s"},
		{"and then the next wave begins", in(1), waves, rollouts.Limits{}, slices.Concat(old(9), updated(1, 30*time.Minute)),
			"Replacing 2/3, 4 begin"},
		{"a later wave is watched for less", in(2), waves, rollouts.Limits{}, slices.Concat(old(5), updated(5, 9*time.Minute)),
			"Soaking 2/3, 0 begin, Soaking until +1m0s"},
		{"the last wave too", in(3), waves, rollouts.Limits{}, updated(10, 4*time.Minute), "Soaking 3/3, 0 begin until +1m0s"},
		{"and then the rollout ends", in(3), waves, rollouts.Limits{}, updated(10, 5*time.Minute), "ended"},
		{"a new machine that turns unready halts", in(1), waves, rollouts.Limits{}, slices.Concat(old(9), unready(updated(1, 0))),
			"Halted 1/3, 0 begin, RolloutHalted until +1m0s"},
		{"one that stays unready has failed it", in(1), waves, rollouts.Limits{}, slices.Concat(old(9), unready(updated(1, time.Minute))),
			"Halted 1/3, 0 begin, RolloutHalted, failed"},
		{"an autoscaler removes the watched machine: another is replaced", in(1), waves, rollouts.Limits{}, old(9), "Replacing 1/3, 0 begin"},
		{"growth adds to the waves, and does not skip a soak", in(1), rollouts.Plan{Targets: []int{1, 5, 10}, Soak: soaks}, rollouts.Limits{},
			slices.Concat(old(9), updated(11, time.Minute)), "Soaking 1/3, 0 begin, Soaking until +29m0s"},
		{"shrinking opens no wave again", in(2), rollouts.Plan{Targets: []int{1, 2, 3}, Soak: soaks}, rollouts.Limits{},
			slices.Concat(old(1), updated(2, time.Hour)), "Replacing 3/3, 1 begin"},
		{"a record that is lost repeats the waves, not the soak of what is Ready for long", rollouts.Record{}, waves, rollouts.Limits{},
			slices.Concat(old(5), updated(5, time.Hour)), "Replacing 3/3, 5 begin"},
		{"another template begins anew", rollouts.Record{ID: "a", Wave: 3, Entered: true}, waves, rollouts.Limits{}, old(10),
			"Replacing 1/3, 1 begin"},
		{"a gate holds back the first wave", rollouts.Record{}, waves, rollouts.Limits{BeforeWave: gate}, old(10),
			"Waiting 1/3, 0 begin, AwaitingApproval"},
		{"it does not stop a wave that has begun", in(1), waves, rollouts.Limits{BeforeWave: gate}, old(10), "Replacing 1/3, 1 begin"},
		{"a gate fails during the soak", in(1), waves, rollouts.Limits{DuringSoak: gate}, slices.Concat(old(9), updated(1, time.Hour)),
			"Halted 1/3, 0 begin, AwaitingApproval, failed"},
		{"a user promotes the wave", in(1), waves, rollouts.Limits{DuringSoak: gate, BeforeWave: gate, Promoted: "b/1"},
			slices.Concat(old(9), updated(1, 0)), "Replacing 2/3, 4 begin"},
		{"an approval of another rollout does not count", rollouts.Record{}, waves,
			rollouts.Limits{Approvals: []rollouts.Approval{{Cause: gate, For: []string{"a"}}}}, old(10), "Waiting 1/3, 0 begin, AwaitingApproval"},
		{"an approval of this one does", rollouts.Record{}, waves,
			rollouts.Limits{Approvals: []rollouts.Approval{{Cause: gate, For: []string{"a", "b"}}}}, old(10), "Replacing 1/3, 1 begin"},
		{"a promotion of another rollout does not count", in(1), waves, rollouts.Limits{Promoted: "a/full"},
			slices.Concat(old(9), updated(1, 0)), "Soaking 1/3, 0 begin, Soaking until +30m0s"},
		{"a user promotes everything", rollouts.Record{}, waves, rollouts.Limits{BeforeWave: gate, Promoted: "b/full"},
			slices.Concat(old(5), updated(5, 0)), "Replacing 3/3, 5 begin"},
		{"edits settle", rollouts.Record{}, rollouts.Plan{}, rollouts.Limits{Settle: time.Minute}, old(3),
			"Settling 1/1, 0 begin, Settling until +1m0s"},
		{"a window is closed", rollouts.Record{}, rollouts.Plan{}, shut(0, rollouts.Template), old(3), "Waiting 1/1, 0 begin, OutsideWindow"},
		{"for another reason", rollouts.Record{}, rollouts.Plan{}, shut(0, rollouts.Version), old(3), "Replacing 1/1, 3 begin"},
		{"what has begun goes on: nothing is reported as held", in(1), rollouts.Plan{}, shut(time.Minute, rollouts.Template),
			slices.Concat(old(1, begun), old(2)), "Replacing 1/1, 0 begin"},
		{"held machines", rollouts.Record{}, rollouts.Plan{}, rollouts.Limits{}, old(2, held), " 0/1, 0 begin, Held"},
		{"a held machine keeps no other", rollouts.Record{}, waves, rollouts.Limits{}, slices.Concat(old(1, held), old(9)),
			"Replacing 1/3, 1 begin"},
		{"a rollout ends beside held machines", in(3), waves, rollouts.Limits{}, slices.Concat(old(1, held), updated(9, time.Hour)),
			"ended, Held"},
		{"a machine in quarantine leaves its wave to another", in(1), waves, rollouts.Limits{}, slices.Concat(old(1, begun, stuck), old(9)),
			"Replacing 1/3, 1 begin"},
		{"it is in work to budgets", in(1), rollouts.Plan{}, rollouts.Limits{AtOnce: 1, Budget: gate}, slices.Concat(old(1, begun, stuck),
			old(9)), "Replacing 1/1, 0 begin, AwaitingApproval"},
		{"a rollout ends beside it", in(3), waves, rollouts.Limits{}, slices.Concat(old(1, begun, stuck), updated(9, time.Hour)),
			"ended, Quarantined"},
		{"a budget", rollouts.Record{}, rollouts.Plan{}, rollouts.Limits{AtOnce: 2, Budget: gate}, old(10), "Replacing 1/1, 2 begin"},
		{"a budget that missing machines use", rollouts.Record{}, rollouts.Plan{}, rollouts.Limits{AtOnce: 2, Budget: gate}, old(8),
			"Replacing 1/1, 0 begin, AwaitingApproval"},
		{"age knows no waves", in(1), waves, rollouts.Limits{}, slices.Concat(updated(7, 0), old(3, func(m *rollouts.Machine) {
			m.Reasons = []rollouts.Reason{rollouts.Age}
		})), "Soaking 1/3, 3 begin until +30m0s"},
	} {
		a := rollouts.Allow(c.record, rollouts.Pool{ID: "b", Size: 10, Plan: c.plan, Limits: c.limits}, c.machines, now)
		got := fmt.Sprintf("%s %d/%d, %d begin", a.State, a.Record.Wave, a.Of, a.Begins)
		if a.Record.Ended {
			got = "ended"
		}
		if a.Held != (rollouts.Cause{}) {
			got += ", " + a.Held.Reason
		}
		if a.Failed {
			got += ", failed"
		}
		if !a.Until.IsZero() {
			got += " until +" + a.Until.Sub(now).String()
		}
		if got != c.want {
			t.Errorf("%s: want %q, got %q", c.why, c.want, got)
		}
	}
}

// TestPermits holds what a machine may do whose replacement has begun, or not.
// TestPodsUnread: what pods may keep counts as left, does not begin, and is read when nothing else can begin.
func TestPodsUnread(t *testing.T) {
	t.Parallel()
	waves := rollouts.Plan{Targets: []int{1, 10}, Soak: soaks}
	for _, c := range []struct {
		why      string
		record   rollouts.Record
		machines []rollouts.Machine
		want     string
	}{
		{"all", in(1), old(10, unread), "Replacing 0 true PodsUnread"},
		{"some", in(1), slices.Concat(old(9, unread), old(1)), "Replacing 1 false "},
		{"while others are replaced", in(1), slices.Concat(old(1, begun), old(9, unread)), "Replacing 0 false "},
		{"while a wave is watched", in(1), slices.Concat(old(9, unread), updated(1, time.Minute)), "Soaking 0 false Soaking"},
		{"held ones are not read", in(1), old(10, unread, held), " 0 false Held"},
	} {
		a := rollouts.Allow(c.record, rollouts.Pool{ID: "b", Size: 10, Plan: waves}, c.machines, now)
		if got := fmt.Sprintf("%s %d %t %s", a.State, a.Begins, a.ReadsPods, a.Held.Reason); got != c.want {
			t.Errorf("%s: want %q, got %q", c.why, c.want, got)
		}
	}
}

func TestPermits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why    string
		grace  time.Duration
		change func(*rollouts.Machine)
		want   bool
	}{
		{"it may not begin in the grace", time.Minute, func(*rollouts.Machine) {}, false},
		{"it may end in the grace", time.Minute, begun, true},
		{"it may not end after it", 0, begun, false},
		{"another reason", 0, func(m *rollouts.Machine) { m.Reasons = []rollouts.Reason{rollouts.Version} }, true},
		{"a difference that may be one of the closed class", 0,
			func(m *rollouts.Machine) { m.Reasons = rollouts.ReasonsOf(nil, nil, false) }, false},
	} {
		m := old(1)[0]
		c.change(&m)
		l := rollouts.Limits{Closed: map[rollouts.Reason]rollouts.Closure{rollouts.Template: {GraceUntil: now.Add(c.grace)}}}
		others := old(2, func(m *rollouts.Machine) { m.Reasons = []rollouts.Reason{rollouts.Version} })
		a := rollouts.Allow(in(1), rollouts.Pool{ID: "b", Size: 3, Limits: l}, slices.Concat([]rollouts.Machine{m}, others), now)
		if got, _ := a.Permits(m); got != c.want {
			t.Errorf("%s: want %t, got %t", c.why, c.want, got)
		}
	}
}

func TestReasonsOf(t *testing.T) {
	t.Parallel()
	images := []string{"image"}
	for _, c := range []struct {
		why          string
		diff, images []string
		version      bool
		want         string
	}{
		{"a field", []string{"type"}, images, false, "[Template]"},
		{"the image alone", []string{"image"}, images, false, "[Image]"},
		{"an image for another version", []string{"image"}, images, true, "[Version Image]"},
		{"both fields", []string{"image", "type"}, images, false, "[Template Image]"},
		{"a difference that is not known", nil, images, false, "[Template Image]"},
		{"a kind that names no fields", []string{"type"}, nil, true, "[Template Version Image]"},
	} {
		if got := fmt.Sprint(rollouts.ReasonsOf(c.diff, c.images, c.version)); got != c.want {
			t.Errorf("%s: want %s, got %s", c.why, c.want, got)
		}
	}
}

func TestHoldsRoll(t *testing.T) {
	t.Parallel()
	p := rollouts.Pool{ID: "b", Size: 3, Limits: rollouts.Limits{AtOnce: 1, Budget: rollouts.Cause{Reason: "BudgetSpent", Message: "x"}}}
	for _, serves := range []bool{true, false} {
		machines := old(2, func(m *rollouts.Machine) { m.Serves = serves })
		if held := rollouts.Allow(rollouts.Record{}, p, machines, now).HoldsRoll() != (rollouts.Cause{}); held != serves {
			t.Errorf("machines that serve: %v, want held %v, got %v", serves, serves, held)
		}
	}
}
