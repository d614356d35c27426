package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// infrastructureReady mirrors the Ready condition of the infrastructure object.
func infrastructureReady(f *pass) metav1.Condition {
	const t = clusterv1.InfrastructureReadyCondition
	if f.NoCluster {
		return waitsForCluster(t, f)
	}
	return mirror(t, f.Infrastructure, f.Deleting, "is not provisioned")
}
