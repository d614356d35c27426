// Package gke plays Google's part of GKE in the local world, and the controllers of the provider of Google Cloud for it: every
// GCPManagedControlPlane gets an API server of package workload and a cluster of the simulated GKE, and is made ready together with its
// GCPManagedCluster.
//
// The simulated GKE authenticates in a cluster with a bootstrap token: with it machines of node pools request their certificates, and GKE
// labels, cordons and drains their nodes. In Google Cloud both use Google's own accounts.
package gke
