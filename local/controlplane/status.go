package controlplane

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	localv1 "github.com/muster-project/muster/api/local/v1beta1"
)

// available is the condition that core mirrors to the Cluster.
const available = "Available"

func markAvailable(lcp *localv1.LocalControlPlane, serverVersion string) {
	conditions.Set(lcp, metav1.Condition{Type: available, Status: metav1.ConditionTrue, Reason: available})
	s := &lcp.Status
	s.Initialization.ControlPlaneInitialized = new(true)
	s.Version = lcp.Spec.Version
	s.ServerVersion = serverVersion
	setReplicas(s, 1)
}

func markUnavailable(lcp *localv1.LocalControlPlane, reason, message string) {
	conditions.Set(lcp, metav1.Condition{Type: available, Status: metav1.ConditionFalse, Reason: reason, Message: message})
	setReplicas(&lcp.Status, 0)
}

func setReplicas(s *localv1.LocalControlPlaneStatus, n int32) {
	s.ExternalManagedControlPlane = new(true)
	s.Replicas, s.ReadyReplicas, s.AvailableReplicas, s.UpToDateReplicas = new(n), new(n), new(n), new(n)
}
