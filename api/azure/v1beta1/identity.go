package v1beta1

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/muster-project/muster/api/common"
)

// IdentityType is a kind of credentials of an AzureClusterIdentity.
type IdentityType string

// The types of identities, as the ecosystem's Azure provider has them.
const (
	// IdentityServicePrincipal is an application with a password.
	IdentityServicePrincipal IdentityType = "ServicePrincipal"
	// IdentityManualServicePrincipal is IdentityServicePrincipal by its older name.
	IdentityManualServicePrincipal IdentityType = "ManualServicePrincipal"
	// IdentityServicePrincipalCertificate is an application with a certificate and its private key.
	IdentityServicePrincipalCertificate IdentityType = "ServicePrincipalCertificate"
	// IdentityWorkloadIdentity is an application, or a managed identity, that trusts the tokens of the controller's service account.
	IdentityWorkloadIdentity IdentityType = "WorkloadIdentity"
	// IdentityUserAssignedMSI is a managed identity that the machines have on which the controller runs.
	IdentityUserAssignedMSI IdentityType = "UserAssignedMSI"
	// IdentityUserAssignedIdentityCredential is a managed identity whose certificate is kept fresh in a file.
	IdentityUserAssignedIdentityCredential IdentityType = "UserAssignedIdentityCredential"
)

// IdentityView is the identity for API calls on behalf of a cluster that does not use the controller's own credentials. It is no API
// object, and is immutable.
//
// +kubebuilder:object:generate=false
type IdentityView struct {
	// Name is the kind, namespace and name of the object that the cluster refers to, for example AzureClusterIdentity/default/tenant-a. It
	// identifies the identity in messages, rate limits and metrics.
	Name string
	// Type decides which of the other fields count.
	Type IdentityType
	// TenantID is the directory, and ClientID the application or managed identity in it.
	TenantID, ClientID string
	// ResourceID of a managed identity. The ecosystem has stopped reading it: ClientID names the identity.
	ResourceID string
	// Secret is the password of a service principal, or the certificate with its private key (PEM or PKCS#12).
	Secret common.Secret
	// CertPath is a file of the controller with the certificate; where it is set, it counts instead of Secret.
	CertPath string
	// CredentialsPath is a file of the controller with the credentials of a UserAssignedIdentityCredential, and CredentialsCloud
	// the cloud that they are for: public, china or usgovernment; empty is public.
	CredentialsPath, CredentialsCloud string
}

// Fingerprint identifies the identity by a hash of all its fields. It is the cache key of clients, so that a rotated secret leads to new
// ones.
func (i *IdentityView) Fingerprint() string {
	if i == nil {
		return ""
	}
	// Strings: nothing here can fail to be encoded.
	text, _ := json.Marshal(i)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// HasPassword reports whether the secret is a password.
func (i *IdentityView) HasPassword() bool {
	return i != nil && (i.Type == IdentityServicePrincipal || i.Type == IdentityManualServicePrincipal)
}

// DeepCopyInto copies the view.
func (i *IdentityView) DeepCopyInto(out *IdentityView) { *out = *i }

// DeepCopy returns a copy of the view.
func (i *IdentityView) DeepCopy() *IdentityView {
	if i == nil {
		return nil
	}
	out := *i
	return &out
}
