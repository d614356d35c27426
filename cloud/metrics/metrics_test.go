package metrics

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/pool"
)

type fake struct{ err error }

func (f fake) Traits() pool.Traits { return pool.Traits{Group: "fake group"} }

func (f fake) Observe(context.Context, cloud.Target[int]) (pool.Observed, error) {
	return pool.Observed{Versions: []pool.Template{{Ref: "t:1"}}}, f.err
}

func (f fake) Start(context.Context, cloud.Target[int], pool.Step) error { return f.err }

// counts gives the number of samples by the values of a metric's labels.
func counts(t *testing.T, r *prometheus.Registry, name string) map[string]uint64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatalf("gather: %v", err)
	}
	out := map[string]uint64{}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			out[strings.Join(labels, " ")] = m.GetHistogram().GetSampleCount() + uint64(m.GetCounter().GetValue())
		}
	}
	return out
}

func TestMeasured(t *testing.T) {
	r := prometheus.NewRegistry()
	m, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	denied := &cloud.Error{Kind: cloud.Denied}
	for _, c := range []struct {
		reason string
		err    error
	}{
		{"a success is counted as ok", nil},
		{"a refusal is counted by its kind", denied},
		{"throttling by the cloud is counted as such", &cloud.Error{Kind: cloud.Throttled}},
		{"a budget of our own that is used up is told from it", &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited}},
		{"an error of no kind is counted as unavailable, for nothing is known about it", errors.New("broken")},
	} {
		d := Measured[int](fake{err: c.err}, m, "FakePool")
		o, err := d.Observe(t.Context(), cloud.Target[int]{})
		if !errors.Is(err, c.err) {
			t.Errorf("%s: want the driver's own error %v, got %v", c.reason, c.err, err)
		}
		if o.Latest().Ref != "t:1" {
			t.Errorf("%s: want the driver's observation, got %+v", c.reason, o)
		}
		if err := d.Start(t.Context(), cloud.Target[int]{}, pool.Step{Kind: pool.Resize}); !errors.Is(err, c.err) {
			t.Errorf("%s: want the driver's own error %v, got %v", c.reason, c.err, err)
		}
		if got := d.Traits().Group; got != "fake group" {
			t.Errorf("%s: want the driver's traits, got %q", c.reason, got)
		}
	}
	want := map[string]uint64{
		"FakePool Observe ok": 1, "FakePool Observe Denied": 1, "FakePool Observe Throttled": 1, "FakePool Observe ClientRateLimited": 1,
		"FakePool Observe Unavailable": 1,
		"FakePool Resize ok":           1, "FakePool Resize Denied": 1, "FakePool Resize Throttled": 1, "FakePool Resize ClientRateLimited": 1,
		"FakePool Resize Unavailable": 1,
	}
	if diff := cmp.Diff(want, counts(t, r, "muster_driver_operation_duration_seconds")); diff != "" {
		t.Errorf("counted operations (-want +got):\n%s", diff)
	}
}

func TestRequests(t *testing.T) {
	r := prometheus.NewRegistry()
	m, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	call := wire.Call{Service: "ec2", Operation: "DescribeImages", Account: "1", Region: "eu-west-1"}
	m.Done(call, wire.Result{Status: 200, Duration: time.Second})
	m.Done(call, wire.Result{Duration: time.Second})
	m.Done(call, wire.Result{Limited: true, Priority: cloud.PriorityRotation})
	m.Throttled(call, wire.Result{Status: 400})
	if diff := cmp.Diff(map[string]uint64{"1 DescribeImages eu-west-1 ec2 200": 1, "1 DescribeImages eu-west-1 ec2 none": 1},
		counts(t, r, "muster_cloud_request_duration_seconds")); diff != "" {
		t.Errorf("counted requests (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]uint64{"1 DescribeImages rotation eu-west-1 ec2": 1},
		counts(t, r, "muster_cloud_requests_held_back_total")); diff != "" {
		t.Errorf("counted requests that were held back (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]uint64{"1 DescribeImages eu-west-1 ec2 400": 1},
		counts(t, r, "muster_cloud_requests_throttled_total")); diff != "" {
		t.Errorf("counted requests that were throttled (-want +got):\n%s", diff)
	}
}

// TestBudgets holds that what is left of a budget grows with time, that a state that is older than the last one is dropped, and that a
// throttled request sets the state too.
func TestBudgets(t *testing.T) {
	now := time.Unix(1000, 0)
	r := prometheus.NewRegistry()
	m, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	m.budgets.now = func() time.Time { return now }
	call := wire.Call{Service: "ec2", Operation: "DescribeImages", Account: "1", Region: "eu-west-1"}
	state := func(left float64, at time.Time) []wire.BudgetState {
		return []wire.BudgetState{{Label: "ec2 DescribeImages", Left: left, Burst: 100, PerSecond: 20, At: at}}
	}
	want := func(why string, left float64) {
		t.Helper()
		text := fmt.Sprintf(`# HELP muster_cloud_budget_left_requests Requests that a rate budget has left, by account, region and budget.
# TYPE muster_cloud_budget_left_requests gauge
muster_cloud_budget_left_requests{account="1",budget="ec2 DescribeImages",region="eu-west-1"} %v
`, left)
		if err := testutil.GatherAndCompare(r, strings.NewReader(text), "muster_cloud_budget_left_requests"); err != nil {
			t.Errorf("%s: %v", why, err)
		}
	}
	m.Done(call, wire.Result{Status: 200, Budgets: state(40, now)})
	m.Done(call, wire.Result{Status: 200, Budgets: state(90, now.Add(-time.Second))})
	want("the state of an older request is dropped", 40)
	now = now.Add(2 * time.Second)
	want("twenty a second flow in", 80)
	now = now.Add(time.Minute)
	want("a full budget takes no more", 100)
	m.Throttled(call, wire.Result{Status: 400, Budgets: state(0, now)})
	want("a refusal empties the budget", 0)
}

func TestNewTwice(t *testing.T) {
	r := prometheus.NewRegistry()
	if _, err := New(r); err != nil {
		t.Fatal(err)
	}
	if _, err := New(r); err == nil {
		t.Error("want an error for metrics that are registered already, got none")
	}
}
