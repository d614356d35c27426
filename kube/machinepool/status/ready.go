package status

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// ready is the summary for clients that read only this condition (kubectl wait, GitOps, health checks of objects). It is true if both
// objects that the pool refers to are ready, and as many machines are Ready as exist and as are desired.
func ready(f *pass) metav1.Condition {
	c := metav1.Condition{Type: clusterv1.ReadyCondition, Status: metav1.ConditionTrue, Reason: clusterv1.ReadyReason}
	if f.NoCluster || f.Deleting {
		return unready(c, f)
	}
	for _, part := range []struct {
		of Source
		c  metav1.Condition
	}{{f.Bootstrap, bootstrapConfigReady(f)}, {f.Infrastructure, infrastructureReady(f)}} {
		if part.c.Status != metav1.ConditionTrue {
			c.Status, c.Reason, c.Message = part.c.Status, part.c.Reason, named(part.of, part.c.Message)
			return c
		}
	}
	switch {
	case f.Desired == nil:
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, clusterv1.WaitingForReplicasSetReason, "spec.replicas is not set"
	case f.Nodes == nil:
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, clusterv1.ConnectionDownReason, f.NodesUnknown
	default:
		var enough bool
		if c.Message, enough = f.readyOf(); !enough {
			c.Status, c.Reason = metav1.ConditionFalse, clusterv1.NotReadyReason
		}
	}
	return c
}

// unready returns the condition of a pool that has no Cluster or is being deleted.
func unready(c metav1.Condition, f *pass) metav1.Condition {
	c.Status = metav1.ConditionFalse
	if f.Deleting {
		c.Reason, c.Message = clusterv1.DeletingReason, f.Deletion.Message
		return c
	}
	c.Reason, c.Message = ClusterDoesNotExistReason, f.noCluster()
	return c
}

// readyOf returns how many machines are ready of how many, and why not all are. During a rollout there are more than desired, and a
// terminating machine is Ready for a while after its provider has stopped counting it.
func (f *pass) readyOf() (text string, enough bool) {
	want := max(f.target(), f.replicas())
	text = fmt.Sprintf("%d of %d replicas are ready", f.Nodes.Ready, max(want, f.Nodes.Ready))
	if f.Nodes.Ready >= want {
		return text, true
	}
	if issues := f.issues(); issues != "" {
		text += ": " + issues
	}
	return text, false
}

// named returns the message of an object, preceded by the object if the message does not contain its name.
func named(s Source, message string) string {
	switch {
	case s.Kind == "" || strings.Contains(message, s.Name):
		return message
	case message == "":
		return s.String() + " is not ready"
	default:
		return s.String() + ": " + message
	}
}
