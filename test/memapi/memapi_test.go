package memapi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/test/memapi"
)

var start = time.Date(2030, 1, 2, 3, 4, 5, 678, time.UTC)

// world is a server whose clock the test moves.
type world struct {
	testing.TB
	*memapi.Server
	client.Client
	now time.Time
}

func scheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme, awsv1.AddToScheme,
		apiextensionsv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func newWorld(t testing.TB, change ...func(*world, *memapi.Options)) *world {
	t.Helper()
	w := &world{TB: t, now: start}
	o := memapi.Options{Scheme: scheme(t), Now: func() time.Time { return w.now },
		Status: []client.Object{&awsv1.AWSMachinePool{}, &clusterv1.MachinePool{}, &corev1.Node{}, &corev1.Pod{}, thing("")},
		Indexes: []memapi.Index{
			{Object: &corev1.Pod{}, Field: "spec.nodeName",
				Values: func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }},
			{Object: &corev1.Node{}, Field: "zones", Values: func(o client.Object) []string { return strings.Fields(o.GetAnnotations()["zones"]) }},
		}}
	for _, f := range change {
		f(w, &o)
	}
	w.Server = memapi.New(o)
	w.Client = w.Server.Client()
	return w
}

func (w *world) make(objects ...client.Object) {
	w.Helper()
	for _, o := range objects {
		if err := w.Create(w.Context(), o); err != nil {
			w.Fatal(err)
		}
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// stored returns the pool as the server has it.
func (w *world) stored() *awsv1.AWSMachinePool {
	w.Helper()
	o := &awsv1.AWSMachinePool{}
	w.must(w.Get(w.Context(), client.ObjectKey{Namespace: "ns", Name: "p"}, o))
	return o
}

func (w *world) same(what string, want, got any) {
	w.Helper()
	if d := cmp.Diff(want, got); d != "" {
		w.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func aPool() *awsv1.AWSMachinePool {
	return &awsv1.AWSMachinePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", Annotations: map[string]string{"a": "1"}},
		Spec:       awsv1.AWSMachinePoolSpec{MinSize: 1, MaxSize: 3, AWSLaunchTemplate: awsv1.AWSLaunchTemplate{InstanceType: "m5.large"}},
	}
}

// thing is of a kind that the scheme does not know.
func thing(name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(3), "list": []any{"a", "b"}},
		"status": map[string]any{"ready": true}}}
	u.SetAPIVersion("things.example.com/v1")
	u.SetKind("Thing")
	u.SetNamespace("ns")
	u.SetName(name)
	return u
}

func aNode(name string, zones string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"zones": zones}}}
}

func pod(ns, name, node string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{NodeName: node}}
}

// TestMemAPICreate: what the server alone decides is decided by it, whatever was sent.
func TestMemAPICreate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := aPool()
	o.UID, o.Generation, o.CreationTimestamp = "mine", 7, metav1.NewTime(start.Add(-time.Hour))
	o.DeletionTimestamp = &metav1.Time{Time: start}
	o.Status.Ready = true
	w.make(aNode("n", ""), o)
	if !w.stored().CreationTimestamp.Equal(&metav1.Time{Time: start.Truncate(time.Second)}) {
		t.Errorf("creation timestamp: want the server's time in whole seconds, got %s", w.stored().CreationTimestamp)
	}
	w.same("the object that was passed is what is stored", w.stored(), o)
	w.same("system metadata", []any{types.UID("00000000-0000-4000-8000-000000000002"), int64(1), "2", false, false},
		[]any{o.UID, o.Generation, o.ResourceVersion, o.DeletionTimestamp != nil, o.Status.Ready})
	w.same("revision", int64(2), w.Revision())
	u := thing("t")
	w.make(u)
	if _, ok := u.Object["status"]; ok || u.GetUID() == "" || u.GetGeneration() != 1 {
		t.Errorf("unstructured: want no status, a UID and generation 1, got %v", u.Object)
	}
	n := aNode("n2", "")
	w.make(n)
	if n.Generation != 0 {
		t.Errorf("nodes have no generation, got %d", n.Generation)
	}
}

// TestMemAPIErrors: the errors are the real server's, by type.
func TestMemAPIErrors(t *testing.T) {
	t.Parallel()
	other := types.UID("other")
	one := "1"
	for _, c := range []struct {
		reason string
		do     func(w *world) error
		is     func(error) bool
	}{
		{"a name is taken once", func(w *world) error { return w.Create(w.Context(), aPool()) }, apierrors.IsAlreadyExists},
		{"an object that came from the server is not created anew", func(w *world) error { return w.Create(w.Context(), w.stored()) },
			apierrors.IsBadRequest},
		{"a namespaced kind has a namespace", func(w *world) error {
			return w.Create(w.Context(), &awsv1.AWSMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "x"}})
		}, apierrors.IsBadRequest},
		{"an object has a name", func(w *world) error {
			return w.Create(w.Context(), &awsv1.AWSMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}})
		}, apierrors.IsInvalid},
		{"get what is not there", func(w *world) error { return w.Get(w.Context(), client.ObjectKey{Namespace: "ns", Name: "x"}, aPool()) },
			apierrors.IsNotFound},
		{"get from another namespace", func(w *world) error { return w.Get(w.Context(), client.ObjectKey{Namespace: "x", Name: "p"}, aPool()) },
			apierrors.IsNotFound},
		{"update what is not there", func(w *world) error { o := w.stored(); o.Name = "x"; return w.Update(w.Context(), o) },
			apierrors.IsNotFound},
		{"patch what is not there", func(w *world) error {
			o := w.stored()
			o.Name = "x"
			return w.Patch(w.Context(), o, client.RawPatch(types.MergePatchType, []byte(`{}`)))
		}, apierrors.IsNotFound},
		{"delete what is not there", func(w *world) error { o := w.stored(); o.Name = "x"; return w.Delete(w.Context(), o) },
			apierrors.IsNotFound},
		{"an update of a custom kind says what it has seen", func(w *world) error { return w.Update(w.Context(), aPool()) }, apierrors.IsInvalid},
		{"an update of an older version", func(w *world) error { o := w.stored(); o.ResourceVersion = "1"; return w.Update(w.Context(), o) },
			apierrors.IsConflict},
		{"a status update of an older version", func(w *world) error {
			o := w.stored()
			o.ResourceVersion = "1"
			return w.Status().Update(w.Context(), o)
		}, apierrors.IsConflict},
		{"a patch that tells an older version", func(w *world) error {
			return w.Patch(w.Context(), aPool(), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"resourceVersion":"1"}}`)))
		}, apierrors.IsConflict},
		{"a status patch that tells an older version", func(w *world) error {
			o := w.stored()
			o.ResourceVersion = "1"
			changed := o.DeepCopy()
			changed.Status.Ready = true
			return w.Status().Patch(w.Context(), changed, client.MergeFromWithOptions(o, client.MergeFromWithOptimisticLock{}))
		}, apierrors.IsConflict},
		{"an update of the object that had the name before",
			func(w *world) error { o := w.stored(); o.UID = other; return w.Update(w.Context(), o) }, apierrors.IsConflict},
		{"a patch can't change the UID", func(w *world) error {
			return w.Patch(w.Context(), aPool(), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"uid":"other"}}`)))
		}, apierrors.IsInvalid},
		{"a patch can't rename", func(w *world) error {
			return w.Patch(w.Context(), aPool(), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"name":"x"}}`)))
		}, apierrors.IsBadRequest},
		{"deletion of the object that had the name before", func(w *world) error {
			return w.Delete(w.Context(), aPool(), client.Preconditions{UID: &other})
		}, apierrors.IsConflict},
		{"deletion of an older version", func(w *world) error {
			return w.Delete(w.Context(), aPool(), client.Preconditions{ResourceVersion: &one})
		}, apierrors.IsConflict},
		{"a patch that is no object", func(w *world) error {
			return w.Patch(w.Context(), aPool(), client.RawPatch(types.MergePatchType, []byte(`[1]`)))
		}, apierrors.IsBadRequest},
		{"a patch of the wrong type", func(w *world) error {
			return w.Patch(w.Context(), aPool(), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"minSize":"many"}}`)))
		}, apierrors.IsBadRequest},
		{"custom kinds have no strategic merge", func(w *world) error {
			return w.Patch(w.Context(), aPool(), client.StrategicMergeFrom(w.stored()))
		}, apierrors.IsUnsupportedMediaType},
		{"a field that is not indexed", func(w *world) error {
			return w.List(w.Context(), &corev1.PodList{}, client.MatchingFields{"spec.x": "y"})
		}, apierrors.IsBadRequest},
		{"a cancelled context", func(w *world) error {
			ctx, cancel := context.WithCancel(w.Context())
			cancel()
			return w.Get(ctx, client.ObjectKeyFromObject(aPool()), aPool())
		}, func(err error) bool { return errors.Is(err, context.Canceled) }},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.make(aNode("n", ""), aPool())
			before := w.stored()
			if err := c.do(w); !c.is(err) {
				t.Errorf("got %v, of type %q", err, apierrors.ReasonForError(err))
			}
			w.same("nothing changed", before, w.stored())
			w.same("revision", int64(2), w.Revision())
		})
	}
}

// TestMemAPIRefused holds that unsupported requests return an error instead of an empty result.
func TestMemAPIRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.make(aPool(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "s"}})
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "s"}}
	meta := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m"}}
	meta.SetGroupVersionKind(awsv1.GroupVersion.WithKind("AWSMachinePool"))
	for reason, err := range map[string]error{
		"apply":                         w.Apply(t.Context(), nil),
		"apply as a patch":              w.Patch(t.Context(), aPool(), client.RawPatch(types.ApplyPatchType, []byte(`{}`))),
		"dry create":                    w.Create(t.Context(), aPool(), client.DryRunAll),
		"dry update":                    w.Update(t.Context(), aPool(), client.DryRunAll),
		"dry patch":                     w.Patch(t.Context(), aPool(), client.Merge, client.DryRunAll),
		"dry delete":                    w.Delete(t.Context(), aPool(), client.DryRunAll),
		"status of a kind without":      w.Status().Update(t.Context(), secret),
		"unknown subresource":           w.SubResource("eviction").Create(t.Context(), secret, &policyv1.Eviction{}),
		"update of another subresource": w.SubResource("scale").Update(t.Context(), aPool()),
		"patch of another subresource":  w.SubResource("scale").Patch(t.Context(), aPool(), client.Merge),
		"read of a subresource":         w.SubResource("scale").Get(t.Context(), aPool(), aPool()),
		"create of metadata alone":      w.Create(t.Context(), meta),
		"unknown type": memapi.New(memapi.Options{Scheme: runtime.NewScheme(),
			Status: []client.Object{aPool()}}).Client().Create(t.Context(), thing("t")),
		"unknown type of an index": memapi.New(memapi.Options{Scheme: runtime.NewScheme(),
			Indexes: []memapi.Index{{Object: aPool()}}}).Client().Create(t.Context(), thing("t")),
	} {
		if err == nil || apierrors.IsNotFound(err) {
			t.Errorf("%s: want an error that can't be taken for an absent object, got %v", reason, err)
		}
	}
}

// TestMemAPIWrites: the stored object and its metadata after each kind of write.
func TestMemAPIWrites(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		do     func(w *world, o *awsv1.AWSMachinePool) error
		// generation and revision after the write; both were 1 before.
		generation, revision int64
		want                 func(o *awsv1.AWSMachinePool)
	}{
		{"a changed spec is a new generation",
			func(w *world, o *awsv1.AWSMachinePool) error { o.Spec.MaxSize = 5; return w.Update(w.Context(), o) },
			2, 2, func(o *awsv1.AWSMachinePool) { o.Spec.MaxSize = 5 }},
		{"changed metadata is none", func(w *world, o *awsv1.AWSMachinePool) error {
			o.Labels = map[string]string{"l": "1"}
			return w.Update(w.Context(), o)
		},
			1, 2, func(o *awsv1.AWSMachinePool) { o.Labels = map[string]string{"l": "1"} }},
		{"the same again is no write", func(w *world, o *awsv1.AWSMachinePool) error { return w.Update(w.Context(), o) },
			1, 1, func(*awsv1.AWSMachinePool) {}},
		{"an empty map means none", func(w *world, o *awsv1.AWSMachinePool) error {
			o.Labels = map[string]string{}
			return w.Update(w.Context(), o)
		},
			1, 1, func(*awsv1.AWSMachinePool) {}},
		{"the main resource does not write status", func(w *world, o *awsv1.AWSMachinePool) error {
			o.Status.Ready = true
			o.Spec.MaxSize = 5
			return w.Update(w.Context(), o)
		}, 2, 2, func(o *awsv1.AWSMachinePool) { o.Spec.MaxSize = 5 }},
		{"nor by a patch", func(w *world, o *awsv1.AWSMachinePool) error {
			before := o.DeepCopy()
			o.Status.Ready = true
			return w.Patch(w.Context(), o, client.MergeFrom(before))
		}, 1, 1, func(*awsv1.AWSMachinePool) {}},
		{"status writes nothing but status", func(w *world, o *awsv1.AWSMachinePool) error {
			o.Status.Ready = true
			o.Spec.MaxSize = 5
			o.Labels = map[string]string{"l": "1"}
			return w.Status().Update(w.Context(), o)
		}, 1, 2, func(o *awsv1.AWSMachinePool) { o.Status.Ready = true }},
		{"nor by a patch", func(w *world, o *awsv1.AWSMachinePool) error {
			before := o.DeepCopy()
			o.Status.Ready = true
			o.Spec.MaxSize = 5
			o.Labels = map[string]string{"l": "1"}
			return w.Status().Patch(w.Context(), o, client.MergeFrom(before))
		}, 1, 2, func(o *awsv1.AWSMachinePool) { o.Status.Ready = true }},
		{"the same status again is no write", func(w *world, o *awsv1.AWSMachinePool) error { return w.Status().Update(w.Context(), o) },
			1, 1, func(*awsv1.AWSMachinePool) {}},
		{"system metadata can't be written", func(w *world, o *awsv1.AWSMachinePool) error {
			o.Generation, o.CreationTimestamp, o.DeletionTimestamp = 9, metav1.NewTime(start.Add(time.Hour)), &metav1.Time{Time: start}
			return w.Update(w.Context(), o)
		}, 1, 1, func(*awsv1.AWSMachinePool) {}},
		{"a patch without a version is merged into what is stored", func(w *world, o *awsv1.AWSMachinePool) error {
			o.ResourceVersion = "77"
			before := o.DeepCopy()
			o.Annotations = map[string]string{"b": "2"}
			o.Spec.MinSize = 0
			return w.Patch(w.Context(), o, client.MergeFrom(before))
		}, 2, 2, func(o *awsv1.AWSMachinePool) { o.Annotations, o.Spec.MinSize = map[string]string{"b": "2"}, 0 }},
		{"null takes away, unknown fields are dropped", func(w *world, o *awsv1.AWSMachinePool) error {
			return w.Patch(w.Context(), o, client.RawPatch(types.MergePatchType,
				[]byte(`{"metadata":{"annotations":null},"spec":{"nonsense":{"a":1}}}`)))
		}, 1, 2, func(o *awsv1.AWSMachinePool) { o.Annotations = nil }},
		{"a patch tells the version it was made for", func(w *world, o *awsv1.AWSMachinePool) error {
			before := o.DeepCopy()
			o.Spec.ProviderIDList = []string{"x"}
			return w.Patch(w.Context(), o, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		}, 2, 2, func(o *awsv1.AWSMachinePool) { o.Spec.ProviderIDList = []string{"x"} }},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.make(aPool())
			events := w.NewCache()
			want := w.stored()
			c.want(want)
			want.Generation, want.ResourceVersion = c.generation, fmt.Sprint(c.revision)
			o := w.stored()
			w.must(c.do(w, o))
			w.same("stored", want, w.stored())
			w.same("passed", want, o)
			w.same("events", int(c.revision-1), len(events.Sync()))
		})
	}
}

// TestMemAPITimes holds that stored objects have been through JSON, so that no reader sees fractions of seconds that a real server would
// drop.
func TestMemAPITimes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.make(aPool())
	o := w.stored()
	o.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", LastTransitionTime: metav1.NewTime(start)}}
	w.must(w.Status().Update(t.Context(), o))
	if got := o.Status.Conditions[0].LastTransitionTime; got.Nanosecond() != 0 || got.Unix() != start.Unix() {
		t.Errorf("want whole seconds of %s, got %s", start, got)
	}
	before := o.DeepCopy()
	o.Status.Conditions[0].LastTransitionTime = metav1.NewTime(start.Add(300 * time.Millisecond))
	w.must(w.Status().Patch(t.Context(), o, client.MergeFrom(before)))
	w.same("a part of a second is no change", before, o)
}

// TestMemAPIDeletion: finalizers keep an object, mark it, and let it go.
func TestMemAPIDeletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := aPool()
	o.Finalizers = []string{"x/a", "x/b"}
	w.make(o)
	events := w.NewCache()
	w.now = start.Add(time.Minute)
	w.must(w.Delete(t.Context(), o))
	marked := w.stored()
	w.same("marked", []any{true, int64(0), int64(2)}, []any{marked.DeletionTimestamp.Equal(&metav1.Time{Time: w.now.Truncate(time.Second)}),
		*marked.DeletionGracePeriodSeconds, marked.Generation})
	w.now = start.Add(time.Hour)
	w.must(w.Delete(t.Context(), o))
	w.same("deleted again", marked, w.stored())
	o = w.stored()
	o.Finalizers = append(o.Finalizers, "x/c")
	if err := w.Update(t.Context(), o); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "x/c") {
		t.Errorf("new finalizer: want Invalid that names it, got %v", err)
	}
	o = w.stored()
	before := o.DeepCopy()
	o.Finalizers, o.DeletionTimestamp = []string{"x/b"}, nil
	w.must(w.Patch(t.Context(), o, client.MergeFrom(before)))
	w.same("still marked", marked.DeletionTimestamp, w.stored().DeletionTimestamp)
	before = o.DeepCopy()
	o.Finalizers = nil
	w.must(w.Patch(t.Context(), o, client.MergeFrom(before)))
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(o), aPool()); !apierrors.IsNotFound(err) {
		t.Errorf("without finalizers: want NotFound, got %v", err)
	}
	w.same("reply has no finalizers", 0, len(o.Finalizers))
	var changes []string
	for _, e := range events.Sync() {
		changes = append(changes, fmt.Sprintf("%t->%t", e.Old != nil, e.New != nil))
	}
	w.same("events", []string{"true->true", "true->true", "true->false"}, changes)
	again := aPool()
	w.make(again)
	if again.UID == marked.UID {
		t.Errorf("an object of the same name has a UID of its own, got %s twice", again.UID)
	}
	w.must(w.Delete(t.Context(), again, client.Preconditions{UID: &again.UID, ResourceVersion: &again.ResourceVersion}))
	w.same("known", 0, len(w.NewCache().Known()))
}

// TestMemAPIPodsEndGracefully: a pod on a node stays until its kubelet reports that it has ended, or a client forces its deletion.
func TestMemAPIPodsEndGracefully(t *testing.T) {
	t.Parallel()
	grace := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		reason  string
		change  func(*corev1.Pod)
		options []client.DeleteOption
		// want is the grace that is left, nothing when the pod is gone.
		want *int64
	}{
		{"the API's default", func(*corev1.Pod) {}, nil, grace(30)},
		{"what the pod asks for", func(p *corev1.Pod) { p.Spec.TerminationGracePeriodSeconds = grace(7) }, nil, grace(7)},
		{"what the deletion asks for", func(*corev1.Pod) {}, []client.DeleteOption{client.GracePeriodSeconds(3)}, grace(3)},
		{"by force", func(*corev1.Pod) {}, []client.DeleteOption{client.GracePeriodSeconds(0)}, nil},
		{"one that never ran", func(p *corev1.Pod) { p.Spec.NodeName = "" }, nil, nil},
		{"one that has ended", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }, nil, nil},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := pod("ns", "a", "n")
			c.change(p)
			status := p.Status
			w.make(p)
			p.Status = status
			w.must(w.Status().Update(t.Context(), p))
			w.must(w.Delete(t.Context(), p, c.options...))
			got := &corev1.Pod{}
			err := w.Get(t.Context(), client.ObjectKeyFromObject(p), got)
			if c.want == nil {
				if !apierrors.IsNotFound(err) {
					t.Errorf("want it gone, got %v", err)
				}
				return
			}
			w.must(err)
			w.same("grace", c.want, got.DeletionGracePeriodSeconds)
			w.same("ends at", start.Unix()+*c.want, got.DeletionTimestamp.Unix())
			w.must(w.Delete(t.Context(), p))
			w.must(w.Delete(t.Context(), p, client.GracePeriodSeconds(100)))
			still := &corev1.Pod{}
			w.must(w.Get(t.Context(), client.ObjectKeyFromObject(p), still))
			w.same("a longer grace changes nothing", got, still)
			w.must(w.Delete(t.Context(), p, client.GracePeriodSeconds(1)))
			w.must(w.Get(t.Context(), client.ObjectKeyFromObject(p), still))
			w.same("a shorter one counts from the first deletion", start.Unix()+1, still.DeletionTimestamp.Unix())
			w.must(w.Delete(t.Context(), p, client.GracePeriodSeconds(0)))
			if err := w.Get(t.Context(), client.ObjectKeyFromObject(p), got); !apierrors.IsNotFound(err) {
				t.Errorf("ended: want NotFound, got %v", err)
			}
		})
	}
}

// TestMemAPIStrategicMerge: lists of built-in kinds are merged by their keys.
func TestMemAPIStrategicMerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n := aNode("n", "")
	n.Spec.Taints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}
	w.make(n)
	w.must(w.Patch(t.Context(), n, client.RawPatch(types.StrategicMergePatchType, []byte(`{"metadata":{"labels":{"l":"1"}}}`))))
	n.Status.Conditions = []corev1.NodeCondition{{Type: "Ready", Status: "True"}, {Type: "DiskPressure", Status: "False"}}
	w.must(w.Status().Update(t.Context(), n))
	w.must(w.Status().Patch(t.Context(), n, client.RawPatch(types.StrategicMergePatchType,
		[]byte(`{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`))))
	got := &corev1.Node{}
	w.must(w.Get(t.Context(), client.ObjectKey{Name: "n"}, got))
	w.same("conditions", []corev1.ConditionStatus{"False", "False"},
		[]corev1.ConditionStatus{got.Status.Conditions[0].Status, got.Status.Conditions[1].Status})
	w.same("the rest", []any{"1", 1}, []any{got.Labels["l"], len(got.Spec.Taints)})
}

// TestMemAPIUnconditional: built-in kinds may be updated without a version, as kubectl replace does.
func TestMemAPIUnconditional(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.make(aNode("n", ""))
	n := aNode("n", "z")
	w.must(w.Update(t.Context(), n))
	w.same("version", "2", n.ResourceVersion)
}

// TestMemAPIGeneratedNames are free ones, and the same in each run.
func TestMemAPIGeneratedNames(t *testing.T) {
	t.Parallel()
	names := func() (out []string) {
		w := newWorld(t)
		for range 3 {
			o := aPool()
			o.Name, o.GenerateName = "", "p-"
			w.make(o)
			out = append(out, o.Name)
		}
		return out
	}
	first := names()
	if first[0] == first[1] || first[1] == first[2] || len(first[0]) != len("p-")+5 || !strings.HasPrefix(first[0], "p-") {
		t.Errorf("want three different names of the prefix and five letters, got %q", first)
	}
	if d := cmp.Diff(first, names()); d != "" {
		t.Errorf("another run gives other names:\n%s", d)
	}
}
