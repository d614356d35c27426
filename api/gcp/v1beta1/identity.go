package v1beta1

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/muster-project/muster/api/common"
)

// IdentityView is the identity for API calls on behalf of a cluster that does not use the controller's own credentials. It is no API
// object, and is immutable.
// +kubebuilder:object:generate=false
type IdentityView struct {
	// Name is the kind, namespace and name of the Secret, for example Secret/default/tenant-a. It identifies the identity in messages, rate
	// limits and metrics.
	Name string
	// Credentials is the JSON that Google's tools write: of a service account, an external account or an impersonated service account.
	Credentials common.Secret
}

// Fingerprint identifies the identity by a hash of all its fields. It is the cache key of clients, so that a rotated key leads to new ones.
func (i *IdentityView) Fingerprint() string {
	if i == nil {
		return ""
	}
	return i.Name + "/" + i.Credentials.Hash()
}

// CredentialsReference names the Secret of a cluster's credentials.
// +kubebuilder:object:generate=false
type CredentialsReference struct {
	// Namespace and Name of the Secret.
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// credentialsKind begins the text of a reference.
const credentialsKind = "Secret"

// String returns the kind, the namespace and the name, as messages have it.
func (r CredentialsReference) String() string {
	return credentialsKind + "/" + r.Namespace + "/" + r.Name
}

// ParseCredentialsReference reads what String writes.
func ParseCredentialsReference(text string) (CredentialsReference, error) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 || parts[0] != credentialsKind || parts[1] == "" || parts[2] == "" {
		return CredentialsReference{}, fmt.Errorf("want the namespace and the name of a Secret as Secret/NAMESPACE/NAME, found %q", text)
	}
	return CredentialsReference{Namespace: parts[1], Name: parts[2]}, nil
}

// CredentialsRefOf returns the Secret that a GCPCluster or GCPManagedCluster names in spec.credentialsRef; nil if it names none, which
// leaves it to the controller's own credentials. A reference without a namespace means that of the cluster.
func CredentialsRefOf(u *unstructured.Unstructured) (*CredentialsReference, error) {
	var fields struct {
		Spec struct {
			CredentialsRef *CredentialsReference `json:"credentialsRef,omitempty"`
		} `json:"spec,omitempty"`
	}
	if err := common.FieldsOf(u, &fields); err != nil {
		return nil, err
	}
	ref := fields.Spec.CredentialsRef
	if ref != nil && ref.Namespace == "" {
		ref.Namespace = u.GetNamespace()
	}
	return ref, nil
}
