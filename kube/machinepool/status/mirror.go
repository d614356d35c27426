package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
)

// mirror returns a condition with the Ready condition of a provider's object, or with what is known if the object does not exist or has no
// Ready condition. The transition time is the pool's own.
func mirror(t string, s Source, deleting bool, waiting string) metav1.Condition {
	c := metav1.Condition{Type: t, Status: metav1.ConditionFalse}
	switch {
	case s.ProblemReason != "":
		c.Reason, c.Message = s.ProblemReason, s.Problem
	case s.Problem != "":
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, clusterv1.InternalErrorReason, s.Problem
	case !s.Found && deleting:
		c.Reason, c.Message = clusterv1.ObjectDeletedReason, s.String()+" has been deleted"
	case !s.Found && s.Once:
		c.Reason, c.Message = clusterv1.ObjectDeletedReason, s.String()+" has been deleted while the MachinePool still exists"
	case !s.Found:
		c.Reason, c.Message = clusterv1.ObjectDoesNotExistReason, s.String()+" does not exist"
	case s.Ready != nil:
		c.Status, c.Reason, c.Message = s.Ready.Status, reported(s.Ready), s.Ready.Message
	case s.Done:
		c.Status, c.Reason = metav1.ConditionTrue, clusterv1.ReadyReason
	case s.Once:
		c.Status, c.Reason = metav1.ConditionTrue, clusterv1.ReadyReason
		c.Message = s.String() + " was ready, and now reports that it " + waiting
	default:
		c.Reason, c.Message = clusterv1.NotReadyReason, s.String()+" "+waiting
	}
	return c
}

// reported returns the reason of a condition: v1beta1 conditions may be true without one.
func reported(c *metav1.Condition) string {
	switch {
	case c.Reason != "" && c.Reason != conditions.NoReasonReported:
		return c.Reason
	case c.Status == metav1.ConditionTrue:
		return clusterv1.ReadyReason
	default:
		return clusterv1.NotReadyReason
	}
}
