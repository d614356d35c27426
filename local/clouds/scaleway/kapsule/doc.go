// Package kapsule plays Scaleway's part of Kapsule in the local world, and the controllers of Scaleway's provider for it: every
// ScalewayManagedControlPlane gets an API server of package workload and a cluster of the simulated Kapsule, and is made ready together
// with its ScalewayManagedCluster.
//
// The simulated Kapsule is let into a cluster by a bootstrap token, which stands for its identity there: with it machines of pools ask for
// their certificates, and Kapsule labels, cordons and drains their nodes.
package kapsule
