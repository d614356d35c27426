// Package kapsule plays Scaleway's part of Kapsule in the local world, and the controllers of Scaleway's provider for it: every
// ScalewayManagedControlPlane gets an API server of package workload and a cluster of the simulated Kapsule, and is made ready together
// with its ScalewayManagedCluster.
//
// The simulated Kapsule authenticates in a cluster with a bootstrap token: with it machines of pools request their certificates, and
// Kapsule labels, cordons and drains their nodes.
package kapsule
