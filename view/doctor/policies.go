package doctor

import (
	"fmt"
)

// Policy is a RolloutPolicy or a ClusterRolloutPolicy.
type Policy struct {
	// Object is its kind and name.
	Object string
	// Reported is true if the status is that of the present specification.
	Reported bool
	// Fault is the message of a Ready that is not True; empty if the policy can be applied.
	Fault string
	// Pools is the number of pools that it selects.
	Pools int32
}

// policies checks that each policy opens and selects pools.
func policies(f Installation) (found []Finding) {
	for _, p := range f.Policies {
		switch {
		case !p.Reported:
			found = append(found, warning(p.Object, "its state has not been reported",
				"check that the manager runs the controller rolloutpolicy (--controllers)"))
		case p.Fault != "":
			found = append(found, Finding{Severity: Problem, Object: p.Object, Fact: p.Fault,
				Action: "correct the policy: until then it holds back the rollouts of its pools (docs/rollouts.md)"})
		case p.Pools == 0:
			found = append(found, warning(p.Object, "selects no pool, so that it restricts nothing",
				"compare spec.selector with the labels of the Clusters and MachinePools"))
		default:
			found = append(found, Finding{Severity: OK, Object: p.Object, Fact: fmt.Sprintf("applies to %d pools", p.Pools)})
		}
	}
	return found
}
