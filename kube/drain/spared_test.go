package drain

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestUnused: what a drain would leave alone is no use of a node.
func TestUnused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason      string
		objects     []client.Object
		annotations map[string]string
		want        map[string]bool
	}{
		"none": {reason: "a node without pods", objects: []client.Object{node(cordoned)}, want: map[string]bool{key: true}},
		"daemon sets": {reason: "they are on every node", objects: []client.Object{node(cordoned), daemonSet, podOn("ds", ofDaemonSet),
			podOn("static", mirror)}, want: map[string]bool{key: true}},
		"in use": {reason: "a pod would have to move", objects: []client.Object{node(cordoned), podOn("a")}, want: map[string]bool{key: false}},
		"gone":   {reason: "a node that is not there is not known", want: map[string]bool{}},
		"never drained": {reason: "without a drain it is unknown", objects: []client.Object{node(cordoned), podOn("a")},
			annotations: map[string]string{clusterv1.ExcludeNodeDrainingAnnotation: ""}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, append(tc.objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}), nil)
			w.Machine.Annotations = tc.annotations
			got, err := w.Empty(t.Context(), []string{key})
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
