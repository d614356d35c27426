package v1beta2

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/muster-project/muster/api/common"
)

// The kinds that say who asks the cloud for a cluster. They belong to the ecosystem's AWS provider, as AWSCluster does.
const (
	// ControllerIdentityKind allows the controller's own credentials.
	ControllerIdentityKind = "AWSClusterControllerIdentity"
	// StaticIdentityKind names a secret with access keys.
	StaticIdentityKind = "AWSClusterStaticIdentity"
	// RoleIdentityKind names a role that is assumed.
	RoleIdentityKind = "AWSClusterRoleIdentity"
	// ControllerIdentityName is the one name that an AWSClusterControllerIdentity may have.
	ControllerIdentityName = "default"
)

// IdentityReference names one of the objects that say who asks the cloud.
//
// +kubebuilder:object:generate=false
type IdentityReference struct {
	// Kind and Name of the object, which lies in no namespace.
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// String is kind and name, as messages have it.
func (r IdentityReference) String() string { return r.Kind + "/" + r.Name }

// ParseIdentityReference reads what String writes.
func ParseIdentityReference(text string) (IdentityReference, error) {
	kind, name, ok := strings.Cut(text, "/")
	if !ok || kind == "" || name == "" {
		return IdentityReference{}, fmt.Errorf("want the kind and the name of an identity as KIND/NAME, found %q", text)
	}
	return IdentityReference{Kind: kind, Name: name}, nil
}

// IdentityRefOf returns the spec.identityRef of an AWSCluster or AWSManagedControlPlane. It is nil if the field is absent, which selects
// the controller's own credentials.
func IdentityRefOf(place *unstructured.Unstructured) (*IdentityReference, error) {
	var fields struct {
		Spec struct {
			IdentityRef *IdentityReference `json:"identityRef,omitempty"`
		} `json:"spec,omitempty"`
	}
	if err := common.FieldsOf(place, &fields); err != nil {
		return nil, err
	}
	return fields.Spec.IdentityRef, nil
}

// IdentitySource holds the fields that are read from an AWSClusterControllerIdentity, AWSClusterStaticIdentity or AWSClusterRoleIdentity.
//
// +kubebuilder:object:generate=false
type IdentitySource struct {
	// Allowed are the namespaces whose clusters may use the identity.
	Allowed *common.AllowedNamespaces `json:"allowedNamespaces,omitempty"`
	// SecretRef names the secret of a static identity, in the controller's own namespace.
	SecretRef string `json:"secretRef,omitempty"`
	// RoleARN and the fields that follow are those of a role identity.
	RoleARN         string   `json:"roleARN,omitempty"`
	SessionName     string   `json:"sessionName,omitempty"`
	DurationSeconds int32    `json:"durationSeconds,omitempty"`
	InlinePolicy    string   `json:"inlinePolicy,omitempty"`
	PolicyARNs      []string `json:"policyARNs,omitempty"`
	ExternalID      string   `json:"externalID,omitempty"`
	// SourceIdentityRef names the identity with whose credentials the role is assumed; nil means the controller's own.
	SourceIdentityRef *IdentityReference `json:"sourceIdentityRef,omitempty"`
}

// IdentitySourceOf reads such an object. It is an error only when a field that is read has another type than it should.
func IdentitySourceOf(u *unstructured.Unstructured) (IdentitySource, error) {
	var fields struct {
		Spec IdentitySource `json:"spec,omitempty"`
	}
	err := common.FieldsOf(u, &fields)
	if a := fields.Spec.Allowed; a != nil && a.Selector != nil && a.Selector.MatchLabels == nil && a.Selector.MatchExpressions == nil {
		// The provider's own client writes an empty selector for none, because its field is no pointer.
		a.Selector = nil
	}
	return fields.Spec, err
}
