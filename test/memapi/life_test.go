package memapi_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/watch"
	"github.com/muster-project/muster/kube/nodes"
	"github.com/muster-project/muster/pool"
	awspool "github.com/muster-project/muster/providers/aws/awsmachinepool"
	"github.com/muster-project/muster/test/memapi"
)

type target = cloud.Target[*awsv1.MachinePoolSource]

// fakeCloud is a minimal cloud for a pool: it performs every request at once.
type fakeCloud struct {
	now      func() time.Time
	template *pool.Template
	group    *pool.Group
	machines []pool.Instance
	made     int
}

func (a *fakeCloud) Traits() pool.Traits {
	return pool.Traits{Group: "group", Template: "template", RemoveBatch: 10, CanCancelRollout: true, ReplaceKeepsSize: true}
}

func (a *fakeCloud) Observe(_ context.Context, t target) (pool.Observed, error) {
	o := pool.Observed{Group: a.group, Instances: slices.Clone(a.machines)}
	if !t.Bootstrap.Empty() {
		o.Wanted = pool.Template{Content: "v1:" + t.Spec.Pool.AWSLaunchTemplate.InstanceType, Data: t.Bootstrap.Hash()}
	}
	if a.template != nil {
		o.Versions = []pool.Template{*a.template}
	}
	return o, nil
}

func (a *fakeCloud) Start(ctx context.Context, t target, s pool.Step) error {
	switch s.Kind {
	case pool.PutTemplate:
		o, _ := a.Observe(ctx, t)
		a.template = &o.Wanted
		a.template.Ref = "lt:1"
	case pool.CreateGroup:
		a.group = &pool.Group{ID: "g", Min: 0, Max: 10, Template: s.Template}
		a.launch(s.Size)
	case pool.Resize:
		a.launch(s.Size)
	case pool.Remove:
		for _, gone := range s.Targets {
			a.machines = slices.DeleteFunc(a.machines, func(i pool.Instance) bool { return i.ID == gone.ID })
		}
		a.group.Size = len(a.machines)
	case pool.DeleteGroup:
		a.group = nil
	case pool.DeleteTemplates:
		a.template = nil
	default:
		return fmt.Errorf("step %s was not expected", s.Kind)
	}
	return nil
}

func (a *fakeCloud) launch(size int) {
	a.group = &pool.Group{ID: "g", Size: size, Max: 10, Template: a.template.Ref}
	for len(a.machines) < size {
		a.made++
		id := fmt.Sprintf("i-%d", a.made)
		a.machines = append(a.machines, pool.Instance{ID: id, ProviderID: "aws:///a/" + id, Zone: "a", State: pool.Running, Created: a.now(),
			Template: *a.template})
	}
}

// life is a pool of the real reconciler between two servers in memory, read from caches that are a pass behind.
type life struct {
	*world
	workload *world
	account  *fakeCloud
	cache    *memapi.Cache
	nodes    *memapi.Cache
	passes   *infrapool.Reconciler[*awsv1.AWSMachinePool, *awsv1.MachinePoolSource]
	trace    []string
}

func newLife(t *testing.T) *life {
	l := &life{}
	l.world = newWorld(t, func(_ *world, o *memapi.Options) {
		o.Indexes = nil
		for _, i := range slices.Concat(watch.Indexes(), awspool.Adapter{}.Kind().Indexes()) {
			o.Indexes = append(o.Indexes, memapi.Index(i))
		}
		o.Status = append(o.Status, &clusterv1.Cluster{})
	})
	l.workload = newWorld(t, func(w *world, o *memapi.Options) {
		for _, i := range nodes.Indexes() {
			o.Indexes = append(o.Indexes, memapi.Index{Object: i.Object, Field: i.Field, Values: i.ExtractValue})
		}
		o.Subresources = map[string]func(context.Context, client.Object, client.Object) error{
			"eviction": func(ctx context.Context, o, _ client.Object) error {
				l.trace = append(l.trace, "evict "+o.GetName())
				return w.Delete(ctx, o, client.GracePeriodSeconds(0))
			},
		}
	})
	l.account = &fakeCloud{now: func() time.Time { return l.now }}
	l.seed()
	l.cache, l.nodes = l.NewCache(), l.workload.NewCache(&corev1.Pod{}, &policyv1.PodDisruptionBudget{}, &storagev1.VolumeAttachment{},
		&corev1.PersistentVolume{})
	clusters := clustercache.NewFakeClusterCache(l.nodes.Client(l.gate), client.ObjectKey{Namespace: "ns", Name: "c"})
	l.passes = infrapool.New(awspool.Adapter{}, l.account, infrapool.Options{
		Client: l.cache.Client(l.gate), ClusterCache: clusters, Recorder: events.NewFakeRecorder(1000), Now: func() time.Time { return l.now }})
	return l
}

// gate notes the writes.
func (l *life) gate(_ context.Context, op memapi.Op, do func() error) error {
	err := do()
	if op.Write {
		l.trace = append(l.trace, fmt.Sprintf("%s %s/%s %s %s: %v", op.Verb, op.Kind, op.Subresource, op.Key, op.Body, err))
	}
	return err
}

func (l *life) seed() {
	replicas := int32(3)
	mp := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "mp"},
		Spec: clusterv1.MachinePoolSpec{ClusterName: "c", Replicas: &replicas,
			Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{ClusterName: "c", Version: "v1.36.3",
				Bootstrap:         clusterv1.Bootstrap{DataSecretName: new("data")},
				InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: awsv1.GroupVersion.Group, Kind: "AWSMachinePool", Name: "p"}}}}}
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}, Spec: clusterv1.ClusterSpec{
		InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: awsv1.GroupVersion.Group, Kind: "AWSCluster", Name: "place"}}}
	place := &unstructured.Unstructured{Object: map[string]any{"apiVersion": awsv1.GroupVersion.String(), "kind": "AWSCluster",
		"metadata": map[string]any{"name": "place", "namespace": "ns"}, "spec": map[string]any{"region": "eu-west-1"}}}
	definition := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "awsclusters.infrastructure.cluster.x-k8s.io",
		Labels: map[string]string{"cluster.x-k8s.io/v1beta2": "v1beta2"}}}
	l.make(mp, cluster, place, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "data"},
		Data: map[string][]byte{"value": []byte("#cloud-config\n")}},
		&apiextensionsv1.CustomResourceDefinition{ObjectMeta: definition.ObjectMeta})
	cluster.Status.Initialization = clusterv1.ClusterInitializationStatus{InfrastructureProvisioned: new(true),
		ControlPlaneInitialized: new(true)}
	l.must(l.Status().Update(l.Context(), cluster))
	p := aPool()
	p.Labels = map[string]string{clusterv1.ClusterNameLabel: "c"}
	p.Spec.MinSize, p.Spec.MaxSize = 0, 10
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool", Name: "mp", UID: mp.UID}}
	l.make(p)
	l.workload.make(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
}

// pass runs one pass on what the caches knew before the last one, then lets time go on and machines join.
func (l *life) pass() {
	l.Helper()
	seen, known := l.Revision(), l.workload.Revision()
	if _, err := l.passes.Reconcile(l.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "ns", Name: "p"}}); err != nil &&
		!apierrors.IsConflict(err) {
		l.trace = append(l.trace, "error: "+err.Error())
	}
	l.cache.SyncTo(seen)
	l.nodes.SyncTo(known)
	l.now = l.now.Add(time.Minute)
	l.workload.now = l.now
	for _, i := range l.account.machines {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + i.ID}, Spec: corev1.NodeSpec{ProviderID: i.ProviderID}}
		if l.workload.Create(l.Context(), n) != nil {
			continue
		}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue,
			LastTransitionTime: metav1.NewTime(l.now)}}
		l.must(l.workload.Status().Update(l.Context(), n))
		l.workload.make(pod("default", "on-"+i.ID, n.Name))
	}
}

// TestMemAPILifeOfAPool: the real reconciler creates, scales in with a drain and deletes over the server in memory with lagging
// caches, twice with the same trace.
func TestMemAPILifeOfAPool(t *testing.T) {
	t.Parallel()
	run := func() string {
		l := newLife(t)
		passes := func(n int) {
			for range n {
				l.pass()
			}
		}
		passes(12)
		o := l.stored()
		if len(o.Spec.ProviderIDList) != 3 || !o.Status.Ready {
			t.Fatalf("want three machines and ready, got %q, %+v\n%s", o.Spec.ProviderIDList, o.Status, strings.Join(l.trace, "\n"))
		}
		quiet := len(l.trace)
		passes(5)
		l.same("writes in the steady state", []string{}, l.trace[quiet:])
		mp := &clusterv1.MachinePool{}
		l.must(l.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "mp"}, mp))
		mp.Spec.Replicas = new(int32(1))
		l.must(l.Update(t.Context(), mp))
		passes(12)
		if got := l.stored().Spec.ProviderIDList; len(got) != 1 || len(l.account.machines) != 1 {
			t.Fatalf("want one machine, got %q\n%s", got, strings.Join(l.trace, "\n"))
		}
		evicted := slices.DeleteFunc(slices.Clone(l.trace), func(line string) bool { return !strings.HasPrefix(line, "evict ") })
		if len(evicted) != 2 {
			t.Errorf("want the pods of two machines evicted, got %q", evicted)
		}
		l.must(l.Delete(t.Context(), l.stored()))
		passes(12)
		if err := l.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "p"}, aPool()); !apierrors.IsNotFound(err) ||
			l.account.group != nil {
			t.Errorf("want pool and group gone, got %v and %v\n%s", err, l.account.group, strings.Join(l.trace, "\n"))
		}
		return strings.Join(l.trace, "\n")
	}
	first := run()
	if second := run(); first != second {
		t.Errorf("two runs differ:\n%s\n---\n%s", first, second)
	}
	if testing.Verbose() {
		t.Log(first)
	}
}

// TestMemAPIPut holds that an object is stored with what no client may set, and that a change shows since the revision before it alone.
func TestMemAPIPut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.make(aNode("n", "a"))
	before := w.Revision()
	ending := pod("ns", "a", "n")
	ending.Status.Phase = corev1.PodRunning
	ending.DeletionTimestamp, ending.DeletionGracePeriodSeconds = &metav1.Time{Time: start.Truncate(time.Second)}, new(int64(30))
	w.must(w.Put(ending))
	got := pod("ns", "a", "")
	w.must(w.Get(t.Context(), client.ObjectKeyFromObject(got), got))
	w.same("the pod", []any{corev1.PodRunning, true}, []any{got.Status.Phase, got.DeletionTimestamp != nil})
	w.must(w.Delete(t.Context(), got, client.GracePeriodSeconds(0)))
	events := w.Since(before)
	w.same("changes since", []any{2, true, true, before + 2},
		[]any{len(events), events[0].Old == nil, events[1].New == nil, events[1].Revision})
	w.same("changes since the last", 0, len(w.Since(w.Revision())))
}
