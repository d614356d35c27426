package gather

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/view/doctor"
)

// policies reads what the policies report. A management cluster without the kinds has none.
func (g *gatherer) policies(ctx context.Context) error {
	for _, kind := range []string{musterv1.ClusterRolloutPolicyKind, musterv1.RolloutPolicyKind} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(musterv1.GroupVersion.WithKind(kind + "List"))
		if err := g.Client.List(ctx, list); meta.IsNoMatchError(err) {
			continue
		} else if err != nil {
			return fmt.Errorf("list the objects of kind %s: %w", kind, err)
		}
		for k := range list.Items {
			p, err := policyOf(kind, &list.Items[k])
			if err != nil {
				return err
			}
			g.found.Policies = append(g.found.Policies, p)
		}
	}
	return nil
}

// policyOf returns what a policy reports.
func policyOf(kind string, o *unstructured.Unstructured) (doctor.Policy, error) {
	p := doctor.Policy{Object: kind + " " + o.GetName()}
	if ns := o.GetNamespace(); ns != "" {
		p.Object = kind + " " + ns + "/" + o.GetName()
	}
	status := musterv1.RolloutPolicyStatus{}
	if raw, ok := o.Object["status"].(map[string]any); ok {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &status); err != nil {
			return p, fmt.Errorf("read the status of %s: %w", p.Object, err)
		}
	}
	ready := meta.FindStatusCondition(status.Conditions, musterv1.PolicyReady)
	p.Reported = ready != nil && status.Pools != nil && status.ObservedGeneration == o.GetGeneration()
	if !p.Reported {
		return p, nil
	}
	p.Pools = *status.Pools
	if ready.Status != metav1.ConditionTrue {
		p.Fault = ready.Reason + ": " + ready.Message
	}
	return p, nil
}
