package limiter

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"pgregory.net/rapid"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/policy"
	"github.com/muster-project/muster/pool/rollouts"
)

// budgeted returns the n-th policy, with a budget of each scope.
func budgeted(n int) *policy.Policy {
	machines := intstr.FromInt32(int32(5 + n))
	return policy.Compile(&metav1.ObjectMeta{Name: fmt.Sprintf("p%d", n), UID: types.UID(fmt.Sprint(n)), Generation: 1},
		&musterv1.RolloutPolicySpec{Budgets: []musterv1.RolloutBudget{{Machines: &machines, Per: musterv1.BudgetPerCluster},
			{Machines: &machines, Per: musterv1.BudgetPerPolicy}}})
}

// one returns the n-th pool, in a Cluster or in none.
func one(n, cluster int, now time.Time) Pool {
	object := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: fmt.Sprint(n)}}
	p := Pool{Kind: "AWSMachinePool", Object: object, Now: now}
	if cluster > 0 {
		p.Cluster = &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: fmt.Sprint(cluster)}}
	}
	return p
}

// walk counts the pools of an account one by one, at a time.
func walk(l *Ledger, a account, now time.Time) (is sum) {
	for _, e := range l.pools {
		if !slices.Contains(e.policies, a.policy) || a.perCluster && e.cluster != a.cluster {
			continue
		}
		if !now.Before(e.grantedUntil) {
			e.grantedUntil = time.Time{}
		}
		machines, rolling := e.use()
		is.pools, is.Desired, is.Replacing = is.pools+1, is.Desired+e.desired, is.Replacing+machines
		if rolling {
			is.Rollouts++
		}
	}
	return is
}

// TestSumsAreThoseOfAWalk holds that the sums of each account are those of its pools, whatever has happened to them, and that nothing is
// left of pools that are gone.
func TestSumsAreThoseOfAWalk(t *testing.T) {
	t.Parallel()
	policies := []*policy.Policy{budgeted(0), budgeted(1), budgeted(2)}
	rapid.Check(t, func(t *rapid.T) {
		l, now := &Ledger{}, time.Unix(1_000_000, 0)
		pools, clusters := rapid.IntRange(0, 5), rapid.IntRange(0, 2)
		t.Repeat(map[string]func(*rapid.T){
			"pass": func(t *rapid.T) {
				var selecting []*policy.Policy
				for _, p := range policies {
					if rapid.Bool().Draw(t, p.Name) {
						selecting = append(selecting, p)
					}
				}
				p := one(pools.Draw(t, "pool"), clusters.Draw(t, "cluster"), now)
				p.Desired = rapid.IntRange(0, 9).Draw(t, "desired")
				l.limit(p, policy.Merge(selecting), &rollouts.Limits{})
			},
			"done": func(t *rapid.T) {
				v := rollouts.Verdict{InWork: rapid.IntRange(0, 9).Draw(t, "in work"), State: rollouts.Replacing}
				v.Record.Entered, v.Record.Ended = rapid.Bool().Draw(t, "entered"), rapid.Bool().Draw(t, "ended")
				l.note(one(pools.Draw(t, "pool"), 0, now).key(), v)
			},
			"deleted": func(t *rapid.T) { l.Forget(one(pools.Draw(t, "pool"), 0, now).key()) },
			"time": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(1, 90).Draw(t, "seconds")) * time.Second)
			},
			"": func(t *rapid.T) { checkSums(t, l, policies, now) },
		})
		for n := range 6 {
			l.Forget(one(n, 0, now).key())
		}
		if len(l.sums)+len(l.selections)+len(l.pools) > 0 {
			t.Errorf("want nothing left without pools, got %v, %v", l.sums, l.selections)
		}
	})
}

// checkSums compares all sums with those of a walk.
func checkSums(t *rapid.T, l *Ledger, policies []*policy.Policy, now time.Time) {
	l.expire(now)
	for _, p := range policies {
		all := []account{{policy: keyOf(p)}, {policy: keyOf(p), perCluster: true}}
		for cluster := range 2 {
			all = append(all, account{keyOf(p), true, client.ObjectKey{Namespace: "a", Name: fmt.Sprint(cluster + 1)}})
		}
		for _, a := range all {
			if got, want := l.sums[a], walk(l, a, now); got != want {
				t.Errorf("%s, per Cluster %v %s: want %+v, got %+v", a.policy.name, a.perCluster, a.cluster.Name, want, got)
			}
		}
	}
}
