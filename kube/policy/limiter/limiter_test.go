package limiter_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/policy"
	"github.com/muster-project/muster/kube/policy/limiter"
	"github.com/muster-project/muster/pool/rollouts"
)

var now = time.Date(2026, 12, 24, 12, 0, 0, 0, time.UTC)

// of returns a limiter of policies, whose manager was started some time ago.
func of(t *testing.T, running time.Duration, policies ...client.Object) *limiter.Limiter {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := musterv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(policies...).Build()
	return &limiter.Limiter{Policies: &policy.Reader{Client: c},
		Ledger: &limiter.Ledger{Started: func() time.Time { return now.Add(-running) }}}
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
		l, err := of(t, time.Hour, c.policies...).Limits(context.Background(), pool("team-a", "p", "c", c.annotations))
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
	take := func(l *limiter.Limiter, p limiter.Pool) string {
		t.Helper()
		got, err := l.Limits(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d %s", got.AtOnce, got.Budget.Reason)
	}
	hold := func(want, got, why string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: want %q, got %q", why, want, got)
		}
	}
	l := of(t, time.Hour, budget)
	a, b, other := pool("team-a", "a", "one", nil), pool("team-a", "b", "one", nil), pool("team-a", "c", "two", nil)
	hold("3 BudgetSpent", take(l, a), "the first pool")
	hold("0 BudgetSpent", take(l, b), "while the pass of the first one runs, the second has no room")
	hold("3 BudgetSpent", take(l, other), "another cluster has its own")
	later := b
	later.Now = now.Add(2 * time.Minute)
	hold("3 BudgetSpent", take(l, later), "a pass that failed, such as for the credentials of a tenant, keeps no other pool from going on")
	l.Done(b, rollouts.Verdict{InWork: 5})
	hold("3 BudgetSpent", take(l, a), "machines that are missing without a rollout use no budget of others")
	l.Done(a, rollouts.Verdict{InWork: 2, State: rollouts.Replacing, Record: rollouts.Record{ID: "x", Entered: true}})
	hold("1 BudgetSpent", take(l, b), "what the first pool has begun is used")
	l.Done(b, rollouts.Verdict{})
	l.Done(a, rollouts.Verdict{})
	hold("3 BudgetSpent", take(l, b), "all is free again")
	l.Forget(b.Kind, client.ObjectKeyFromObject(b.Object))
	hold("3 BudgetSpent", take(l, a), "a deleted pool uses nothing")
	hold("0 CountingPools", take(of(t, time.Minute, budget), a), "after a start of the manager other pools may be in the middle of a rollout")

	one := int32(1)
	pools := of(t, time.Hour, production(musterv1.RolloutPolicySpec{
		Budgets: []musterv1.RolloutBudget{{Pools: &one, Per: musterv1.BudgetPerPolicy}}}))
	take(pools, a)
	hold("0 BudgetSpent", take(pools, other), "the first pool may begin a rollout in the pass that runs")
	pools.Done(a, rollouts.Verdict{State: rollouts.Replacing, Record: rollouts.Record{ID: "x", Entered: true}})
	hold("0 BudgetSpent", take(pools, other), "one pool is in a rollout")
	if got := take(pools, a); got == "0 BudgetSpent" {
		t.Errorf("want the pool that is in a rollout to go on, got %s", got)
	}
}

// TestLimitsOfAPlan holds that a limiter without a ledger takes nothing from a budget, however often it is asked.
func TestLimitsOfAPlan(t *testing.T) {
	t.Parallel()
	machines := intstr.FromInt32(3)
	l := of(t, time.Hour, production(musterv1.RolloutPolicySpec{Budgets: []musterv1.RolloutBudget{{Machines: &machines}}}))
	l.Ledger = nil
	for _, name := range []string{"a", "b", "a"} {
		p := pool("team-a", name, "c", nil)
		if got, err := l.Limits(t.Context(), p); err != nil || got.AtOnce != 3 || got.Budget.Reason != policy.ReasonBudgetSpent {
			t.Errorf("%s: want the whole budget, got %+v, %v", name, got, err)
		}
		l.Forget(p.Kind, client.ObjectKeyFromObject(p.Object))
	}
}
