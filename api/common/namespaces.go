package common

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// AllowedNamespaces are the namespaces that may use what an operator shares, as the ecosystem's identities have them: no namespace if the
// value is nil, every namespace if it is empty, else those that are listed or selected.
type AllowedNamespaces struct {
	// List of names.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=1024
	// +kubebuilder:validation:items:MaxLength=63
	List []string `json:"list,omitempty"`
	// Selector over the namespaces' labels; an empty one selects nothing.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// ByName reports whether a namespace is allowed whatever its labels are.
func (a *AllowedNamespaces) ByName(namespace string) bool {
	if a == nil {
		return false
	}
	return a.List == nil && a.Selector == nil || slices.Contains(a.List, namespace)
}

// Labels returns what selects further namespaces; nil if nothing does. The error is that of an invalid selector.
func (a *AllowedNamespaces) Labels() (labels.Selector, error) {
	if a == nil || a.Selector == nil {
		return nil, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(a.Selector)
	if err != nil {
		return nil, fmt.Errorf("selector: %w", err)
	}
	if selector.Empty() {
		return nil, nil
	}
	return selector, nil
}
