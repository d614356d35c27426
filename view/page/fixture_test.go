package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/view"
	"github.com/muster-project/muster/view/accounts"
	"github.com/muster-project/muster/view/memory"
	"github.com/muster-project/muster/view/page/stream"
	"github.com/muster-project/muster/view/plan"
)

// hostile is text that would run as a script where it is not escaped.
const hostile = `"><script>document.title='pwned'</script><img src=x onerror=alert(1)>`

// pools is a source of pools that a test changes.
type pools struct {
	list    []*view.Pool
	changed chan struct{}
}

func (p *pools) Pools(context.Context) ([]*view.Pool, error) { return p.list, nil }
func (p *pools) Changed() <-chan struct{}                    { return p.changed }

// manyPools returns n pools of which some have problems.
func manyPools(n int) *pools {
	p := &pools{changed: make(chan struct{}, 1)}
	begin := time.Now().Add(-time.Hour)
	for k := range n {
		one := &view.Pool{Namespace: fmt.Sprintf("team-%03d", k/100), Name: fmt.Sprintf("workers-%05d", k),
			Cluster:        fmt.Sprintf("cluster-%d", k/10),
			Infrastructure: view.Reference{Kind: testKind, Name: fmt.Sprintf("workers-%05d", k)},
			Desired:        ptr.To(int32(3)), Current: ptr.To(int32(3)), Ready: ptr.To(int32(3)), UpToDate: ptr.To(int32(3)), State: "Running",
			Level: view.Healthy, Message: "3 of 3 machines are Ready", Created: begin, Since: begin, Settled: true}
		switch {
		case k%50 == 0:
			one.State, one.Level, one.Ready, one.Message = "Error", view.Problem, ptr.To(int32(1)), "no capacity in zone b: the quota is used up"
		case k%9 == 0:
			one.State, one.Level, one.UpToDate, one.Message = "Updating", view.Progressing, ptr.To(int32(1)), "1 of 3 machines is up to date"
		}
		p.list = append(p.list, one)
	}
	return p
}

// testKind is the kind of the infrastructure objects of tests.
const testKind = "TestMachinePool"

// testCloud returns the title of the cloud of tests.
func testCloud(kind string) string {
	if kind == testKind {
		return "Test cloud"
	}
	return ""
}

// objects returns a pool during a rollout with hostile text in every place that users and clouds write to.
func objects() (*clusterv1.MachinePool, *unstructured.Unstructured, *corev1.Event) {
	mp := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "team-000", Name: "workers", Labels: map[string]string{"x": "y"}},
		Spec: clusterv1.MachinePoolSpec{ClusterName: "cluster-0", Replicas: ptr.To(int32(3)), Template: clusterv1.MachineTemplateSpec{
			Spec: clusterv1.MachineSpec{Version: "v1.34.1", InfrastructureRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: "infrastructure.cluster.x-k8s.io", Kind: testKind, Name: "workers"}}}},
		Status: clusterv1.MachinePoolStatus{Replicas: ptr.To(int32(3)), ReadyReplicas: ptr.To(int32(2)), UpToDateReplicas: ptr.To(int32(1))}}
	u := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": "team-000", "name": "workers"},
		"spec":     map[string]any{"strategy": map[string]any{"waves": []any{int64(1)}}},
		"status": map[string]any{"state": "Updating", "rollout": map[string]any{"id": "1x", "state": "Waiting", "wave": int64(2), "of": int64(2),
			"left": int64(2), "reason": "GateUnknown", "message": "gate errors of ClusterRolloutPolicy prod is unknown: " + hostile,
			"gates": []any{map[string]any{"name": "errors", "policy": "ClusterRolloutPolicy prod", "state": "Unknown",
				"message": hostile}},
			"held": []any{"node-2"}, "quarantined": []any{hostile}, "opensAt": "2126-11-30T21:00:00Z",
			"overriddenBy": hostile}, "conditions": []any{
			map[string]any{"type": "Ready", "status": "False", "reason": "Rolling", "message": "the cloud says " + hostile,
				"lastTransitionTime": time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)},
		}},
	}}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1", Kind: testKind})
	event := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "team-000", Name: "e1"}, Type: "Warning", Reason: "DrainBlocked",
		Message: "Drain of node-1 is blocked " + hostile, LastTimestamp: metav1.Now(),
		InvolvedObject: corev1.ObjectReference{Kind: testKind, Name: "workers", Namespace: "team-000"}}
	return mp, u, event
}

// rolloutPolicy returns a policy that excludes the present, with two gates.
func rolloutPolicy() *musterv1.ClusterRolloutPolicy {
	return &musterv1.ClusterRolloutPolicy{ObjectMeta: metav1.ObjectMeta{Name: "prod"}, Spec: musterv1.RolloutPolicySpec{
		Exclusions: []musterv1.RolloutExclusion{{From: "2020-01-01", To: "2126-01-01", Why: "peak " + hostile}},
		Gates: []musterv1.RolloutGate{{Name: "go", Approval: &musterv1.ApprovalGate{}},
			{Name: "errors", Prometheus: &musterv1.PrometheusGate{}}}}}
}

// outcome returns a pass over the pool of objects: one machine drains and is blocked, one goes next, one is new.
func outcome() engine.Outcome {
	now := time.Now()
	old, wanted := pool.Template{Ref: "lt-1:1", Content: "a"}, pool.Template{Content: "b"}
	node := func(name string) *pool.Node {
		return &pool.Node{Name: name, Joined: now, Ready: true, ReadySince: now, KubeletVersion: "v1.34.1"}
	}
	held := node("node-2")
	held.Held, held.HeldUntil = true, time.Date(2126, 1, 1, 0, 0, 0, 0, time.UTC)
	draining := node("node-1")
	draining.DrainStarted, draining.Remaining, draining.Blocked = now.Add(-time.Minute), 1,
		[]string{"pod shop/web-0: PodDisruptionBudget web " + hostile}
	changed := pool.Cause{Reason: "TemplateChanged", Message: "launched from lt-1:1, the pool wants lt-1:2 " + hostile}
	return engine.Outcome{Seen: true, Observed: pool.Observed{Group: &pool.Group{Size: 3}, Wanted: wanted, Instances: []pool.Instance{
		{ID: "i-1", Zone: "zone-a", Template: old, State: pool.Running, Created: now.Add(-time.Hour), Node: draining,
			TemplateDiff: []string{"spec.type"}},
		{ID: "i-2", Zone: "zone-a", Template: old, State: pool.Running, Created: now.Add(-time.Hour), Node: held,
			ScaleInProtected: true, TemplateDiff: []string{"spec.type"}},
		{ID: "i-3", Zone: "zone-b", Template: pool.Template{Ref: "lt-1:2", Content: "b"}, State: pool.Running, Created: now,
			Node: node("node-3")},
		{ID: "i-4", Zone: "zone-b", Template: pool.Template{Ref: "lt-1:2", Content: "b"}, State: pool.Failed, CloudState: hostile},
	}, Issues: []pool.Cause{{Reason: "Capacity", Message: "no capacity: " + hostile}}}, Plan: pool.Plan{
		Instances: []pool.InstanceDecision{{ID: "i-1", Cause: changed, Selected: true}, {ID: "i-2", Cause: changed}},
		Forecast: []pool.Wave{{Targets: []pool.InstanceRef{{ID: "i-1"}}, Surge: 1, LowestAvailable: 2},
			{Targets: []pool.InstanceRef{{ID: "i-2"}}}},
		Rollout: pool.Rollout{State: pool.RolloutInProgress, Left: 2, Total: 3, Cause: changed},
		Budget:  pool.Budget{Desired: 3, Available: 2, Unavailable: 1, MaxUnavailable: 1, MaxSurge: 1, Surge: 1},
		Waiting: []pool.Cause{{Reason: "DrainBlocked", Message: "node-1 is draining"}},
	}}
}

// site is a server over fixtures.
type site struct {
	*httptest.Server
	source *pools
	hub    *stream.Hub
	reads  client.Client
	*simulator
}

// simulator is a simulated cloud that keeps the faults that it is asked for.
type simulator struct{ played []string }

func (*simulator) Name() string { return "testcloud" }
func (*simulator) Faults() []SimulatedFault {
	return []SimulatedFault{{"throttle", "Throttle 50 calls"}}
}
func (s *simulator) Play(_ context.Context, name string) error {
	s.played = append(s.played, name)
	return nil
}
func (s *simulator) Clear(context.Context) error {
	s.played = nil
	return nil
}
func (s *simulator) State(context.Context) (SimulatorState, error) {
	state := SimulatorState{Total: 7, Writes: 2, Calls: []SimCall{{At: time.Now(), Action: "ec2 RunInstances", Code: hostile}}}
	for _, name := range s.played {
		state.Faults = append(state.Faults, ActiveFault{Name: name, Kind: "throttle"})
	}
	return state, nil
}

// planned returns a plan of two waves, or an error for a pool that does not exist.
func planned(_ context.Context, _ *Viewer, r PlanRequest) ([]plan.Plan, error) {
	if r.Name == "none" {
		return nil, fmt.Errorf("no machine pool: %s %s/%s", r.Kind, r.Namespace, r.Name+hostile)
	}
	change := func(id string) []plan.MachineChange {
		return []plan.MachineChange{{ID: id, Node: "node-" + id, Zone: "a", Message: "template changed " + hostile}}
	}
	headline := fmt.Sprintf("2 of 3 machines are replaced by %d fields and %d manifests", len(r.Set), len(r.Manifests))
	return []plan.Plan{{Namespace: r.Namespace, Name: r.Name, Headline: headline, Desired: 3, Replaced: 2, LowestReady: 3,
		Changes: []plan.Change{{Kind: "MachinePool", Path: "spec.x", From: hostile, To: "2", Effect: plan.ReplacesMachines}},
		Waves:   []plan.Wave{{LowestReady: 3, Machines: change("i-1")}, {LowestReady: 3, Machines: change("i-2")}}}}, nil
}

// userHeader names the user of a request to a site.
const userHeader = "Test-User"

// newSite returns a running server.
func newSite(t testing.TB, source *pools) site {
	t.Helper()
	scheme, err := view.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(corev1.AddToScheme(scheme), musterv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	mp, infra, event := objects()
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(mp, rolloutPolicy()).Build()
	reads := fixtureClient{Client: c, infra: infra, event: event}
	m := memory.New()
	k := memory.Key{Kind: testKind, Namespace: "team-000", Name: "workers"}
	before := outcome()
	before.Observed.Instances = before.Observed.Instances[:2]
	m.Observe(k, before, time.Now().Add(-time.Hour))
	m.Observe(k, outcome(), time.Now())
	hub := stream.NewHub(source, Encoder{}, testCloud)
	ctx, cancel := context.WithCancel(context.Background())
	go hub.Run(ctx)
	requests := prometheus.NewRegistry()
	sent := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "muster_cloud_request_duration_seconds"},
		[]string{"service", "operation", "account", "region", "status"})
	requests.MustRegister(sent)
	for name, value := range map[string]float64{"left": 7.9, "size": 100} {
		budget := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "muster_cloud_budget_" + name + "_requests"},
			[]string{"account", "region", "budget"})
		requests.MustRegister(budget)
		budget.WithLabelValues("123"+hostile, "eu", "reads"+hostile).Set(value)
	}
	sent.WithLabelValues("ec2", "DescribeInstances", "123"+hostile, "eu", "429").Observe(1)
	simulated := &simulator{}
	server, err := New(Options{Title: hostile, CloudOf: testCloud, Memory: m, Done: ctx.Done(), Accounts: accounts.NewRecorder(requests),
		Simulators: []Simulator{simulated}, Plan: planned,
		Viewer: func(r *http.Request) (*Viewer, error) {
			return &Viewer{Name: r.Header.Get(userHeader) + hostile, Client: reads, Fleet: hub, Everything: true}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	s := site{Server: httptest.NewServer(server), source: source, hub: hub, reads: reads, simulator: simulated}
	t.Cleanup(func() {
		cancel()
		s.Close()
	})
	return s
}

// fixtureClient adds an infrastructure object of a kind that no scheme has, and an event.
type fixtureClient struct {
	client.Client
	infra *unstructured.Unstructured
	event *corev1.Event
}

// RESTMapper knows the kind of tests.
func (c fixtureClient) RESTMapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{c.infra.GroupVersionKind().GroupVersion()})
	m.Add(c.infra.GroupVersionKind(), meta.RESTScopeNamespace)
	return m
}

// Get returns the infrastructure object, or what the fake has.
func (c fixtureClient) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if u, ok := o.(*unstructured.Unstructured); ok && u.GetKind() == testKind && key == client.ObjectKeyFromObject(c.infra) {
		c.infra.DeepCopyInto(u)
		return nil
	}
	return c.Client.Get(ctx, key, o, opts...)
}

// List returns the event of the infrastructure object.
func (c fixtureClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	events, ok := list.(*unstructured.UnstructuredList)
	if !ok || events.GetKind() != "EventList" {
		return c.Client.List(ctx, list, opts...)
	}
	o := (&client.ListOptions{}).ApplyOptions(opts)
	if kind, _ := o.FieldSelector.RequiresExactMatch("involvedObject.kind"); kind != testKind {
		return nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c.event)
	events.Items = []unstructured.Unstructured{{Object: content}}
	return err
}
