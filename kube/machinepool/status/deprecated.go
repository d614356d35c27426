package status

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	capierrors "sigs.k8s.io/cluster-api/api/deprecated/errors"
	v1beta1conditions "sigs.k8s.io/cluster-api/util/conditions/deprecated/v1beta1"
)

// deprecated sets the fields that clients of the v1beta1 API read. Its conditions report the same as the v1beta2 conditions.
func deprecated(pool *clusterv1.MachinePool, f *pass) {
	if f.NoCluster {
		v1beta1conditions.MarkFalse(pool, clusterv1.ReadyV1Beta1Condition, ClusterDoesNotExistReason, clusterv1.ConditionSeverityError, "%s",
			f.noCluster())
		return
	}
	parts := []*clusterv1.Condition{
		older(clusterv1.BootstrapReadyV1Beta1Condition, bootstrapConfigReady(f), f.Bootstrap.Severity),
		older(clusterv1.InfrastructureReadyV1Beta1Condition, infrastructureReady(f), f.Infrastructure.Severity),
		replicasReady(f),
	}
	if last := v1beta1conditions.Get(pool, clusterv1.ReplicasReadyV1Beta1Condition); last != nil && f.ConnectionInterrupted && f.Nodes == nil {
		parts[2] = last
	}
	for _, c := range parts {
		c.Reason, c.Message = cut(c.Reason, reasonLimit), Cut(c.Message)
		v1beta1conditions.Set(pool, c)
	}
	summary(pool, parts)
	olderCounters(pool, f)
	failure(pool, f)
}

// summary is true if all parts are true. Cluster API's own summary ignores unknown parts, so that a pool of which nothing is known would be
// ready.
func summary(pool *clusterv1.MachinePool, parts []*clusterv1.Condition) {
	var unknown *clusterv1.Condition
	for _, c := range parts {
		switch c.Status {
		case corev1.ConditionFalse:
			v1beta1conditions.SetSummary(pool, v1beta1conditions.WithConditions(clusterv1.BootstrapReadyV1Beta1Condition,
				clusterv1.InfrastructureReadyV1Beta1Condition, clusterv1.ReplicasReadyV1Beta1Condition))
			return
		case corev1.ConditionUnknown:
			unknown = c
		}
	}
	if unknown != nil {
		v1beta1conditions.MarkUnknown(pool, clusterv1.ReadyV1Beta1Condition, unknown.Reason, "%s", unknown.Message)
		return
	}
	v1beta1conditions.MarkTrue(pool, clusterv1.ReadyV1Beta1Condition)
}

// older converts a condition to v1beta1, which has a severity and no reason if it is true.
func older(t clusterv1.ConditionType, c metav1.Condition, severity clusterv1.ConditionSeverity) *clusterv1.Condition {
	switch c.Status {
	case metav1.ConditionTrue:
		return v1beta1conditions.TrueCondition(t)
	case metav1.ConditionFalse:
		if severity == "" {
			severity = severityOf(c.Reason)
		}
		return v1beta1conditions.FalseCondition(t, c.Reason, severity, "%s", c.Message)
	default:
		return v1beta1conditions.UnknownCondition(t, c.Reason, "%s", c.Message)
	}
}

// severityOf returns the severity of a reason: what only the user can fix is an error.
func severityOf(reason string) clusterv1.ConditionSeverity {
	switch reason {
	case clusterv1.ObjectDeletedReason, VersionNotSupportedReason, KindNotInstalledReason, OwnedByAnotherReason, ReferenceRefusedReason,
		DataSecretRefusedReason:
		return clusterv1.ConditionSeverityError
	case clusterv1.ObjectDoesNotExistReason:
		return clusterv1.ConditionSeverityWarning
	default:
		return clusterv1.ConditionSeverityInfo
	}
}

func replicasReady(f *pass) *clusterv1.Condition {
	const t = clusterv1.ReplicasReadyV1Beta1Condition
	if f.Nodes == nil {
		return v1beta1conditions.UnknownCondition(t, clusterv1.ConnectionDownReason, "%s", f.NodesUnknown)
	}
	text, enough := f.readyOf()
	if !enough {
		return v1beta1conditions.FalseCondition(t, clusterv1.WaitingForReplicasReadyV1Beta1Reason, clusterv1.ConditionSeverityInfo, "%s", text)
	}
	return v1beta1conditions.TrueCondition(t)
}

// olderCounters keeps the last known counts while they are unknown, because v1beta1 counts cannot be unknown.
func olderCounters(pool *clusterv1.MachinePool, f *pass) {
	if f.Nodes == nil {
		return
	}
	d := pool.Status.Deprecated.V1Beta1
	d.ReadyReplicas, d.AvailableReplicas = f.Nodes.Ready, f.Nodes.Available
	d.UnavailableReplicas = max(0, max(f.target(), f.replicas())-f.Nodes.Available)
}

// failure shows a terminal failure for as long as the provider reports it.
func failure(pool *clusterv1.MachinePool, f *pass) {
	d := pool.Status.Deprecated.V1Beta1
	switch {
	case f.Failure != nil:
		reason, message := capierrors.MachinePoolStatusFailure(cut(f.Failure.Reason, reasonLimit)), Cut(f.Failure.Message)
		d.FailureReason, d.FailureMessage = &reason, &message
	case f.Infrastructure.Problem == "" && f.Infrastructure.Once && !f.Infrastructure.Found && !f.Deleting:
		reason := capierrors.InvalidConfigurationMachinePoolError
		message := fmt.Sprintf("%s has been deleted while the MachinePool still exists", f.Infrastructure)
		d.FailureReason, d.FailureMessage = &reason, &message
	default:
		d.FailureReason, d.FailureMessage = nil, nil
	}
}
