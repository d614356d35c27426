package drain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// keptByBudgets returns the pods whose eviction a budget prevents now, each with its budget. It reads the budgets instead of trying to
// evict: that costs one list for each namespace and pass, and has no side effect.
func (w *Workload) keptByBudgets(ctx context.Context, pods []*corev1.Pod) ([]string, error) {
	var out []string
	for _, pod := range pods {
		if ignoresBudgets(pod) {
			continue
		}
		budgets, err := w.budgetsOnce(ctx, pod.Namespace)
		if err != nil {
			return nil, err
		}
		if why := keeps(budgets, pod); why != "" {
			out = append(out, fmt.Sprintf("%s/%s (%s)", pod.Namespace, pod.Name, why))
		}
	}
	return out, nil
}

// budgetsOnce reads the budgets of a namespace once a pass.
func (w *Workload) budgetsOnce(ctx context.Context, namespace string) ([]policyv1.PodDisruptionBudget, error) {
	if known, ok := w.budgets[namespace]; ok {
		return known, nil
	}
	list := &policyv1.PodDisruptionBudgetList{}
	if err := w.Remote.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("disruption budgets in namespace %s: %w", namespace, err)
	}
	if w.budgets == nil {
		w.budgets = map[string][]policyv1.PodDisruptionBudget{}
	}
	w.budgets[namespace] = list.Items
	return list.Items, nil
}

// ignoresBudgets is the API server's own rule: such pods are not serving, or are terminating already.
func ignoresBudgets(pod *corev1.Pod) bool {
	switch pod.Status.Phase {
	case corev1.PodSucceeded, corev1.PodFailed, corev1.PodPending:
		return true
	}
	return !pod.DeletionTimestamp.IsZero()
}

// keeps returns the budget that prevents the eviction of the pod; empty if there is none.
func keeps(budgets []policyv1.PodDisruptionBudget, pod *corev1.Pod) string {
	var matching []policyv1.PodDisruptionBudget
	for _, b := range budgets {
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err == nil && selector.Matches(labels.Set(pod.Labels)) {
			matching = append(matching, b)
		}
	}
	switch len(matching) {
	case 0:
		return ""
	case 1:
		if allows(matching[0], pod) {
			return ""
		}
		return "PodDisruptionBudget " + matching[0].Name
	default:
		names := make([]string, 0, len(matching))
		for _, b := range matching {
			names = append(names, b.Name)
		}
		slices.Sort(names)
		return "more than one PodDisruptionBudget, which eviction refuses: " + strings.Join(names, ", ")
	}
}

// allows follows the eviction API: an unready pod can be evicted whatever the count is if the policy of the budget allows it.
func allows(b policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	fresh := b.Status.ObservedGeneration >= b.Generation
	if b.Status.DisruptionsAllowed > 0 && fresh {
		return true
	}
	if podReady(pod) {
		return false
	}
	if p := b.Spec.UnhealthyPodEvictionPolicy; p != nil && *p == policyv1.AlwaysAllow {
		return true
	}
	return b.Status.CurrentHealthy >= b.Status.DesiredHealthy && b.Status.DesiredHealthy > 0
}

func podReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
