package common

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// AllowedNamespaces say whose clusters may use an identity, as the ecosystem's providers have it: no cluster's where there are
// none at all, every namespace's where they are empty, else those of the namespaces that are listed or selected.
//
// +kubebuilder:object:generate=false
type AllowedNamespaces struct {
	// List of names.
	List []string `json:"list,omitempty"`
	// Selector over the namespaces' labels; an empty one selects nothing.
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// ByName reports whether a namespace is allowed whatever its labels are.
func (a *AllowedNamespaces) ByName(namespace string) bool {
	if a == nil {
		return false
	}
	return a.List == nil && a.Selector == nil || slices.Contains(a.List, namespace)
}

// Labels is what selects further namespaces; nil when nothing does. The error is that of a selector which means nothing.
func (a *AllowedNamespaces) Labels() (labels.Selector, error) {
	if a == nil || a.Selector == nil {
		return nil, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(a.Selector)
	if err != nil {
		return nil, fmt.Errorf("spec.allowedNamespaces.selector: %w", err)
	}
	if selector.Empty() {
		return nil, nil
	}
	return selector, nil
}
