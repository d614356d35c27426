package machines

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// UpToDate is the condition by which the core controller tells on the Machine whether the instance was launched from what the
// pool asks for now; nil while what the pool asks for is not known.
func UpToDate(seen Seen) *metav1.Condition {
	i := seen.Instance
	c := &metav1.Condition{
		Type: clusterv1.MachineUpToDateCondition, Status: metav1.ConditionTrue, Reason: clusterv1.MachineUpToDateReason,
		LastTransitionTime: metav1.NewTime(seen.Now),
	}
	switch {
	case seen.Wanted.Content == "":
		return nil
	case i.Template.Same(seen.Wanted):
	case i.Template.Content == "":
		c.Status, c.Reason = metav1.ConditionUnknown, clusterv1.UpToDateUnknownReason
		c.Message = "what instance " + i.ID + " was launched from is not known"
	default:
		c.Status, c.Reason = metav1.ConditionFalse, clusterv1.MachineNotUpToDateReason
		c.Message = "instance " + i.ID + " was launched from another template than the pool asks for"
		if len(i.TemplateDiff) > 0 {
			c.Message += ", which differs in " + strings.Join(i.TemplateDiff, ", ")
		}
	}
	return c
}
