package v1beta2

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/muster-project/muster/api/common"
)

// ClusterIdentityKind is the kind of identities. It belongs to the ecosystem's OCI provider, as OCICluster does.
const ClusterIdentityKind = "OCIClusterIdentity"

// PrincipalType is the kind of credentials of an OCIClusterIdentity.
type PrincipalType string

// The types of principals.
const (
	// PrincipalUser signs with the API key of a user.
	PrincipalUser PrincipalType = "UserPrincipal"
	// PrincipalInstance signs as the instance that the controller runs on.
	PrincipalInstance PrincipalType = "InstancePrincipal"
	// PrincipalWorkload signs as the controller's service account in a cluster of OKE.
	PrincipalWorkload PrincipalType = "Workload"
)

// IdentityView is the identity for API calls on behalf of a cluster that does not use the controller's own credentials. It is no API
// object, and is immutable.
// +kubebuilder:object:generate=false
type IdentityView struct {
	// Name is the kind, namespace and name of the object that the cluster names, for example OCIClusterIdentity/default/tenant-a. It
	// identifies the identity in messages, rate limits and metrics.
	Name string
	// Type is the type of the principal. The fields below are those of PrincipalUser.
	Type PrincipalType
	// Tenancy and User are OCIDs. KeyFingerprint identifies the key of the user.
	Tenancy, User, KeyFingerprint string
	// Region is the default region of clusters; empty means the controller's.
	Region string
	// PrivateKey is the key in PEM. Passphrase decrypts it; it is empty if the key is not encrypted.
	PrivateKey, Passphrase common.Secret
}

// Fingerprint identifies the identity by a hash of all its fields. It is the cache key of clients, so that a rotated key leads to new
// ones.
func (i *IdentityView) Fingerprint() string {
	if i == nil {
		return ""
	}
	// Strings, and secrets that are encoded as their hashes: nothing here can fail to be encoded.
	text, _ := json.Marshal(i)
	sum := sha256.Sum256(text)
	return i.Name + "/" + hex.EncodeToString(sum[:])
}

// SecretReference is a reference to a Secret.
// +kubebuilder:object:generate=false
type SecretReference struct {
	// Namespace and Name of the Secret.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
}

// in returns the reference with a default namespace; nil for nil.
func (r *SecretReference) in(namespace string) *SecretReference {
	if r == nil || r.Namespace != "" {
		return r
	}
	return &SecretReference{Namespace: namespace, Name: r.Name}
}

// IdentityRefOf returns spec.identityRef of an OCICluster or OCIManagedCluster; nil means the controller's own credentials. The default
// namespace is that of the cluster, and the default kind is OCIClusterIdentity.
func IdentityRefOf(u *unstructured.Unstructured) (*common.IdentityReference, error) {
	var fields struct {
		Spec struct {
			IdentityRef *common.IdentityReference `json:"identityRef,omitempty"`
		} `json:"spec,omitempty"`
	}
	if err := common.FieldsOf(u, &fields); err != nil {
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
		ref.Namespace = u.GetNamespace()
	}
	return ref, nil
}

// IdentitySource holds the fields that are read from an OCIClusterIdentity.
// +kubebuilder:object:generate=false
type IdentitySource struct {
	// Type is the type of the principal.
	Type PrincipalType `json:"type,omitempty"`
	// PrincipalSecret names the Secret of PrincipalUser, with the keys tenancy, user, fingerprint, key, passphrase and region.
	PrincipalSecret SecretReference `json:"principalSecret,omitempty"`
	// Allowed are the namespaces whose clusters may use the identity.
	Allowed *common.AllowedNamespaces `json:"allowedNamespaces,omitempty"`
}

// IdentitySourceOf reads an OCIClusterIdentity. It returns an error if a field has an unexpected type.
func IdentitySourceOf(u *unstructured.Unstructured) (IdentitySource, error) {
	var fields struct {
		Spec IdentitySource `json:"spec,omitempty"`
	}
	err := common.FieldsOf(u, &fields)
	return fields.Spec, err
}
