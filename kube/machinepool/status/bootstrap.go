package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// bootstrapConfigReady mirrors the Ready condition of the bootstrap configuration. What the provider does not support at all comes first:
// providers are known to report that in their logs only, and to leave their conditions unchanged.
func bootstrapConfigReady(f *pass) metav1.Condition {
	const t = clusterv1.BootstrapConfigReadyCondition
	switch {
	case f.NoCluster:
		return waitsForCluster(t, f)
	case f.BootstrapProblem != nil:
		return metav1.Condition{Type: t, Status: metav1.ConditionFalse, Reason: f.BootstrapProblem.Reason, Message: f.BootstrapProblem.Message}
	case f.Bootstrap.Kind == "":
		return metav1.Condition{Type: t, Status: metav1.ConditionTrue, Reason: DataSecretProvidedReason}
	case f.Bootstrap.Once && !f.Bootstrap.Found && f.Bootstrap.Problem == "" && !f.Deleting:
		// The user may create another configuration after the pool refers to it. Whether there ever was one of that name is unknown.
		return metav1.Condition{Type: t, Status: metav1.ConditionFalse, Reason: clusterv1.ObjectDoesNotExistReason,
			Message: f.Bootstrap.String() + " does not exist; until it does, machines keep using bootstrap data secret " + f.DataSecret}
	default:
		return mirror(t, f.Bootstrap, f.Deleting, "has not created its data secret")
	}
}

func waitsForCluster(t string, f *pass) metav1.Condition {
	return metav1.Condition{Type: t, Status: metav1.ConditionUnknown, Reason: ClusterDoesNotExistReason, Message: f.noCluster()}
}
