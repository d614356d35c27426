package partstest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/kube/metrics"
	"github.com/muster-project/muster/pool"
)

var (
	observedAt   = time.Unix(10_000, 0)
	observedPool = metrics.Pool{Kind: "FakeMachinePool", Namespace: "default", Name: "p"}
)

func newPools(t *testing.T) (*prometheus.Registry, *metrics.Pools) {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	p, err := metrics.NewPools(r)
	if err != nil {
		t.Fatal(err)
	}
	return r, p
}

// samples returns the samples that are not zero, by name and the labels that differ.
func samples(t *testing.T, r prometheus.Gatherer) []string {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				if !slices.Contains([]string{"FakeMachinePool", "default", "c", "p"}, l.GetValue()) {
					labels = append(labels, l.GetValue())
				}
			}
			value := m.GetGauge().GetValue()
			if m.GetHistogram() != nil {
				value = m.GetHistogram().GetSampleSum()
			}
			if value != 0 {
				all = append(all, fmt.Sprintf("%s%s %v", strings.TrimPrefix(f.GetName(), "muster_"), braced(labels), value))
			}
		}
	}
	slices.Sort(all)
	return all
}

func braced(labels []string) string {
	if labels == nil {
		return ""
	}
	return "{" + strings.Join(labels, ",") + "}"
}

func running(id string, n *pool.Node) pool.Instance {
	return pool.Instance{ID: id, State: pool.Running, Node: n}
}

func ready() *pool.Node {
	return &pool.Node{Ready: true, Joined: observedAt.Add(-time.Hour), ReadySince: observedAt.Add(-time.Hour)}
}

func draining(since time.Duration, left int) *pool.Node {
	n := ready()
	n.DrainStarted, n.Remaining = observedAt.Add(-since), left
	return n
}

func TestMetricsOfAPass(t *testing.T) {
	t.Parallel()
	all := pool.Observed{Instances: []pool.Instance{
		{ID: "1", State: pool.Pending}, {ID: "2", State: pool.Failed}, {ID: "3", State: pool.Terminating, Node: ready()},
		running("4", nil), running("5", &pool.Node{Joined: observedAt, ReadySince: observedAt}), running("6", ready()),
		running("7", &pool.Node{Joined: observedAt.Add(-time.Hour), ReadySince: observedAt}),
		running("8", draining(time.Minute, 1)), running("9", draining(time.Hour, 1)),
	}}
	for _, c := range []struct {
		reason string
		passes []metrics.Pass
		want   []string
	}{
		{"each machine is counted in one state, and the oldest drain is exposed",
			[]metrics.Pass{{Outcome: engine.Outcome{Seen: true, Observed: all, Plan: pool.Plan{
				Budget: pool.Budget{Desired: 8, Available: 1}, Rollout: pool.Rollout{State: pool.RolloutInProgress, Left: 4}}}}},
			[]string{"pool_available_instances 1", "pool_desired_instances 8", "pool_instances{draining} 2", "pool_instances{failed} 1",
				"pool_instances{joining} 2",
				"pool_instances{not_ready} 1", "pool_instances{pending} 1", "pool_instances{ready} 1", "pool_instances{terminating} 1",
				"pool_observed 1",
				"pool_oldest_drain_start_timestamp_seconds 6400", "pool_rollout_left_instances 4", "pool_rollout_state{InProgress} 1"}},
		{"a machine without a node is unknown while the workload cluster is unreachable",
			[]metrics.Pass{{Outcome: engine.Outcome{Seen: true, Observed: pool.Observed{NodesUnknown: true,
				Instances: []pool.Instance{running("1", nil), {ID: "2", State: pool.Pending}}}}}},
			[]string{"pool_instances{pending} 1", "pool_instances{unknown} 1", "pool_observed 1"}},
		{"the state of a pool is not exposed while its cloud does not respond, because it would be outdated",
			[]metrics.Pass{{Outcome: engine.Outcome{Seen: true, Observed: all}},
				{Outcome: engine.Outcome{Err: errors.New("broken")}, TokensEnd: time.Unix(7, 0)}},
			[]string{"pool_bootstrap_token_expiration_timestamp_seconds 7"}},
		{"while Muster's own rate limit delays requests, the previous observation stays",
			[]metrics.Pass{{Outcome: engine.Outcome{Seen: true, Observed: pool.Observed{Instances: []pool.Instance{running("6", ready())}}}},
				{Outcome: engine.Outcome{RateLimited: true}, TokensEnd: time.Unix(7, 0)}},
			[]string{"pool_bootstrap_token_expiration_timestamp_seconds 7", "pool_instances{ready} 1", "pool_observed 1"}},
	} {
		r, p := newPools(t)
		for _, pass := range c.passes {
			pass.Pool, pass.Cluster, pass.Now = observedPool, "c", observedAt
			p.Observe(pass)
		}
		if diff := cmp.Diff(c.want, samples(t, r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.reason, diff)
		}
		p.Forget(observedPool)
		if got := samples(t, r); got != nil {
			t.Errorf("%s: want nothing of a pool that is gone, got %v", c.reason, got)
		}
	}
}

func TestMetricsOfDrains(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		kind   pool.StepKind
		node   *pool.Node
		failed bool
		want   string
	}{
		{"a drain that ended is counted when the machine goes", pool.Remove, draining(time.Minute, 0), false,
			"drain_duration_seconds{drained} 60"},
		{"a drain whose time was up left pods behind", pool.Replace, draining(time.Minute, 2), false, "drain_duration_seconds{cut_short} 60"},
		{"a machine that the cloud terminates is released after its drain", pool.Release, draining(time.Minute, 0), false,
			"drain_duration_seconds{drained} 60"},
		{"a machine goes with its group", pool.DeleteGroup, draining(time.Minute, 0), false, "drain_duration_seconds{drained} 60"},
		{"a drain is undone if the machine stays", pool.Undrain, draining(time.Minute, 0), false, "drain_duration_seconds{taken_back} 60"},
		{"a drain in progress has no duration yet", pool.Drain, draining(time.Minute, 2), false, ""},
		{"a step that could not be started ends no drain", pool.Remove, draining(time.Minute, 0), true, ""},
		{"a machine that never was drained has no duration", pool.Remove, ready(), false, ""},
		{"a machine without a node has no duration", pool.Remove, nil, false, ""},
	} {
		r, p := newPools(t)
		other := pool.Instance{ID: "2", State: pool.Terminating, Node: draining(time.Hour, 0)}
		p.Observe(metrics.Pass{Pool: observedPool, Now: observedAt, Outcome: engine.Outcome{
			Seen: true, Started: !c.failed, Observed: pool.Observed{Instances: []pool.Instance{running("1", c.node), other}},
			Plan: pool.Plan{Step: &pool.Step{Kind: c.kind, Targets: []pool.InstanceRef{{ID: "1"}, {ID: "gone meanwhile"}}}},
		}})
		p.Forget(observedPool)
		if got := strings.Join(samples(t, r), " "); got != c.want {
			t.Errorf("%s: want %q, got %q", c.reason, c.want, got)
		}
	}
}

// TestADrainIsCountedOnce holds that a drain counts once although the removal of a machine that its cloud holds takes two steps.
func TestADrainIsCountedOnce(t *testing.T) {
	t.Parallel()
	r, p := newPools(t)
	step := func(kind pool.StepKind, state pool.InstanceState, since time.Duration) {
		p.Observe(metrics.Pass{Pool: observedPool, Now: observedAt, Outcome: engine.Outcome{Seen: true, Started: true,
			Observed: pool.Observed{Instances: []pool.Instance{{ID: "1", State: state, Node: draining(since, 0)}}},
			Plan:     pool.Plan{Step: &pool.Step{Kind: kind, Targets: []pool.InstanceRef{{ID: "1"}}}}}})
	}
	step(pool.Remove, pool.Running, time.Minute)
	p.Observe(metrics.Pass{Pool: observedPool, Now: observedAt, Outcome: engine.Outcome{Err: errors.New("broken")}})
	step(pool.Renew, pool.Terminating, time.Minute)
	step(pool.Release, pool.Terminating, time.Minute)
	if n, err := testutil.GatherAndCount(r, "muster_drain_duration_seconds"); err != nil || n != 1 {
		t.Fatalf("want one series, got %d, error %v", n, err)
	}
	sum := func(reason, want string) {
		t.Helper()
		if got := samples(t, r); got[0] != want {
			t.Errorf("%s: want %q, got %q", reason, want, got[0])
		}
	}
	sum("removed and let go", "drain_duration_seconds{drained} 60")
	step(pool.Undrain, pool.Running, time.Second)
	sum("another drain of the same machine", "drain_duration_seconds{drained} 60")
	if n, err := testutil.GatherAndCount(r, "muster_drain_duration_seconds"); err != nil || n != 2 {
		t.Errorf("another drain of the same machine: want it counted as taken back, got %d series, error %v", n, err)
	}
}

// TestNoMetrics holds that callers without metrics can call the same methods.
func TestNoMetrics(t *testing.T) {
	t.Parallel()
	var none *metrics.Pools
	none.Observe(metrics.Pass{Pool: observedPool})
	none.Forget(observedPool)
}

func aMachinePool(name string, phase clusterv1.MachinePoolPhase, s clusterv1.MachinePoolStatus) *clusterv1.MachinePool {
	p := &clusterv1.MachinePool{Spec: clusterv1.MachinePoolSpec{ClusterName: "c", Replicas: ptr.To(int32(3))}, Status: s}
	p.Namespace, p.Name, p.Status.Phase = "default", name, string(phase)
	return p
}

func TestMetricsOfMachinePools(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := clusterv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	broken := false
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		aMachinePool("p", clusterv1.MachinePoolPhaseRunning, clusterv1.MachinePoolStatus{Replicas: ptr.To(int32(4)),
			ReadyReplicas:     ptr.To(int32(2)),
			AvailableReplicas: ptr.To(int32(1)), UpToDateReplicas: ptr.To(int32(0))}),
		aMachinePool("unknown", "", clusterv1.MachinePoolStatus{}),
	).WithInterceptorFuncs(interceptor.Funcs{List: func(ctx context.Context, w client.WithWatch, list client.ObjectList,
		opts ...client.ListOption) error {
		if broken {
			return errors.New("not started")
		}
		return w.List(ctx, list, opts...)
	}}).Build()
	r := prometheus.NewPedanticRegistry()
	m, err := metrics.NewMachinePools(r)
	if err != nil {
		t.Fatal(err)
	}
	if got := samples(t, r); got != nil {
		t.Errorf("want nothing before a manager leads, got %v", got)
	}
	stop := m.Serve(c)
	want := []string{"machinepool_available_replicas 1", "machinepool_current_replicas 4", "machinepool_desired_replicas 3",
		"machinepool_desired_replicas{unknown} 3",
		"machinepool_ready_replicas 2", "machinepools{Pending} 1", "machinepools{Running} 1"}
	if diff := cmp.Diff(want, samples(t, r)); diff != "" {
		t.Errorf("what is told (-want +got):\n%s", diff)
	}
	const phases = 10
	if n, err := testutil.GatherAndCount(r, "muster_machinepool_up_to_date_replicas", "muster_machinepools"); err != nil ||
		n != 1+phases {
		t.Errorf("want a zero that is known, and every phase, told: got %d samples, error %v", n, err)
	}
	broken = true
	if got := samples(t, r); got != nil {
		t.Errorf("want nothing of a cache that can't be read, got %v", got)
	}
	broken = false
	stop()
	if got := samples(t, r); got != nil {
		t.Errorf("want nothing of a manager that no longer leads, got %v", got)
	}
}

// TestConventionsOfMetrics holds that the linter of Prometheus finds no problem.
func TestConventionsOfMetrics(t *testing.T) {
	t.Parallel()
	r, p := newPools(t)
	p.Observe(metrics.Pass{Pool: observedPool, Cluster: "c", Now: observedAt, TokensEnd: observedAt, Outcome: engine.Outcome{Seen: true,
		Started: true, Observed: pool.Observed{Instances: []pool.Instance{running("1", draining(time.Minute, 0))}},
		Plan: pool.Plan{Step: &pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: "1"}}}}}})
	const states, rollouts = 8, 6 // of instances and of a pool
	problems, err := testutil.GatherAndLint(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
	if n, err := testutil.GatherAndCount(r); err != nil || n < states+rollouts+7 {
		t.Errorf("want every metric linted, got %d samples, error %v", n, err)
	}
}
