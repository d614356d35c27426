package identity

import (
	"context"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// NamespacesAnnotation on a Secret lists the other namespaces that may use its content, separated by commas; * is all.
	NamespacesAnnotation = "muster.dev/allowed-namespaces"
	everyNamespace       = "*"
)

// SecretFor reads the secret that a field of an object in a namespace names. The error is an Error if the secret does not exist, or is of
// another namespace and does not list that of the object. For one of another namespace both have the same text, because only its owner may
// know whether it exists.
func (c *Credentials) SecretFor(ctx context.Context, namespace, field string, key client.ObjectKey) (*corev1.Secret, error) {
	secret, err := c.Secret(ctx, key)
	var missing *Error
	switch {
	case errors.As(err, &missing) && key.Namespace != namespace:
		return nil, notLent(field, key, namespace)
	case err != nil:
		return nil, ReferencedBy(field, err)
	case !lent(secret, namespace):
		return nil, notLent(field, key, namespace)
	}
	return secret, nil
}

// lent reports whether objects of a namespace may use a secret: that of their own, or one that lists the namespace.
func lent(secret *corev1.Secret, namespace string) bool {
	if secret.Namespace == namespace {
		return true
	}
	listed := strings.FieldsFunc(secret.Annotations[NamespacesAnnotation], func(r rune) bool { return r == ',' || r == ' ' })
	return slices.Contains(listed, namespace) || slices.Contains(listed, everyNamespace)
}

func notLent(field string, key client.ObjectKey, namespace string) error {
	return Errorf(ReasonNotAllowed, "%s: secret %s does not allow namespace %s: annotate it with %s: %s, or use a secret of that namespace",
		field, key, namespace, NamespacesAnnotation, namespace)
}
