// Package identity reads the identities with which the cloud is called for an object: its cluster references one, which leads to further
// objects and secrets. What was read is noted, so that a change of it reconciles the object. The identities of each cloud are its
// adapters'. It also reads the grants with which the operator allows adoption.
package identity

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/pool"
)

// DefaultNamespace is the namespace of the secrets of cluster-scoped identities if the manager is given no other.
const DefaultNamespace = "muster-system"

// The reasons for which a pool has no identity to call the cloud with.
const (
	// ReasonMissing: an object that the identity consists of does not exist.
	ReasonMissing = "IdentityMissing"
	// ReasonInvalid: an object that the identity consists of has an invalid value.
	ReasonInvalid = "IdentityInvalid"
	// ReasonNotAllowed: the identity does not allow clusters of the object's namespace.
	ReasonNotAllowed = "IdentityNotAllowed"
)

// Error is why the cloud is not called for an object. No other identity is used instead.
type Error struct{ Cause pool.Cause }

// Error returns the message of the cause.
func (e *Error) Error() string { return e.Cause.Message }

// Errorf returns an Error.
func Errorf(reason, format string, args ...any) *Error {
	return &Error{Cause: pool.Cause{Reason: reason, Message: fmt.Sprintf(format, args...)}}
}

// ReferencedBy adds to an Error the field that references its object; it returns an error of the API server as it is.
func ReferencedBy(field string, err error) error {
	var none *Error
	if errors.As(err, &none) {
		return Errorf(none.Cause.Reason, "%s: %s", field, none.Cause.Message)
	}
	return err
}

// Referrer is the source of a pool's identity reference: the infrastructure cluster, or the values stored on the object once that is gone.
type Referrer struct {
	// InfraCluster is nil if it is gone.
	InfraCluster *unstructured.Unstructured
	// Stored are the values stored on the object.
	Stored map[string]string
}

// Field returns the field that references the identity, for messages.
func (r Referrer) Field() string {
	if r.InfraCluster == nil {
		return "metadata.annotations[" + stored.Annotation + "]: " + stored.Identity
	}
	return r.InfraCluster.GetKind() + " " + r.InfraCluster.GetNamespace() + "/" + r.InfraCluster.GetName() + ": spec.identityRef"
}

// StoredIdentity returns the identity that is stored on the object, as it was given to Keep; empty if none is.
func (r Referrer) StoredIdentity() string { return r.Stored[stored.Identity] }

// Keep returns what to store on the object for the identity that its cluster references, empty for none. Nothing is stored for clusters
// that never referenced an identity.
func (r Referrer) Keep(identity string) map[string]string {
	_, known := r.Stored[stored.Identity]
	if identity != "" || known && r.InfraCluster != nil {
		return map[string]string{stored.Identity: identity}
	}
	return nil
}

// Credentials reads what the identity of one object consists of, and notes what it read.
type Credentials struct {
	// Namespace of the object.
	Namespace string
	// SecretNamespace is the namespace of the secrets of cluster-scoped identities.
	SecretNamespace string

	sources *Sources
	// user is the object; empty if nothing is enqueued for it.
	user types.NamespacedName
	read []dependency
}

// Object reads an object that an identity consists of, or that leads to one; a key without a namespace is that of a cluster-scoped object.
// The error is an Error if the object does not exist.
func (c *Credentials) Object(ctx context.Context, gk schema.GroupKind, key client.ObjectKey) (*unstructured.Unstructured, error) {
	name := key.Name
	if key.Namespace != "" {
		name = key.String()
	}
	c.note(dependency{kind: gk.Kind, namespace: key.Namespace, name: key.Name})
	gvk, err := contract.GVK(ctx, c.sources.reader, gk)
	if errors.Is(err, contract.ErrNoKind) || errors.Is(err, contract.ErrNoVersion) {
		return nil, Errorf(ReasonMissing, "%s %s can't be read: %v", gk.Kind, name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("find the version of %s: %w", gk.Kind, err)
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	if err := c.sources.watch(ctx, u); err != nil {
		return nil, err
	}
	err = c.sources.reader.Get(ctx, key, u)
	if apierrors.IsNotFound(err) {
		return nil, Errorf(ReasonMissing, "%s %s does not exist", gk.Kind, name)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", gk.Kind, name, err)
	}
	return u, nil
}

// Secret reads a secret of an identity. The error is an Error if it does not exist.
func (c *Credentials) Secret(ctx context.Context, key client.ObjectKey) (*corev1.Secret, error) {
	c.note(dependency{kind: kindSecret, namespace: key.Namespace, name: key.Name})
	if err := c.sources.watchSecrets(ctx, key.Namespace); err != nil {
		return nil, err
	}
	secret := &corev1.Secret{}
	err := c.sources.reader.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		return nil, Errorf(ReasonMissing, "secret %s does not exist", key)
	}
	if err != nil {
		return nil, fmt.Errorf("read secret %s: %w", key, err)
	}
	return secret, nil
}

// Allow returns an Error unless clusters of the object's namespace may use an identity.
func (c *Credentials) Allow(ctx context.Context, identity string, a *common.AllowedNamespaces) error {
	const field = "spec.allowedNamespaces"
	allowed, err := c.Admits(ctx, a, c.Namespace)
	var invalid *Error
	switch {
	case errors.As(err, &invalid):
		return Errorf(invalid.Cause.Reason, "%s: %s.%s", identity, field, invalid.Cause.Message)
	case err != nil || allowed:
		return err
	}
	return Errorf(ReasonNotAllowed, "%s: %s does not allow namespace %s: add it there, or name another identity", identity, field,
		c.Namespace)
}

// Admits reports whether a namespace is among those that may use something. An Error is that of an invalid selector.
func (c *Credentials) Admits(ctx context.Context, a *common.AllowedNamespaces, namespace string) (bool, error) {
	if a.ByName(namespace) {
		return true, nil
	}
	selector, err := a.Labels()
	if err != nil {
		return false, Errorf(ReasonInvalid, "%v", err)
	}
	if selector == nil {
		return false, nil
	}
	set, err := c.labels(ctx, namespace)
	return err == nil && selector.Matches(set), err
}

// labels returns those of a namespace.
func (c *Credentials) labels(ctx context.Context, name string) (labels.Set, error) {
	c.note(dependency{kind: kindNamespace, name: name})
	namespace := &corev1.Namespace{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kindNamespace))
	if err := c.sources.watch(ctx, namespace); err != nil {
		return nil, err
	}
	if err := c.sources.reader.Get(ctx, client.ObjectKey{Name: name}, namespace); err != nil {
		return nil, fmt.Errorf("read namespace %s: %w", name, err)
	}
	return namespace.Labels, nil
}

// List reads all objects of a kind without namespaces; of has the kind's name and version. The error is that of Sources.MayWatch if the
// manager may not watch the kind.
func (c *Credentials) List(ctx context.Context, of client.Object, list client.ObjectList) error {
	gvk := of.GetObjectKind().GroupVersionKind()
	if c.sources.MayWatch != nil {
		if err := c.sources.MayWatch(ctx, gvk); err != nil {
			return err
		}
	}
	c.note(dependency{kind: gvk.Kind})
	if err := c.sources.watch(ctx, of); err != nil {
		return err
	}
	if err := c.sources.reader.List(ctx, list); err != nil {
		return fmt.Errorf("list the objects of kind %s: %w", gvk.Kind, err)
	}
	return nil
}

// note records what is about to be read. A change enqueues the object from now on, also one that the read does not see yet.
func (c *Credentials) note(d dependency) {
	c.read = append(c.read, d)
	if c.user.Name != "" {
		c.sources.add(c.user, d)
	}
}

// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
