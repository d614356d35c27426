// Package oke plays Oracle's part of OKE in the local world, and the controllers of Oracle's provider for it: every
// OCIManagedControlPlane gets an API server of package workload and a cluster of the simulated OKE, and is made ready together with its
// OCIManagedCluster.
//
// The simulated OKE authenticates in a cluster with a bootstrap token: with it machines of pools request their certificates, and OKE
// labels, cordons and drains their nodes.
package oke
