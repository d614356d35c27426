package memory

import (
	"errors"
	"testing"
	"time"

	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/pool"
)

// seen returns an outcome with so many Ready machines.
func seen(ready int) engine.Outcome {
	out := engine.Outcome{Seen: true, Plan: pool.Plan{Budget: pool.Budget{Desired: 3}},
		Observed: pool.Observed{Wanted: pool.Template{Content: "a"}}}
	for range ready {
		out.Observed.Instances = append(out.Observed.Instances, pool.Instance{State: pool.Running, Node: &pool.Node{Ready: true},
			Template: pool.Template{Content: "a"}})
	}
	out.Observed.Instances = append(out.Observed.Instances, pool.Instance{State: pool.Terminating, Node: &pool.Node{Ready: true}})
	return out
}

// TestSamples holds that a sample is kept when a count changes, that the one at the beginning of the span stays, and that they are bounded.
func TestSamples(t *testing.T) {
	t.Parallel()
	m, k, now := New(), Key{Kind: "K", Name: "p"}, time.Now()
	m.Observe(k, seen(1), now)
	m.Observe(k, seen(1), now.Add(time.Minute))
	m.Observe(k, seen(2), now.Add(2*time.Minute))
	m.Observe(k, engine.Outcome{Err: errors.New("unavailable")}, now.Add(3*time.Minute))
	want := []Sample{{At: now, Desired: 3, Ready: 1, UpToDate: 1}, {At: now.Add(2 * time.Minute), Desired: 3, Ready: 2, UpToDate: 2}}
	if got := m.Samples(k); len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("want %v, got %v", want, got)
	}
	m.Observe(k, seen(3), now.Add(Span+time.Hour))
	if got := m.Samples(k); len(got) != 2 || got[0] != want[1] {
		t.Errorf("want the sample that holds at the beginning of the span, and the last, got %v", got)
	}
	for n := range 3 * maxSamples {
		m.Observe(k, seen(n%2), now.Add(Span+time.Hour+time.Duration(n)*time.Second))
	}
	if got := m.Samples(k); len(got) != maxSamples {
		t.Errorf("want %d samples, got %d", maxSamples, len(got))
	}
}

// TestLast holds that the last observation stays while later passes fail, with their error, and that a pool is forgotten.
func TestLast(t *testing.T) {
	t.Parallel()
	m, k, now := New(), Key{Kind: "K", Name: "p"}, time.Now()
	if _, ok := m.Last(k); ok {
		t.Error("want nothing before a pass")
	}
	failed := engine.Outcome{Err: errors.New("denied"), Refused: map[pool.StepKind]error{pool.Resize: errors.New("quota")}}
	m.Observe(k, failed, now)
	if _, ok := m.Last(k); ok {
		t.Error("want nothing before an observation")
	}
	m.Observe(k, seen(2), now.Add(time.Second))
	m.Observe(k, failed, now.Add(2*time.Second))
	p, ok := m.Last(k)
	if !ok || !p.At.Equal(now.Add(time.Second)) || p.Later == nil || len(p.Outcome.Observed.Instances) != 3 {
		t.Errorf("want the observation and the later error, got %+v", p)
	}
	if got := m.Refusals(k); len(got) != 2 || got[0].Message != "denied" || got[1].Step != string(pool.Resize) {
		t.Errorf("want both refusals, got %v", got)
	}
	issue := seen(1)
	issue.Observed.Issues = []pool.Cause{{Reason: "LaunchFailed", Message: "no capacity"}}
	m.Observe(k, issue, now.Add(3*time.Second))
	if got := m.Refusals(k); len(got) != 1 || got[0].Step != "LaunchFailed" || got[0].Message != "no capacity" {
		t.Errorf("want the issue that the cloud reports, got %v", got)
	}
	m.Forget(k)
	if _, ok := m.Last(k); ok || len(m.Samples(k)) > 0 || len(m.Refusals(k)) > 0 {
		t.Error("want it forgotten")
	}
	var none *Memory
	none.Observe(k, seen(1), now)
	none.Forget(k)
	if _, ok := none.Last(k); ok || none.Samples(k) != nil || none.Refusals(k) != nil {
		t.Error("want nothing of no memory")
	}
}
