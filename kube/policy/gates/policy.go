package gates

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
)

// OfPolicy returns what the manager asks for a gate of a policy and the pools of a namespace; false for an approval, which is read on the
// pool. policy is a RolloutPolicy, or a ClusterRolloutPolicy, which has no namespace.
func OfPolicy(policy metav1.Object, g musterv1.RolloutGate, poolNamespace string) (Gate, bool) {
	gate := Gate{
		Policy: Policy{UID: policy.GetUID(), Generation: policy.GetGeneration(), Namespace: policy.GetNamespace()},
		Name:   g.Name,
		Rules:  Rules{Failures: int(g.Failures), UnknownFails: g.Unknown == musterv1.UnknownFail},
	}
	if g.Interval != nil {
		gate.Interval = g.Interval.Duration
	}
	gate.Rules = gate.WithDefaults()
	switch {
	case g.Prometheus != nil:
		gate.Prometheus = &Prometheus{Address: g.Prometheus.Address, Query: g.Prometheus.Query, Success: g.Success}
		if ref := g.Prometheus.SecretRef; ref != nil {
			gate.Prometheus.Secret = ref.Name
		}
	case g.Condition != nil:
		gate.Condition = conditionOf(gate.Policy.Namespace, *g.Condition, poolNamespace)
	default:
		return Gate{}, false
	}
	return gate, true
}

// conditionOf returns the condition that a gate asks for. A policy of a namespace reads objects of that namespace alone, whatever it names.
func conditionOf(policyNamespace string, c musterv1.ConditionGate, poolNamespace string) *Condition {
	condition := &Condition{
		APIVersion: c.APIVersion, Kind: c.Kind, Namespace: policyNamespace, Name: c.Name,
		Healthy: ptr.Deref(c.Healthy, false), Type: c.ConditionType, Status: string(c.Status),
	}
	if condition.Status == "" {
		condition.Status = string(metav1.ConditionTrue)
	}
	if policyNamespace == "" {
		condition.Namespace = c.Namespace
	}
	if condition.Namespace == "" {
		condition.Namespace = poolNamespace
	}
	return condition
}
