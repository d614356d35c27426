// Package ocimanaged adapts OCIManagedMachinePool to the reconciler of infrastructure objects, and finds the clusters of OKE for all kinds
// of its pools.
package ocimanaged

import (
	"cmp"
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/pool"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=ocimanagedclusters;ocimanagedcontrolplanes;ociclusteridentities,verbs=get;list;watch

// reasonWaitControlPlane is the reason while the cluster takes no pools.
const reasonWaitControlPlane = "WaitingForControlPlane"

// The missing parts of a Cluster whose objects are of other kinds.
const (
	NoInfraCluster = "names no " + ociv1.ManagedClusterKind + " in spec.infrastructureRef" + okeAlone
	NoControlPlane = "names no " + ociv1.ManagedControlPlaneKind + " in spec.controlPlaneRef" + okeAlone
	okeAlone       = ": OKE keeps pools for its own clusters alone"
)

// InfraCluster returns the reference to the OCIManagedCluster, which names compartment, network and identity; empty for another kind.
func InfraCluster(cluster *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference {
	return ofKind(cluster.Spec.InfrastructureRef, ociv1.ManagedClusterKind)
}

// ControlPlane returns the reference to the OCIManagedControlPlane, which names the cluster in OKE; empty for another kind.
func ControlPlane(cluster *clusterv1.Cluster) clusterv1.ContractVersionedObjectReference {
	return ofKind(cluster.Spec.ControlPlaneRef, ociv1.ManagedControlPlaneKind)
}

// ofKind returns a reference; empty if it is to another kind.
func ofKind(ref clusterv1.ContractVersionedObjectReference, kind string) clusterv1.ContractVersionedObjectReference {
	if ref.Kind == kind {
		return ref
	}
	return clusterv1.ContractVersionedObjectReference{}
}

// Cluster returns where a pool of OKE is: as the objects of the cluster have it, or else as the object of the pool remembers it.
func Cluster(in infrapool.Inputs) (ociv1.ManagedClusterView, error) {
	view, unknown := ociv1.ManagedClusterViewRemembered(in.Resolved, stored.Annotation)
	if in.ControlPlane != nil {
		read, err := ociv1.ManagedClusterViewOf(in.ControlPlane, in.Cluster)
		if err != nil {
			return view, err
		}
		read.ID = cmp.Or(read.ID, view.ID)
		read.View.CompartmentID, read.View.Region, read.View.Endpoints = view.View.CompartmentID, view.View.Region, view.View.Endpoints
		read.View.ResourceIdentifier, read.View.CertificateRef = view.View.ResourceIdentifier, view.View.CertificateRef
		view = read
	}
	if in.InfraCluster != nil {
		read, err := ociv1.ClusterViewOf(in.InfraCluster)
		if err != nil {
			return view, err
		}
		view.Complete(read)
	}
	view.View.ClusterName, view.Deleting = cmp.Or(in.Cluster, view.View.ClusterName), in.ClusterDeleting
	switch {
	case view.ID != "" && view.View.CompartmentID != "":
		return view, nil
	case in.ControlPlane != nil && view.ID == "":
		return view, &infrapool.NotYet{Cause: pool.Cause{Reason: reasonWaitControlPlane, Message: fmt.Sprintf(
			"%s %s has no spec.id yet", in.ControlPlane.GetKind(), in.ControlPlane.GetName())}}
	case in.InfraCluster != nil && view.View.CompartmentID == "":
		return view, fmt.Errorf("%s %s has no spec.compartmentId: set it to the OCID of the compartment of the cluster",
			in.InfraCluster.GetKind(), in.InfraCluster.GetName())
	}
	return view, unknown
}

// Blocked returns why the cluster takes no new pools; nil if it takes them.
func Blocked(in infrapool.Inputs, view ociv1.ManagedClusterView) *pool.Cause {
	if in.ControlPlane == nil || view.Ready {
		return nil
	}
	return &pool.Cause{Reason: reasonWaitControlPlane, Message: fmt.Sprintf("%s %s is not ready yet", in.ControlPlane.GetKind(),
		in.ControlPlane.GetName())}
}
