package tokens

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// lasts is the lifetime of an extended token from now: that of tokens that Cluster API creates.
	lasts = 15 * time.Minute
	// Early is the remaining time at which a token is extended that no other controller extends.
	Early = lasts / 2
	// Late is the remaining time at which a token is extended that its creator should have extended. Cluster API's bootstrap controller
	// checks tokens every third of their time and replaces them when half of it is over. That must continue: no token should be valid for
	// ever.
	Late = 2 * time.Minute
)

// Refreshed is the state of tokens after Refresh.
type Refreshed struct {
	// Next is when the tokens have to be checked again; zero if none of them ever expires.
	Next time.Duration
	// Lost is true if one of them no longer exists, so that no machine can join with it.
	Lost bool
	// Until is when the first of them expires; zero if none of them ever does.
	Until time.Time
}

// And returns the state of both.
func (k Refreshed) And(o Refreshed) Refreshed {
	k.Lost = k.Lost || o.Lost
	if k.Next == 0 || o.Next > 0 && o.Next < k.Next {
		k.Next = o.Next
	}
	if k.Until.IsZero() || !o.Until.IsZero() && o.Until.Before(k.Until) {
		k.Until = o.Until
	}
	return k
}

// Refresh extends the tokens with the given IDs whose remaining time is at most the given one. The client must read the workload cluster
// without a cache. An expired token that still exists is extended, too. A token that the API server rejects does not prevent the extension
// of the others; if the server does not respond, no further request is sent.
func Refresh(ctx context.Context, c client.Client, ids []string, left time.Duration, now time.Time) (Refreshed, error) {
	return refreshAll(ids, left, now, func(id string) (time.Time, error) { return refresh(ctx, c, id, left, now) })
}

// refreshAll does the same with a function that returns when one token expires.
func refreshAll(ids []string, left time.Duration, now time.Time, keep func(id string) (time.Time, error)) (Refreshed, error) {
	var kept Refreshed
	var failed []error
	for _, id := range ids {
		until, err := keep(id)
		switch {
		case apierrors.IsNotFound(err):
			kept.Lost = true
		case err != nil:
			err = fmt.Errorf("keep bootstrap token %s of the workload cluster alive: %w", id, err)
			if failed = append(failed, err); !Answered(err) {
				return kept, errors.Join(failed...)
			}
		case !until.IsZero():
			kept = kept.And(Refreshed{Next: until.Sub(now) - left, Until: until})
		}
	}
	return kept, errors.Join(failed...)
}

// Answered reports whether an error is the response of an API server about one object, so that other objects may be requested.
func Answered(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}

// refresh returns when one token expires after an extension; zero is never.
func refresh(ctx context.Context, c client.Client, id string, left time.Duration, now time.Time) (time.Time, error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: bootstrapapi.BootstrapTokenSecretPrefix + id}
	if err := c.Get(ctx, key, secret); err != nil {
		return time.Time{}, err
	}
	if until, ok := expirationOf(secret); ok && (until.IsZero() || until.Sub(now) > left) {
		return until, nil
	}
	before := secret.DeepCopy()
	at := now.Add(lasts).UTC()
	secret.Data[bootstrapapi.BootstrapTokenExpirationKey] = []byte(at.Format(time.RFC3339))
	return at, c.Patch(ctx, secret, client.MergeFrom(before))
}

// expirationOf returns when a token expires, zero if never. It is false for an invalid expiration, with which a token is not valid.
func expirationOf(secret *corev1.Secret) (until time.Time, ok bool) {
	text, bounded := secret.Data[bootstrapapi.BootstrapTokenExpirationKey]
	if !bounded {
		return time.Time{}, true
	}
	until, err := time.Parse(time.RFC3339, string(text))
	return until, err == nil
}
