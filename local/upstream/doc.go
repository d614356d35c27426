// Package upstream runs cluster-api's own reconcilers and admission webhooks for Cluster, Machine, MachineHealthCheck
// and KubeadmConfig in one manager, so that the local world needs no second binary beside it; with the gate
// ClusterTopology those for ClusterClasses too.
package upstream
