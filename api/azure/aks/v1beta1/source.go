package v1beta1

import (
	"time"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
)

// AgentPoolSource holds the input of the driver of agent pools: the specification of one of the two kinds, and the fields of its cluster.
// It is no API object, and is immutable.
// +kubebuilder:object:generate=false
type AgentPoolSource struct {
	// Name of the agent pool in AKS.
	Name string
	// Created is when the object was created that asks for the agent pool.
	Created time.Time
	// Managed is the specification of an AzureManagedMachinePool, nil for the other kind.
	Managed *AzureManagedMachinePoolSpec
	// Manifest is the manifest of an AzureASOManagedMachinePool, nil for the other kind.
	Manifest *AgentPoolManifest
	// Replicas is spec.replicas of the MachinePool of a manifest, whose count must equal it. It is nil if AKS's autoscaler owns the size of
	// the agent pool, and for the other kind.
	Replicas *int32
	// Cluster holds the fields that are read from the managed cluster.
	Cluster ManagedClusterView
}

// ManagedClusterView holds the fields that pools read from the objects of their managed cluster. Other controllers own these objects, and
// Muster never writes them.
// +kubebuilder:object:generate=false
type ManagedClusterView struct {
	// View has where the cluster is, its tags and who asks the cloud for it.
	View azurev1.ClusterView
	// Name of the managed cluster in AKS.
	Name string
	// ManifestName is the name of its manifest; empty if it has none, or none is read.
	ManifestName string
	// NodeResourceGroup is where AKS keeps the cluster's machines; empty where it is AKS's to choose.
	NodeResourceGroup string
	// SubnetID is the resource ID of the subnet that the cluster's network object names, and SubnetPrefix what comes before the name of
	// another subnet of that network; empty where AKS makes the network.
	SubnetID, SubnetPrefix string
	// CredentialSecret is the Secret, in the namespace of the object, that the manifest of the managed cluster names for Azure Service
	// Operator's credentials; empty if it names none.
	CredentialSecret string
	// Deleting is true if the Cluster is being deleted: its last System pool goes with the managed cluster.
	Deleting bool
}
