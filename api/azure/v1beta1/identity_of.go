package v1beta1

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/muster-project/muster/api/common"
)

// ClusterIdentityKind is the kind of an identity for API calls on behalf of a cluster. It belongs to the ecosystem's Azure provider, as
// AzureCluster does.
const ClusterIdentityKind = "AzureClusterIdentity"

// IdentityRefOf returns the spec.identityRef of an AzureCluster. It is nil if the field is absent, which selects the controller's own
// credentials. As in the ecosystem's provider, the default namespace of the reference is that of the cluster, and its default kind
// AzureClusterIdentity.
func IdentityRefOf(place *unstructured.Unstructured) (*common.IdentityReference, error) {
	var fields struct {
		Spec struct {
			IdentityRef *common.IdentityReference `json:"identityRef,omitempty"`
		} `json:"spec,omitempty"`
	}
	if err := common.FieldsOf(place, &fields); err != nil {
		return nil, err
	}
	ref := fields.Spec.IdentityRef
	if ref == nil {
		return nil, nil
	}
	if ref.Kind == "" {
		ref.Kind = ClusterIdentityKind
	}
	if ref.Namespace == "" {
		ref.Namespace = place.GetNamespace()
	}
	return ref, nil
}

// IdentitySource holds the fields that are read from an AzureClusterIdentity.
//
// +kubebuilder:object:generate=false
type IdentitySource struct {
	// Type decides which of the other fields count.
	Type IdentityType `json:"type,omitempty"`
	// Allowed are the namespaces whose clusters may use the identity.
	Allowed *common.AllowedNamespaces `json:"allowedNamespaces,omitempty"`
	// TenantID is the directory, and ClientID the application or managed identity in it.
	TenantID string `json:"tenantID,omitempty"`
	ClientID string `json:"clientID,omitempty"`
	// ResourceID of a managed identity; the ecosystem has stopped reading it.
	ResourceID string `json:"resourceID,omitempty"`
	// ClientSecret names the secret that holds a password or a certificate.
	ClientSecret struct {
		Name      string `json:"name,omitempty"`
		Namespace string `json:"namespace,omitempty"`
	} `json:"clientSecret,omitempty"`
	// CertPath, CredentialsPath and CredentialsCloud are as in IdentityView.
	CertPath         string `json:"certPath,omitempty"`
	CredentialsPath  string `json:"userAssignedIdentityCredentialsPath,omitempty"`
	CredentialsCloud string `json:"userAssignedIdentityCredentialsCloudType,omitempty"`
}

// IdentitySourceOf reads such an object. It is an error only when a field that is read has another type than it should.
func IdentitySourceOf(u *unstructured.Unstructured) (IdentitySource, error) {
	var fields struct {
		Spec IdentitySource `json:"spec,omitempty"`
	}
	err := common.FieldsOf(u, &fields)
	return fields.Spec, err
}
