package status

import (
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// phase is the pool's one-word state. It is ScalingUp from the first machine that is missing until the last new one is available, and
// Running exactly when the condition ScalingUp is not True. A pool that is short of a machine for its health is Provisioned, not
// ScalingUp. nodesKnown is true if the pool had nodes before this pass.
func phase(f *Facts, nodesKnown bool) clusterv1.MachinePoolPhase {
	switch {
	case f.Deletion != nil:
		return clusterv1.MachinePoolPhaseDeleting
	case f.NoCluster && f.Infrastructure.Once:
		return clusterv1.MachinePoolPhaseUnknown
	case f.NoCluster || (!f.Bootstrap.Once && !f.Infrastructure.Once):
		return clusterv1.MachinePoolPhasePending
	case !f.Infrastructure.Once:
		return clusterv1.MachinePoolPhaseProvisioning
	default:
		return provisionedPhase(f, nodesKnown)
	}
}

func provisionedPhase(f *Facts, nodesKnown bool) clusterv1.MachinePoolPhase {
	desired, have := f.target(), f.replicas()
	switch {
	case have > desired:
		return scaling(f, clusterv1.MachinePoolPhaseScalingDown)
	case have < desired:
		return scaling(f, clusterv1.MachinePoolPhaseScalingUp)
	case f.Nodes == nil && nodesKnown:
		return clusterv1.MachinePoolPhaseUnknown
	case f.Nodes == nil:
		return clusterv1.MachinePoolPhaseProvisioned
	case f.Nodes.Available >= desired:
		return clusterv1.MachinePoolPhaseRunning
	case len(f.Nodes.Missing) > 0 || len(f.Nodes.Settling) > 0 || f.Nodes.Starting > 0:
		return scaling(f, clusterv1.MachinePoolPhaseScalingUp)
	default:
		return clusterv1.MachinePoolPhaseProvisioned
	}
}

// scaling is the direction, unless somebody else sizes the pool and may turn it at any moment.
func scaling(f *Facts, direction clusterv1.MachinePoolPhase) clusterv1.MachinePoolPhase {
	if f.External {
		return clusterv1.MachinePoolPhaseScaling
	}
	return direction
}
