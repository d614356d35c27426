package machinepool_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/kube/machinepool/nodesync"
)

// aPool returns a pool without metadata or taints in its template.
func aPool() *clusterv1.MachinePool {
	return &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pool"},
		Spec: clusterv1.MachinePoolSpec{ClusterName: "c1"}}
}

// mtaint returns a taint of a template, written KEY=VALUE:EFFECT, with + after it for the propagation OnInitialization.
func mtaint(text string) clusterv1.MachineTaint {
	t := clusterv1.MachineTaint{Propagation: clusterv1.MachineTaintPropagationAlways}
	if strings.HasSuffix(text, "+") {
		t.Propagation = clusterv1.MachineTaintPropagationOnInitialization
	}
	n := ntaint(strings.TrimSuffix(text, "+"))
	t.Key, t.Value, t.Effect = n.Key, n.Value, n.Effect
	return t
}

// ntaint returns a taint of a Node, written KEY=VALUE:EFFECT.
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

// pairs returns a map written as KEY=VALUE pairs.
func pairs(text string) map[string]string {
	all := map[string]string{}
	for _, pair := range strings.Fields(text) {
		key, value, _ := strings.Cut(pair, "=")
		all[key] = value
	}
	return all
}

// shown returns a Node's labels, annotations and taints as one text, without the owner annotations.
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

const owned = "cluster.x-k8s.io/owner-kind=MachinePool cluster.x-k8s.io/owner-name=pool cluster.x-k8s.io/cluster-name=c1 " +
	"cluster.x-k8s.io/cluster-namespace=default "

// applyOfPoolCases are the cases of TestApplyOfPool.
var applyOfPoolCases = map[string]struct {
	reason string
	// The template, written as above.
	labels, annotations, taints string
	sync                        string
	// The Node as it was found.
	nodeLabels, nodeAnnotations, nodeTaints string
	// want is the Node afterwards; empty if it is not written.
	want string
}{
	"new": {
		reason: "everything is set in one write that also removes the uninitialized taint",
		labels: "node-role.kubernetes.io/db= team=x", annotations: "node.cluster.x-k8s.io/a=b other=c", taints: "gpu=yes:NoSchedule",
		nodeLabels: "kubernetes.io/os=linux", nodeTaints: "node.cluster.x-k8s.io/uninitialized=:NoSchedule",
		want: "[kubernetes.io/os=linux node-role.kubernetes.io/db=] [annotations-from-machine=node.a " +
			"labels-from-machine=node-role.kubernetes.io/db " +
			"taints-from-machine=gpu:NoSchedule node.a=b] [gpu=yes:NoSchedule]",
	},
	"plain": {
		reason:     "an empty template sets the owner, and records that the node was initialized",
		nodeTaints: "node.cluster.x-k8s.io/uninitialized=:NoSchedule",
		want:       "[] [taints-from-machine=] []",
	},
	"in order": {
		reason: "a node without differences is not written", labels: "node-restriction.kubernetes.io/z=1", taints: "gpu=yes:NoSchedule",
		nodeLabels: "node-restriction.kubernetes.io/z=1", nodeTaints: "gpu=yes:NoSchedule mine=:NoExecute",
		nodeAnnotations: owned + "cluster.x-k8s.io/labels-from-machine=node-restriction.kubernetes.io/z " +
			"cluster.x-k8s.io/taints-from-machine=gpu:NoSchedule",
	},
	"subdomains": {
		reason:          "labels of subdomains are propagated as those of the domain",
		labels:          "a.node-restriction.kubernetes.io/z=1 b.node.cluster.x-k8s.io/y=2 xnode.cluster.x-k8s.io/n=3",
		nodeAnnotations: owned + "cluster.x-k8s.io/taints-from-machine=",
		want: "[a.node-restriction.kubernetes.io/z=1 b.node.y=2] [labels-from-machine=a.node-restriction.kubernetes.io/z,b.node.y " +
			"taints-from-machine=] []",
	},
	"selected by flags": {
		reason: "labels and annotations that the flags select are propagated too", labels: "team=x other=y", annotations: "team=x",
		sync:            "^team$",
		nodeAnnotations: owned + "cluster.x-k8s.io/taints-from-machine=",
		want:            "[team=x] [annotations-from-machine=team labels-from-machine=team taints-from-machine= team=x] []",
	},
	"repaired": {
		reason: "what another client has changed or removed is restored", labels: "node-role.kubernetes.io/db=1", taints: "gpu=yes:NoSchedule",
		nodeLabels: "node-role.kubernetes.io/db=2", nodeTaints: "gpu=no:NoSchedule",
		nodeAnnotations: owned + "cluster.x-k8s.io/labels-from-machine=node-role.kubernetes.io/db " +
			"cluster.x-k8s.io/taints-from-machine=gpu:NoSchedule",
		want: "[node-role.kubernetes.io/db=1] [labels-from-machine=node-role.kubernetes.io/db taints-from-machine=gpu:NoSchedule] " +
			"[gpu=yes:NoSchedule]",
	},
	"removed": {
		reason:     "what the template no longer has is removed, and what other clients have added stays",
		nodeLabels: "node-role.kubernetes.io/db=1 mine=1",
		nodeTaints: "gpu=yes:NoSchedule mine=:NoExecute gpu=:NoExecute",
		nodeAnnotations: owned + "mine=2 team=x cluster.x-k8s.io/labels-from-machine=node-role.kubernetes.io/db " +
			"cluster.x-k8s.io/annotations-from-machine=team " +
			"cluster.x-k8s.io/taints-from-machine=gpu:NoSchedule",
		want: "[mine=1] [taints-from-machine= mine=2] [mine=:NoExecute gpu=:NoExecute]",
	},
	"on initialization": {
		reason: "a taint for the initialization is added once", taints: "startup=:NoSchedule+ gpu=yes:NoSchedule",
		nodeTaints: "node.cluster.x-k8s.io/uninitialized=:NoSchedule",
		want:       "[] [taints-from-machine=gpu:NoSchedule] [startup=:NoSchedule gpu=yes:NoSchedule]",
	},
	"after initialization": {
		reason: "another client removes the taint when the node is initialized", taints: "startup=:NoSchedule+",
		nodeAnnotations: owned + "cluster.x-k8s.io/taints-from-machine=",
	},
	"from an older version": {
		reason: "a node from before taints were recorded was initialized", taints: "startup=:NoSchedule+ gpu=yes:NoSchedule",
		nodeAnnotations: owned,
		want:            "[] [taints-from-machine=gpu:NoSchedule] [gpu=yes:NoSchedule]",
	},
	"from an older version, no taints": {reason: "a pool without taints writes nothing on nodes of an older version", nodeAnnotations: owned},
	"now always": {
		reason: "a taint whose propagation changes to Always is added again", taints: "startup=:NoSchedule",
		nodeAnnotations: owned + "cluster.x-k8s.io/taints-from-machine=",
		want:            "[] [taints-from-machine=startup:NoSchedule] [startup=:NoSchedule]",
	},
	"no longer always": {
		reason: "a taint whose propagation changes to OnInitialization stays and is not restored", taints: "gpu=:NoSchedule+",
		nodeTaints:      "gpu=:NoSchedule",
		nodeAnnotations: owned + "cluster.x-k8s.io/taints-from-machine=gpu:NoSchedule", want: "[] [taints-from-machine=] [gpu=:NoSchedule]",
	},
	"of a Machine before": {
		reason: "what the Machine controller has set is taken over", labels: "node-role.kubernetes.io/db=",
		nodeLabels: "node-role.kubernetes.io/db= node-role.kubernetes.io/old=",
		nodeAnnotations: owned + "cluster.x-k8s.io/machine=m1 cluster.x-k8s.io/annotations-from-machine= cluster.x-k8s.io/" +
			"taints-from-machine= " +
			"cluster.x-k8s.io/labels-from-machine=node-role.kubernetes.io/db,node-role.kubernetes.io/old",
		want: "[node-role.kubernetes.io/db=] [labels-from-machine=node-role.kubernetes.io/db taints-from-machine=] []",
	},
	"marks are not the template's": {
		reason:      "a template cannot set the owner of a node, whatever the flags select",
		annotations: "cluster.x-k8s.io/owner-name=x cluster.x-k8s.io/taints-from-machine=y", sync: ".*",
		nodeAnnotations: owned + "cluster.x-k8s.io/taints-from-machine=",
	},
	"never ready for pods": {
		reason:     "a template cannot set the uninitialized taint: it would never be removed",
		taints:     "node.cluster.x-k8s.io/uninitialized=:NoSchedule",
		nodeTaints: "node.cluster.x-k8s.io/uninitialized=:NoSchedule", want: "[] [taints-from-machine=node.uninitialized:NoSchedule] []",
	},
}

func TestApplyOfPool(t *testing.T) {
	t.Parallel()
	for name, tc := range applyOfPoolCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := aPool()
			pool.Spec.Template.Labels, pool.Spec.Template.Annotations = pairs(tc.labels), pairs(tc.annotations)
			pool.Spec.Template.Spec.Taints = each(tc.taints, mtaint)
			var sync []*regexp.Regexp
			if tc.sync != "" {
				sync = append(sync, regexp.MustCompile(tc.sync))
			}
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: pairs(tc.nodeLabels), Annotations: pairs(tc.nodeAnnotations)},
				Spec: corev1.NodeSpec{Taints: each(tc.nodeTaints, ntaint)}}
			before := node.DeepCopy()
			metadata := nodesync.OfPool(pool, true, sync, sync)
			after := metadata.Apply(node)
			got := ""
			if after != nil {
				got = shown(after)
				if again := metadata.Apply(after); again != nil {
					t.Errorf("want no difference after it was applied, got %s", shown(again))
				}
				if after.Annotations[clusterv1.OwnerNameAnnotation] != "pool" {
					t.Errorf("want the pool as the owner, got %v", after.Annotations)
				}
			}
			if got != tc.want {
				t.Errorf("%s:\nwant %s\ngot  %s", tc.reason, tc.want, got)
			}
			if shown(node) != shown(before) {
				t.Errorf("want the node of the cache unchanged, got %s", shown(node))
			}
		})
	}
}

func TestApplyOfMachine(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, taints, annotations, nodeTaints, want string
	}{
		"new": {
			reason:     "only taints are written, and the record that the Machine controller reads if its feature gate is on",
			taints:     "gpu=yes:NoSchedule startup=:NoSchedule+",
			nodeTaints: "node.cluster.x-k8s.io/uninitialized=:NoSchedule",
			want:       "[] [taints-from-machine=gpu:NoSchedule] [node.uninitialized=:NoSchedule gpu=yes:NoSchedule startup=:NoSchedule]",
		},
		"written by its controller first": {
			reason: "the uninitialized taint may be gone by then, but the node has not been initialized", taints: "startup=:NoSchedule+",
			annotations: owned + "cluster.x-k8s.io/machine=m1 cluster.x-k8s.io/labels-from-machine=",
			want:        "[] [labels-from-machine= machine=m1 taints-from-machine=] [startup=:NoSchedule]",
		},
		"in order": {
			reason: "what its controller has written needs no change", taints: "gpu=yes:NoSchedule", nodeTaints: "gpu=yes:NoSchedule",
			annotations: owned + "cluster.x-k8s.io/machine=m1 cluster.x-k8s.io/labels-from-machine=x " +
				"cluster.x-k8s.io/taints-from-machine=gpu:NoSchedule",
		},
		"removed": {
			reason: "what the Machine no longer has is removed", nodeTaints: "gpu=yes:NoSchedule mine=:NoSchedule",
			annotations: "cluster.x-k8s.io/taints-from-machine=gpu:NoSchedule",
			want:        "[] [taints-from-machine=] [mine=:NoSchedule]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: pairs(tc.annotations)},
				Spec: corev1.NodeSpec{Taints: each(tc.nodeTaints, ntaint)}}
			metadata := nodesync.OfMachine(&clusterv1.Machine{Spec: clusterv1.MachineSpec{Taints: each(tc.taints, mtaint)}})
			got, after := "", metadata.Apply(node)
			if after != nil {
				got = shown(after)
				if again := metadata.Apply(after); again != nil {
					t.Errorf("want no difference after it was applied, got %s", shown(again))
				}
			}
			if got != tc.want {
				t.Errorf("%s:\nwant %s\ngot  %s", tc.reason, tc.want, got)
			}
		})
	}
}
