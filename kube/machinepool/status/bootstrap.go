package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// bootstrapConfigReady mirrors the bootstrap object's Ready condition. What the provider can't serve at all is said first:
// providers are known to log such a refusal and to leave their conditions as they were.
func bootstrapConfigReady(f *Facts) metav1.Condition {
	const t = clusterv1.BootstrapConfigReadyCondition
	switch {
	case f.NoCluster:
		return waitsForCluster(t, f)
	case f.Refusal != nil:
		return metav1.Condition{Type: t, Status: metav1.ConditionFalse, Reason: f.Refusal.Reason, Message: f.Refusal.Message}
	case f.Bootstrap.Kind == "":
		return metav1.Condition{Type: t, Status: metav1.ConditionTrue, Reason: DataSecretProvidedReason}
	case f.Bootstrap.Once && !f.Bootstrap.Found && f.Bootstrap.Problem == "" && f.Deletion == nil:
		// Whoever names another configuration may make it later; whether there ever was one of that name, nobody knows.
		return metav1.Condition{Type: t, Status: metav1.ConditionFalse, Reason: clusterv1.ObjectDoesNotExistReason,
			Message: f.Bootstrap.String() + " does not exist; until it does, machines go on with the data of secret " + f.DataSecret}
	default:
		return mirror(t, f.Bootstrap, f.Deletion != nil, "has not created its data secret")
	}
}

func waitsForCluster(t string, f *Facts) metav1.Condition {
	return metav1.Condition{Type: t, Status: metav1.ConditionUnknown, Reason: ClusterDoesNotExistReason, Message: f.noCluster()}
}
