package seed

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FieldManager owns the fields that seeding sets.
const FieldManager = "muster-up"

const (
	// patience bounds the wait of seeding for webhooks and the API server while a world starts. On a machine that is busy compiling, the
	// controllers can need half a minute.
	patience = 90 * time.Second
	// kindPatience bounds the wait for an unknown kind. A definition in the same manifests is served within seconds, and a misspelt kind is to
	// be reported soon.
	kindPatience = 10 * time.Second
	// retryEvery is the pause between two attempts.
	retryEvery = 250 * time.Millisecond
)

// Applier applies objects to a world, each once in the world's life.
type Applier struct {
	Client client.Client
	Record *Record
	// OnApplied is called after each object: applied is false for one that the world was seeded with before. May be nil.
	OnApplied func(o Object, applied bool)
}

// Apply applies the objects, namespaces first, each with server-side apply. It waits a bounded time for kinds and
// webhooks that are still coming up; what the API server refuses is an error that names file, document and fields.
func (a *Applier) Apply(ctx context.Context, objects []Object) error {
	ordered := slices.Clone(objects)
	slices.SortStableFunc(ordered, func(x, y Object) int { return rank(x) - rank(y) })
	for _, o := range ordered {
		applied := !a.Record.Has(o)
		if applied {
			if err := a.apply(ctx, o); err != nil {
				return fmt.Errorf("%s: %w", o.Where(), err)
			}
			if err := a.Record.Add(o); err != nil {
				return err
			}
		}
		if a.OnApplied != nil {
			a.OnApplied(o, applied)
		}
	}
	return nil
}

// rank puts what others need to exist before them.
func rank(o Object) int {
	switch o.GetKind() {
	case "Namespace":
		return 0
	case "CustomResourceDefinition":
		return 1
	default:
		return 2
	}
}

// apply tries until the object is applied, refused, or patience is over.
func (a *Applier) apply(ctx context.Context, o Object) error {
	began := time.Now()
	tick := time.NewTicker(retryEvery)
	defer tick.Stop()
	for {
		err := a.try(ctx, o)
		if err == nil || time.Since(began) >= waitFor(err) {
			return explain(err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w, after %w", context.Cause(ctx), explain(err))
		case <-tick.C:
		}
	}
}

// try applies a copy of the object once.
func (a *Applier) try(ctx context.Context, o Object) error {
	u := o.DeepCopy()
	namespaced, err := a.Client.IsObjectNamespaced(u)
	if err != nil {
		return err
	}
	if namespaced {
		u.SetNamespace(o.Namespaced())
	} else {
		u.SetNamespace("")
	}
	return a.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(FieldManager))
}

// waitFor returns how long to retry after an error; zero for a rejection, which no retry changes.
func waitFor(err error) time.Duration {
	var network net.Error
	var transport *url.Error
	switch {
	case meta.IsNoMatchError(err):
		return kindPatience
	case apierrors.IsNotFound(err) && !namesObject(err):
		return kindPatience
	case apierrors.IsInternalError(err) && !unreachable(err):
		return 0
	case apierrors.IsServiceUnavailable(err), apierrors.IsServerTimeout(err), apierrors.IsTimeout(err),
		apierrors.IsTooManyRequests(err), apierrors.IsInternalError(err), apierrors.IsUnauthorized(err), unchecked(err):
		return patience
	case errors.As(err, &network), errors.As(err, &transport):
		return patience
	default:
		return 0
	}
}

// unreachable distinguishes a webhook, or a part of the API server, that did not respond from one that has rejected the object. The API
// server reports everything that it can't classify, such as an unknown field, as an internal error too. An impossible conversion has a
// separate cause, or none.
func unreachable(err error) bool {
	text := err.Error()
	return strings.Contains(text, `: Post "`) ||
		apierrors.ReasonForError(err) == metav1.StatusReasonInternalError && !strings.Contains(text, "conversion webhook for ")
}

// unchecked recognizes a rejection by an admission that could not check a field in time, whatever its value. A rejection of any other field
// makes it final.
func unchecked(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	causes := status.Status().Details.Causes
	internal := func(c metav1.StatusCause) bool { return c.Type == metav1.CauseType(field.ErrorTypeInternal) }
	return len(causes) > 0 && !slices.ContainsFunc(causes, func(c metav1.StatusCause) bool { return !internal(c) })
}

// namesObject distinguishes a missing object (a namespace) from a path that is not served yet.
func namesObject(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Name != ""
}

// explain formats an error for users: the fields with the error of each, or the missing kind.
func explain(err error) error {
	if err == nil {
		return nil
	}
	if meta.IsNoMatchError(err) {
		return fmt.Errorf("no such kind is served: %w", err)
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return err
	}
	if _, path, ok := strings.Cut(status.Status().Message, unknownField); ok {
		_, path, _ = strings.Cut(path, "): ")
		return &RefusedError{Fields: []string{strings.TrimPrefix(path, ".")}, err: err}
	}
	if status.Status().Details == nil {
		return err
	}
	var fields []string
	for _, c := range status.Status().Details.Causes {
		if c.Field != "" {
			fields = append(fields, c.Field+": "+c.Message)
		}
	}
	if len(fields) == 0 {
		return err
	}
	return &RefusedError{Fields: fields, err: err}
}

// unknownField is the prefix of the API server's error, under server-side apply, for a field that a kind does not have.
const unknownField = "failed to create typed patch object ("

// RefusedError is returned if the API server rejects an object. It lists the reasons by field.
type RefusedError struct {
	// Fields lists the paths of the fields with the error of each.
	Fields []string
	err    error
}

// Error lists the fields.
func (e *RefusedError) Error() string { return "refused: " + strings.Join(e.Fields, "; ") }

// Unwrap gives the API server's own error.
func (e *RefusedError) Unwrap() error { return e.err }
