package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/ptr"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/cloud/aws/nodegroup"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/sweep"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/long"
)

const (
	// pools of one account, each of so many machines: reads that pools share are shared. Of those of more than a page
	// there is one; the large one is for those who have time, for to read what Azure says of a machine takes a while.
	pools, size, paged, many = 6, 3, 101, 300
	// settle is given to everything that is looked up once after a change, watched is the time in which calls are counted: reads
	// that come once in a quarter of an hour, or once in an hour, have their share in it.
	settle, watched = 30 * time.Minute, 24 * time.Hour
	// tried is as much of it as a test has time for, triedLong a long one.
	tried, triedLong = 3 * time.Hour, 6 * time.Hour
	// callsMost is how many requests a pass over a pool at rest may cost on AWS, slow reads included. On Azure it is two for one pool alone,
	// one more for each further page of machines, and little for what is read once an hour. Where several pools share reads it is that of
	// the machines of mode Uniform, and a part of the three lists of the subscription. On Google Cloud all reads are shared.
	callsMost, azureCalls, rarely                  = 3.0, 2.0, 0.1
	sharedUniform, sharedFlexible, sharedAgentPool = 1.3, 0.7, 1.3
	sharedGroup, sharedNodePool                    = 0.5, 0.7
	// livePools are those of an account whose whole life is watched: enough for one pass to use what another has read.
	livePools = 2
	// looksMost is how many looks a pass takes at its group at most, each of which may wait a moment for those of other passes: one that
	// creates a group looks for others, by tags and by name, between two looks at its own.
	looksMost = 4
	// azurePage is how many machines Azure names in a page.
	azurePage = 100
	// eksName is the first cluster of node groups, of which there are so many: EKS allows each a number of groups.
	eksName, eksClusters, eksGroups = "eks-c", 40, 30
	// groupQuota is how many groups the account may have in its region.
	groupQuota = 2000
)

// kinds are the pools whose rest is measured, by the name of their kind and what tells them apart.
var kinds = map[string]kind{
	"AWSMachinePool": kindOf(lab[*awsv1.MachinePoolSource]{cloud: amazon, driver: groups, most: callsMost, other: "m5.large",
		spec: func(change string) *awsv1.MachinePoolSource { return source(instanceType(change), size) }}),
	"AWSManagedMachinePool/template": kindOf(lab[*awsv1.ManagedMachinePoolSource]{cloud: amazon, driver: nodegroups, most: callsMost,
		other: "m5.large",
		spec:  func(change string) *awsv1.ManagedMachinePoolSource { return managed(change, true) }}),
	"AWSManagedMachinePool/bare": kindOf(lab[*awsv1.ManagedMachinePoolSource]{cloud: amazon, driver: nodegroups, most: callsMost,
		other: "m5.large",
		spec:  func(change string) *awsv1.ManagedMachinePoolSource { return managed(change, false) }}),
	"GCPMachinePool/zonal":          kindOf(instanceGroups(gcpZoneA)),
	"GCPMachinePool/regional":       kindOf(instanceGroups(gcpZoneA, gcpZoneB)),
	"GCPManagedMachinePool":         kindOf(nodePools()),
	"ScalewayManagedMachinePool":    kindOf(kapsulePools()),
	"AzureManagedMachinePool":       kindOf(agentPools()),
	"AzureASOManagedMachinePool":    kindOf(manifestPools()),
	"AzureMachinePool/uniform":      kindOf(scaleSets(azurev1.UniformOrchestrationMode, size)),
	"AzureMachinePool/flexible":     kindOf(scaleSets(azurev1.FlexibleOrchestrationMode, size)),
	"AzureMachinePool/uniform-101":  kindOf(scaleSets(azurev1.UniformOrchestrationMode, paged)),
	"AzureMachinePool/flexible-101": kindOf(scaleSets(azurev1.FlexibleOrchestrationMode, paged)),
	"AzureMachinePool/uniform-300":  kindOf(scaleSets(azurev1.UniformOrchestrationMode, many)),
	"AzureMachinePool/flexible-300": kindOf(scaleSets(azurev1.FlexibleOrchestrationMode, many)),
}

// kind is what is measured of a kind of pool.
type kind struct {
	// rest is what its pools cost at rest, waits by how much the passes of their lives took longer than the calls that they made.
	rest  func(t *testing.T, long time.Duration) rested
	waits func(*testing.T) time.Duration
	// machines of each of its pools in an account.
	machines, pools int
}

// share is for how much of some time the pools are watched: those of more than a page for less.
func (k kind) share(long time.Duration) time.Duration {
	if k.machines > size {
		return long / 6
	}
	return long
}

// lab is what is particular about a kind.
type lab[S any] struct {
	// cloud makes an account of a simulated cloud whose machines the guests are inside, and which is so much faster than life.
	cloud func(inside sim.MachineHost, speed float64) (simulated, error)
	// driver makes a driver whose requests go over the wire.
	driver func(http.RoundTripper) (cloud.Driver[S], error)
	// spec is the specification of a pool, with machines of another size where one is named, which other is.
	spec  func(change string) S
	other string
	// place puts the pool of that number where there is room for it; nil leaves it where it is.
	place func(spec S, k int)
	// size is how many machines each pool has; zero is the size of most.
	size int
	// most is how many requests a pass may cost at rest.
	most float64
}

// simulated is what a simulated cloud does here.
type simulated interface {
	http.Handler
	Calls() *sim.Calls
	Close() error
}

func (l lab[S]) machines() int { return cmp.Or(l.size, size) }

// number is how many pools there are in an account.
func (l lab[S]) number() int {
	if l.machines() > size {
		return 1
	}
	return pools
}

// placed is the specification of the pool of that number, in its place.
func (l lab[S]) placed(change string, k int) S {
	out := l.spec(change)
	if l.place != nil {
		l.place(out, k)
	}
	return out
}

func kindOf[S any](l lab[S]) kind {
	return kind{
		machines: l.machines(), pools: l.number(),
		rest: func(t *testing.T, long time.Duration) (is rested) {
			inAccount(t, l, l.number(), func(a *account[S]) { is = a.rest(long) })
			return is
		},
		waits: func(t *testing.T) (longest time.Duration) {
			inAccount(t, l, livePools, func(a *account[S]) { longest = a.live() })
			return longest
		},
	}
}

// instanceType is the one that pools begin with, unless they are changed.
func instanceType(change string) string {
	if change != "" {
		return change
	}
	return simaws.InstanceType
}

func groups(base http.RoundTripper) (cloud.Driver[*awsv1.MachinePoolSource], error) {
	return aws.New(aws.Options{Config: settings, Base: base})
}

// rested is what pools at rest have cost.
type rested struct {
	passes, calls, writes int
	// most is how many calls a pass may cost.
	most float64
	// counts are the calls by service and action.
	counts map[string]map[string]int
}

func (r rested) each(n int) float64 { return float64(n) / float64(max(1, r.passes)) }

// faults say what pools at rest must not cost.
func (r rested) faults() (list []string) {
	if r.writes > 0 {
		list = append(list, fmt.Sprintf("want no write at rest, got %d in %d passes: %v", r.writes, r.passes, r.counts))
	}
	if r.each(r.calls) > r.most {
		list = append(list, fmt.Sprintf("want at most %.1f calls a pass, got %.2f: %v", r.most, r.each(r.calls), r.counts))
	}
	return list
}

// BenchmarkSteadyPass is what a pass over a pool at rest costs, by the simulated cloud's own log: a few pools whose passes follow one
// another, and one and many in one account whose passes share reads.
func BenchmarkSteadyPass(b *testing.B) {
	for name, k := range kinds {
		b.Run(name, func(b *testing.B) {
			var is rested
			for b.Loop() {
				is = played(b, name, k)
			}
			for _, fault := range is.faults() {
				b.Fatal(fault)
			}
			b.ReportMetric(is.each(is.calls), "calls/pass")
			b.ReportMetric(is.each(is.writes), "writes/pass")
			b.ReportMetric(float64(is.passes), "passes")
		})
	}
	for _, k := range fleetKinds {
		for _, pools := range []int{1, manyPools} {
			name := fmt.Sprintf("%s/pools=%d", k.name, pools)
			b.Run(name, func(b *testing.B) {
				var is phase
				for b.Loop() {
					is = inBubble(b, name, func(t *testing.T) phase { return k.rest(t, pools, fleetWatched) })
				}
				b.ReportMetric(float64(is.calls)/float64(max(1, is.passes)), "calls/pass")
				b.ReportMetric(float64(is.writes)/float64(max(1, is.passes)), "writes/pass")
				b.ReportMetric(float64(is.passes), "passes")
			})
		}
	}
}

// played plays in a bubble of virtual time, which only a test can have.
func played(b *testing.B, name string, k kind) (is rested) {
	var once sync.Once
	all := func(string, string) (bool, error) { return true, nil }
	if !testing.RunTests(all, []testing.InternalTest{{Name: name, F: func(t *testing.T) {
		once.Do(func() { is = k.rest(t, k.share(watched)) })
	}}}) {
		b.Fatalf("%s did not come to rest", name)
	}
	return is
}

// A pool at rest costs few reads and no write, whatever its kind, over some hours, and one more read for each further page.
func TestSteadyPass(t *testing.T) {
	skipIfShort(t)
	steady(t, tried, 0, small)
}

// TestLongSteadyPass is TestSteadyPass for twice the time, and for pools whose lists have pages too.
func TestLongSteadyPass(t *testing.T) {
	long.Only(t)
	steady(t, triedLong, 0, paged)
}

// steady measures for so long the kinds of pools of more machines than over, and of at most so many.
func steady(t *testing.T, takes time.Duration, over, most int) {
	t.Helper()
	for name, k := range kinds {
		if k.machines <= over || k.machines > most {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			takes := k.share(takes)
			is := k.rest(t, takes)
			t.Logf("%.2f calls a pass in %d passes: %v", is.each(is.calls), is.passes, is.counts)
			if is.passes < k.pools*int(takes/engine.DefaultSteady)/2 {
				t.Errorf("want a pass of each pool every few minutes, got %d in all", is.passes)
			}
			for _, fault := range is.faults() {
				t.Error(fault)
			}
		})
	}
}

// No pass waits for anything but the replies to its own calls and, for a moment, for other passes whose reads it can share, in the whole
// life of a pool: it is made, its machines are replaced and it is deleted.
func TestNoPassWaits(t *testing.T) {
	skipIfShort(t)
	for name, k := range kinds {
		if k.machines > size {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if longest := k.waits(t); longest > looksMost*sweep.DefaultCollect {
				t.Errorf("want every pass to take little longer than its calls, one took %s longer", longest)
			}
		})
	}
}

// nodegroups is the driver of managed pools.
func nodegroups(base http.RoundTripper) (cloud.Driver[*awsv1.ManagedMachinePoolSource], error) {
	return nodegroup.New(nodegroup.Options{Options: session.Options{Config: settings, Base: base}, EnableIAM: true})
}

// plainNodegroups is the driver of managed pools whose role exists.
func plainNodegroups(base http.RoundTripper) (cloud.Driver[*awsv1.ManagedMachinePoolSource], error) {
	return nodegroup.New(nodegroup.Options{Options: session.Options{Config: settings, Base: base}})
}

// managed is a managed pool in the default account, with a launch template of its own or with EKS's.
func managed(change string, template bool) *awsv1.ManagedMachinePoolSource {
	s := &awsv1.ManagedMachinePoolSource{Cluster: source(simaws.InstanceType, size).Cluster, Pool: &awsv1.AWSManagedMachinePoolSpec{
		Scaling:      &awsv1.ManagedMachinePoolScaling{MinSize: ptr.To(int32(1)), MaxSize: ptr.To(int32(size))},
		UpdateConfig: &awsv1.UpdateConfig{MaxUnavailable: ptr.To(1)},
		Labels:       awsv1.NodeLabels{"tier": awsv1.LabelValue("a" + change)}, AdditionalTags: awsv1.Tags{"team": "a"},
	}}
	s.Cluster.EKS, s.Cluster.EKSClusterName, s.Cluster.ControlPlaneVersion, s.Cluster.ControlPlaneReady = true, eksName, "v1.34", true
	if template {
		s.Pool.AWSLaunchTemplate = &awsv1.AWSLaunchTemplate{InstanceType: instanceType(change)}
	} else {
		s.Pool.InstanceType = ptr.To(simaws.InstanceType)
	}
	return s
}

// amazon is an account of a simulated AWS, with a cluster of EKS.
func amazon(inside sim.MachineHost, speed float64) (simulated, error) {
	account := simaws.DefaultAccount()
	account.Groups = groupQuota
	server, err := simaws.New(simaws.Options{Seed: 1, Speed: speed, MachineHost: inside, Accounts: []simaws.Account{account}})
	if err != nil {
		return nil, err
	}
	var subnets []string
	for _, s := range account.Network.Subnets {
		subnets = append(subnets, s.ID)
	}
	for k := range eksClusters {
		err = errors.Join(err, server.PutCluster(simaws.AccountID, simaws.EKSCluster{
			Name: eksCluster(k), Version: "1.34", Endpoint: "https://eks.example", CA: []byte("CA"), Token: "abcdef.0123456789abcdef",
			Subnets: subnets,
		}))
	}
	return server, err
}

// eksCluster is the name of one of the clusters of node groups.
func eksCluster(k int) string {
	if k == 0 {
		return eksName
	}
	return fmt.Sprintf("%s-%d", eksName, k)
}

// inAccount makes pools of a kind in an account of their own, in virtual time.
func inAccount[S any](t *testing.T, l lab[S], pools int, f func(*account[S])) {
	synctest.Test(t, func(t *testing.T) {
		n := newNodes(join)
		server, err := l.cloud(n, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer n.stop()
		defer func() {
			if err := server.Close(); err != nil {
				t.Errorf("close the simulator: %v", err)
			}
		}()
		line := &way{server: server}
		d, err := l.driver(line)
		if err != nil {
			t.Fatal(err)
		}
		f(newAccount(t, engine.New(d, engine.Options{}), line, l, pools, n))
	})
}

// rest waits until the pools are at rest, and counts what they cost from then on.
func (a *account[S]) rest(long time.Duration) (is rested) {
	a.settle()
	a.way.server.Calls().Reset()
	is.passes = a.run(long)
	sum := a.way.server.Calls().Summary(0)
	is.calls, is.writes, is.counts, is.most = sum.Total, sum.Mutating, sum.Counts, a.lab.most
	return is
}

// live is the whole life of the pools.
func (a *account[S]) live() time.Duration {
	a.settle()
	for k, p := range a.pools {
		p.due = time.Now()
		p.target.Spec = a.lab.placed(a.lab.other, k)
		p.generation = "changed"
	}
	a.settle()
	a.deleting = true
	_ = a.run(settle)
	for _, p := range a.pools {
		if !p.last.Plan.DeletionComplete {
			a.t.Fatalf("want the pools gone, got %+v", p.last.Plan)
		}
	}
	return a.longest
}

// way is the way to the cloud, which takes time.
type way struct {
	server simulated
	calls  atomic.Int64
}

func (l *way) RoundTrip(r *http.Request) (*http.Response, error) {
	l.calls.Add(1)
	time.Sleep(latency)
	return sim.Transport{Handler: l.server}.RoundTrip(r)
}

// account is some pools of one kind in one account, and the worker that looks after them.
type account[S any] struct {
	t      *testing.T
	engine *engine.Engine[S]
	way    *way
	lab    lab[S]
	pools  []*looked[S]
	nodes  *nodes
	// deleting is true if the pools go. longest is by how much a pass took longer than its calls.
	deleting bool
	longest  time.Duration
}

// looked is one pool, when it is to be looked at again, and what was seen last.
type looked[S any] struct {
	target     cloud.Target[S]
	generation string
	due        time.Time
	last       engine.Outcome
}

func newAccount[S any](t *testing.T, e *engine.Engine[S], line *way, l lab[S], pools int, n *nodes) *account[S] {
	a := &account[S]{t: t, engine: e, way: line, lab: l, nodes: n}
	for k := range pools {
		name := fmt.Sprintf("pool-%d", k)
		a.pools = append(a.pools, &looked[S]{due: time.Now(), target: cloud.Target[S]{
			Owner:             cloud.Owner{ID: "owner-" + name, Cluster: "c", Namespace: "default", Name: name},
			KubernetesVersion: "v1.34.1", Spec: l.placed("", k),
			Bootstrap: cloud.NewBootstrap([]byte("#cloud-config\n"), "cloud-config"),
		}})
	}
	return a
}

// run lets passes go by for some time, each when the engine asks for it, and counts them.
func (a *account[S]) run(long time.Duration) (passes int) {
	a.t.Helper()
	for end := time.Now().Add(long); ; passes++ {
		next := a.pools[0]
		for _, p := range a.pools {
			if p.due.Before(next.due) {
				next = p
			}
		}
		if next.due.After(end) {
			time.Sleep(time.Until(end))
			return passes
		}
		time.Sleep(time.Until(next.due))
		synctest.Wait()
		a.pass(next)
		next.due = time.Now().Add(next.last.RequeueAfter)
	}
}

// pass runs one pass, and notes whether it waited for anything.
func (a *account[S]) pass(p *looked[S]) {
	a.t.Helper()
	began, calls := time.Now(), a.way.calls.Load()
	d := pool.Desired{
		Replicas: a.lab.machines(), Min: 1, Max: a.lab.machines(), MaxField: "max", DeletePolicy: pool.Oldest, Deleting: a.deleting,
		Strategy: &pool.Strategy{MaxUnavailable: pool.IntOrPercent{Value: 1}},
	}
	p.last = a.engine.Run(a.t.Context(), engine.Input[S]{Target: p.target, Generation: p.generation, Desired: d, Now: began}, a.nodes, nil)
	if err := p.last.Err; err != nil && cloud.KindOf(err) != cloud.Conflict && cloud.KindOf(err) != cloud.Throttled {
		a.t.Fatalf("look at the cloud: %v", err)
	}
	a.longest = max(a.longest, time.Since(began)-time.Duration(a.way.calls.Load()-calls)*latency)
}

// settle waits until all pools are at rest, and then until what is looked up after a change was looked up.
func (a *account[S]) settle() {
	a.t.Helper()
	_ = a.run(settle)
	_ = a.run(settle)
	for _, p := range a.pools {
		if l := p.last; !l.Plan.Quiescent || l.Plan.Rollout.State != pool.RolloutDone || l.Plan.Budget.Available != a.lab.machines() ||
			len(l.Plan.Waiting) > 0 {
			a.t.Fatalf("want the pools at rest, got %+v, refused %v, %v", l.Plan, l.Refused, l.Err)
		}
	}
}

// nodes are the machines: each joins some time after it was powered on. They are the workload cluster too.
type nodes struct {
	// join is how long a machine takes from being powered on to being a Ready node; changed is called with the provider key of a node
	// that has come, and may be nil.
	join    time.Duration
	changed func(key string)

	mu     sync.Mutex
	joined map[string]*pool.Node
	timers map[string]*time.Timer
	// keys are the provider keys of machines, by what the guests of their cloud know them by.
	keys map[string]string
}

func newNodes(join time.Duration) *nodes {
	return &nodes{join: join, joined: map[string]*pool.Node{}, timers: map[string]*time.Timer{}, keys: map[string]string{}}
}

func (n *nodes) PowerOn(m sim.Machine) {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := cloud.ProviderKey(m.ProviderID)
	n.keys[m.ID] = key
	if n.timers[key] != nil {
		return
	}
	n.timers[key] = time.AfterFunc(n.join, func() {
		n.mu.Lock()
		n.joined[key] = &pool.Node{Name: m.Hostname, Joined: time.Now(), Ready: true, ReadySince: time.Now(), KubeletVersion: m.KubeletVersion}
		n.mu.Unlock()
		if n.changed != nil {
			n.changed(key)
		}
	})
}

// made counts the machines that were powered on.
func (n *nodes) made() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.timers)
}

func (n *nodes) PowerOff(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.joined, n.keys[id])
}

func (n *nodes) Console(string) []byte { return nil }

func (n *nodes) Ready(id string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.joined[n.keys[id]] != nil
}

func (n *nodes) Cordon(string, bool)     {}
func (n *nodes) Drain(string, bool) bool { return true }
func (n *nodes) Mark(string, sim.Marks)  {}
func (n *nodes) Unregister(string)       {}

func (n *nodes) Find(_ context.Context, keys []string) (map[string]pool.Node, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	found := map[string]pool.Node{}
	for _, key := range keys {
		if node := n.joined[key]; node != nil {
			found[key] = *node
		}
	}
	return found, nil
}

func (n *nodes) Evictable(context.Context, []string) (map[string]pool.Evictable, error) {
	return nil, nil
}

func (n *nodes) FindUncached(ctx context.Context, keys []string) (map[string]pool.Node, error) {
	return n.Find(ctx, keys)
}

// Start drains at once: nothing runs on these nodes.
func (n *nodes) Start(_ context.Context, s pool.Step) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, target := range s.Targets {
		node := n.joined[cloud.ProviderKey(target.ProviderID)]
		if node == nil {
			continue
		}
		node.Cordoned, node.DrainStarted = s.Kind == pool.Drain, time.Time{}
		if s.Kind == pool.Drain {
			node.DrainStarted = time.Now()
		}
	}
	return nil
}

// stop ends what still boots.
func (n *nodes) stop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, timer := range n.timers {
		timer.Stop()
	}
}
