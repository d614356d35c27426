// Package gke plays Google's part of GKE in the local world, and the controllers of the provider of Google Cloud for it: every
// GCPManagedControlPlane gets an API server of package workload and a cluster of the simulated GKE, and is made ready together with its
// GCPManagedCluster.
//
// The simulated GKE is let into a cluster by a bootstrap token, which stands for its identity there: with it machines of node pools ask for
// their certificates, and GKE labels, cordons and drains their nodes. In life both is the work of Google's own accounts.
package gke
