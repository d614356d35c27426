// Package eks plays Amazon's part of EKS in the local world, and the AWS provider's controllers of it: every
// AWSManagedControlPlane gets an API server of package workload, is registered with the simulated EKS as a cluster that node
// groups can be made in, and is made ready together with its AWSManagedCluster.
//
// The simulated EKS authenticates in a cluster with a bootstrap token: with it machines of node groups request their certificates, and EKS
// labels, cordons and drains their nodes. In AWS both use IAM.
package eks
