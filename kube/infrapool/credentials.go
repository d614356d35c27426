package infrapool

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/pool"
)

// DefaultIdentityNamespace is where the secrets of identities lie when nothing is said: the namespace of our own manifests.
const DefaultIdentityNamespace = "muster-system"

// keepIdentity is the key under which an object remembers which identity its cluster names.
const keepIdentity = "identity"

// The reasons for which a pool has nobody to ask the cloud in its name.
const (
	// ReasonIdentityMissing: an object that the identity is made of does not exist.
	ReasonIdentityMissing = "IdentityMissing"
	// ReasonIdentityInvalid: an object that the identity is made of says something that means nothing.
	ReasonIdentityInvalid = "IdentityInvalid"
	// ReasonIdentityNotAllowed: the identity is not for clusters of the object's namespace.
	ReasonIdentityNotAllowed = "IdentityNotAllowed"
)

// IdentityError says why there is nobody to ask the cloud. Nobody else ever asks in that one's place.
type IdentityError struct{ Cause pool.Cause }

// Error is the cause's sentence.
func (u *IdentityError) Error() string { return u.Cause.Message }

// IdentityErrorf returns an IdentityError.
func IdentityErrorf(reason, format string, args ...any) *IdentityError {
	return &IdentityError{Cause: pool.Cause{Reason: reason, Message: fmt.Sprintf(format, args...)}}
}

// NamedBy says which field named what an IdentityError is about; an error of the API server is left as it is.
func NamedBy(field string, err error) error {
	var nobody *IdentityError
	if errors.As(err, &nobody) {
		return IdentityErrorf(nobody.Cause.Reason, "%s: %s", field, nobody.Cause.Message)
	}
	return err
}

// IdentityField is where the cluster's infrastructure names its identity, for messages. When that is gone it is where the
// object remembers it.
func (in Inputs) IdentityField() string {
	if in.InfraCluster == nil {
		return "metadata.annotations[" + ResolvedAnnotation + "]: " + keepIdentity
	}
	return in.InfraCluster.GetKind() + " " + in.InfraCluster.GetNamespace() + "/" + in.InfraCluster.GetName() + ": spec.identityRef"
}

// RememberedIdentity is the identity that the object remembers, as KeepIdentity was given it; empty when it remembers none.
func (in Inputs) RememberedIdentity() string { return in.Resolved[keepIdentity] }

// KeepIdentity is what the object has to remember of the identity that its cluster names, empty for none. Nothing is written
// for clusters that never named an identity.
func (in Inputs) KeepIdentity(ref string) map[string]string {
	_, known := in.Resolved[keepIdentity]
	if ref != "" || known && in.InfraCluster != nil {
		return map[string]string{keepIdentity: ref}
	}
	return nil
}

// Credentials reads what identities are made of, for one object, and notes what it read, so that a change of that wakes
// the object.
type Credentials struct {
	// Namespace of the object.
	Namespace string
	// SecretNamespace is where the secrets of identities lie that lie in no namespace themselves.
	SecretNamespace string

	sources *Sources
	read    []origin
}

// Object reads an object that an identity rests on, or that leads to one; without a namespace in the key it is one that lies
// in none. What does not exist is an IdentityError.
func (c *Credentials) Object(ctx context.Context, gk schema.GroupKind, key client.ObjectKey) (*unstructured.Unstructured, error) {
	name := key.Name
	if key.Namespace != "" {
		name = key.String()
	}
	c.note(origin{kind: gk.Kind, namespace: key.Namespace, name: key.Name})
	gvk, err := contract.GVK(ctx, c.sources.reader, gk)
	if errors.Is(err, contract.ErrNoKind) || errors.Is(err, contract.ErrNoVersion) {
		return nil, IdentityErrorf(ReasonIdentityMissing, "%s %s can't be read: %v", gk.Kind, name, err)
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
		return nil, IdentityErrorf(ReasonIdentityMissing, "%s %s does not exist", gk.Kind, name)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", gk.Kind, name, err)
	}
	return u, nil
}

// Secret reads a secret of an identity. What does not exist is an IdentityError.
func (c *Credentials) Secret(ctx context.Context, key client.ObjectKey) (*corev1.Secret, error) {
	c.note(origin{kind: kindSecret, namespace: key.Namespace, name: key.Name})
	if err := c.sources.watchSecrets(ctx, key.Namespace); err != nil {
		return nil, err
	}
	secret := &corev1.Secret{}
	err := c.sources.reader.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		return nil, IdentityErrorf(ReasonIdentityMissing, "secret %s does not exist", key)
	}
	if err != nil {
		return nil, fmt.Errorf("read secret %s: %w", key, err)
	}
	return secret, nil
}

// Allow asks an identity whether clusters of the object's namespace may use it. A refusal is an IdentityError.
func (c *Credentials) Allow(ctx context.Context, identity string, a *common.AllowedNamespaces) error {
	if a.ByName(c.Namespace) {
		return nil
	}
	selector, err := a.Labels()
	if err != nil {
		return IdentityErrorf(ReasonIdentityInvalid, "%s: %v", identity, err)
	}
	if selector != nil {
		labels, err := c.labels(ctx)
		if err != nil {
			return err
		}
		if selector.Matches(labels) {
			return nil
		}
	}
	return IdentityErrorf(ReasonIdentityNotAllowed, "%s: spec.allowedNamespaces does not allow namespace %s: add it there, or name another identity", identity, c.Namespace)
}

// labels are those of the object's namespace.
func (c *Credentials) labels(ctx context.Context) (labels.Set, error) {
	c.note(origin{kind: kindNamespace, name: c.Namespace})
	namespace := &corev1.Namespace{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kindNamespace))
	if err := c.sources.watch(ctx, namespace); err != nil {
		return nil, err
	}
	if err := c.sources.reader.Get(ctx, client.ObjectKey{Name: c.Namespace}, namespace); err != nil {
		return nil, fmt.Errorf("read namespace %s: %w", c.Namespace, err)
	}
	return namespace.Labels, nil
}

func (c *Credentials) note(s origin) { c.read = append(c.read, s) }

// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=awsclustercontrolleridentities;awsclusterstaticidentities;awsclusterroleidentities;azureclusteridentities,verbs=get;list;watch

// identify finds who asks the cloud for the object. The cause says why nobody may; the error is one of the API server.
func (r *Reconciler[O, S]) identify(ctx context.Context, s *scope[O], in Inputs, t *Translation[S]) (*pool.Cause, error) {
	if r.kind.Identify == nil {
		return nil, nil
	}
	from := r.sources.For(s.object.GetNamespace())
	keep, err := r.kind.Identify(ctx, in, from, t.Spec)
	r.sources.Use(client.ObjectKeyFromObject(s.object), from)
	t.Keep = merged(keep, t.Keep)
	var nobody *IdentityError
	if errors.As(err, &nobody) {
		return &nobody.Cause, nil
	}
	return nil, err
}
