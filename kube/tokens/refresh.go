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
	// lasts is how long a token that is kept alive is valid from now: as long as those that Cluster API makes.
	lasts = 15 * time.Minute
	// Early is how much of its time is left when a token gets more that nobody else looks after.
	Early = lasts / 2
	// Late is how much is left when a token gets more that its maker should have looked after. Who makes tokens looks at them every
	// third of their time and replaces them when half of it is over, which is to go on: no token should live for ever.
	Late = 2 * time.Minute
)

// Refreshed is what became of tokens.
type Refreshed struct {
	// Next is when to look again; zero when none of them ever runs out.
	Next time.Duration
	// Lost says that one of them is gone, so that no machine can join with it any more.
	Lost bool
	// Until is when the first of them runs out; zero when none of them ever does.
	Until time.Time
}

// And is what became of both.
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

// Refresh has the tokens of the given IDs stay valid, by a new expiration of those that have no more time left than is said. The
// client must read the workload cluster without a cache. A token that has run out and is still there is given new life. One that
// the API server refuses keeps no other from being kept; a server that does not answer is not asked again.
func Refresh(ctx context.Context, c client.Client, ids []string, left time.Duration, now time.Time) (Refreshed, error) {
	return refreshAll(ids, left, now, func(id string) (time.Time, error) { return refresh(ctx, c, id, left, now) })
}

// refreshAll is Refresh with a function that says until when one token is valid.
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

// Answered says that an error is what an API server has to say of one object, so that it may be asked for others.
func Answered(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}

// refresh says until when one token is valid from now on; zero is for ever.
func refresh(ctx context.Context, c client.Client, id string, left time.Duration, now time.Time) (time.Time, error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: bootstrapapi.BootstrapTokenSecretPrefix + id}
	if err := c.Get(ctx, key, secret); err != nil {
		return time.Time{}, err
	}
	until, ok := secret.Data[bootstrapapi.BootstrapTokenExpirationKey]
	if !ok {
		return time.Time{}, nil
	}
	// What is no time is none that a token could be valid until.
	if at, err := time.Parse(time.RFC3339, string(until)); err == nil && at.Sub(now) > left {
		return at, nil
	}
	before := secret.DeepCopy()
	at := now.Add(lasts).UTC()
	secret.Data[bootstrapapi.BootstrapTokenExpirationKey] = []byte(at.Format(time.RFC3339))
	return at, c.Patch(ctx, secret, client.MergeFrom(before))
}
