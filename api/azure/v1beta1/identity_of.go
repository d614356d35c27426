package v1beta1

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/muster-project/muster/api/common"
)

// ClusterIdentityKind says who asks the cloud for a cluster. It belongs to the ecosystem's Azure provider, as AzureCluster does.
const ClusterIdentityKind = "AzureClusterIdentity"

// IdentityReference names an AzureClusterIdentity.
//
// +kubebuilder:object:generate=false
type IdentityReference struct {
	// Kind, Namespace and Name of the object.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// String is kind, namespace and name, as messages have it.
func (r IdentityReference) String() string { return r.Kind + "/" + r.Namespace + "/" + r.Name }

// ParseIdentityReference reads what String writes.
func ParseIdentityReference(text string) (IdentityReference, error) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return IdentityReference{}, fmt.Errorf("want the kind, the namespace and the name of an identity as KIND/NAMESPACE/NAME, found %q", text)
	}
	return IdentityReference{Kind: parts[0], Namespace: parts[1], Name: parts[2]}, nil
}

// IdentityRefOf is what an AzureCluster names in spec.identityRef; nil when it names nothing, which leaves it to the
// controller's own credentials. A reference without a namespace means that of the cluster, and one without a kind an
// AzureClusterIdentity, as the ecosystem's provider reads them.
func IdentityRefOf(place *unstructured.Unstructured) (*IdentityReference, error) {
	var fields struct {
		Spec struct {
			IdentityRef *IdentityReference `json:"identityRef,omitempty"`
		} `json:"spec,omitempty"`
	}
	if err := fieldsOf(place, &fields); err != nil {
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

// IdentitySource is what is read of an AzureClusterIdentity.
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
	err := fieldsOf(u, &fields)
	return fields.Spec, err
}

func fieldsOf(u *unstructured.Unstructured, fields any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.UnstructuredContent(), fields); err != nil {
		return fmt.Errorf("reading %s %s: a field has another type than it should: %w", u.GetKind(), u.GetName(), err)
	}
	return nil
}
