package status

import (
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// phase is the pool's one-word state. Scaling is told from what machines there are, never from their health: a pool with
// a sick node is Provisioned, not ScalingUp. nodesKnown says that the pool had nodes before this pass.
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
	case f.Nodes.Ready >= desired:
		return clusterv1.MachinePoolPhaseRunning
	case f.Nodes.Ready > 0 && len(f.Nodes.Missing) > 0:
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
