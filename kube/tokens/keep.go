package tokens

import (
	"context"
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
	// renewal is how much of its time is left when a token gets more.
	renewal = lasts / 2
)

// Kept is what became of tokens.
type Kept struct {
	// Next is when to look again; zero when none of them ever runs out.
	Next time.Duration
	// Lost says that one of them is gone, so that no machine can join with it any more.
	Lost bool
}

// Keep has the tokens of the given IDs stay valid, by a new expiration of those that run out soon. The client must read the
// workload cluster without a cache. A token that has run out and is still there is given new life.
func Keep(ctx context.Context, c client.Client, ids []string, now time.Time) (Kept, error) {
	var kept Kept
	for _, id := range ids {
		left, err := keep(ctx, c, id, now)
		switch {
		case apierrors.IsNotFound(err):
			kept.Lost = true
		case err != nil:
			return kept, fmt.Errorf("keep bootstrap token %s of the workload cluster alive: %w", id, err)
		case left > 0 && (kept.Next == 0 || left-renewal < kept.Next):
			kept.Next = left - renewal
		}
	}
	return kept, nil
}

// keep says how long one token is valid from now on; zero is for ever.
func keep(ctx context.Context, c client.Client, id string, now time.Time) (time.Duration, error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: bootstrapapi.BootstrapTokenSecretPrefix + id}
	if err := c.Get(ctx, key, secret); err != nil {
		return 0, err
	}
	until, ok := secret.Data[bootstrapapi.BootstrapTokenExpirationKey]
	if !ok {
		return 0, nil
	}
	// What is no time is none that a token could be valid until.
	if at, err := time.Parse(time.RFC3339, string(until)); err == nil && at.Sub(now) > renewal {
		return at.Sub(now), nil
	}
	before := secret.DeepCopy()
	secret.Data[bootstrapapi.BootstrapTokenExpirationKey] = []byte(now.Add(lasts).UTC().Format(time.RFC3339))
	return lasts, c.Patch(ctx, secret, client.MergeFrom(before))
}
