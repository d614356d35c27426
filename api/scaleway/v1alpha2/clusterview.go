package v1alpha2

import (
	"time"

	"github.com/muster-project/muster/api/common"
)

// ManagedMachinePoolSource holds the input of the driver: the specification of the pool and the fields of its cluster. It is no API object,
// and is immutable.
// +kubebuilder:object:generate=false
type ManagedMachinePoolSource struct {
	// Name of the pool in Kapsule.
	Name string
	// Created is when the object was created that asks for the pool.
	Created time.Time
	// Pool is the pool's specification, without the fields that the controller writes.
	Pool *ScalewayManagedMachinePoolSpec
	// Cluster holds the fields that are read from the managed cluster.
	Cluster ClusterView
}

// ClusterView holds the fields that pools read from the objects of their cluster (ScalewayManagedControlPlane, ScalewayManagedCluster).
// Other controllers own these objects, and Muster never writes them.
// +kubebuilder:object:generate=false
type ClusterView struct {
	// Name is the name of the cluster in Kapsule (spec.clusterName of the control plane), by which it is found in its region and project.
	Name string
	// ClusterName is the name of the Cluster, and ControlPlane that of the ScalewayManagedControlPlane, for messages.
	ClusterName, ControlPlane string
	// Region of the cluster, for example fr-par, and ProjectID the project that owns it.
	Region, ProjectID string
	// Type of the control plane, for example kapsule or multicloud; empty where it is not known.
	Type string
	// Version is the Kubernetes version that the control plane runs, or should run, as the object has it; empty where that is not known.
	Version string
	// Ready is true if the control plane is initialized.
	Ready bool
	// Deleting is true if the Cluster is being deleted: its pools go with it.
	Deleting bool
	// SecretName is the Secret, in the namespace of the object, that holds the credentials of the cluster.
	SecretName string
	// Identity is the identity for API calls on behalf of the cluster. It is nil until SecretName has been read: without it the cloud is not
	// called, because the controller has no credentials for Scaleway.
	Identity *IdentityView
}

// IdentityView is the identity with which the cloud is called for a cluster. It is no API object, and it is never changed once it is made.
// +kubebuilder:object:generate=false
type IdentityView struct {
	// Name is the kind, namespace and name of the Secret, for example Secret/default/scaleway. It identifies the identity in messages, rate
	// limits and metrics.
	Name string
	// AccessKey names the key, and SecretKey proves it.
	AccessKey string
	SecretKey common.Secret
	// APIURL is the address of the API; empty is the public one.
	APIURL string
}

// Fingerprint identifies the identity by a hash of all its fields. It is the cache key of clients, so that a rotated key leads to new ones.
func (i *IdentityView) Fingerprint() string {
	if i == nil {
		return ""
	}
	return i.Name + "/" + common.NewSecret(i.AccessKey+"\n"+i.SecretKey.Expose()+"\n"+i.APIURL).Hash()
}
