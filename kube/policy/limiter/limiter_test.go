package limiter_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/policy"
	"github.com/muster-project/muster/kube/policy/gates"
	"github.com/muster-project/muster/kube/policy/gates/asker"
	"github.com/muster-project/muster/kube/policy/limiter"
	"github.com/muster-project/muster/pool/rollouts"
)

var now = time.Date(2026, 12, 24, 12, 0, 0, 0, time.UTC)

// of returns a limiter of policies, whose manager has just started.
func of(t *testing.T, policies ...client.Object) *limiter.Limiter {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := musterv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(policies...).Build()
	return &limiter.Limiter{Policies: &policy.Reader{Client: c}, Ledger: &limiter.Ledger{}}
}

// since has the limiter count pools at rest some time ago.
func since(t *testing.T, l *limiter.Limiter, ago time.Duration, pools ...limiter.Pool) *limiter.Limiter {
	t.Helper()
	for _, p := range pools {
		p.Now = now.Add(-ago)
		_ = take(t, l, p)
		l.Done(t.Context(), p, rollouts.Verdict{})
	}
	return l
}

// take returns how many machines of a pool may be replaced in a pass that begins, and why no more.
func take(t *testing.T, l *limiter.Limiter, p limiter.Pool) string {
	t.Helper()
	got, err := l.Limits(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s", got.AtOnce, got.Budget.Reason)
}

// rolling is the verdict for a pool in a rollout that is replacing machines.
func rolling(machines int) rollouts.Verdict {
	return rollouts.Verdict{InWork: machines, State: rollouts.Replacing, Record: rollouts.Record{ID: "x", Entered: true}}
}

func production(spec musterv1.RolloutPolicySpec) client.Object {
	return &musterv1.ClusterRolloutPolicy{ObjectMeta: metav1.ObjectMeta{Name: "production"}, Spec: spec}
}

func tenants(namespace string, spec musterv1.RolloutPolicySpec) client.Object {
	return &musterv1.RolloutPolicy{ObjectMeta: metav1.ObjectMeta{Name: "team", Namespace: namespace}, Spec: spec}
}

// pool is a pool of a namespace and a cluster, with annotations on its MachinePool.
func pool(namespace, name, cluster string, annotations map[string]string) limiter.Pool {
	meta := metav1.ObjectMeta{Namespace: namespace, Name: name}
	mp := &clusterv1.MachinePool{ObjectMeta: meta}
	mp.Annotations = annotations
	return limiter.Pool{Kind: "AWSMachinePool", Object: &clusterv1.MachinePool{ObjectMeta: meta}, MachinePool: mp,
		Cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: cluster}}, Desired: 10, Now: now}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	freeze := musterv1.RolloutPolicySpec{Exclusions: []musterv1.RolloutExclusion{{From: "2026-12-18", To: "2027-01-04",
		TimeZone: "Europe/Berlin", Scope: musterv1.ExcludeAll, Why: "peak"}}}
	approve := musterv1.RolloutPolicySpec{Gates: []musterv1.RolloutGate{{Name: "signoff", Approval: &musterv1.ApprovalGate{}}}}
	asks := musterv1.RolloutPolicySpec{Gates: []musterv1.RolloutGate{{Name: "errors", Prometheus: &musterv1.PrometheusGate{
		Address: "https://prometheus.monitoring:9090", Query: "up"}}}}
	for _, c := range []struct {
		why         string
		policies    []client.Object
		annotations map[string]string
		want        string
	}{
		{"no policy", nil, nil, "0 closed, before \"\", approved []"},
		{"the operator's freeze", []client.Object{production(freeze)}, nil, "5 closed, before \"\", approved []"},
		{"a tenant's freeze of another namespace", []client.Object{tenants("team-b", freeze)}, nil, "0 closed, before \"\", approved []"},
		{"a tenant's own", []client.Object{tenants("team-a", freeze)}, nil, "5 closed, before \"\", approved []"},
		{"an approval that is missing", []client.Object{production(approve)}, nil, "0 closed, before \"\", approved [AwaitingApproval []]"},
		{"an approval of a rollout", []client.Object{production(approve)}, map[string]string{"muster.dev/approve": "signoff@abc"},
			"0 closed, before \"\", approved [AwaitingApproval [abc]]"},
		{"an approval of another gate", []client.Object{production(approve)}, map[string]string{"muster.dev/approve": "other@abc"},
			"0 closed, before \"\", approved [AwaitingApproval []]"},
		{"a gate that was not asked", []client.Object{production(asks)}, nil, "0 closed, before \"GateUnknown\", approved []"},
	} {
		l, err := of(t, c.policies...).Limits(context.Background(), pool("team-a", "p", "c", c.annotations))
		if err != nil {
			t.Fatalf("%s: %v", c.why, err)
		}
		var approved []string
		for _, a := range l.Approvals {
			approved = append(approved, fmt.Sprintf("%s %v", a.Cause.Reason, a.For))
		}
		if got := fmt.Sprintf("%d closed, before %q, approved %v", len(l.Closed), l.BeforeWave.Reason, approved); got != c.want {
			t.Errorf("%s: want %s, got %s", c.why, c.want, got)
		}
	}
}

// TestBudgets: pools share a budget, and no two take the same room.
func TestBudgets(t *testing.T) {
	t.Parallel()
	three := intstr.FromInt32(3)
	budget := production(musterv1.RolloutPolicySpec{Budgets: []musterv1.RolloutBudget{{Machines: &three, Per: musterv1.BudgetPerCluster}}})
	hold := func(want, got, why string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: want %q, got %q", why, want, got)
		}
	}
	a, b, other := pool("team-a", "a", "one", nil), pool("team-a", "b", "one", nil), pool("team-a", "c", "two", nil)
	l := since(t, of(t, budget), time.Hour, a)
	hold("3 BudgetSpent", take(t, l, a), "the first pool")
	hold("0 BudgetSpent", take(t, l, b), "while the pass of the first one runs, the second has no room")
	hold("3 BudgetSpent", take(t, l, other), "another cluster has its own")
	later := b
	later.Now = now.Add(2 * time.Minute)
	hold("3 BudgetSpent", take(t, l, later), "a pass that failed, such as for the credentials of a tenant, keeps no other pool from going on")
	l.Done(t.Context(), b, rollouts.Verdict{InWork: 5})
	hold("3 BudgetSpent", take(t, l, a), "machines that are missing without a rollout use no budget of others")
	l.Done(t.Context(), a, rolling(2))
	hold("1 BudgetSpent", take(t, l, b), "what the first pool has begun is used")
	l.Done(t.Context(), b, rollouts.Verdict{})
	l.Done(t.Context(), a, rollouts.Verdict{})
	hold("3 BudgetSpent", take(t, l, b), "all is free again")
	l.Forget(b.Kind, client.ObjectKeyFromObject(b.Object))
	hold("3 BudgetSpent", take(t, l, a), "a deleted pool uses nothing")
	started := since(t, of(t, budget), time.Minute, b)
	hold("0 CountingPools", take(t, started, a), "after a start of the manager other pools may be in the middle of a rollout")

	one := int32(1)
	pools := since(t, of(t, production(musterv1.RolloutPolicySpec{
		Budgets: []musterv1.RolloutBudget{{Pools: &one, Per: musterv1.BudgetPerPolicy}}})), time.Hour, a)
	take(t, pools, a)
	hold("0 BudgetSpent", take(t, pools, other), "the first pool may begin a rollout in the pass that runs")
	pools.Done(t.Context(), a, rolling(0))
	hold("0 BudgetSpent", take(t, pools, other), "one pool is in a rollout")
	if got := take(t, pools, a); got == "0 BudgetSpent" {
		t.Errorf("want the pool that is in a rollout to go on, got %s", got)
	}
}

// TestBudgetOfANewPolicy holds that a budget leaves no room before the pools that its policy selects are counted, whenever the policy is
// created, and that another budget of a policy whose pools are counted does not wait.
func TestBudgetOfANewPolicy(t *testing.T) {
	t.Parallel()
	budgets := func(machines int32) []musterv1.RolloutBudget {
		n := intstr.FromInt32(machines)
		return []musterv1.RolloutBudget{{Machines: &n}}
	}
	a, b := pool("team-a", "a", "one", nil), pool("team-a", "b", "one", nil)
	l := since(t, of(t), time.Hour, a, b)
	c, at := l.Policies.Client.(client.Client), now
	created := &musterv1.ClusterRolloutPolicy{ObjectMeta: metav1.ObjectMeta{Name: "production"},
		Spec: musterv1.RolloutPolicySpec{Budgets: budgets(3)}}
	edit := func(f func(p *musterv1.ClusterRolloutPolicy)) {
		t.Helper()
		f(created)
		if err := c.Update(t.Context(), created); err != nil {
			t.Fatal(err)
		}
	}
	pass := func(p limiter.Pool, want, why string) {
		t.Helper()
		p.Now = at
		if got := take(t, l, p); got != want {
			t.Errorf("%s: want %q, got %q", why, want, got)
		}
		l.Done(t.Context(), p, rollouts.Verdict{})
	}
	later := func(d time.Duration) { at = at.Add(d) }

	pass(b, "0 ", "no policy limits the pool")
	if err := c.Create(t.Context(), created); err != nil {
		t.Fatal(err)
	}
	pass(b, "0 CountingPools", "the other pool may be in a rollout that began before the policy was created")
	if got, err := l.Limits(t.Context(), b); err != nil || !got.Changes.Equal(at.Add(2*time.Minute)) {
		t.Errorf("want the pool to look again when all pools are counted, got %s, %v", got.Changes, err)
	}
	later(time.Minute)
	a.Now = at
	hold := take(t, l, a)
	if l.Done(t.Context(), a, rolling(3)); hold != "0 CountingPools" {
		t.Errorf("want the pool that is in a rollout to begin nothing either, got %q", hold)
	}
	pass(b, "0 CountingPools", "a third pool may not have been counted")
	later(time.Minute)
	pass(b, "0 BudgetSpent", "the other pool uses the budget")

	edit(func(p *musterv1.ClusterRolloutPolicy) { p.Spec.Budgets = budgets(5) })
	pass(b, "2 BudgetSpent", "the pools of a policy whose budget changes are counted")
	edit(func(p *musterv1.ClusterRolloutPolicy) { p.Spec.Budgets = nil })
	pass(a, "0 ", "no budget limits the pool")
	edit(func(p *musterv1.ClusterRolloutPolicy) { p.Spec.Budgets = budgets(5) })
	pass(b, "5 BudgetSpent", "the pools of a policy without a budget are counted too")

	edit(func(p *musterv1.ClusterRolloutPolicy) {
		p.Spec.Selector = &musterv1.RolloutPolicySelector{Clusters: &metav1.LabelSelector{}}
	})
	pass(b, "0 CountingPools", "the policy may select more pools than before")
	later(2 * time.Minute)
	pass(b, "5 BudgetSpent", "all pools are counted")
	created.ResourceVersion, created.UID = "", "another"
	if err := c.Delete(t.Context(), created); err != nil {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), created); err != nil {
		t.Fatal(err)
	}
	pass(b, "0 CountingPools", "a policy that is created again is another one")
}

// TestGatesDuringRollouts: gates are asked while a rollout needs them, and not before or after.
func TestGatesDuringRollouts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := of(t, tenants("team-a", musterv1.RolloutPolicySpec{Gates: []musterv1.RolloutGate{{Name: "errors",
			Interval: &metav1.Duration{Duration: time.Minute}, Prometheus: &musterv1.PrometheusGate{Address: "https://p:9090", Query: "up"}}}}))
		asks := 0
		l.Gates = asker.New(func(context.Context, gates.Gate) gates.Sample {
			asks++
			return gates.Sample{Verdict: gates.Positive}
		}, nil)
		ctx, stop := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer stop()
		go func() { _ = l.Gates.Start(ctx) }()
		p, record := pool("team-a", "a", "one", nil), rollouts.Record{ID: "x", Wave: 1}
		for _, c := range []struct {
			why     string
			verdict rollouts.Verdict
			want    int
			before  string
		}{
			{"there is no rollout", rollouts.Verdict{}, 0, "GateUnknown"},
			{"windows hold back all of it", rollouts.Verdict{State: rollouts.Waiting, Record: record}, 0, "GateUnknown"},
			{"it waits for the gate", rollouts.Verdict{State: rollouts.Waiting, Record: record, Cause: rollouts.Cause{Reason: "x"}}, 2, ""},
			{"a wave is watched", rollouts.Verdict{State: rollouts.Soaking, Record: record}, 4, ""},
			{"it has ended", rollouts.Verdict{Record: rollouts.Record{ID: "x", Ended: true}}, 4, ""},
			{"it has ended long ago", rollouts.Verdict{Record: rollouts.Record{ID: "x", Ended: true}}, 4, "GateUnknown"},
		} {
			l.Done(t.Context(), p, c.verdict)
			time.Sleep(119 * time.Second)
			synctest.Wait()
			got, err := l.Limits(t.Context(), p)
			if err != nil || asks != c.want || got.BeforeWave.Reason != c.before {
				t.Errorf("%s: want %d asks and %q before a wave, got %d, %q, %v", c.why, c.want, c.before, asks, got.BeforeWave.Reason, err)
			}
		}
	})
}

// TestLimitsOfAPlan holds that a limiter without a ledger takes nothing from a budget, however often it is asked.
func TestLimitsOfAPlan(t *testing.T) {
	t.Parallel()
	machines := intstr.FromInt32(3)
	l := of(t, production(musterv1.RolloutPolicySpec{Budgets: []musterv1.RolloutBudget{{Machines: &machines}}}))
	l.Ledger = nil
	for _, name := range []string{"a", "b", "a"} {
		p := pool("team-a", name, "c", nil)
		if got, err := l.Limits(t.Context(), p); err != nil || got.AtOnce != 3 || got.Budget.Reason != policy.ReasonBudgetSpent {
			t.Errorf("%s: want the whole budget, got %+v, %v", name, got, err)
		}
		l.Forget(p.Kind, client.ObjectKeyFromObject(p.Object))
	}
}
