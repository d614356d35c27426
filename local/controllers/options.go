package controllers

import "time"

const (
	// DefaultNodeMonitorGrace is the default node monitor grace period of kube-controller-manager: a Node without a heartbeat for longer
	// becomes Unknown.
	DefaultNodeMonitorGrace = 50 * time.Second
	// nodeMonitorPeriod, nodeStartupGrace and the eviction figures are defaults of kube-controller-manager.
	nodeMonitorPeriod      = 5 * time.Second
	nodeStartupGrace       = time.Minute
	evictionRate           = 0.1
	secondaryEvictionRate  = 0.01
	largeClusterSize       = 50
	unhealthyZoneThreshold = 0.55
	// signedFor bounds the validity of the certificates of clients and kubelets.
	signedFor = 365 * 24 * time.Hour
	// terminatedPods is the number of terminated pods above which the oldest are removed.
	terminatedPods = 12500
)

// Options holds the parameters of the controllers of a workload cluster.
type Options struct {
	// CACertFile and CAKeyFile sign the certificates of kubelets and clients.
	CACertFile, CAKeyFile string
	// RootCA is published to every namespace, PEM.
	RootCA []byte
	// NodeMonitorGrace is the time without a heartbeat after which a Node becomes Unknown; zero means DefaultNodeMonitorGrace.
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
