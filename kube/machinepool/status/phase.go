package status

import (
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// phase returns the phase of the pool. It is ScalingUp from the first missing machine until the last new one is available, and Running
// exactly if the condition ScalingUp is not True. A pool with an unhealthy machine is Provisioned, not ScalingUp. nodesKnown is true if the
// pool had Nodes before this pass.
func phase(f *pass, nodesKnown bool) clusterv1.MachinePoolPhase {
	switch {
	case f.Deleting:
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

func provisionedPhase(f *pass, nodesKnown bool) clusterv1.MachinePoolPhase {
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

// scaling returns the direction, unless an external autoscaler owns the size and may change it at any time.
func scaling(f *pass, direction clusterv1.MachinePoolPhase) clusterv1.MachinePoolPhase {
	if f.ReplicasManagedExternally {
		return clusterv1.MachinePoolPhaseScaling
	}
	return direction
}
