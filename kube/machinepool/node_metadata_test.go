package machinepool

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// mtaint is a taint of a template, written KEY=VALUE:EFFECT, with + behind it when it is for the beginning alone.
func mtaint(text string) clusterv1.MachineTaint {
	t := clusterv1.MachineTaint{Propagation: clusterv1.MachineTaintPropagationAlways}
	if strings.HasSuffix(text, "+") {
		t.Propagation = clusterv1.MachineTaintPropagationOnInitialization
	}
	n := ntaint(strings.TrimSuffix(text, "+"))
	t.Key, t.Value, t.Effect = n.Key, n.Value, n.Effect
	return t
}

// ntaint is a taint of a node, written KEY=VALUE:EFFECT.
func ntaint(text string) corev1.Taint {
	pair, effect, _ := strings.Cut(text, ":")
	key, value, _ := strings.Cut(pair, "=")
	return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
}

func each[T any](texts string, f func(string) T) []T {
	var all []T
	for _, text := range strings.Fields(texts) {
		all = append(all, f(text))
	}
	return all
}

// pairs is a map written as KEY=VALUE pairs.
func pairs(text string) map[string]string {
	all := map[string]string{}
	for _, pair := range strings.Fields(text) {
		key, value, _ := strings.Cut(pair, "=")
		all[key] = value
	}
	return all
}

// shown are a node's labels, annotations and taints, one text, without whom it belongs to.
func shown(n *corev1.Node) string {
	short := strings.NewReplacer("cluster.x-k8s.io/", "")
	show := func(m map[string]string) (all []string) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if strings.HasPrefix(key, "cluster.x-k8s.io/owner-") || strings.HasPrefix(key, "cluster.x-k8s.io/cluster-") {
				continue
			}
			all = append(all, key+"="+m[key])
		}
		return all
	}
	var taints []string
	for _, t := range n.Spec.Taints {
		taints = append(taints, fmt.Sprintf("%s=%s:%s", t.Key, t.Value, t.Effect))
	}
	return short.Replace(fmt.Sprintf("%v %v %v", show(n.Labels), show(n.Annotations), taints))
}

const owned = "cluster.x-k8s.io/owner-kind=MachinePool cluster.x-k8s.io/owner-name=pool cluster.x-k8s.io/cluster-name=c1 cluster.x-k8s.io/cluster-namespace=default "

func TestWhatANodeHasOfItsPool(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		// Of the template, written as above.
		labels, annotations, taints string
		sync                        string
		// Of the node as it was found.
		nodeLabels, nodeAnnotations, nodeTaints string
		// want is what it has afterwards; nothing when it is not written.
		want string
	}{
		"new": {
			reason: "everything comes in one write, and with it goes the taint that kept pods off",
			labels: "node-role.kubernetes.io/db= team=x", annotations: "node.cluster.x-k8s.io/a=b other=c", taints: "gpu=yes:NoSchedule",
			nodeLabels: "kubernetes.io/os=linux", nodeTaints: "node.cluster.x-k8s.io/uninitialized=:NoSchedule",
			want: "[kubernetes.io/os=linux node-role.kubernetes.io/db=] [annotations-from-machine=node.a labels-from-machine=node-role.kubernetes.io/db " +
				"taints-from-machine=gpu:NoSchedule node.a=b] [gpu=yes:NoSchedule]",
		},
		"plain": {
			reason: "a template that says nothing marks the node, and notes that it has had its beginning", nodeTaints: "node.cluster.x-k8s.io/uninitialized=:NoSchedule",
			want: "[] [taints-from-machine=] []",
		},
		"in order": {
			reason: "what is as it should be is not written", labels: "node-restriction.kubernetes.io/z=1", taints: "gpu=yes:NoSchedule",
			nodeLabels: "node-restriction.kubernetes.io/z=1", nodeTaints: "gpu=yes:NoSchedule mine=:NoExecute",
			nodeAnnotations: owned + "cluster.x-k8s.io/labels-from-machine=node-restriction.kubernetes.io/z cluster.x-k8s.io/taints-from-machine=gpu:NoSchedule",
		},
		"subdomains": {
			reason: "labels of subdomains are propagated as those of the domain", labels: "a.node-restriction.kubernetes.io/z=1 b.node.cluster.x-k8s.io/y=2 xnode.cluster.x-k8s.io/n=3",
			nodeAnnotations: owned + "cluster.x-k8s.io/taints-from-machine=",
			want:            "[a.node-restriction.kubernetes.io/z=1 b.node.y=2] [labels-from-machine=a.node-restriction.kubernetes.io/z,b.node.y taints-from-machine=] []",
		},
		"asked for": {
			reason: "labels and annotations that the flags choose are propagated too", labels: "team=x other=y", annotations: "team=x", sync: "^team$",
			nodeAnnotations: owned + "cluster.x-k8s.io/taints-from-machine=",
			want:            "[team=x] [annotations-from-machine=team labels-from-machine=team taints-from-machine= team=x] []",
		},
		"repaired": {
			reason: "what somebody else has changed or taken off comes back", labels: "node-role.kubernetes.io/db=1", taints: "gpu=yes:NoSchedule",
			nodeLabels: "node-role.kubernetes.io/db=2", nodeTaints: "gpu=no:NoSchedule",
			nodeAnnotations: owned + "cluster.x-k8s.io/labels-from-machine=node-role.kubernetes.io/db cluster.x-k8s.io/taints-from-machine=gpu:NoSchedule",
			want:            "[node-role.kubernetes.io/db=1] [labels-from-machine=node-role.kubernetes.io/db taints-from-machine=gpu:NoSchedule] [gpu=yes:NoSchedule]",
		},
		"taken back": {
			reason: "what the template no longer has goes, and what others have put there stays", nodeLabels: "node-role.kubernetes.io/db=1 mine=1",
			nodeTaints: "gpu=yes:NoSchedule mine=:NoExecute gpu=:NoExecute",
			nodeAnnotations: owned + "mine=2 team=x cluster.x-k8s.io/labels-from-machine=node-role.kubernetes.io/db cluster.x-k8s.io/annotations-from-machine=team " +
				"cluster.x-k8s.io/taints-from-machine=gpu:NoSchedule",
			want: "[mine=1] [taints-from-machine= mine=2] [mine=:NoExecute gpu=:NoExecute]",
		},
		"beginning": {
			reason: "a taint for the beginning comes once", taints: "startup=:NoSchedule+ gpu=yes:NoSchedule", nodeTaints: "node.cluster.x-k8s.io/uninitialized=:NoSchedule",
			want: "[] [taints-from-machine=gpu:NoSchedule] [startup=:NoSchedule gpu=yes:NoSchedule]",
		},
		"after the beginning": {
			reason: "whoever took the taint off has done what it waited for", taints: "startup=:NoSchedule+", nodeAnnotations: owned + "cluster.x-k8s.io/taints-from-machine=",
		},
		"looked after before": {
			reason: "a node from before taints were noted has had its beginning", taints: "startup=:NoSchedule+ gpu=yes:NoSchedule", nodeAnnotations: owned,
			want: "[] [taints-from-machine=gpu:NoSchedule] [gpu=yes:NoSchedule]",
		},
		"left alone before": {reason: "a pool without taints writes nothing on nodes from before", nodeAnnotations: owned},
		"now always": {
			reason: "a taint for the beginning that becomes one for ever comes back", taints: "startup=:NoSchedule", nodeAnnotations: owned + "cluster.x-k8s.io/taints-from-machine=",
			want: "[] [taints-from-machine=startup:NoSchedule] [startup=:NoSchedule]",
		},
		"no longer always": {
			reason: "a taint for ever that becomes one for the beginning stays, and is nobody's to repair", taints: "gpu=:NoSchedule+", nodeTaints: "gpu=:NoSchedule",
			nodeAnnotations: owned + "cluster.x-k8s.io/taints-from-machine=gpu:NoSchedule", want: "[] [taints-from-machine=] [gpu=:NoSchedule]",
		},
		"of a Machine before": {
			reason: "what a Machine's controller has put there is taken over", labels: "node-role.kubernetes.io/db=",
			nodeLabels: "node-role.kubernetes.io/db= node-role.kubernetes.io/old=",
			nodeAnnotations: owned + "cluster.x-k8s.io/machine=m1 cluster.x-k8s.io/annotations-from-machine= cluster.x-k8s.io/taints-from-machine= " +
				"cluster.x-k8s.io/labels-from-machine=node-role.kubernetes.io/db,node-role.kubernetes.io/old",
			want: "[node-role.kubernetes.io/db=] [labels-from-machine=node-role.kubernetes.io/db taints-from-machine=] []",
		},
		"marks are not the template's": {
			reason: "a template can't say whose a node is, whatever is chosen", annotations: "cluster.x-k8s.io/owner-name=x cluster.x-k8s.io/taints-from-machine=y", sync: ".*",
			nodeAnnotations: owned + "cluster.x-k8s.io/taints-from-machine=",
		},
		"never ready for pods": {
			reason: "the taint that keeps pods off is nobody's to ask for: it would never go", taints: "node.cluster.x-k8s.io/uninitialized=:NoSchedule",
			nodeTaints: "node.cluster.x-k8s.io/uninitialized=:NoSchedule", want: "[] [taints-from-machine=node.uninitialized:NoSchedule] []",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &pass{pool: aPool(1)}
			p.pool.Spec.Template.Labels, p.pool.Spec.Template.Annotations = pairs(tc.labels), pairs(tc.annotations)
			p.pool.Spec.Template.Spec.Taints = each(tc.taints, mtaint)
			var sync []*regexp.Regexp
			if tc.sync != "" {
				sync = append(sync, regexp.MustCompile(tc.sync))
			}
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: pairs(tc.nodeLabels), Annotations: pairs(tc.nodeAnnotations)},
				Spec: corev1.NodeSpec{Taints: each(tc.nodeTaints, ntaint)}}
			before := node.DeepCopy()
			dress := p.nodeMetadata(sync, sync)
			after := dress.applyTo(node)
			got := ""
			if after != nil {
				got = shown(after)
				if again := dress.applyTo(after); again != nil {
					t.Errorf("want nothing to do after it was done, got %s", shown(again))
				}
				if after.Annotations[clusterv1.OwnerNameAnnotation] != "pool" {
					t.Errorf("want the node marked as the pool's, got %v", after.Annotations)
				}
			}
			if got != tc.want {
				t.Errorf("%s:\nwant %s\ngot  %s", tc.reason, tc.want, got)
			}
			if shown(node) != shown(before) {
				t.Errorf("want the cache's node as it was, got %s", shown(node))
			}
		})
	}
}

func TestWhatANodeWithAMachineHasOfIt(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, taints, annotations, nodeTaints, want string
	}{
		"new": {
			reason: "taints alone are written, and the note that the Machine's controller reads where its gate is on", taints: "gpu=yes:NoSchedule startup=:NoSchedule+",
			nodeTaints: "node.cluster.x-k8s.io/uninitialized=:NoSchedule",
			want:       "[] [taints-from-machine=gpu:NoSchedule] [node.uninitialized=:NoSchedule gpu=yes:NoSchedule startup=:NoSchedule]",
		},
		"its controller was faster": {
			reason: "the taint that kept pods off may be gone by then: the node has had no beginning all the same", taints: "startup=:NoSchedule+",
			annotations: owned + "cluster.x-k8s.io/machine=m1 cluster.x-k8s.io/labels-from-machine=", want: "[] [labels-from-machine= machine=m1 taints-from-machine=] [startup=:NoSchedule]",
		},
		"in order": {
			reason: "what its controller has written is as it should be", taints: "gpu=yes:NoSchedule", nodeTaints: "gpu=yes:NoSchedule",
			annotations: owned + "cluster.x-k8s.io/machine=m1 cluster.x-k8s.io/labels-from-machine=x cluster.x-k8s.io/taints-from-machine=gpu:NoSchedule",
		},
		"taken back": {
			reason: "what the Machine no longer has goes", nodeTaints: "gpu=yes:NoSchedule mine=:NoSchedule", annotations: "cluster.x-k8s.io/taints-from-machine=gpu:NoSchedule",
			want: "[] [taints-from-machine=] [mine=:NoSchedule]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: pairs(tc.annotations)}, Spec: corev1.NodeSpec{Taints: each(tc.nodeTaints, ntaint)}}
			dress := nodeMetadata{taints: each(tc.taints, mtaint)}
			got, after := "", dress.applyTo(node)
			if after != nil {
				got = shown(after)
				if again := dress.applyTo(after); again != nil {
					t.Errorf("want nothing to do after it was done, got %s", shown(again))
				}
			}
			if got != tc.want {
				t.Errorf("%s:\nwant %s\ngot  %s", tc.reason, tc.want, got)
			}
		})
	}
}

// A pool's template reaches its nodes in one write each, what somebody changes is put right, and what the template loses goes.
func TestNodesFollowTheTemplate(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.changePool(func(p *clusterv1.MachinePool) {
		p.Spec.Template.Labels = pairs("node-role.kubernetes.io/db= team=x")
		p.Spec.Template.Spec.Taints = each("db=:NoSchedule", mtaint)
	})
	w.pass()
	wantAll(t, "writes", onNodes(w.writes), []string{"workload: patch *v1.Node n1", "workload: patch *v1.Node n2"})
	w.settled()
	const dressed = "[node-role.kubernetes.io/db=] [labels-from-machine=node-role.kubernetes.io/db taints-from-machine=db:NoSchedule] [db=:NoSchedule]"
	want(t, "n1", shown(w.readNode("n1")), dressed)
	w.changeNode("n1", func(n *corev1.Node) { n.Labels, n.Spec.Taints = nil, nil })
	w.settled()
	want(t, "n1 after it was changed", shown(w.readNode("n1")), dressed)
	want(t, "n2", shown(w.readNode("n2")), dressed)
	w.changePool(func(p *clusterv1.MachinePool) { p.Spec.Template.Labels, p.Spec.Template.Spec.Taints = nil, nil })
	w.settled()
	want(t, "n2 without what the template lost", shown(w.readNode("n2")), "[] [taints-from-machine=] []")
}

// A Node that has a Machine is its Machine's, also while the infrastructure object is away: the pool's template would take off what
// the Machine's controller has put there, and that would put it there again.
func TestNodesOfMachinesAreNotTakenOverForAMoment(t *testing.T) {
	t.Parallel()
	w := populated(t)
	w.changeNode("n1", func(n *corev1.Node) {
		n.Labels = pairs("node-role.kubernetes.io/db=")
		n.Annotations = pairs("cluster.x-k8s.io/labels-from-machine=node-role.kubernetes.io/db cluster.x-k8s.io/machine=m1 cluster.x-k8s.io/taints-from-machine=")
	})
	if err := w.mgmt.Delete(t.Context(), w.get(infraGVK, "infra")); err != nil {
		t.Fatal(err)
	}
	w.settled()
	want(t, "n1 of m1", shown(w.readNode("n1")), "[node-role.kubernetes.io/db=] [labels-from-machine=node-role.kubernetes.io/db machine=m1 taints-from-machine=] []")
}

// No pod gets onto a node between the removal of the one taint and the coming of the others.
func TestANewNodeIsNeverWithoutItsTaints(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.changePool(func(p *clusterv1.MachinePool) {
		p.Spec.Template.Spec.Taints = each("db=:NoSchedule startup=:NoExecute+", mtaint)
	})
	w.settled()
	w.changeInfra(func(o map[string]any) { setInstances(o, id1, id2, "aws:///eu-west-1a/i-3") })
	w.node("n3", "aws:///eu-west-1a/i-3", true)
	w.changeNode("n3", func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{clusterv1.NodeUninitializedTaint} })
	w.pass()
	wantAll(t, "writes", onNodes(w.writes), []string{"workload: patch *v1.Node n3"})
	want(t, "n3", shown(w.readNode("n3")), "[] [taints-from-machine=db:NoSchedule] [db=:NoSchedule startup=:NoExecute]")
	want(t, "n1: its beginning is over", shown(w.readNode("n1")), "[] [taints-from-machine=db:NoSchedule] [db=:NoSchedule]")
}

// A node whose instance is gone is cordoned before it is deleted, also where somebody's finalizer holds it, and is not written again.
func TestARetiredNodeIsCordonedFirst(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.changeNode("n1", func(n *corev1.Node) { n.Finalizers = []string{"test/keep"} })
	for _, name := range []string{"n1", "n2"} {
		w.changeNode(name, func(n *corev1.Node) { setReady(n, false, w.clock) })
	}
	w.changeInfra(func(o map[string]any) { setInstances(o) })
	w.pass()
	wantAll(t, "writes", onNodes(w.writes), []string{"workload: patch *v1.Node n1", "workload: delete *v1.Node n1", "workload: patch *v1.Node n2", "workload: delete *v1.Node n2"})
	wantAll(t, "nodes", w.nodeNames(), []string{"n1"})
	want(t, "n1 is cordoned", w.readNode("n1").Spec.Unschedulable, true)
	wantAll(t, "events", w.events()[:1], []string{"Normal SuccessfulDeleteNode Deleted nodes of instances that are gone: n1, n2"})
	w.pass()
	wantAll(t, "writes", onNodes(w.writes), []string{})
}

// A node that changes while it is about to be deleted, and may be Ready again, is looked at again before it goes.
func TestANodeIsDeletedOnlyAsItWasLookedAt(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.changeNode("n2", func(n *corev1.Node) { setReady(n, false, w.clock); n.Spec.Unschedulable = true })
	stale := w.readNode("n2")
	w.changeNode("n2", func(n *corev1.Node) { setReady(n, true, w.clock); n.Spec.Unschedulable = false })
	p := &pass{pool: aPool(1)}
	res := w.r.deleteNodes(t.Context(), p, w.wl, []*corev1.Node{stale})
	if res.err != nil || res.again != soon {
		t.Errorf("want another look soon, got %v after %s", res.err, res.again)
	}
	wantAll(t, "nodes", w.nodeNames(), []string{"n1", "n2"})
	want(t, "events", len(p.events), 0)
}

// A node that turns Ready between its cordon and its deletion stays, and takes pods again: it is not deleted for our own cordon.
func TestACordonOfOursIsNoReasonToDelete(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.changeNode("n2", func(n *corev1.Node) { setReady(n, false, w.clock) })
	once := true
	w.r.ClusterCache = clustercache.NewFakeClusterCache(interceptor.NewClient(w.wl, interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if once {
				once = false
				w.changeNode("n2", func(n *corev1.Node) { setReady(n, true, w.clock) })
			}
			return c.Delete(ctx, o, opts...)
		},
	}), clusterKey, nodeWatch)
	w.changeInfra(func(o map[string]any) { setInstances(o, id1) })
	w.settled()
	wantAll(t, "nodes", w.nodeNames(), []string{"n1", "n2"})
	want(t, "n2 is cordoned", w.readNode("n2").Spec.Unschedulable, false)
	want(t, "asked", once, false)
}

func (w *world) readNode(name string) *corev1.Node {
	w.t.Helper()
	n := &corev1.Node{}
	if err := w.wl.Get(w.t.Context(), client.ObjectKey{Name: name}, n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// onNodes are the writes to nodes.
func onNodes(writes []string) []string {
	all := []string{}
	for _, text := range writes {
		if strings.HasPrefix(text, "workload: ") {
			all = append(all, text)
		}
	}
	return all
}

// setInstances has the infrastructure list instances.
func setInstances(o map[string]any, ids ...string) {
	list := []any{}
	for _, id := range ids {
		list = append(list, id)
	}
	o["spec"].(map[string]any)["providerIDList"] = list
	o["status"].(map[string]any)["replicas"] = int64(len(ids))
	o["status"].(map[string]any)["upToDateReplicas"] = int64(len(ids))
}
