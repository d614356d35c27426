package drain

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/pool"
)

// TestEvictable: what a drain would leave alone is no use of a node, and what it could not evict is named.
func TestEvictable(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason      string
		objects     []client.Object
		annotations map[string]string
		want        map[string]pool.Evictable
	}{
		"none": {reason: "a node without pods", objects: []client.Object{node(cordoned)},
			want: map[string]pool.Evictable{key: pool.EvictNothing}},
		"daemon sets": {reason: "they are on every node", objects: []client.Object{node(cordoned), daemonSet, podOn("ds", ofDaemonSet),
			podOn("static", mirror)}, want: map[string]pool.Evictable{key: pool.EvictNothing}},
		"in use": {reason: "a pod would have to move", objects: []client.Object{node(cordoned), podOn("a")},
			want: map[string]pool.Evictable{key: pool.EvictAll}},
		"kept": {reason: "a budget allows no eviction", objects: []client.Object{node(), podOn("a"), podOn("b", unready), budget("web", 0)},
			want: map[string]pool.Evictable{key: pool.EvictSome}},
		"gone": {reason: "a node that is not there is not known", want: map[string]pool.Evictable{}},
		"never drained": {reason: "without a drain it is unknown", objects: []client.Object{node(cordoned), podOn("a")},
			annotations: map[string]string{clusterv1.ExcludeNodeDrainingAnnotation: ""}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, append(tc.objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}), nil)
			w.Machine.Annotations = tc.annotations
			got, err := w.Evictable(t.Context(), []string{key})
			if err != nil || !maps.Equal(got, tc.want) || len(w.writes)+len(w.evicted) > 0 {
				t.Errorf("%s: want %v and no write, got %v, %v, %v", tc.reason, tc.want, got, err, w.writes)
			}
		})
	}
}

// TestSpared holds that a user can exclude a node from remediation with the annotation that Cluster API has for Machines.
func TestSpared(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason      string
		annotations map[string]string
		want        bool
	}{
		"no annotation": {reason: "not excluded"},
		"asked": {reason: "the annotation counts, whatever its value is",
			annotations: map[string]string{clusterv1.MachineSkipRemediationAnnotation: ""}, want: true},
	} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Annotations: tc.annotations}}
		if got := (&Workload{}).toNode(node).SkipRemediation; got != tc.want {
			t.Errorf("%s: %s: want %t, got %t", name, tc.reason, tc.want, got)
		}
	}
}

// TestAbandon holds that a blocked drain that is given up for another machine is remembered on the Node until the next one begins.
func TestAbandon(t *testing.T) {
	t.Parallel()
	w := newWorld(t, []client.Object{node(draining), namespace, podOn("a")}, nil)
	abandon := target
	abandon.Cause = pool.Cause{Reason: pool.DrainBlocked, Message: "x"}
	for _, step := range []struct {
		kind pool.StepKind
		want pool.Node
	}{
		{pool.Undrain, pool.Node{DrainAbandoned: now}},
		{pool.Drain, pool.Node{Cordoned: true, DrainStarted: now}},
		{pool.Undrain, pool.Node{DrainAbandoned: now}},
	} {
		if err := w.Start(t.Context(), pool.Step{Kind: step.kind, Targets: []pool.InstanceRef{abandon}}); err != nil {
			t.Fatal(err)
		}
		found, err := w.Find(t.Context(), []string{key})
		got := found[key]
		if err != nil || got.Cordoned != step.want.Cordoned || !got.DrainAbandoned.Equal(step.want.DrainAbandoned) ||
			!got.DrainStarted.Equal(step.want.DrainStarted) {
			t.Errorf("%s: want %+v, got %+v, %v", step.kind, step.want, got, err)
		}
	}
}
