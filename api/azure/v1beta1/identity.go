package v1beta1

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/muster-project/muster/api/common"
)

// IdentityType says what kind of credentials an AzureClusterIdentity stands for.
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

// IdentityView is who asks the cloud for a cluster, where that is not the controller with its own credentials. It is no API
// object, and is never changed once it is made.
//
// +kubebuilder:object:generate=false
type IdentityView struct {
	// Name is the kind, namespace and name of the object that the cluster names, for example AzureClusterIdentity/default/tenant-a.
	// It is what messages, rate budgets and metrics know the identity by.
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

// Fingerprint tells identities apart by all that they hold, without showing it. Clients are kept by it, so that a rotated
// secret makes new ones.
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

// DeepCopy is a copy of the view.
func (i *IdentityView) DeepCopy() *IdentityView {
	if i == nil {
		return nil
	}
	out := *i
	return &out
}
