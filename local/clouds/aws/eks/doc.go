// Package eks plays Amazon's part of EKS in the local world, and the AWS provider's controllers of it: every
// AWSManagedControlPlane gets an API server of package workload, is registered with the simulated EKS as a cluster that node
// groups can be made in, and is made ready together with its AWSManagedCluster.
//
// The simulated EKS is let into a cluster by a bootstrap token, which stands for its identity there: with it machines of
// node groups ask for their certificates, and EKS labels, closes and drains their nodes. In life both is the work of IAM.
package eks
