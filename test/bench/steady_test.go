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
	"github.com/muster-project/muster/test/testrun"
)

const (
	// pools is the number of pools in one account, size that of machines in each. Pools of an account share reads. There is one pool of more
	// than a page; the pool of many machines is for long tests, because reading Azure's response for each machine takes a while.
	pools, size, paged, many = 6, 3, 101, 300
	// settle is given to everything that is looked up once after a change, watched is the time in which calls are counted: reads
	// that come once in a quarter of an hour, or once in an hour, have their share in it.
	settle, watched = 30 * time.Minute, 24 * time.Hour
	// tried is as much of it as a test has time for, triedLong a long one.
	tried, triedLong = 3 * time.Hour, 6 * time.Hour
	// callsMost bounds the requests of a pass over a pool at rest on AWS, slow reads included. On Azure a single pool needs azureCalls, one
	// more for each further page of machines, and rarely for hourly reads. If several pools share reads, a pass needs the list of machines in
	// mode Uniform, and a share of the three lists of the subscription. On Google Cloud all reads are shared.
	callsMost, azureCalls, rarely                  = 3.0, 2.0, 0.1
	sharedUniform, sharedFlexible, sharedAgentPool = 1.3, 0.7, 1.3
	sharedGroup, sharedNodePool                    = 0.5, 0.7
	// livePools is the number of pools in the account whose whole life is watched. With two, a pass can use what another one has read.
	livePools = 2
	// looksMost bounds the looks of a pass, each of which may wait for those of other passes. A pass that creates a group looks at its own
	// one, searches for others by tags and by name, and looks at its own one again.
	looksMost = 4
	// azurePage is the page size of Azure's lists of machines.
	azurePage = 100
	// eksName is the name of the first cluster of node groups. There are several, because EKS limits the groups of each.
	eksName, eksClusters, eksGroups = "eks-c", 40, 30
	// groupQuota is the account's quota of groups in its region.
	groupQuota = 2000
)

// kinds lists the measured kinds of pools by name and variant.
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
	"OCIMachinePool":                kindOf(instancePools()),
	"OCIManagedMachinePool":         kindOf(okeNodePools()),
	"AzureManagedMachinePool":       kindOf(agentPools()),
	"AzureASOManagedMachinePool":    kindOf(manifestPools()),
	"AzureMachinePool/uniform":      kindOf(scaleSets(azurev1.UniformOrchestrationMode, size)),
	"AzureMachinePool/flexible":     kindOf(scaleSets(azurev1.FlexibleOrchestrationMode, size)),
	"AzureMachinePool/uniform-101":  kindOf(scaleSets(azurev1.UniformOrchestrationMode, paged)),
	"AzureMachinePool/flexible-101": kindOf(scaleSets(azurev1.FlexibleOrchestrationMode, paged)),
	"AzureMachinePool/uniform-300":  kindOf(scaleSets(azurev1.UniformOrchestrationMode, many)),
	"AzureMachinePool/flexible-300": kindOf(scaleSets(azurev1.FlexibleOrchestrationMode, many)),
}

// kind measures a kind of pool.
type kind struct {
	// rest measures the cost of its pools at rest, waits by how much the passes of their lives took longer than their calls.
	rest  func(t *testing.T, long time.Duration) rested
	waits func(*testing.T) time.Duration
	// machines is the number of machines of a pool, pools that of pools in an account.
	machines, pools int
}

// share returns the part of the given time for which the pools are watched. It is smaller for pools of several pages.
func (k kind) share(long time.Duration) time.Duration {
	if k.machines > size {
		return long / 6
	}
	return long
}

// lab holds the specifics of a kind.
type lab[S any] struct {
	// cloud creates an account of a simulated cloud at the given speed. inside simulates the software on its machines.
	cloud func(inside sim.MachineHost, speed float64) (simulated, error)
	// driver creates a driver with this transport.
	driver func(http.RoundTripper) (cloud.Driver[S], error)
	// spec returns the specification of a pool. change names another machine type, such as other.
	spec  func(change string) S
	other string
	// place puts the k-th pool where there is room for it; nil keeps its place.
	place func(spec S, k int)
	// size is the number of machines of each pool. With zero, the default size applies.
	size int
	// together is the number of pools that are created at a time where their rest is measured; zero is all.
	together int
	// most bounds the requests of a pass at rest.
	most float64
}

// simulated is a simulated cloud.
type simulated interface {
	http.Handler
	Calls() *sim.Calls
	Close() error
}

func (l lab[S]) machines() int { return cmp.Or(l.size, size) }

// number returns the number of pools in an account.
func (l lab[S]) number() int {
	if l.machines() > size {
		return 1
	}
	return pools
}

// placed returns the specification of the pool of that number, in its place.
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

// instanceType returns the one that pools begin with, unless they are changed.
func instanceType(change string) string {
	if change != "" {
		return change
	}
	return simaws.InstanceType
}

func groups(base http.RoundTripper) (cloud.Driver[*awsv1.MachinePoolSource], error) {
	return aws.New(aws.Options{Config: settings, Base: base})
}

// rested holds the cost of pools at rest.
type rested struct {
	passes, calls, writes int
	// most bounds the calls of a pass.
	most float64
	// counts holds the calls by service and action.
	counts map[string]map[string]int
}

func (r rested) each(n int) float64 { return float64(n) / float64(max(1, r.passes)) }

// faults lists the violations of pools at rest.
func (r rested) faults() (list []string) {
	if r.writes > 0 {
		list = append(list, fmt.Sprintf("want no write at rest, got %d in %d passes: %v", r.writes, r.passes, r.counts))
	}
	if r.each(r.calls) > r.most {
		list = append(list, fmt.Sprintf("want at most %.1f calls a pass, got %.2f: %v", r.most, r.each(r.calls), r.counts))
	}
	return list
}

// BenchmarkSteadyPass measures the cost of a pass over a pool at rest from the log of the simulated cloud: for a few pools with sequential
// passes, and for one, some and many pools of one account with shared reads.
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
		for _, pools := range []int{1, somePools, manyPools} {
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
	testrun.LongOnly(t)
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

// nodegroups returns the driver of managed pools.
func nodegroups(base http.RoundTripper) (cloud.Driver[*awsv1.ManagedMachinePoolSource], error) {
	return nodegroup.New(nodegroup.Options{Options: session.Options{Config: settings, Base: base}, EnableIAM: true})
}

// plainNodegroups returns the driver of managed pools whose role exists.
func plainNodegroups(base http.RoundTripper) (cloud.Driver[*awsv1.ManagedMachinePoolSource], error) {
	return nodegroup.New(nodegroup.Options{Options: session.Options{Config: settings, Base: base}})
}

// managed returns a managed pool in the default account, with its own launch template or with that of EKS.
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

// amazon returns an account of a simulated AWS, with a cluster of EKS.
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

// eksCluster returns the name of one of the clusters of node groups.
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

// live returns the whole life of the pools.
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

// settle waits until all pools are at rest, and until the look-ups that follow a change are done.
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
	// join is the time from the launch of a machine until its Node is Ready. changed is called with the provider key of a new Node, and may be
	// nil.
	join    time.Duration
	changed func(key string)

	mu     sync.Mutex
	joined map[string]*pool.Node
	timers map[string]*time.Timer
	// keys holds the provider keys of machines, by the ID under which the simulated cloud announces them.
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

func (n *nodes) PodHolds(context.Context, []string) (map[string]pool.PodHold, error) { return nil, nil }
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
