// Package agentpool is the driver of AKS agent pools: AzureManagedMachinePool, and AzureASOManagedMachinePool, whose specification is a
// manifest of Azure Service Operator.
//
// An agent pool is a part of a managed cluster. One read of the cluster with its pools serves all pools of it, and an operation on the
// cluster or on one of its pools makes all others wait. AKS replaces nodes by itself when their version or size changes, each drained
// first; Muster names the machines of a scale-in, which it has drained, and never lets AKS choose.
package agentpool
