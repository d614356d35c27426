package infrapool_test

import (
	"testing"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
)

// An object that differs from a recent observation was written by another manager with a newer one:
// the cloud is asked anew before it is written over.
func TestAnOlderObservationWritesNothingOver(t *testing.T) {
	t.Parallel()
	external := func(mp *clusterv1.MachinePool) {
		mp.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "cluster-autoscaler"}
	}
	for name, c := range map[string]struct {
		reason string
		differ func(*world)
		looks  int
	}{
		"nothing": {"what was seen a moment ago is good enough", func(*world) {}, 1},
		"instances": {"the list of instances", func(w *world) {
			change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Spec.ProviderIDList = []string{"aws:///z/i-9"} })
		}, 2},
		"group": {"the group was made anew", func(w *world) {
			change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Spec.ProviderID = "arn:other" })
		}, 2},
		"size": {"the size that an external autoscaler set", func(w *world) {
			change(w, machinePool(), func(mp *clusterv1.MachinePool) { mp.Spec.Replicas = ptr.To(int32(5)) })
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := running(t, machinePool(external), awsMachinePool(), cluster(), place(), data(), definition())
			c.differ(w)
			before := w.account.looks
			if w.pass(); w.account.looks-before != c.looks {
				t.Errorf("%s: want the cloud asked %d times, it was asked %d times", c.reason, c.looks, w.account.looks-before)
			}
		})
	}
}
