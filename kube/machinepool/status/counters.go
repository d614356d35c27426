package status

import (
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// counters are observed. While the workload cluster can't be asked, what it would say is unknown and shown as such; the
// references and versions that it named last stay, for they name objects and claim nothing about their health.
func counters(pool *clusterv1.MachinePool, f *Facts) {
	s := &pool.Status
	if f.Infrastructure.Found || f.Replicas != nil {
		replicas := f.replicas()
		s.Replicas = &replicas
		if f.upToDate() != nil || !f.Passing {
			s.UpToDateReplicas = f.upToDate()
		}
	}
	if f.Nodes == nil && f.Passing {
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
