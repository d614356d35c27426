// Package aks plays the Azure provider's controllers of AKS in the local world: every AzureManagedControlPlane and every
// AzureASOManagedControlPlane gets an API server of package workload, is made a managed cluster of the simulated AKS, and is made ready
// together with its AzureManagedCluster or AzureASOManagedCluster.
//
// A managed cluster is created with the System pools that its Cluster has by then, as the provider creates it, and without a tag of
// Muster's. All other pools are left to the controllers of pools, which adopt the first ones.
//
// The simulated AKS authenticates in a cluster with a bootstrap token: with it machines of agent pools request their certificates, and AKS
// labels, cordons and drains their nodes.
package aks
