package machines

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/pool"
)

// SetConditions sets what was seen of the instance that an object stands for: whether it runs, as Ready and by the other names that the
// ecosystem has for that, and whether it is up to date. The state is the instance's in the cloud's words.
func SetConditions(o client.Object, list *[]metav1.Condition, seen Seen, state string, names ...string) {
	ready := readyOf(o, seen.Instance, state)
	ready.LastTransitionTime = metav1.NewTime(seen.Now)
	for _, name := range append([]string{clusterv1.ReadyCondition}, names...) {
		ready.Type = name
		meta.SetStatusCondition(list, ready)
	}
	if c := UpToDate(seen); c != nil {
		meta.SetStatusCondition(list, *c)
	}
	meta.SetStatusCondition(list, metav1.Condition{
		Type: clusterv1.PausedCondition, Status: metav1.ConditionFalse, Reason: clusterv1.NotPausedReason,
		LastTransitionTime: ready.LastTransitionTime,
	})
}

func readyOf(o client.Object, i pool.Instance, state string) metav1.Condition {
	switch {
	case going(o):
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: "Deleting", Message: "waiting for instance " + i.ID + " to be gone"}
	case i.State != pool.Running:
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: "Instance" + string(i.State), Message: "instance " + i.ID + " is " + state}
	}
	return metav1.Condition{Status: metav1.ConditionTrue, Reason: "InstanceRunning", Message: "instance " + i.ID + " runs"}
}
