package health

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Flag is the manager's flag with the kinds.
const Flag = "gate-kinds"

// Kinds are the kinds whose health gates may ask for. The zero Kinds allow none: the status of an object is read with the manager's rights
// and told to users of the policy's namespace.
type Kinds struct{ all []schema.GroupKind }

// Parse returns the kinds that the values of the flag are: Kind.group, such as Application.argoproj.io.
func Parse(values []string) (Kinds, error) {
	var k Kinds
	for _, text := range values {
		kind := schema.ParseGroupKind(strings.TrimSpace(text))
		switch {
		case kind.Kind == "" || strings.ToUpper(kind.Kind[:1]) != kind.Kind[:1] || strings.ContainsAny(text, "/*, "):
			return Kinds{}, fmt.Errorf("--%s: want kinds with their API group such as Application.argoproj.io, found %q", Flag, text)
		case kind == corev1.SchemeGroupVersion.WithKind("Secret").GroupKind():
			return Kinds{}, fmt.Errorf("--%s: Secrets have no health and are never read for a gate", Flag)
		}
		k.all = append(k.all, kind)
	}
	return k, nil
}

// ErrForm is returned for an API version or a kind that is none.
var ErrForm = errors.New("want an apiVersion such as argoproj.io/v1alpha1 and a kind such as Application")

// Allows returns the kind of a gate, and an error unless the operator allows it.
func (k Kinds) Allows(apiVersion, kind string) (schema.GroupVersionKind, error) {
	version, err := schema.ParseGroupVersion(apiVersion)
	if err != nil || version.Version == "" || kind == "" {
		return schema.GroupVersionKind{}, ErrForm
	}
	switch of := version.WithKind(kind); {
	case slices.Contains(k.all, of.GroupKind()):
		return of, nil
	case len(k.all) == 0:
		return of, fmt.Errorf("no kind is allowed: have the operator set --%s of the manager, with %s", Flag, of.GroupKind())
	default:
		return of, fmt.Errorf("the kind is not allowed: have the operator add %s to --%s of the manager", of.GroupKind(), Flag)
	}
}
