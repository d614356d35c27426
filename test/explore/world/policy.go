package world

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
)

// policy returns the rollout policy of the scenario, or nil.
func (f *setup) policy() *musterv1.RolloutPolicy {
	of := f.world.Scenario.Policy
	if of == nil {
		return nil
	}
	p := &musterv1.RolloutPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "hours"}}
	if of.Settle > 0 {
		p.Spec.Settle = &metav1.Duration{Duration: of.Settle}
	}
	if of.Machines > 0 {
		p.Spec.Budgets = []musterv1.RolloutBudget{{Machines: ptr.To(intstr.FromInt(of.Machines))}}
	}
	for _, span := range of.Closed {
		at := func(d time.Duration) musterv1.ExclusionDate {
			return musterv1.ExclusionDate(f.world.trace.Began.Add(d).UTC().Format(time.RFC3339))
		}
		p.Spec.Exclusions = append(p.Spec.Exclusions, musterv1.RolloutExclusion{From: at(span[0]), To: at(span[1]), Scope: musterv1.ExcludeAll})
	}
	return p
}
