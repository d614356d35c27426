package v1beta2

import (
	"fmt"
	"strings"
)

// The keys of the data by which an object finds its cloud objects after the objects of its cluster are gone.
const (
	keepCompartment       = "compartment"
	keepRegion            = "region"
	keepIdentifier        = "resource-identifier"
	keepManaged           = "managed"
	keepCluster           = "oke-cluster"
	keepComputeManagement = "compute-management-endpoint"
	keepCompute           = "compute-endpoint"
	keepContainerEngine   = "container-engine-endpoint"
	keepWorkRequests      = "work-requests-endpoint"
	keepIdentity          = "identity-endpoint"
	keepCertificates      = "certificates"

	yes = "true"
)

// Remember returns the part of the view that an object stores, to find its instance pool after the infrastructure cluster is gone.
func (v *ClusterView) Remember() map[string]string {
	kept := map[string]string{keepCompartment: v.CompartmentID}
	managed, certificates := "", ""
	if v.Managed {
		managed = yes
	}
	if v.CertificateRef != nil {
		certificates = v.CertificateRef.Namespace + "/" + v.CertificateRef.Name
	}
	for key, value := range map[string]string{
		keepRegion: v.Region, keepIdentifier: v.ResourceIdentifier, keepManaged: managed, keepCompute: v.Endpoints.Compute,
		keepComputeManagement: v.Endpoints.ComputeManagement, keepContainerEngine: v.Endpoints.ContainerEngine,
		keepIdentity: v.Endpoints.Identity, keepWorkRequests: v.Endpoints.WorkRequests, keepCertificates: certificates,
	} {
		if value != "" {
			kept[key] = value
		}
	}
	return kept
}

func clusterViewRemembered(kept map[string]string) ClusterView {
	v := ClusterView{
		CompartmentID: kept[keepCompartment], Region: kept[keepRegion], ResourceIdentifier: kept[keepIdentifier],
		Managed: kept[keepManaged] == yes,
		Endpoints: Endpoints{Compute: kept[keepCompute], ComputeManagement: kept[keepComputeManagement],
			ContainerEngine: kept[keepContainerEngine], Identity: kept[keepIdentity], WorkRequests: kept[keepWorkRequests]},
	}
	if namespace, name, ok := strings.Cut(kept[keepCertificates], "/"); ok {
		v.CertificateRef = &SecretReference{Namespace: namespace, Name: name}
	}
	return v
}

// ClusterViewRemembered returns the part of the view that an object has stored in its annotation of that name. The error describes the
// content that is missing.
func ClusterViewRemembered(kept map[string]string, annotation string) (ClusterView, error) {
	v := clusterViewRemembered(kept)
	if v.CompartmentID == "" {
		return v, fmt.Errorf("the infrastructure of the cluster is gone, and metadata.annotations[%s] does not say where the instance pool is: "+
			`set it to {"%s": "<OCID of the compartment>", "%s": "<region>"}`, annotation, keepCompartment, keepRegion)
	}
	return v, nil
}

// Remember returns the part of the view that an object stores, to find its node pool after the objects of the cluster are gone.
func (v *ManagedClusterView) Remember() map[string]string {
	kept := v.View.Remember()
	kept[keepCluster] = v.ID
	return kept
}

// ManagedClusterViewRemembered returns the part of the view that an object has stored in its annotation of that name. The error describes
// the content that is missing.
func ManagedClusterViewRemembered(kept map[string]string, annotation string) (ManagedClusterView, error) {
	v := ManagedClusterView{View: clusterViewRemembered(kept), ID: kept[keepCluster]}
	v.View.Managed = true
	if v.View.CompartmentID == "" || v.ID == "" {
		return v, fmt.Errorf("the control plane of the cluster is gone, and metadata.annotations[%s] does not say where the node pool is: "+
			`set it to {"%s": "<OCID of the compartment>", "%s": "<region>", "%s": "<OCID of the OKE cluster>"}`, annotation, keepCompartment,
			keepRegion, keepCluster)
	}
	return v, nil
}
