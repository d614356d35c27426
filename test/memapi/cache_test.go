package memapi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/test/memapi"
)

// TestMemAPICacheLags: a cache knows what it took up, and its process's writes reach the server all the same.
func TestMemAPICacheLags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.make(aPool(), aNode("n", "a"))
	cache := w.NewCache(&corev1.Pod{})
	c := cache.Client(nil)
	read := func() *awsv1.AWSMachinePool {
		o := &awsv1.AWSMachinePool{}
		w.must(c.Get(t.Context(), client.ObjectKeyFromObject(aPool()), o))
		return o
	}
	zone := func(zone string) int {
		list := &corev1.NodeList{}
		w.must(c.List(t.Context(), list, client.MatchingFields{"zones": zone}))
		return len(list.Items)
	}
	old := read()
	w.same("a cache tells kinds", "AWSMachinePool", old.Kind)
	o := read()
	o.Spec.MaxSize = 4
	w.must(c.Update(t.Context(), o))
	o.Spec.MaxSize = 5
	w.must(c.Update(t.Context(), o))
	n := aNode("n", "b")
	w.must(w.Update(t.Context(), n))
	w.make(aNode("m", "b"), pod("ns", "a", "n"))
	w.same("nothing is known yet", []any{old, 1, 0, int64(2)}, []any{read(), zone("a"), zone("b"), cache.Revision()})
	if err := c.Get(t.Context(), client.ObjectKey{Name: "m"}, aNode("", "")); !apierrors.IsNotFound(err) {
		t.Errorf("a node that is not known yet: want NotFound, got %v", err)
	}
	stale := read()
	stale.Spec.MaxSize = 9
	if err := c.Update(t.Context(), stale); !apierrors.IsConflict(err) {
		t.Errorf("an update on stale knowledge: want Conflict, got %v", err)
	}
	w.must(c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "a"}, &corev1.Pod{}))

	events := cache.SyncTo(3)
	w.same("up to revision 3", []any{1, int32(4), 1}, []any{len(events), read().Spec.MaxSize, zone("a")})
	w.same("event", []any{int32(3), int32(4)}, []any{events[0].Old.(*awsv1.AWSMachinePool).Spec.MaxSize,
		events[0].New.(*awsv1.AWSMachinePool).Spec.MaxSize})
	w.same("back to revision 1", 0, len(cache.SyncTo(1)))
	var messages []string
	for _, e := range cache.Sync() {
		messages = append(messages, fmt.Sprintf("%t %s", e.Old != nil, e.New.GetName()))
	}
	w.same("the rest, in order", []string{"true p", "true n", "false m", "false a"}, messages)
	w.same("all is known", []any{int32(5), 0, 2, w.Revision(), 0},
		[]any{read().Spec.MaxSize, zone("a"), zone("b"), cache.Revision(), len(cache.Sync())})

	w.must(w.Delete(t.Context(), n))
	w.same("deletion unseen", 2, zone("b"))
	gone := cache.Sync()
	w.same("deletion", []any{1, "n", true, 1}, []any{len(gone), gone[0].Old.GetName(), gone[0].New == nil, zone("b")})
	var known []string
	for _, o := range cache.Known() {
		known = append(known, o.GetName())
	}
	w.same("known", []string{"m", "a", "p"}, known)
}

// TestMemAPICachesAreApart: what one cache takes up, or its reader changes, does not reach another.
func TestMemAPICachesAreApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.make(aNode("a", "z"), aPool(), thing("t"))
	one, two := w.NewCache(), w.NewCache()
	for i := range 20 {
		w.make(aNode(fmt.Sprintf("n%02d", i), "z"))
	}
	w.must(w.Delete(t.Context(), aNode("a", "")))
	one.Sync()
	list := &corev1.NodeList{}
	w.must(two.Client(nil).List(t.Context(), list, client.MatchingFields{"zones": "z"}))
	w.same("the second cache", 1, len(list.Items))
	w.must(one.Client(nil).List(t.Context(), list, client.MatchingFields{"zones": "z"}))
	w.same("the first cache", 20, len(list.Items))

	o := &awsv1.AWSMachinePool{}
	u := thing("")
	for _, c := range []client.Client{one.Client(nil), two.Client(nil), w.Client} {
		w.must(c.Get(t.Context(), client.ObjectKeyFromObject(aPool()), o))
		w.must(c.Get(t.Context(), client.ObjectKeyFromObject(thing("t")), u))
		w.same("unspoilt", []any{"1", int64(3)}, []any{o.Annotations["a"], u.Object["spec"].(map[string]any)["size"]})
		o.Annotations["a"] = "spoilt"
		u.Object["spec"].(map[string]any)["size"] = int64(0)
	}
}

// TestMemAPIReads: each form, list option and order, the same from the server and from a cache.
func TestMemAPIReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.make(pod("b", "x", "n1"), pod("a", "y", "n1"), pod("a", "x", "n2"), pod("a-b", "x", "n1"), pod("c", "z", ""), thing("t"), aPool())
	names := func(list *corev1.PodList) (out []string) {
		for _, p := range list.Items {
			out = append(out, p.Namespace+"/"+p.Name)
		}
		return out
	}
	for where, c := range map[string]client.Client{"server": w.Client, "cache": w.NewCache().Client(nil)} {
		for _, q := range []struct {
			reason string
			opts   []client.ListOption
			want   []string
		}{
			{"all, by namespace and name", nil, []string{"a/x", "a/y", "a-b/x", "b/x", "c/z"}},
			{"a namespace", []client.ListOption{client.InNamespace("a")}, []string{"a/x", "a/y"}},
			{"an empty namespace", []client.ListOption{client.InNamespace("x")}, nil},
			{"labels", []client.ListOption{client.MatchingLabels{"app": "x"}}, []string{"a/x", "a-b/x", "b/x"}},
			{"a field", []client.ListOption{client.MatchingFields{"spec.nodeName": "n1"}}, []string{"a/y", "a-b/x", "b/x"}},
			{"an empty value", []client.ListOption{client.MatchingFields{"spec.nodeName": ""}}, []string{"c/z"}},
			{"everything at once", []client.ListOption{client.MatchingFields{"spec.nodeName": "n1"}, client.InNamespace("a"),
				client.MatchingLabels{"app": "y"}}, []string{"a/y"}},
			{"nothing", []client.ListOption{client.MatchingFields{"spec.nodeName": "n9"}}, nil},
			{"shared", []client.ListOption{client.InNamespace("a"), client.UnsafeDisableDeepCopy}, []string{"a/x", "a/y"}},
		} {
			list := &corev1.PodList{Items: []corev1.Pod{{}}}
			w.must(c.List(t.Context(), list, q.opts...))
			w.same(where+": "+q.reason, q.want, names(list))
		}
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(awsv1.GroupVersion.WithKind("AWSMachinePool"))
		w.must(c.Get(t.Context(), client.ObjectKeyFromObject(aPool()), u))
		size, _, err := unstructured.NestedInt64(u.Object, "spec", "maxSize")
		w.same(where+": a typed kind unstructured", []any{int64(3), nil, "AWSMachinePool", "7"},
			[]any{size, err, u.GetKind(), u.GetResourceVersion()})
		m := &metav1.PartialObjectMetadata{}
		m.SetGroupVersionKind(thing("").GroupVersionKind())
		w.must(c.Get(t.Context(), client.ObjectKeyFromObject(thing("t")), m))
		w.same(where+": metadata of an unstructured kind", []string{"t", "6", "Thing"}, []string{m.Name, m.ResourceVersion, m.Kind})
		ul := &unstructured.UnstructuredList{}
		ul.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
		w.must(c.List(t.Context(), ul, client.MatchingFields{"spec.nodeName": "n2"}))
		w.same(where+": an unstructured list", []any{1, "x", "Pod"}, []any{len(ul.Items), ul.Items[0].GetName(), ul.Items[0].GetKind()})
		ml := &metav1.PartialObjectMetadataList{}
		ml.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
		w.must(c.List(t.Context(), ml, client.InNamespace("b")))
		w.same(where+": a list of metadata", []any{1, "x"}, []any{len(ml.Items), ml.Items[0].Labels["app"]})
	}
}

// TestMemAPIPages holds that a server pages, and that a cache does not and reports so, as the real one does.
func TestMemAPIPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		w.make(pod("ns", name, "n"))
	}
	var pages []string
	list := &corev1.PodList{}
	for {
		w.must(w.List(t.Context(), list, client.Limit(2), client.Continue(list.Continue), client.MatchingFields{"spec.nodeName": "n"}))
		var page string
		for _, p := range list.Items {
			page += p.Name
		}
		pages = append(pages, page)
		if list.Continue == "" {
			break
		}
		w.must(w.Delete(t.Context(), &list.Items[len(list.Items)-1], client.GracePeriodSeconds(0)))
	}
	w.same("pages", []string{"ab", "cd", "e"}, pages)
	c := w.NewCache().Client(nil)
	w.must(c.List(t.Context(), list, client.Limit(2)))
	w.same("cached", []any{2, "continue-not-supported"}, []any{len(list.Items), list.Continue})
	if err := c.List(t.Context(), list, client.Limit(2), client.Continue(list.Continue)); err == nil {
		t.Error("a cache that pages: want an error")
	}
	if err := c.List(t.Context(), list, client.MatchingFields{"metadata.name": "a"}); err == nil {
		t.Error("a cache asked for a field without an index: want an error")
	}
	w.must(w.List(t.Context(), list, client.MatchingFields{"metadata.name": "a", "metadata.namespace": "ns"}))
	w.same("a server selects by name", 1, len(list.Items))
}

// TestMemAPIUnstructuredWrites: typed and untyped clients of one kind meet, and kinds without a type keep what they are given.
func TestMemAPIUnstructuredWrites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.make(aPool(), thing("t"))
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(awsv1.GroupVersion.WithKind("AWSMachinePool"))
	w.must(w.Get(t.Context(), client.ObjectKeyFromObject(aPool()), u))
	before := u.DeepCopy()
	w.must(unstructured.SetNestedField(u.Object, int64(8), "spec", "maxSize"))
	w.must(w.Patch(t.Context(), u, client.MergeFrom(before)))
	w.same("patched", []any{int32(8), int64(2), "AWSMachinePool"}, []any{w.stored().Spec.MaxSize, u.GetGeneration(), u.GetKind()})
	w.must(unstructured.SetNestedField(u.Object, int64(9), "spec", "maxSize"))
	w.must(w.Update(t.Context(), u))
	w.same("updated", int32(9), w.stored().Spec.MaxSize)

	x := thing("")
	w.must(w.Get(t.Context(), client.ObjectKeyFromObject(thing("t")), x))
	old := x.DeepCopy()
	w.must(unstructured.SetNestedField(x.Object, "free", "spec", "deep", "field"))
	w.must(unstructured.SetNestedField(x.Object, true, "status", "ready"))
	w.must(w.Patch(t.Context(), x, client.MergeFrom(old)))
	w.same("spec alone", []any{map[string]any{"size": int64(3), "list": []any{"a", "b"}, "deep": map[string]any{"field": "free"}}, nil,
		int64(2)},
		[]any{x.Object["spec"], x.Object["status"], x.GetGeneration()})
	w.must(unstructured.SetNestedField(x.Object, true, "status", "ready"))
	w.must(w.Status().Update(t.Context(), x))
	w.same("status alone", []any{map[string]any{"ready": true}, int64(2)}, []any{x.Object["status"], x.GetGeneration()})
	revision := w.Revision()
	w.must(w.Status().Update(t.Context(), x))
	w.same("the same again is no write", revision, w.Revision())
	m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "t"}}
	m.SetGroupVersionKind(x.GroupVersionKind())
	w.must(w.Get(t.Context(), client.ObjectKeyFromObject(m), m))
	without := m.DeepCopy()
	m.Finalizers = []string{"x/y"}
	w.must(w.Patch(t.Context(), m, client.MergeFrom(without)))
	w.must(w.Delete(t.Context(), x))
	w.must(w.Get(t.Context(), client.ObjectKeyFromObject(x), x))
	if x.GetDeletionTimestamp() == nil || x.GetGeneration() != 3 {
		t.Errorf("want it marked for deletion with generation 3, got %v", x.Object["metadata"])
	}
	x.SetFinalizers(nil)
	w.must(w.Update(t.Context(), x))
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(x), x); !apierrors.IsNotFound(err) {
		t.Errorf("without finalizers: want NotFound, got %v", err)
	}
}

// TestMemAPIGate: every request to the server passes it, reads from the cache don't, and it may refuse, lose or carry.
func TestMemAPIGate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.make(aPool(), pod("ns", "a", "n"))
	cache := w.NewCache(&corev1.Pod{})
	lost := errors.New("lost")
	var trace []string
	reply := func(do func() error) error { return do() }
	c := cache.Client(func(_ context.Context, op memapi.Op, do func() error) error {
		kind := op.Kind
		if op.Subresource != "" {
			kind += "/" + op.Subresource
		}
		trace = append(trace, fmt.Sprintf("%s %s %s %t %s", op.Verb, kind, op.Key, op.Write, op.Body))
		return reply(do)
	})
	o := w.stored()
	w.must(c.Get(t.Context(), client.ObjectKeyFromObject(o), o))
	w.must(c.List(t.Context(), &corev1.NodeList{}))
	w.must(c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "a"}, &corev1.Pod{}))
	w.must(c.List(t.Context(), &corev1.PodList{}, client.InNamespace("ns")))
	before := o.DeepCopy()
	o.Spec.MaxSize = 4
	w.must(c.Patch(t.Context(), o, client.MergeFrom(before)))
	before = o.DeepCopy()
	o.Status.Ready = true
	w.must(c.Status().Patch(t.Context(), o, client.MergeFrom(before)))
	n := aNode("n", "")
	w.must(c.Create(t.Context(), n))
	w.must(c.Update(t.Context(), n))
	w.must(c.Delete(t.Context(), n, client.Preconditions{UID: &n.UID}))
	w.must(c.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace("ns"), client.MatchingLabels{"app": "x"}))
	w.same("trace", []string{
		`get Pod ns/a false `,
		`list Pod ns/ false `,
		`patch AWSMachinePool ns/p true {"spec":{"maxSize":4}}`,
		`patch AWSMachinePool/status ns/p true {"status":{"ready":true}}`,
		`create Node /n true {"metadata":{"name":"n","annotations":{"zones":""}},"spec":{},"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},"nodeInfo":{"machineID":"","systemUUID":"","bootID":"","kernelVersion":"","osImage":"","containerRuntimeVersion":"","kubeletVersion":"","kubeProxyVersion":"","operatingSystem":"","architecture":""}}}`,
		`update Node /n true`, `delete Node /n true {"preconditions":{"uid":"00000000-0000-4000-8000-000000000003"}}`,
		`deletecollection Pod ns/ true `,
	}, shortened(trace, "update Node"))

	want := w.stored()
	o = w.stored()
	o.Spec.MaxSize = 7
	passed := o.DeepCopy()
	reply = func(func() error) error { return lost }
	if err := c.Update(t.Context(), o); !errors.Is(err, lost) {
		t.Errorf("refused: got %v", err)
	}
	w.same("a refused write does nothing", want, w.stored())
	reply = func(do func() error) error { return errors.Join(do(), lost) }
	if err := c.Update(t.Context(), o); !errors.Is(err, lost) {
		t.Errorf("lost: got %v", err)
	}
	w.same("a lost write is done", int32(7), w.stored().Spec.MaxSize)
	w.same("but its reply is not seen", passed, o)
	read := &corev1.Pod{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "a"}, read); !errors.Is(err, lost) || read.Name != "" {
		t.Errorf("a lost read: got %v and %q", err, read.Name)
	}
	reply = func(func() error) error { return nil }
	if err := c.Delete(t.Context(), o); err == nil {
		t.Error("a gate that does not carry and gives no error: want an error")
	}
}

// shortened cuts the body off the entries that begin with a prefix.
func shortened(trace []string, prefix string) []string {
	for i, line := range trace {
		if strings.HasPrefix(line, prefix) {
			trace[i], _, _ = strings.Cut(line, " {")
		}
	}
	return trace
}

// TestMemAPISubresource holds that the world implements evictions, and that they apply to existing objects only.
func TestMemAPISubresource(t *testing.T) {
	t.Parallel()
	refused := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	w := newWorld(t, func(w *world, o *memapi.Options) {
		o.Subresources = map[string]func(context.Context, client.Object, client.Object) error{
			"eviction": func(ctx context.Context, o, sub client.Object) error {
				if o.GetLabels()["app"] == "kept" {
					return refused
				}
				grace := sub.(*policyv1.Eviction).DeleteOptions.GracePeriodSeconds
				return w.Delete(ctx, o, client.GracePeriodSeconds(*grace))
			},
		}
	})
	w.make(pod("ns", "kept", "n"), pod("ns", "goes", "n"))
	c := w.NewCache(&corev1.Pod{}).Client(nil)
	grace := int64(0)
	evict := func(name string) error {
		return c.SubResource("eviction").Create(t.Context(), pod("ns", name, "wrong"),
			&policyv1.Eviction{DeleteOptions: &metav1.DeleteOptions{GracePeriodSeconds: &grace}})
	}
	w.must(evict("goes"))
	if err := evict("goes"); !apierrors.IsNotFound(err) {
		t.Errorf("evicted twice: want NotFound, got %v", err)
	}
	if err := evict("kept"); !apierrors.IsTooManyRequests(err) {
		t.Errorf("kept: want TooManyRequests, got %v", err)
	}
	list := &corev1.PodList{}
	w.must(w.List(t.Context(), list))
	w.same("left", 1, len(list.Items))
}

// TestMemAPIDeleteAllOf deletes the selected objects, and marks those with finalizers.
func TestMemAPIDeleteAllOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kept := pod("a", "x", "")
	kept.Finalizers = []string{"x/y"}
	w.make(kept, pod("a", "y", ""), pod("b", "x", ""), pod("a", "z", ""))
	w.must(w.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace("a"), client.MatchingFields{"spec.nodeName": ""}))
	list := &corev1.PodList{}
	w.must(w.List(t.Context(), list))
	w.same("left", []any{2, true, "b"}, []any{len(list.Items), list.Items[0].DeletionTimestamp != nil, list.Items[1].Namespace})
}

// TestMemAPIScope holds that a kind outside of the short list of cluster-scoped kinds is namespaced.
func TestMemAPIScope(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for o, want := range map[client.Object]bool{&corev1.Node{}: false, &corev1.Namespace{}: false, &corev1.Pod{}: true, thing("t"): true,
		aPool(): true} {
		got, err := w.IsObjectNamespaced(o)
		w.must(err)
		w.same(fmt.Sprintf("%T is namespaced", o), want, got)
	}
	w.make(aNode("n", ""))
	w.must(w.Get(t.Context(), client.ObjectKey{Namespace: "whatever", Name: "n"}, &corev1.Node{}))
	gvk, err := w.GroupVersionKindFor(&corev1.NodeList{})
	w.must(err)
	w.same("kind", "NodeList", gvk.Kind)
}
