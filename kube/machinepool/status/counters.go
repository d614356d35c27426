package status

import (
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// counters sets the observed counts. While the workload cluster is unreachable, counts of Nodes are unknown and shown as such. The last
// known references and versions stay, because they name objects and say nothing about their health.
func counters(pool *clusterv1.MachinePool, f *pass) {
	s := &pool.Status
	if f.Infrastructure.Found || f.Replicas != nil {
		replicas := f.replicas()
		s.Replicas = &replicas
		if f.upToDate() != nil || !f.ConnectionInterrupted {
			s.UpToDateReplicas = f.upToDate()
		}
	}
	if f.Nodes == nil && f.ConnectionInterrupted {
		return
	}
	if f.Nodes == nil {
		s.ReadyReplicas, s.AvailableReplicas = nil, nil
		return
	}
	s.ReadyReplicas, s.AvailableReplicas = &f.Nodes.Ready, &f.Nodes.Available
	s.NodeRefs = f.Nodes.Refs
	s.Versions = f.Nodes.Versions
}
