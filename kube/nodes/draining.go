package nodes

import corev1 "k8s.io/api/core/v1"

// DrainStartedAnnotation on a Node is the RFC 3339 time at which Muster began to drain it. It is set together with the cordon, so that
// Muster has cordoned every Node with this annotation.
const DrainStartedAnnotation = "muster.dev/drain-started"

// QuarantinedLabel on a Node is "true" while a rollout goes on with others because the Node can't be drained.
const QuarantinedLabel = "muster.dev/quarantined"

// Quarantined reports whether Muster drains a node and has quarantined it.
func Quarantined(node *corev1.Node) bool {
	return Draining(node) && node.Labels[QuarantinedLabel] == "true"
}

// Draining reports whether Muster drains a node. Pods are scheduled to an uncordoned one: its drain has to begin again, whatever its
// annotations contain.
func Draining(node *corev1.Node) bool {
	_, started := node.Annotations[DrainStartedAnnotation]
	return started && node.Spec.Unschedulable
}
