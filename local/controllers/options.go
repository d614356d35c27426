package controllers

import "time"

const (
	// DefaultNodeMonitorGrace is how long a node may be silent before it counts as lost, as kube-controller-manager has it.
	DefaultNodeMonitorGrace = 50 * time.Second
	// nodeMonitorPeriod, nodeStartupGrace and the eviction figures are kube-controller-manager's own.
	nodeMonitorPeriod      = 5 * time.Second
	nodeStartupGrace       = time.Minute
	evictionRate           = 0.1
	secondaryEvictionRate  = 0.01
	largeClusterSize       = 50
	unhealthyZoneThreshold = 0.55
	// signedFor is how long the certificates of clients and kubelets are valid at most.
	signedFor = 365 * 24 * time.Hour
	// terminatedPods that are kept before the oldest are removed.
	terminatedPods = 12500
)

// Options of the controllers of a workload cluster.
type Options struct {
	// CACertFile and CAKeyFile sign the certificates of kubelets and clients.
	CACertFile, CAKeyFile string
	// RootCA is published to every namespace, PEM.
	RootCA []byte
	// NodeMonitorGrace is how long a node may be silent before it counts as lost; zero means DefaultNodeMonitorGrace.
	NodeMonitorGrace time.Duration
}

func (o Options) nodeMonitorGrace() time.Duration {
	if o.NodeMonitorGrace > 0 {
		return o.NodeMonitorGrace
	}
	return DefaultNodeMonitorGrace
}

func (o Options) workload() []named {
	return []named{
		{"root-ca-certificate-publisher-controller", o.rootCA},
		{"certificatesigningrequest-signing-controller", o.signers},
		{"certificatesigningrequest-approving-controller", approve},
		{"certificatesigningrequest-cleaner-controller", requestCleaner},
		{"bootstrap-signer-controller", bootstrapSigner},
		{"token-cleaner-controller", tokenCleaner},
		{"node-lifecycle-controller", o.nodeLifecycle},
		{"taint-eviction-controller", taintEviction},
		{"pod-garbage-collector-controller", podGarbage},
		{"disruption-controller", disruptions},
		{"deployment-controller", deployments},
		{"replicaset-controller", replicaSets},
		{"daemonset-controller", daemonSets},
		{"statefulset-controller", statefulSets},
		{"kube-scheduler", kubeScheduler},
	}
}
