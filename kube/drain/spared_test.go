package drain

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// TestSpared: whoever looks into a node has it spared by the annotation that cluster-api has for Machines.
func TestSpared(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason      string
		annotations map[string]string
		want        bool
	}{
		"no annotation": {reason: "nobody asked"},
		"asked":         {reason: "the annotation counts, whatever its value is", annotations: map[string]string{clusterv1.MachineSkipRemediationAnnotation: ""}, want: true},
	} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Annotations: tc.annotations}}
		if got := (&Workload{}).toNode(node).Spared; got != tc.want {
			t.Errorf("%s: %s: want %t, got %t", name, tc.reason, tc.want, got)
		}
	}
}
