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
	// patience is how long seeding waits for webhooks and the API server while a world comes up: on a machine that is busy
	// compiling, the controllers have been seen to need half a minute.
	patience = 90 * time.Second
	// kindPatience is how long it waits for an unknown kind: a definition in the same manifests is served within seconds,
	// and a misspelt kind shall be told soon.
	kindPatience = 10 * time.Second
	// retryEvery is the pause between two tries.
	retryEvery = 250 * time.Millisecond
)

// Applier applies objects to a world, each once in the world's life.
type Applier struct {
	Client client.Client
	Record *Record
	// Told is called after each object: applied is false for one that the world was seeded with before. May be nil.
	Told func(o Object, applied bool)
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
		if a.Told != nil {
			a.Told(o, applied)
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

// waitFor is how long an error is worth waiting for its end; zero for a refusal, which waiting does not change.
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

// unreachable tells a webhook, or a part of the API server, that could not be asked from one that has refused: what the API
// server can't classify is an internal error too, such as an unknown field. A conversion that is impossible has that as its reason, or
// none.
func unreachable(err error) bool {
	text := err.Error()
	return strings.Contains(text, `: Post "`) ||
		apierrors.ReasonForError(err) == metav1.StatusReasonInternalError && !strings.Contains(text, "conversion webhook for ")
}

// unchecked tells a refusal by an admission that could not check a field in time, whatever it holds. One other field that is refused makes
// it final.
func unchecked(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	causes := status.Status().Details.Causes
	internal := func(c metav1.StatusCause) bool { return c.Type == metav1.CauseType(field.ErrorTypeInternal) }
	return len(causes) > 0 && !slices.ContainsFunc(causes, func(c metav1.StatusCause) bool { return !internal(c) })
}

// namesObject tells an object that is not there (a namespace) from a path that is not served yet.
func namesObject(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Name != ""
}

// explain words an error for people: the fields and what is wrong with each, or the kind that is not there.
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

// unknownField is how the API server begins to tell, under server-side apply, of a field that a kind does not have.
const unknownField = "failed to create typed patch object ("

// RefusedError is returned when the API server rejects an object; it has the reasons, field by field.
type RefusedError struct {
	// Fields are the paths of the fields, each with what is wrong with it.
	Fields []string
	err    error
}

// Error lists the fields.
func (e *RefusedError) Error() string { return "refused: " + strings.Join(e.Fields, "; ") }

// Unwrap gives the API server's own error.
func (e *RefusedError) Unwrap() error { return e.err }
