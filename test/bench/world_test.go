package bench

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
)

const (
	// join is the time from the start of a machine until its Node is Ready; launch precedes it. Real images need about as long to boot, pull
	// and join.
	join = 2 * time.Minute
	// launch is the time in which the simulated cloud notices a missing machine and starts it.
	launch = 17 * time.Second
	// boot is the time from the request for a machine until its Node is Ready. drain is the time until the evicted pods of a Node have ended.
	boot, drain = launch + join, time.Minute
	// latency is that of one request to the cloud.
	latency = 60 * time.Millisecond
	// pods is the number of pods on each Node.
	pods = 10
)

// world is one pool of an account, its machines, and the one worker that looks after it.
type world struct {
	t      *testing.T
	plan   plan
	drain  time.Duration
	server *simaws.Server
	engine *engine.Engine[*awsv1.MachinePoolSource]
	target aws.Target
	// wake ends a wait before its time: a node of the pool has changed.
	wake chan struct{}
	last engine.Outcome
	// listed are the provider keys that the object lists, whose nodes alone wake the worker.
	listed map[string]bool

	mu    sync.Mutex
	nodes map[string]*pool.Node
	timer map[string]*time.Timer
	// calls to the cloud and passes so far, made counts the machines that were powered on since the change.
	calls, passes, made int
	// lowest and highest are the least serving and the most existing since the change.
	lowest, highest int
	off             map[string]bool
	// held is the largest number of instances that were held in termination at a time.
	held int
}

// outcome holds the measurements of a rollout.
type outcome struct {
	took          time.Duration
	passes, calls int
	// made counts launched machines. lowest is the least number that served, highest the largest number that existed.
	made, lowest, highest int
}

func newWorld(t *testing.T, p plan) *world {
	w := &world{t: t, plan: p, drain: drain, wake: make(chan struct{}, 1), nodes: map[string]*pool.Node{}, timer: map[string]*time.Timer{},
		off: map[string]bool{}}
	var err error
	if w.server, err = simaws.New(simaws.Options{Seed: 1, Speed: 1, MachineHost: guests{w}}); err != nil {
		t.Fatal(err)
	}
	driver, err := aws.New(aws.Options{Config: settings, Base: wire{w}})
	if err != nil {
		t.Fatal(err)
	}
	w.engine = engine.New(driver, engine.Options{})
	w.target = aws.Target{
		Owner:             cloud.Owner{ID: "owner", Cluster: "c", Namespace: "default", Name: "pool"},
		KubernetesVersion: "v1.34.1",
		Bootstrap:         cloud.NewBootstrap([]byte("#cloud-config\n"), "cloud-config"),
		Spec:              source(simaws.InstanceType, p.size),
	}
	return w
}

// close stops what still boots, and the simulator.
func (w *world) close() {
	w.mu.Lock()
	for _, timer := range w.timer {
		timer.Stop()
	}
	w.mu.Unlock()
	if err := w.server.Close(); err != nil {
		w.t.Errorf("close the simulator: %v", err)
	}
}

func settings(_ context.Context, region string) (awssdk.Config, error) {
	return awssdk.Config{
		Region:       region,
		Credentials:  credentials.NewStaticCredentialsProvider(simaws.AccessKeyID, simaws.SecretAccessKey, ""),
		BaseEndpoint: awssdk.String("http://simulated.aws"),
		Retryer:      func() awssdk.Retryer { return awssdk.NopRetryer{} },
	}, nil
}

// source returns a pool in the default account.
func source(instanceType string, size int) *awsv1.MachinePoolSource {
	n := simaws.DefaultAccount().Network
	cluster := awsv1.ClusterView{Name: "c", Region: simaws.Region, VPCID: n.VPCID, NodeSecurityGroups: []string{n.NodeSecurityGroupID}}
	for _, s := range n.Subnets {
		cluster.Subnets = append(cluster.Subnets, awsv1.SubnetView{ID: s.ID, AvailabilityZone: s.Zone, IsPublic: s.Public})
	}
	return &awsv1.MachinePoolSource{Cluster: cluster, Pool: &awsv1.AWSMachinePoolSpec{
		MaxSize: int32(size), AWSLaunchTemplate: awsv1.AWSLaunchTemplate{InstanceType: instanceType},
	}}
}

// change asks for machines of another type.
func (w *world) change() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.target.Spec = source("m5.large", w.plan.size)
	w.made, w.calls, w.passes, w.lowest, w.highest = 0, 0, 0, w.plan.size, w.plan.size
	w.last = engine.Outcome{}
}

// until lets passes go by as a worker would: when the engine asks for one, or when a node of the pool has changed.
func (w *world) until(what string, most time.Duration, done func() bool) {
	w.t.Helper()
	for end := time.Now().Add(most); time.Now().Before(end); {
		w.pass()
		if done() {
			return
		}
		timer := time.NewTimer(w.last.RequeueAfter)
		select {
		case <-timer.C:
		case <-w.wake:
			timer.Stop()
		}
		synctest.Wait()
	}
	w.t.Fatalf("not %s after %s: %v; %+v", what, most, w.last.Plan.Waiting, w.last.Plan.Rollout)
}

func (w *world) pass() {
	w.passes++
	w.last = w.engine.Run(w.t.Context(), engine.Input[*awsv1.MachinePoolSource]{
		Target: w.target, Generation: w.target.Spec.Pool.AWSLaunchTemplate.InstanceType, Now: time.Now(),
		Desired: pool.Desired{
			Replicas: w.plan.size, Max: int(w.target.Spec.Pool.MaxSize), MaxField: "spec.maxSize", DeletePolicy: pool.Oldest,
			Strategy: &pool.Strategy{MaxSurge: w.plan.surge, MaxUnavailable: w.plan.unavailable},
		},
	}, workload{w}, nil)
	if w.last.Err != nil && cloud.KindOf(w.last.Err) != cloud.Throttled {
		w.t.Fatalf("look at the cloud: %v", w.last.Err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listed = map[string]bool{}
	exist := 0
	for _, i := range w.last.Observed.Instances {
		if i.State != pool.Terminating {
			exist++
		}
	}
	w.highest = max(w.highest, exist)
	w.countHeld()
	for _, id := range report.ProviderIDs(w.last.Observed) {
		w.listed[cloud.ProviderKey(id)] = true
	}
}

// rests reports whether no machine is to be removed and as many serve as are wanted.
func (w *world) rests() bool {
	p := w.last.Plan
	return w.last.Seen && p.Rollout.State == pool.RolloutDone && p.Budget.Available == w.plan.size && len(p.Instances) == 0 && w.uptodate()
}

// uptodate reports whether the group launches from the wanted template.
func (w *world) uptodate() bool {
	return w.last.Observed.Latest().Same(w.last.Observed.Wanted) && w.last.Plan.Budget.Surge == 0
}

func (w *world) outcome(took time.Duration) outcome {
	w.mu.Lock()
	defer w.mu.Unlock()
	return outcome{took: took, passes: w.passes, calls: w.calls, made: w.made, lowest: w.lowest, highest: w.highest}
}

// measure notes how many serve now. The lock is held.
func (w *world) measure() {
	serve := 0
	for _, n := range w.nodes {
		if n.Ready && n.DrainStarted.IsZero() {
			serve++
		}
	}
	w.lowest = min(w.lowest, serve)
}

// wire is the way to the cloud, which takes time.
type wire struct{ w *world }

func (l wire) RoundTrip(r *http.Request) (*http.Response, error) {
	l.w.mu.Lock()
	l.w.calls++
	l.w.mu.Unlock()
	time.Sleep(latency)
	return sim.Transport{Handler: l.w.server}.RoundTrip(r)
}

// guests are the machines: each joins some time after it was powered on.
type guests struct{ w *world }

func (g guests) PowerOn(m sim.Machine) {
	w := g.w
	w.mu.Lock()
	defer w.mu.Unlock()
	key := cloud.ProviderKey(m.ProviderID)
	if w.timer[key] != nil {
		return
	}
	w.made++
	w.timer[key] = time.AfterFunc(join, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		now := time.Now()
		w.nodes[key] = &pool.Node{Name: m.Hostname, Joined: now, Ready: true, ReadySince: now, KubeletVersion: m.KubeletVersion}
		if w.listed[key] {
			select {
			case w.wake <- struct{}{}:
			default:
			}
		}
	})
}

func (g guests) PowerOff(id string) {
	w := g.w
	w.mu.Lock()
	defer w.mu.Unlock()
	key := cloud.ProviderKey("aws:///x/" + id)
	if w.off[key] {
		return
	}
	w.off[key] = true
	w.timer[key].Stop()
	delete(w.nodes, key)
	w.measure()
}

func (guests) Console(string) []byte { return nil }

// workload is the workload cluster.
type workload struct{ w *world }

func (l workload) Find(_ context.Context, keys []string) (map[string]pool.Node, error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	found := map[string]pool.Node{}
	for _, key := range keys {
		if n := l.w.nodes[key]; n != nil {
			node := *n
			if !node.DrainStarted.IsZero() && time.Since(node.DrainStarted) < l.w.drain {
				node.Remaining = pods
			}
			found[key] = node
		}
	}
	return found, nil
}

func (l workload) PodHolds(context.Context, []string) (map[string]pool.PodHold, error) {
	return nil, nil
}

func (l workload) Evictable(context.Context, []string) (map[string]pool.Evictable, error) {
	return nil, nil
}

func (l workload) FindUncached(ctx context.Context, keys []string) (map[string]pool.Node, error) {
	return l.Find(ctx, keys)
}

func (l workload) Start(_ context.Context, s pool.Step) error {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	for _, target := range s.Targets {
		node := l.w.nodes[cloud.ProviderKey(target.ProviderID)]
		switch {
		case node == nil:
		case s.Kind == pool.Undrain:
			node.Cordoned, node.DrainStarted = false, time.Time{}
		case node.DrainStarted.IsZero():
			node.Cordoned, node.DrainStarted = true, time.Now()
		}
	}
	l.w.measure()
	return nil
}
