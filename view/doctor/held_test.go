package doctor

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestForgottenHolds holds that a rollout which only users can end is told when that has lasted for a week, whatever else is Ready.
func TestForgottenHolds(t *testing.T) {
	t.Parallel()
	ready := func(reason string, ago time.Duration) Installation {
		status := metav1.ConditionFalse
		if reason == "AllUpToDate" {
			status = metav1.ConditionTrue
		}
		return Installation{Providers: []Provider{someCloud()}, Pools: []Pool{{Namespace: "default", Name: "p", Kind: cloudPool, Exists: true,
			Conditions: []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue}, {Type: "UpToDate", Status: status, Reason: reason,
				Message: "m", LastTransitionTime: metav1.NewTime(noon.Add(-ago))}}}}}
	}
	const week = 7 * 24 * time.Hour
	run(t, pools, []row{
		{"a hold of less than a week is what a user wants", ready("Held", week-time.Second), []string{"OK Pools: 1 Ready"}},
		{"one of a week may be forgotten", ready("Held", week),
			[]string{"WARNING MachinePool default/p: has not been up to date for more than 7 days (Held): m"}},
		{"so may pods that keep a node", ready("Quarantined", week),
			[]string{"WARNING MachinePool default/p: has not been up to date for more than 7 days (Quarantined): m"}},
		{"a rollout that goes on is no forgotten one", ready("TemplateChanged", 2*week), []string{"OK Pools: 1 Ready"}},
		{"up to date", ready("AllUpToDate", 2*week), []string{"OK Pools: 1 Ready"}},
	})
}
