// Package access finds out what the manager may read. A cache never fills with a kind that the manager may not list, and a read from
// it would block a worker without end: controllers that read kinds of the user's choice ask here first.
package access

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// grantedFor is the time for which a granted review is cached, refusedFor the time for which a denied one is.
	grantedFor, refusedFor = 10 * time.Minute, 30 * time.Second
	// maxKinds bounds the number of cached kinds. The cache is emptied beyond it.
	maxKinds = 1024
)

// ErrForbidden is returned for a kind that the manager may not read.
var ErrForbidden = errors.New("the manager may not list and watch")

// verbs lists the verbs that an informer cache requires.
var verbs = []string{"list", "watch"}

// Reviewer asks the API server what the manager may read, and remembers the answers for a while. It is safe for concurrent use.
type Reviewer struct {
	client client.Client
	now    func() time.Time

	mu    sync.Mutex
	known map[schema.GroupKind]answer
}

// answer is the cached review of one kind: nil, ErrForbidden or the error of the request.
type answer struct {
	err   error
	until time.Time
}

// New returns a Reviewer. A nil clock is the real one.
func New(c client.Client, now func() time.Time) *Reviewer {
	if now == nil {
		now = time.Now
	}
	return &Reviewer{client: c, now: now, known: map[schema.GroupKind]answer{}}
}

// MayWatch returns an error that wraps ErrForbidden if the manager may not list and watch a kind in all namespaces, or in the
// namespace if one is given. Other errors are those of the request.
func (r *Reviewer) MayWatch(ctx context.Context, gvk schema.GroupVersionKind, namespace string) error {
	now := r.now()
	r.mu.Lock()
	found, ok := r.known[gvk.GroupKind()]
	r.mu.Unlock()
	if ok && now.Before(found.until) {
		return found.err
	}
	err := r.ask(ctx, gvk, namespace)
	if err != nil && !errors.Is(err, ErrForbidden) {
		return err
	}
	valid := grantedFor
	if err != nil {
		valid = refusedFor
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) >= maxKinds {
		clear(r.known)
	}
	r.known[gvk.GroupKind()] = answer{err: err, until: now.Add(valid)}
	return err
}

// ask asks for each verb that a cache needs.
func (r *Reviewer) ask(ctx context.Context, gvk schema.GroupVersionKind, namespace string) error {
	mapping, err := r.client.RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return fmt.Errorf("find the resource of %s: %w", gvk.Kind, err)
	}
	for _, verb := range verbs {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: gvk.Group,
				Resource: mapping.Resource.Resource},
		}}
		if err := r.client.Create(ctx, review); err != nil {
			return fmt.Errorf("ask whether %s may be read: %w", mapping.Resource.Resource, err)
		}
		if !review.Status.Allowed {
			return fmt.Errorf("%w %s of API group %s: have its provider grant it in a ClusterRole with the label "+
				"cluster.x-k8s.io/aggregate-to-manager: \"true\"",
				ErrForbidden, mapping.Resource.Resource, gvk.Group)
		}
	}
	return nil
}
