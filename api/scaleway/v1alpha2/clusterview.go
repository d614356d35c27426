package v1alpha2

import (
	"time"

	"github.com/muster-project/muster/api/common"
)

// ManagedMachinePoolSource is everything that the driver translates into requests: the pool's own specification and what is read of its
// cluster. It is no API object, and it is never changed once it is made.
// +kubebuilder:object:generate=false
type ManagedMachinePoolSource struct {
	// Name of the pool in Kapsule.
	Name string
	// Created is when the object was created that asks for the pool.
	Created time.Time
	// Pool is the pool's specification, without the fields that the controller writes.
	Pool *ScalewayManagedMachinePoolSpec
	// Cluster is what is read of the managed cluster.
	Cluster ClusterView
}

// ClusterView is what pools read of their cluster's objects (ScalewayManagedControlPlane, ScalewayManagedCluster). Those are other
// controllers': nothing but the fields that are read is named, and nothing is ever written.
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
	// Identity calls the cloud for the cluster. It is nil as long as SecretName has not been read: the cloud is not called then, because the
	// controller has no credentials of its own.
	Identity *IdentityView
}

// IdentityView is the identity with which the cloud is called for a cluster. It is no API object, and it is never changed once it is made.
// +kubebuilder:object:generate=false
type IdentityView struct {
	// Name is Secret, its namespace and its name, for example Secret/default/scaleway. It is what messages, rate budgets and metrics know the
	// identity by.
	Name string
	// AccessKey names the key, and SecretKey proves it.
	AccessKey string
	SecretKey common.Secret
	// APIURL is the address of the API; empty is the public one.
	APIURL string
}

// Fingerprint tells identities apart by all that they hold, without showing it. Clients are kept by it, so that a rotated key makes new
// ones.
func (i *IdentityView) Fingerprint() string {
	if i == nil {
		return ""
	}
	return i.Name + "/" + common.NewSecret(i.AccessKey+"\n"+i.SecretKey.Expose()+"\n"+i.APIURL).Hash()
}
