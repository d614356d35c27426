package v1beta2

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

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

// IdentityRefOf is what an AWSCluster or AWSManagedControlPlane names in spec.identityRef; nil when it names nothing, which
// leaves it to the controller's own credentials.
func IdentityRefOf(place *unstructured.Unstructured) (*IdentityReference, error) {
	var fields struct {
		Spec struct {
			IdentityRef *IdentityReference `json:"identityRef,omitempty"`
		} `json:"spec,omitempty"`
	}
	if err := read(place, &fields); err != nil {
		return nil, err
	}
	return fields.Spec.IdentityRef, nil
}

// IdentitySource is what is read of an AWSClusterControllerIdentity, AWSClusterStaticIdentity or AWSClusterRoleIdentity.
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
	err := read(u, &fields)
	if a := fields.Spec.Allowed; a != nil && a.Selector != nil && a.Selector.MatchLabels == nil && a.Selector.MatchExpressions == nil {
		// An empty selector is what the provider's own client writes for none: the field is no pointer there.
		a.Selector = nil
	}
	return fields.Spec, err
}

func read(u *unstructured.Unstructured, fields any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.UnstructuredContent(), fields); err != nil {
		return fmt.Errorf("reading %s %s: a field has another type than it should: %w", u.GetKind(), u.GetName(), err)
	}
	return nil
}
