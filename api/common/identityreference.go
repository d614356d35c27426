package common

import (
	"fmt"
	"strings"
)

// IdentityReference names the object with the identity that calls a cloud for a cluster.
// +kubebuilder:object:generate=false
type IdentityReference struct {
	// Kind, Namespace and Name of the object.
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
}

// String returns the kind, the namespace and the name, as messages have it.
func (r IdentityReference) String() string { return r.Kind + "/" + r.Namespace + "/" + r.Name }

// ParseIdentityReference reads the text that String returns.
func ParseIdentityReference(text string) (IdentityReference, error) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return IdentityReference{}, fmt.Errorf("want the kind, the namespace and the name of an identity as KIND/NAMESPACE/NAME, found %q", text)
	}
	return IdentityReference{Kind: parts[0], Namespace: parts[1], Name: parts[2]}, nil
}
