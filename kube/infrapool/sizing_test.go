package infrapool

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/kube/infrapool/stored"
)

// TestSizing holds who owns the size of a group, and that the annotation of a MachinePool for it is written and removed only where it
// is the controller's.
func TestSizing(t *testing.T) {
	t.Parallel()
	const none = "none"
	for _, c := range []struct {
		why, annotation, autoscaler, noted string
		external                           bool
		after, kept                        string
	}{
		{"nothing is asked for", none, "", "", false, none, ""},
		{"the specification has the cloud's autoscaler", none, "aks", "", true, "aks", "aks"},
		{"it was annotated before", "aks", "aks", "aks", true, "aks", "aks"},
		{"another controller annotated it the same", "aks", "aks", "", true, "aks", "aks"},
		{"an external autoscaler by a user's annotation", "keda", "", "", true, "keda", ""},
		{"a user's annotation beside the cloud's autoscaler", "keda", "aks", "", true, "keda", ""},
		{"a user who denies an autoscaler, beside the cloud's autoscaler", "false", "aks", "", true, "false", ""},
		{"the specification has it no more", "aks", "", "aks", true, none, ""},
		{"a user's annotation after the specification has it no more", "keda", "", "aks", true, "keda", ""},
		{"a user's annotation of the same value that was never the controller's", "true", "", "", true, "true", ""},
	} {
		mp := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"other": "x"}}}
		if c.annotation != none {
			mp.Annotations[clusterv1.ReplicasManagedByAnnotation] = c.annotation
		}
		z := sizingOf(mp, c.autoscaler, map[string]string{stored.ReplicasManagedBy: c.noted})
		kept := z.keep(mp)[stored.ReplicasManagedBy]
		z.annotate(mp)
		after, ok := mp.Annotations[clusterv1.ReplicasManagedByAnnotation]
		if !ok {
			after = none
		}
		if z.external != c.external || after != c.after || kept != c.kept || mp.Annotations["other"] != "x" {
			t.Errorf("%s: want external %t, annotation %s, remembered %q; got %t, %s, %q", c.why, c.external, c.after, c.kept, z.external,
				after, kept)
		}
	}
	if z := sizingOf(nil, "", nil); z.external || z.keep(nil) != nil {
		t.Errorf("without a MachinePool: want nothing, got %+v", z)
	}
}
