// Package upstream runs Cluster API's own reconcilers and admission webhooks for Cluster, Machine, MachineHealthCheck and KubeadmConfig in
// one manager, so that the local world needs no second binary. With the gate ClusterTopology it also runs those for ClusterClasses.
package upstream
