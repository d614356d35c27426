package nodepool

import (
	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/oci/oke"
)

// Target is one pool as the driver gets it.
type Target = cloud.Target[*ociv1.ManagedMachinePoolSource]

// target is Target with its parts at hand.
type target struct {
	Target
	at      oke.Pool
	spec    *ociv1.OCIManagedMachinePoolSpec
	cluster *ociv1.ManagedClusterView
}

func targetOf(t Target) (target, error) {
	if t.Spec == nil || t.Spec.Pool == nil {
		return target{}, cloud.Invalidf("spec", "there is no specification to go by")
	}
	at, err := oke.PoolOf(t, "node pool", t.Spec.Name, &t.Spec.Cluster)
	return target{Target: t, at: at, spec: t.Spec.Pool, cluster: &t.Spec.Cluster}, err
}

// text returns a text of an answer; empty for an absent one.
func text(s *string) string { return value(s) }

// value returns what is pointed to; the zero value for nil.
func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
