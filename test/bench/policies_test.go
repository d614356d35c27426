package bench

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/cache"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/kube/policy"
	"github.com/muster-project/muster/kube/policy/gates/asker"
	"github.com/muster-project/muster/kube/policy/limiter"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/rollouts"
)

// policedPools lists the numbers of pools under policies, perCluster is the number of them in a Cluster, otherPolicies the number of
// policies that select none of them.
var policedPools = []int{100, manyPools}

const perCluster, otherPolicies = 20, 20

// rulesOf returns policies that select all pools of namespace default: windows, a freeze, budgets, gates, an age and an approval.
func rulesOf() (list []client.Object) {
	percent, ten, two := intstr.FromString("10%"), intstr.FromInt32(10), int32(2)
	days := []musterv1.Weekday{musterv1.Monday, musterv1.Tuesday, musterv1.Wednesday, musterv1.Thursday}
	window := musterv1.RolloutWindow{Days: days, Start: "22:00", Duration: metav1.Duration{Duration: 6 * time.Hour}, TimeZone: "Europe/Berlin"}
	production := &musterv1.RolloutPolicySelector{Clusters: &metav1.LabelSelector{MatchLabels: map[string]string{"env": "production"}}}
	for name, spec := range map[string]musterv1.RolloutPolicySpec{
		"nights": {Selector: production, Windows: []musterv1.RolloutWindow{window}, MaxAge: &musterv1.RolloutMaxAge{
			After: metav1.Duration{Duration: 720 * time.Hour}, Jitter: "10%"}},
		"freeze": {Selector: production, Exclusions: []musterv1.RolloutExclusion{{From: "1999-12-18", To: "2001-01-04",
			TimeZone: "Europe/Berlin", Scope: musterv1.ExcludeAll, Why: "peak"}}},
		"budget": {Selector: production, Budgets: []musterv1.RolloutBudget{{Machines: &percent, Pools: &two, Per: musterv1.BudgetPerCluster},
			{Machines: &ten, Per: musterv1.BudgetPerPolicy}}},
	} {
		list = append(list, &musterv1.ClusterRolloutPolicy{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "1", Generation: 1}, Spec: spec})
	}
	for name, spec := range map[string]musterv1.RolloutPolicySpec{
		"errors": {Gates: []musterv1.RolloutGate{{Name: "errors", Success: "result < 0.01", Prometheus: &musterv1.PrometheusGate{
			Address: "https://prometheus.monitoring:9090", Query: "up"}}}},
		"signoff": {Gates: []musterv1.RolloutGate{{Name: "go", Approval: &musterv1.ApprovalGate{}}},
			Budgets: []musterv1.RolloutBudget{{Machines: &percent, Per: musterv1.BudgetPerCluster}}},
		"settle": {Settle: &metav1.Duration{Duration: 2 * time.Minute}, Windows: []musterv1.RolloutWindow{window}},
	} {
		list = append(list, &musterv1.RolloutPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: "1", Generation: 1},
			Spec: spec})
	}
	for k := range otherPolicies {
		list = append(list, &musterv1.RolloutPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprintf("team-%d", k), Name: "nights", UID: "1",
			Generation: 1}, Spec: musterv1.RolloutPolicySpec{Windows: []musterv1.RolloutWindow{window}}})
	}
	return list
}

// cached reads policies as the cache of a manager does: from memory, without a copy of what is only looked at.
type cached struct {
	client.Reader
	indexers map[string]cache.Indexer
	lists    atomic.Int64
}

func newCached(objects []client.Object) *cached {
	c := &cached{indexers: map[string]cache.Indexer{}}
	for _, o := range objects {
		kind := fmt.Sprintf("%TList", o)
		if c.indexers[kind] == nil {
			c.indexers[kind] = cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		}
		if err := c.indexers[kind].Add(o); err != nil {
			panic(err)
		}
	}
	return c
}

// List lists the objects of a kind.
func (c *cached) List(_ context.Context, list client.ObjectList, o ...client.ListOption) error {
	c.lists.Add(1)
	indexer := c.indexers[fmt.Sprintf("%T", list)]
	if indexer == nil {
		return nil
	}
	all := indexer.List
	if in := (&client.ListOptions{}).ApplyOptions(o).Namespace; in != "" {
		all = func() []any {
			found, err := indexer.ByIndex(cache.NamespaceIndex, in)
			if err != nil {
				panic(err)
			}
			return found
		}
	}
	var objects []k8sruntime.Object
	for _, o := range all() {
		objects = append(objects, o.(k8sruntime.Object))
	}
	return apimeta.SetList(list, objects)
}

// policed is the limiter of pools, as a manager has one.
type policed struct {
	cached  *cached
	limiter *limiter.Limiter
}

// police returns a limiter of the policies, with gates that are never asked.
func police(policies []client.Object) *policed {
	c := newCached(policies)
	return &policed{c, &limiter.Limiter{Policies: &policy.Reader{Client: c}, Gates: asker.New(nil, nil),
		Ledger: &limiter.Ledger{}}}
}

// limited runs a pass of a pool within the limits of the policies.
func (f *fleet[S]) limited(k int, d *pool.Desired, now time.Time, run func() engine.Outcome) engine.Outcome {
	if f.policed == nil {
		return run()
	}
	p := policedPool(k, d.Replicas, now)
	limits, err := f.policed.limiter.Limits(f.t.Context(), p)
	if err != nil {
		f.t.Errorf("read the policies: %v", err)
	}
	d.Limits = limits
	out := run()
	if out.Seen {
		f.policed.limiter.Done(f.t.Context(), p, out.Plan.Progress)
	}
	return out
}

// underPolicies creates pools that the policies select, and returns what they cost at rest.
func (f *fleet[S]) underPolicies(policies []client.Object, long time.Duration) policedPhase {
	f.policed = police(policies)
	f.makeInTurn()
	_ = f.idle(settle)
	before, lists := costs(), f.policed.cached.lists.Load()
	is := policedPhase{phase: f.idle(long)}
	is.used, is.lists = costs().since(before), f.policed.cached.lists.Load()-lists
	return is
}

// policedPool returns the k-th pool as policies see it.
func policedPool(k, desired int, now time.Time) limiter.Pool {
	meta := metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("pool-%d", k), Labels: map[string]string{"tier": "a"}}
	return limiter.Pool{Kind: "AWSMachinePool", Object: &clusterv1.MachinePool{ObjectMeta: meta}, MachinePool: &clusterv1.MachinePool{
		ObjectMeta: meta}, Cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default",
		Name: fmt.Sprintf("cluster-%d", k/perCluster), Labels: map[string]string{"env": "production"}}}, Desired: desired, Now: now}
}

// cost is what a process has used.
type cost struct {
	processor      time.Duration
	objects, bytes uint64
}

// costs returns what the process has used until now. It takes no time from the clock, which is virtual in a bubble.
func costs() cost {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return cost{time.Duration(used.Utime.Nano() + used.Stime.Nano()), m.Mallocs, m.TotalAlloc}
}

// since returns what was used after an earlier moment.
func (c cost) since(before cost) cost {
	return cost{c.processor - before.processor, c.objects - before.objects, c.bytes - before.bytes}
}

// BenchmarkSteadyPassUnderPolicies measures the cost of a pass over a pool at rest that several policies select, of a pass that none does,
// and of the policies' part of it alone. A pass includes the simulated cloud's part.
func BenchmarkSteadyPassUnderPolicies(b *testing.B) {
	for _, pools := range policedPools {
		for _, policies := range []string{"none", "six"} {
			var rules []client.Object
			if policies == "six" {
				rules = rulesOf()
			}
			name := fmt.Sprintf("pools=%d/policies=%s", pools, policies)
			b.Run("pass/"+name, func(b *testing.B) { passUnder(b, name, pools, rules) })
			b.Run("policies/"+name, func(b *testing.B) { limitsOf(b, pools, rules) })
		}
	}
}

// passUnder measures whole passes.
func passUnder(b *testing.B, name string, pools int, rules []client.Object) {
	k := fleetKinds[0]
	var is policedPhase
	for b.Loop() {
		is = inBubble(b, name, func(t *testing.T) policedPhase { return k.policed(t, pools, fleetWatched, rules) })
	}
	passes := float64(max(1, is.passes))
	b.ReportMetric(float64(is.calls)/passes, "calls/pass")
	b.ReportMetric(float64(is.writes)/passes, "writes/pass")
	b.ReportMetric(float64(is.lists)/passes, "cache-lists/pass")
	b.ReportMetric(float64(is.used.processor.Microseconds())/passes, "cpu-us/pass")
	b.ReportMetric(float64(is.used.objects)/passes, "allocs/pass")
	b.ReportMetric(float64(is.used.bytes)/passes, "B/pass")
	b.ReportMetric(passes, "passes")
}

// policedPhase is a phase of pools under policies.
type policedPhase struct {
	phase
	used  cost
	lists int64
}

// limitsOf measures the policies' part of a pass.
func limitsOf(b *testing.B, pools int, rules []client.Object) {
	by, now := police(rules), time.Date(2026, 6, 1, 13, 0, 0, 0, time.UTC)
	all := make([]limiter.Pool, pools)
	for k := range all {
		all[k] = policedPool(k, size, now)
		limitedPass(b, by, all[k])
	}
	b.ReportAllocs()
	for k := 0; b.Loop(); k++ {
		p := all[k%pools]
		p.Now = now.Add(time.Duration(k) * 100 * time.Millisecond)
		limitedPass(b, by, p)
	}
}

func limitedPass(b *testing.B, by *policed, p limiter.Pool) {
	if _, err := by.limiter.Limits(b.Context(), p); err != nil {
		b.Fatal(err)
	}
	by.limiter.Done(b.Context(), p, rollouts.Verdict{})
}
